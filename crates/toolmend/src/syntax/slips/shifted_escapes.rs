//! A text that is escaped once more from some quote on.
//!
//! A model that starts to write its arguments as JSON and goes on as if they were inside a JSON string leaves a text in
//! which every later quote and backslash has a backslash of its own. That is one fault, however many quotes follow: it is
//! undone from one position on, and it must explain the whole rest of the text.

use super::machine::Machine;
use super::{Correction, Search, Token, is_odd_text};

/// More positions than this are not tried.
const MAX_STARTS: usize = 16;

impl Search<'_> {
    /// Undoes one level of escaping from the token on at which the text stops being JSON.
    // Case: syntax/escaped-from-a-quote-on
    pub(super) fn unescape_rest(&mut self, token: &Token) {
        let text = self.recogniser.text;
        if token.is_open {
            self.unescape_rest_of_string(token);
        } else if let Some(rest) = text.get(token.start..).filter(|rest| rest.starts_with("\\\""))
            && let Some(unescaped) = unescape(rest)
        {
            self.try_other_text(&unescaped, token.before.moved_to(0), || {
                Some(Correction::unescape_rest(text, token.start, unescaped.clone()))
            });
        }
    }

    /// The same for a string that has no end, at every escape of it from which on all quotes and backslashes are escaped.
    fn unescape_rest_of_string(&mut self, token: &Token) {
        let Some(after) = token.before.after_string() else { return };
        let text = self.recogniser.text;
        let body = token.start + 1;
        let starts = escapes_at_the_end(&text.as_bytes()[body..]);
        self.recogniser.pay(token.end - body);
        for &start in starts.iter().take(MAX_STARTS) {
            let start = body + start;
            let Some(unescaped) = unescape(&text[start..]) else { return };
            let mut other = self.recogniser.of_other(&unescaped);
            let Some(end) = other.string_end(b'"', 0) else { continue };
            self.recogniser.take_fuel_of(&other);
            // Without another string after it, only its own end was escaped.
            let content = [&text[body..start], &unescaped[..end - 1]].concat();
            if !unescaped[end..].contains('"') || is_odd_text(&content) {
                continue;
            }
            self.try_other_text(&unescaped, after.moved_to(end), || {
                Some(Correction::unescape_rest(text, start, unescaped.clone()))
            });
        }
    }

    /// Adds a correction if another text is JSON from this state on.
    pub(super) fn try_other_text(
        &mut self,
        other: &str,
        machine: Machine,
        correction: impl FnOnce() -> Option<Correction>,
    ) {
        if self.is_over() {
            return;
        }
        self.recogniser.pay(other.len());
        let mut recogniser = self.recogniser.of_other(other);
        let dead = recogniser.run(machine);
        self.recogniser.take_fuel_of(&recogniser);
        if dead.is_none() {
            self.corrections.extend(correction());
        }
    }
}

/// Where the last escapes of a text are, from the first one on after which only quotes and backslashes are escaped.
fn escapes_at_the_end(body: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', body.get(at..).unwrap_or_default()) {
        at += offset;
        match body.get(at + 1) {
            Some(b'\\' | b'"') => starts.push(at),
            _ => starts.clear(),
        }
        at += 2;
    }
    starts
}

/// The text with one level of escaping removed; `None` if something in it is not escaped.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let escaped = rest[at..].strip_prefix('\\')?;
        let character = escaped.chars().next().filter(|ch| matches!(ch, '\\' | '"'))?;
        out.push(character);
        rest = &escaped[1..];
    }
    out.push_str(rest);
    Some(out)
}
