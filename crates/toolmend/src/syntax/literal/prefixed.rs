//! Python literals with a letter before the quote: `r"…"`, `b'…'`, `u'…'`, and `f"…"` without a placeholder.
//!
//! They are read as Python reads them: the first quote without a backslash ends them. A literal that does not end where a
//! value can end, or that has something in it that only Python can evaluate, is not read.

use super::escapes;
use crate::repair::RepairKind;
use crate::syntax::lookahead::EndEvidence;
use crate::syntax::reader::Reader;
use crate::syntax::reading::Step;
use crate::syntax::token::{Punctuation, Quote};

/// The length of the prefix at `at`, which a quote follows; 0 if there is none.
#[inline]
pub(in crate::syntax) fn prefix_len(bytes: &[u8], at: usize) -> usize {
    let is_prefix = |byte: Option<&u8>| {
        byte.is_some_and(|byte| matches!(byte, b'r' | b'R' | b'b' | b'B' | b'u' | b'U' | b'f' | b'F'))
    };
    let is_quote = |at: usize| {
        // `b": 1` and `b",` are a key and a value without their opening quotes.
        matches!(bytes.get(at), Some(b'"' | b'\''))
            && !matches!(bytes.get(at + 1), Some(b',' | b':' | b'}' | b']') | None)
            && !(bytes.get(at + 1) == Some(&b' ') && bytes.get(at + 2) == Some(&b':'))
    };
    match (is_prefix(bytes.get(at)), is_prefix(bytes.get(at + 1))) {
        (true, _) if is_quote(at + 1) => 1,
        (true, true) if is_quote(at + 2) => 2,
        _ => 0,
    }
}

/// Whether a value without quotes is a literal of another language: letters or signs directly before its quote, as in
/// `String.raw` templates and the raw strings of Rust and C#. `O'Neil` is not.
// Case: syntax/literal-of-another-language
pub(in crate::syntax) fn is_unknown_literal(text: &str) -> bool {
    let is_lead = |ch: char| ch.is_ascii_alphanumeric() || "_.$@#".contains(ch);
    let quoted = text.trim_start_matches(is_lead);
    let Some(quote) = quoted.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`')) else {
        return false;
    };
    quoted.len() < text.len() && quoted.len() > 1 && quoted.trim_end_matches('#').ends_with(quote)
}

/// What was expected if a literal needs Python to evaluate it.
pub(in crate::syntax) const PLAIN_LITERAL: &str = "a string that needs no evaluation";

impl Reader<'_> {
    /// Reads the literal at `at`, whose prefix is `prefix` bytes long.
    // Case: syntax/python-raw-string
    // Case: syntax/python-bytes
    // Case: syntax/python-format-string
    pub(in crate::syntax) fn read_prefixed_string(&mut self, at: usize, prefix: usize) -> Step {
        let has = |letter: u8| {
            self.text.bytes(at..at + prefix).iter().any(|byte| byte.eq_ignore_ascii_case(&letter))
        };
        let (raw, bytes, format) = (has(b'r'), has(b'b'), has(b'f'));
        let Some((Punctuation::Quote(quote), len)) = self.text.punctuation_at(at + prefix) else {
            return Step::Dead("a string", at);
        };
        let open = at..at + prefix + len;
        let Some(end) = self.find_literal_end(quote, open.end) else { return Step::Cut };
        let close = self.text.closer_at(quote, end);
        let body = open.end..end;
        // C++ writes `R"(…)"`, and the brackets are not text there.
        let other_language = self.text.byte_at(at) == b'R' && self.text.str(body.clone()).starts_with('(');
        if other_language || format && memchr::memchr2(b'{', b'}', self.text.bytes(body.clone())).is_some() {
            return Step::Dead(PLAIN_LITERAL, at);
        }
        if !self.spend_fuel(body.len()) || self.end_evidence_at(end + close, false) < EndEvidence::Fair {
            return Step::Dead("the end of the value after a string", end + close);
        }
        // In a document with JSON's own quotes the letter may be the first one of the text, unless backslashes show why the
        // string is raw.
        // Case: syntax/prefix-or-first-letter
        let needs_raw = raw && memchr::memchr(b'\\', self.text.bytes(body.clone())).is_some();
        if prefix == 1 && quote == Quote::Double && self.has_proper_keys() && !needs_raw {
            self.contest(at);
        }
        let kind = quote.repair().unwrap_or(RepairKind::QuotesReplaced);
        self.edit(open, "\"", kind);
        if raw {
            // A raw string of Python keeps the backslash before a quote. Whoever writes one means the quote alone.
            // Case: syntax/raw-string-with-escaped-quote
            let single = matches!(quote, Quote::Single | Quote::TripleSingle);
            let escaped: &[u8] = if single { b"\\'" } else { b"\\\"" };
            if memchr::memmem::find(self.text.bytes(body.clone()), escaped).is_some() {
                self.contest(at);
            }
            self.repair_body(Quote::Marker, body);
        } else if bytes {
            let decoded = escapes::decode_edits(
                self.text.rest(0),
                body.clone(),
                true,
                true,
                RepairKind::InvalidEscapeFixed,
            );
            let Some(decoded) = decoded else { return Step::Dead(PLAIN_LITERAL, at) };
            // What is between the escapes may need escapes of its own.
            let mut from = body.start;
            for edit in decoded {
                self.repair_body(Quote::Marker, from..edit.start);
                from = edit.end;
                self.edit(edit.start..edit.end, edit.with, edit.kind);
            }
            self.repair_body(Quote::Marker, from..end);
        } else {
            self.repair_body(if quote == Quote::Double { Quote::Single } else { quote }, body);
        }
        self.edit(end..end + close, "\"", kind);
        self.state.last_string = (at + prefix + len, end);
        self.finish_value(end + close)
    }

    /// Where the literal that starts at `body` is closed, as Python finds it.
    fn find_literal_end(&self, quote: Quote, body: usize) -> Option<usize> {
        let mut at = body;
        loop {
            at = self.text.plain_run(quote, at);
            match self.text.byte(at)? {
                b'\\' => at += 2,
                _ if self.text.closer_at(quote, at) > 0 => return Some(at),
                _ => at += 1,
            }
            if at > self.text.len() {
                return None;
            }
        }
    }
}
