//! Texts that are JSON but for their quotes or a comma before a closing bracket.
//!
//! That is what most broken texts are, and the strict pass reads them to the end when it lets just that pass. Then there
//! is no other reading: every string ends at its first quote, with what belongs there behind it, as in strict text, where
//! nobody asks whether the schema knows the keys either. Everything else is the reader's.

use super::token::{self, Punctuation};
use super::{MendedText, ReadContext, number};
use crate::json::strict::{self, Visitor};
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::report::MOST_OF_A_KIND;
use crate::schema::guide::Types;

/// Reads a text that is nearly strict; nothing where it is not.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<MendedText> {
    let patch = Patch::new(edits(text, context)?);
    Some(MendedText { text: patch.apply(text), layers: vec![patch] })
}

/// The strict text of a text that is strict or nearly so.
pub(super) fn meaning(text: &str, context: &ReadContext<'_>) -> Option<String> {
    Some(Patch::new(edits(text, context)?).apply(text))
}

/// From so many apostrophes on they are replaced in one edit. No value has more than four, so these are more values
/// than are listed one by one.
const MANY: usize = 4 * (MOST_OF_A_KIND + 1);

fn edits(text: &str, context: &ReadContext<'_>) -> Option<Vec<Edit>> {
    let start = strict::skip_white(text.as_bytes(), 0);
    let wanted = match text.as_bytes().get(start)? {
        b'{' => Types::OBJECT,
        b'[' => Types::ARRAY,
        _ => return None,
    };
    if !context.guide.types(context.guide.root()).has(wanted) {
        return None;
    }
    let mut pass = Pass { bytes: text.as_bytes(), commas: Vec::new(), quotes: Vec::new() };
    let end = strict::walk(text, start, context.policy.limits.depth, &mut pass).ok()?;
    let whole = strict::skip_white(text.as_bytes(), end) == text.len();
    let Pass { commas, quotes, .. } = pass;
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

/// What is let pass.
struct Pass<'a> {
    bytes: &'a [u8],
    commas: Vec<usize>,
    quotes: Vec<usize>,
}

impl Visitor for Pass<'_> {
    fn accept_trailing_comma(&mut self, at: usize) -> bool {
        self.commas.push(at);
        true
    }

    /// A string in apostrophes with nothing in it that another reading could be made of.
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

/// Where a value ends that is written in any quotes, with any spelling of literals and commas before closers.
pub(super) fn value_end(text: &str, start: usize, depth: usize) -> Option<usize> {
    strict::walk(text, start, depth, &mut AnyQuotes { text }).ok()
}

struct AnyQuotes<'a> {
    text: &'a str,
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
        let (end, close) = quote.closer_on_line(bytes, at + len)?;
        (!self.text[at + len..end].contains(['"', '\\'])).then_some(end + close)
    }
}
