//! Text that is JSON except for apostrophes as quotes or a comma before a closing bracket.
//!
//! Most broken text is like that, and the strict pass reads it to the end if it accepts just these. Then there is no other
//! reading: every string ends at its first quote and what follows belongs there, as in strict text, whatever keys the
//! schema declares. Anything else is left to the reader.

use super::token::{self, Punctuation};
use super::{MendedText, ReadContext, number};
use crate::json::strict::{self, Fault, Visitor};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::report::MAX_LISTED_PER_KIND;
use crate::schema::guide::Types;

/// Reads near-strict text; `None` if it is not.
// Case: syntax/trailing-commas
// Case: syntax/single-quotes
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<MendedText> {
    let patch = Patch::new(find_edits(text, context)?);
    Some(MendedText { text: patch.apply(text), layers: vec![patch] })
}

/// The strict form of text that is strict or near-strict.
pub(super) fn to_strict(text: &str, context: &ReadContext<'_>) -> Option<String> {
    Some(Patch::new(find_edits(text, context)?).apply(text))
}

/// More apostrophes than this are replaced in one edit. No member has more than four, so these are more values than are
/// listed one by one.
const MANY: usize = 4 * (MAX_LISTED_PER_KIND + 1);

/// The edits that make the text strict.
fn find_edits(text: &str, context: &ReadContext<'_>) -> Option<Vec<Edit>> {
    let start = strict::skip_whitespace(text.as_bytes(), 0);
    let wanted = match text.as_bytes().get(start)? {
        b'{' => Types::OBJECT,
        b'[' => Types::ARRAY,
        _ => return None,
    };
    if !context.guide.types(context.guide.root()).has(wanted) {
        return None;
    }
    let mut tolerance = Tolerance { bytes: text.as_bytes(), commas: Vec::new(), quotes: Vec::new() };
    let end = strict::walk(text, start, context.policy.limits.depth, &mut tolerance).ok()?;
    let whole = strict::skip_whitespace(text.as_bytes(), end) == text.len();
    let Tolerance { commas, quotes, .. } = tolerance;
    if !whole || commas.len() + quotes.len() > context.policy.limits.edits {
        return None;
    }
    let straight = RepairKind::QuotesReplaced;
    if let (Some(&first), Some(&last), true) =
        (quotes.first(), quotes.last(), commas.is_empty() && quotes.len() > MANY)
    {
        let mut with = String::with_capacity(last + 1 - first);
        let mut from = first;
        for &quote in &quotes {
            with.push_str(&text[from..quote]);
            with.push('"');
            from = quote + 1;
        }
        return Some(vec![Edit::new(first..last + 1, with, straight)]);
    }
    let commas = commas.into_iter().map(|at| Edit::new(at..at + 1, "", RepairKind::TrailingCommaRemoved));
    let quotes = quotes.into_iter().map(|at| Edit::new(at..at + 1, "\"", straight));
    Some(commas.chain(quotes).collect())
}

/// Accepts trailing commas and plain strings in apostrophes, and records them.
struct Tolerance<'a> {
    bytes: &'a [u8],
    commas: Vec<usize>,
    quotes: Vec<usize>,
}

impl Visitor for Tolerance<'_> {
    fn accept_trailing_comma(&mut self, at: usize) -> bool {
        self.commas.push(at);
        true
    }

    /// A string in apostrophes without anything in it that allows another reading.
    fn accept_string(&mut self, at: usize) -> Option<usize> {
        if self.bytes.get(at) != Some(&b'\'') {
            return None;
        }
        let is_plain = |byte: &u8| *byte >= 0x20 && !matches!(byte, b'\'' | b'"' | b'\\' | b'`');
        let body = &self.bytes[at + 1..];
        let end = at + 1 + body.iter().position(|byte| !is_plain(byte))?;
        if self.bytes[end] != b'\'' {
            return None;
        }
        self.quotes.extend([at, end]);
        Some(end + 1)
    }
}

/// Where a value ends that may have any quotes, any spelling of literals, and commas before closers; and how far the text
/// was looked at.
pub(super) fn value_end(text: &str, start: usize, depth: usize) -> (Option<usize>, usize) {
    let mut visitor = AnyQuotes { text, seen: start };
    let found = strict::walk(text, start, depth, &mut visitor);
    let (Ok(end) | Err(Fault::Syntax(end) | Fault::Depth(end))) = found;
    (found.ok(), end.max(visitor.seen))
}

struct AnyQuotes<'a> {
    text: &'a str,
    /// How far it has looked.
    seen: usize,
}

impl Visitor for AnyQuotes<'_> {
    fn accept_trailing_comma(&mut self, _at: usize) -> bool {
        true
    }

    fn accept_string(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let Some((Punctuation::Quote(quote), len)) = token::punctuation_at(bytes, at) else {
            let end = token::word_end(bytes, at);
            return number::is_scalar(&self.text[at..end]).then_some(end);
        };
        let found = quote.closer_on_line(bytes, at + len);
        self.seen = found.map_or(bytes.len(), |(end, _)| end);
        let (end, close) = found?;
        (!self.text[at + len..end].contains(['"', '\\'])).then_some(end + close)
    }
}
