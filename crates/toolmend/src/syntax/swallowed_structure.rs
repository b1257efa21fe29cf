//! Structure that ended up inside a string.
//!
//! When quotes are taken for text, what is between them may have been the end of one value and the start of the next.
//! Text of a string has brackets and quotes of its own, and these pair up. A quote before a bracket that the string never
//! opened, or a string with a second pair of quotes directly inside its own, is no text that people write.

use std::ops::Range;

use super::reader::Reader;
use super::token::Quote;
use crate::json::strict;

impl Reader<'_> {
    /// Contests a string with quotes taken for text if they look like the quotes of other strings.
    // Case: syntax/closer-after-inner-quote
    // Case: syntax/doubled-delimiters
    // Case: syntax/doubled-inner-quotes
    pub(super) fn contest_swallowed_structure(
        &mut self,
        quote: Quote,
        body: Range<usize>,
        raw_quotes: usize,
    ) {
        if !self.spend_fuel(body.len()) {
            return;
        }
        let content = &self.bytes[body.clone()];
        let doubled = match quote {
            Quote::Double => is_doubled(content, b'"', raw_quotes),
            Quote::Single => is_doubled(content, b'\'', raw_quotes),
            _ => false,
        };
        if doubled || self.closes_outside(quote, body.clone()) {
            self.contest(body.start);
        }
    }

    /// Whether a quote in the string is followed by a bracket that the string did not open, or by a comma and another quote
    /// on the next line, outside its own brackets.
    fn closes_outside(&self, quote: Quote, body: Range<usize>) -> bool {
        let bytes = &self.bytes[..body.end];
        let mut counted = (body.start, 0u32);
        let mut at = body.start;
        while let Some(found) = next_quote(bytes, at, quote) {
            at = found + quote.closes_at(bytes, found).max(1);
            if found > body.start && bytes[found - 1] == b'\\' {
                continue;
            }
            let next = strict::skip_whitespace(bytes, at);
            let opens_line = |comma: usize| {
                let line = strict::skip_whitespace(bytes, comma + 1);
                bytes[comma..line].contains(&b'\n') && quote.closes_at(bytes, line) > 0
            };
            let is_junction = match bytes.get(next) {
                Some(b']' | b'}') => true,
                Some(b',') => opens_line(next),
                _ => false,
            };
            if is_junction {
                counted = (found, depth_after(&bytes[counted.0..found], counted.1));
                if counted.1 == 0 {
                    return true;
                }
            }
        }
        false
    }
}

/// The next closing quote from `at` on.
fn next_quote(bytes: &[u8], at: usize, quote: Quote) -> Option<usize> {
    match quote {
        Quote::Double => memchr::memchr(b'"', bytes.get(at..)?).map(|offset| at + offset),
        _ => (at..bytes.len()).find(|&at| quote.closes_at(bytes, at) > 0),
    }
}

/// How many brackets are open after this text, if so many were before it.
fn depth_after(text: &[u8], before: u32) -> u32 {
    text.iter().fold(before, |depth, byte| match byte {
        b'{' | b'[' | b'(' => depth + 1,
        b'}' | b']' | b')' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Whether every quote in a string is written twice, or the string has exactly one pair of them, directly inside its own.
fn is_doubled(content: &[u8], quote: u8, raw_quotes: usize) -> bool {
    let edges = content.len() > 1 && content.first() == Some(&quote) && content.last() == Some(&quote);
    if edges && raw_quotes == 2 {
        return true;
    }
    let mut pairs = 0;
    let mut at = 0;
    while let Some(offset) = content.get(at..).and_then(|rest| memchr::memchr(quote, rest)) {
        at += offset;
        let run = content[at..].iter().take_while(|byte| **byte == quote).count();
        let is_escaped = at > 0 && content[at - 1] == b'\\';
        if !is_escaped {
            if run % 2 == 1 {
                return false;
            }
            pairs += run / 2;
        }
        at += run;
    }
    pairs > 1
}
