//! Quotes that are text at a glance.
//!
//! In code and markup nearly every quote is text. Where a schema declares the keys, a quote can end a string, open a key
//! or close one only beside a word that starts like a declared key, and a few bytes tell. This is a shortcut: it never
//! gives another answer than the long way, and debug builds check that it does not.

use super::reader::Reader;
use super::string::Scan;
use super::token::{self, Quote};
use crate::guide::Initials;
use crate::json::strict;

/// What the keys start with that matter to a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    /// Keys that an open object declares and has not had.
    wanted: Initials,
    /// All keys of the object that the string is a member of.
    declared: Initials,
}

/// How far the first letter of a name is looked for.
const NEAR: usize = 24;

impl Reader<'_> {
    /// What to watch for in a string that starts here; nothing where a glance cannot tell.
    pub(super) fn watched(&self, quote: Quote) -> Option<Watched> {
        let frame =
            self.stack.last().filter(|frame| frame.kind.is_object() && self.guide.declares(frame.place))?;
        if quote != Quote::Double || self.is_literal_broken() {
            return None;
        }
        let declared = self.guide.initials(frame.place, 0)?;
        let wanted = self.stack.iter().try_fold(Initials::default(), |all, frame| {
            Some(all.union(self.guide.initials(frame.place, frame.used)?))
        })?;
        Some(Watched { wanted, declared })
    }

    /// Whether the quote at `scan.at`, which is not the first one taken for text, is text at a glance.
    pub(super) fn is_inner(&mut self, scan: &Scan, watched: Watched) -> bool {
        let at = scan.at;
        let bytes = self.bytes;
        let (before, Some(&next)) = (bytes[at - 1], bytes.get(at + 1)) else { return false };
        // Beside backslashes it matters how many there are.
        if before == b'\\' || before == b'"' && bytes[at - 2] == b'\\' {
            return false;
        }
        // Behind a word, a bracket or a sign it opens no key.
        let opens_none =
            before.is_ascii_alphanumeric() || matches!(before, b'(' | b')' | b'=' | b'>' | b'+' | b'_');
        if !opens_none && self.starts_like(at + 1, watched.wanted) {
            return false;
        }
        match next {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => !opens_none || !watched.wanted.has(next),
            b')' | b'(' | b';' | b'<' | b'>' | b'&' | b'|' | b'+' | b'*' | b'%' | b'!' | b'?' | b']' => true,
            b'\\' => bytes.get(at + 2) != Some(&b'"'),
            b':' => self.closes_no_key(scan, watched),
            b',' => {
                let key = strict::skip_white(bytes, at + 2);
                match bytes.get(key) {
                    Some(b'"') => !self.is_key_like(key, watched.declared),
                    Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.goes_on_as_text(at + 1),
                    _ => false,
                }
            }
            b' ' => {
                let key = strict::skip_white(bytes, at + 1);
                bytes.get(key) == Some(&b'"') && !self.is_key_like(key, watched.declared)
            }
            _ => false,
        }
    }

    /// Whether the first letter or digit from `at` on, in the same quotes, is one of these. Also where it is not near.
    fn starts_like(&self, at: usize, initials: Initials) -> bool {
        for &byte in self.bytes[at..].iter().take(NEAR) {
            match byte {
                b'"' => return false,
                0x80.. => return true,
                _ if byte.is_ascii_alphanumeric() => return initials.has(byte),
                _ => {}
            }
        }
        true
    }

    /// Whether the quote at `at` opens something that has a colon behind it or starts like one of these keys.
    fn is_key_like(&mut self, at: usize, initials: Initials) -> bool {
        // `""word` may be a key with a quote too many, `"""` another kind of string.
        if self.starts_like(at + 1, initials) || self.bytes.get(at + 1) == Some(&b'"') {
            return true;
        }
        let limit = self.bytes.len().min(at + 160);
        let Some((end, close)) = Quote::Double.closer_on_line(&self.bytes[..limit], at + 1) else {
            return true;
        };
        let behind = self.look(end + close);
        token::colon(self.bytes, behind).is_some()
    }

    /// Whether the word before the quote at `scan.at` starts like no key that is wanted.
    fn closes_no_key(&self, scan: &Scan, watched: Watched) -> bool {
        let body = &self.bytes[scan.open.1..scan.at];
        let word = body.iter().rev().take(NEAR).take_while(|byte| token::is_word(**byte)).count();
        let first = body[body.len() - word..].iter().find(|byte| byte.is_ascii_alphanumeric());
        word < NEAR
            && first.is_some_and(|first| !watched.wanted.has(*first))
            && body[body.len() - word..].is_ascii()
    }
}
