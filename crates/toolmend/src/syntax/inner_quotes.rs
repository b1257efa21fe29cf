//! Inner quotes that are text at a glance.
//!
//! In code and markup nearly every quote is text. If a schema declares the keys, a quote can end a string, open a key or
//! close one only beside a word that starts like a declared key, and a few bytes show that. This is a shortcut through
//! `string_end`: it never gives a different answer than the full check, and debug builds compare the two.

use std::ops::Range;

use super::paid_text::PaidSpecials;
use super::reader::Reader;
use super::string_end::{Scan, is_gershayim};
use super::token::{self, Quote};
use crate::schema::guide::Initials;
use toolmend_json::scan::{BLOCK, Block};

/// The first letters of the keys that matter to a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchedInitials {
    /// Keys that an open object declares, whether or not it has them yet.
    wanted: Initials,
    /// All keys of the object that the string is a member of.
    declared: Initials,
}

/// How far ahead the first letter of a name is looked for.
const NEAR: usize = 24;

impl Reader<'_> {
    /// What to watch for in a string that starts here; `None` if a glance is not enough.
    pub(super) fn watch_initials(&self, quote: Quote) -> Option<WatchedInitials> {
        let frame = self
            .stack
            .last()
            .filter(|frame| frame.kind.is_object() && self.guide.declares(frame.position))?;
        if quote != Quote::Double || self.has_literal_line_breaks() {
            return None;
        }
        let declared = self.guide.initials(frame.position, 0)?;
        let wanted = self.stack.iter().try_fold(Initials::default(), |all, frame| {
            Some(all.union(self.guide.initials(frame.position, 0)?))
        })?;
        Some(WatchedInitials { wanted, declared })
    }

    /// Steps over the quote at `scan.at`, which is not the first one taken for text, over all quotes after it that are text
    /// at a glance, and over escapes and control bytes between them. False if a quote needs the full check: `scan.at` is
    /// its position then, and it is paid for.
    // Case: syntax/inner-quotes-code
    #[inline(never)]
    pub(super) fn step_over_inner_quotes(
        &mut self,
        scan: &mut Scan,
        watched: WatchedInitials,
        specials: &mut PaidSpecials<'_>,
    ) -> bool {
        if !self.count_if_inner(scan, watched) {
            return false;
        }
        let after = scan.at + 1;
        let mut from = after;
        // The number of bytes in escapes and of control bytes. They cost no fuel.
        let mut free = 0;
        let mut next = specials.block_at(from);
        while let Some((base, block, found)) = next {
            let mut beyond = false;
            let escaped = found.escaped(&mut beyond);
            let unpaid = |places: u64| {
                2 * (escaped & places).count_ones() as usize + (found.controls & places).count_ones() as usize
            };
            let rest = u64::MAX << (from - base);
            // Other letters after a backslash are handled one by one.
            let known = found.quotes | found.backslashes | Block::find_bytes(block, [b'n', b'r', b't']);
            let stops = (escaped & !known) >> 1 & rest;
            let ahead = (stops & stops.wrapping_neg()).wrapping_sub(1) & rest;
            let mut quotes = found.quotes & ahead;
            while quotes != 0 {
                let quote = quotes & quotes.wrapping_neg();
                quotes ^= quote;
                if escaped & quote != 0 {
                    scan.seen.escaped_quotes += 1;
                    continue;
                }
                scan.at = base + quote.trailing_zeros() as usize;
                if !self.count_if_inner(scan, watched) {
                    free += unpaid((quote - 1) & rest);
                    self.spend_fuel(scan.at - after - free);
                    // A quote in a Hebrew abbreviation is a letter.
                    let letter = is_gershayim(self.text, scan.at);
                    self.spend_fuel(usize::from(!letter));
                    return letter;
                }
            }
            free += unpaid(ahead);
            if stops != 0 {
                from = base + stops.trailing_zeros() as usize;
                break;
            }
            from = base + BLOCK - usize::from(beyond);
            next = specials.load_block(from);
        }
        scan.at = from;
        self.spend_fuel(from - after - free);
        true
    }

    /// Whether the quote at `scan.at` is text at a glance. If so, it is counted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is asked about every quote of a program")]
    fn count_if_inner(&mut self, scan: &mut Scan, watched: WatchedInitials) -> bool {
        let inner = self.is_inner_quote(scan.open.1, scan.at, watched);
        if inner {
            debug_assert!(self.is_text_by_full_check(scan), "{:?}", self.text.rest(scan.at));
            scan.seen.raw_quotes += 1;
        }
        inner
    }

    /// Whether the quote at `at`, which is not the first one taken for text, is text at a glance. The string starts at `body`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is asked about every quote of a program")]
    fn is_inner_quote(&mut self, body: usize, at: usize, watched: WatchedInitials) -> bool {
        let text = self.text;
        let (before, Some(&next)) = (text.byte_at(at - 1), text.byte(at + 1)) else { return false };
        // After backslashes their number matters.
        if before == b'\\' || before == b'"' && text.byte_at(at - 2) == b'\\' {
            return false;
        }
        let opens_none = BESIDE[usize::from(before)] & OPENS_NO_KEY != 0;
        if !opens_none && self.starts_like(at + 1, watched.wanted) {
            return false;
        }
        let ahead = BESIDE[usize::from(next)];
        if ahead & GOES_ON != 0 {
            return true;
        }
        if ahead & ALPHANUMERIC != 0 {
            return !opens_none || !watched.wanted.has(next);
        }
        match next {
            b'\\' => text.byte(at + 2) != Some(&b'"'),
            b':' => self.closes_no_key(body..at, watched),
            b',' => {
                let key = text.skip_whitespace(at + 2);
                match text.byte(key) {
                    Some(b'"') => !self.is_key_like(key, watched.declared),
                    Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.goes_on_as_text(at + 1),
                    _ => false,
                }
            }
            b' ' => {
                let key = text.skip_whitespace(at + 1);
                text.byte(key) == Some(&b'"') && !self.is_key_like(key, watched.declared)
            }
            // `end="")`: the first of the two opens what the second one ends.
            b'"' => opens_none && !self.is_key_like(at + 1, watched.declared),
            _ => false,
        }
    }

    /// Whether the first letter or digit from `at` on, in the same quotes, is one of these. True if it is too far away.
    #[inline]
    fn starts_like(&self, at: usize, initials: Initials) -> bool {
        let near = self.text.window(at, NEAR);
        let tells = |byte: &&u8| BESIDE[usize::from(**byte)] & TELLS != 0;
        match near.iter().find(tells) {
            Some(b'"') => false,
            Some(byte) if byte.is_ascii() => initials.has(*byte),
            _ => true,
        }
    }

    /// Whether the quote at `at` opens something that has a colon after it or starts like one of these keys.
    fn is_key_like(&mut self, at: usize, initials: Initials) -> bool {
        // `""word` may be a key with a superfluous quote, `"""` another kind of string.
        if self.starts_like(at + 1, initials) || self.text.byte(at + 1) == Some(&b'"') {
            return true;
        }
        let limit = self.text.len().min(at + 160);
        let Some((end, close)) = self.text.closer_on_line(Quote::Double, at + 1, limit) else {
            return true;
        };
        let after = self.after_trivia(end + close);
        self.text.colon_at(after).is_some()
    }

    /// Whether the word at the end of `body` starts like no key that is wanted.
    fn closes_no_key(&self, body: Range<usize>, watched: WatchedInitials) -> bool {
        let near = self.text.bytes(body.start.max(body.end.saturating_sub(NEAR))..body.end);
        let mut first = None;
        for &byte in near.iter().rev() {
            if !token::is_word(byte) {
                return first.is_some_and(|first| !watched.wanted.has(first));
            }
            if !byte.is_ascii() {
                return false;
            }
            if byte.is_ascii_alphanumeric() {
                first = Some(byte);
            }
        }
        body.len() < NEAR && first.is_some_and(|first| !watched.wanted.has(first))
    }
}

/// After this byte a quote opens no key: a word, a bracket or a sign.
const OPENS_NO_KEY: u8 = 1;
/// Before this byte a quote ends nothing, because it never follows a value.
const GOES_ON: u8 = 1 << 1;
const ALPHANUMERIC: u8 = 1 << 2;
/// This byte shows how the quoted text starts.
const TELLS: u8 = 1 << 3;

/// What a byte beside a quote shows.
static BESIDE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u8;
    loop {
        let mut says = 0;
        if byte.is_ascii_alphanumeric() {
            says |= ALPHANUMERIC | OPENS_NO_KEY | TELLS;
        }
        if matches!(byte, b'(' | b')' | b'=' | b'>' | b'+' | b'_') {
            says |= OPENS_NO_KEY;
        }
        if matches!(byte, b')' | b'(' | b';' | b'<' | b'>' | b'&' | b'|' | b'+' | b'*' | b'%' | b'!' | b'?')
            || byte == b']'
        {
            says |= GOES_ON;
        }
        if matches!(byte, b'"' | 0x80..) {
            says |= TELLS;
        }
        table[byte as usize] = says;
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};
