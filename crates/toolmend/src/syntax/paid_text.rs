//! The text of a reader, which can only be looked at by paying for it.
//!
//! The bytes are private to this module, so no rule can look at text without burning fuel. What would be searched again and
//! again is found once for the whole text ([`Comments`]).

use std::cell::OnceCell;
use std::ops::Range;

use super::fuel::Fuel;
use super::literal::escapes::{self, Escape};
use super::literal::prefixed;
use super::reader::Reader;
use super::token::{self, Punctuation, Quote};
use super::{near_strict, number, slips, surrounding_text};
use crate::json::strict::{self, Fault};
use crate::repair::RepairKind;
use toolmend_json::scan::{self, BLOCK, Block, Specials};

/// A run of bytes is looked at faster than the same bytes one by one: this many for a unit.
const BYTES_PER_UNIT: usize = 4;

/// What it costs to start a strict reader, in bytes.
const CALL: usize = 32;

/// What it costs to look at a mark beyond ASCII.
const WIDE_MARK: usize = 8;

/// A text, and the tank that pays for every look at it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaidText<'a> {
    text: &'a str,
    fuel: &'a Fuel,
}

/// Where the block comments of a text begin and end. Each list is made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Comments {
    openers: OnceCell<Vec<usize>>,
    closers: OnceCell<Vec<usize>>,
}

impl<'a> PaidText<'a> {
    pub(super) fn new(text: &'a str, fuel: &'a Fuel) -> Self {
        PaidText { text, fuel }
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    #[inline]
    pub(super) fn byte(self, at: usize) -> Option<&'a u8> {
        self.fuel.spend(1);
        self.text.as_bytes().get(at)
    }

    /// The byte at `at`, which is inside the text.
    #[inline]
    pub(super) fn byte_at(self, at: usize) -> u8 {
        self.fuel.spend(1);
        self.text.as_bytes()[at]
    }

    #[inline]
    fn pay_run(self, length: usize) {
        self.fuel.spend(1 + length / BYTES_PER_UNIT);
    }

    /// Pays for what was looked at from `from` up to `end`, and returns the latter.
    #[inline]
    fn paid_up_to(self, from: usize, end: usize) -> usize {
        self.fuel.spend(1 + end.saturating_sub(from));
        end
    }

    #[inline]
    pub(super) fn bytes(self, range: Range<usize>) -> &'a [u8] {
        self.pay_run(range.len());
        &self.text.as_bytes()[range]
    }

    #[inline]
    pub(super) fn str(self, range: Range<usize>) -> &'a str {
        self.pay_run(range.len());
        &self.text[range]
    }

    /// The text of this range, if it is inside the text and ends between characters.
    #[inline]
    pub(super) fn get(self, range: Range<usize>) -> Option<&'a str> {
        self.pay_run(range.len());
        self.text.get(range)
    }

    /// The text from `at` on.
    #[inline]
    pub(super) fn rest(self, at: usize) -> &'a str {
        self.str(at..self.len())
    }

    /// At most so many bytes from `at` on.
    #[inline]
    pub(super) fn window(self, at: usize, most: usize) -> &'a [u8] {
        let start = at.min(self.len());
        self.bytes(start..self.len().min(start + most))
    }

    #[inline]
    pub(super) fn is_char_boundary(self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    /// Whether an element may be missing beside the comma at `at`.
    #[inline]
    pub(super) fn is_hole(self, at: usize) -> bool {
        self.fuel.spend(1);
        slips::is_hole(self.text.as_bytes(), at)
    }

    #[inline]
    pub(super) fn starts_with(self, at: usize, mark: &[u8]) -> bool {
        self.fuel.spend(1);
        self.text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(mark))
    }

    /// Whether the text before `end` ends in this mark.
    #[inline]
    pub(super) fn ends_with(self, end: usize, mark: &[u8]) -> bool {
        self.fuel.spend(1);
        self.text.as_bytes()[..end].ends_with(mark)
    }

    /// The end of this range without the white space at its end, and without characters that have no width.
    // Case: syntax/zero-width-after-a-number
    pub(super) fn trim_end(self, range: Range<usize>) -> usize {
        let is_blank = |ch: char| ch.is_whitespace() || matches!(ch, '\u{200b}' | '\u{2060}' | '\u{feff}');
        let end = range.start + self.text[range.clone()].trim_end_matches(is_blank).len();
        self.fuel.spend(1 + range.end - end);
        end
    }

    /// The end of this range without the ASCII white space at its end.
    pub(super) fn trim_ascii_end(self, range: Range<usize>) -> usize {
        let end = range.start + self.text.as_bytes()[range.clone()].trim_ascii_end().len();
        self.fuel.spend(1 + range.end - end);
        end
    }

    /// The last byte of this range that is no ASCII white space.
    pub(super) fn last_visible(self, range: Range<usize>) -> Option<u8> {
        let end = self.trim_ascii_end(range.clone());
        (end > range.start).then(|| self.byte_at(end - 1))
    }

    /// Where the ASCII white space that starts at `at` ends.
    pub(super) fn skip_ascii_whitespace(self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        self.paid_up_to(at, self.len() - rest.trim_ascii_start().len())
    }

    /// Where the white space that starts at `at` ends.
    #[inline]
    pub(super) fn skip_whitespace(self, at: usize) -> usize {
        self.paid_up_to(at, strict::skip_whitespace(self.text.as_bytes(), at))
    }

    /// The first byte from `at` on that a JSON string cannot simply contain; `end` if there is none before it.
    #[inline]
    pub(super) fn find_special(self, at: usize, end: usize) -> usize {
        self.paid_up_to(at, scan::find_special(&self.text.as_bytes()[..end], at))
    }

    /// Finds such bytes one after the other.
    #[inline]
    pub(super) fn specials(self) -> PaidSpecials<'a> {
        PaidSpecials { specials: Specials::new(self.text.as_bytes()), fuel: self.fuel }
    }

    /// Pays for a look at a mark. Those beyond ASCII are many, and all of them are compared.
    #[inline]
    fn pay_mark(self, at: usize) {
        let is_wide = matches!(self.text.as_bytes().get(at), Some(0xC2 | 0xE2 | 0xE3 | 0xEF));
        self.fuel.spend(if is_wide { WIDE_MARK } else { 1 });
    }

    /// The punctuation at `at` and its length.
    #[inline]
    pub(super) fn punctuation_at(self, at: usize) -> Option<(Punctuation, usize)> {
        self.pay_mark(at);
        token::punctuation_with(self.text.as_bytes(), at, |from, quotes| {
            let offset = memchr::memmem::find(&self.text.as_bytes()[from..], quotes);
            self.pay_run(offset.unwrap_or(self.len() - from));
            offset.map(|offset| from + offset)
        })
    }

    /// A colon at `at`, or what a model wrote for one. Returns its length and whether it is a plain colon.
    #[inline]
    pub(super) fn colon_at(self, at: usize) -> Option<(usize, bool)> {
        self.pay_mark(at);
        token::colon_at(self.text.as_bytes(), at)
    }

    /// Whether there is no trivia at `at`, seen at a glance.
    #[inline]
    pub(super) fn starts_token(self, at: usize) -> bool {
        self.fuel.spend(1);
        token::starts_token(self.text.as_bytes(), at)
    }

    /// One piece of trivia that is no block comment, see [`token::trivia_at`].
    #[inline]
    fn trivia_at(self, at: usize) -> Option<(usize, Option<RepairKind>)> {
        let found = token::trivia_at(self.text.as_bytes(), at, 0);
        self.paid_up_to(at, found.map_or(at, |(end, _)| end));
        found
    }

    /// The length of the quote's closer at `at`, or 0.
    #[inline]
    pub(super) fn closer_at(self, quote: Quote, at: usize) -> usize {
        self.pay_mark(at);
        quote.closes_at(self.text.as_bytes(), at)
    }

    /// The first closer of the quote from `at` on, in the same line and before `limit`, with its length.
    pub(super) fn closer_on_line(self, quote: Quote, at: usize, limit: usize) -> Option<(usize, usize)> {
        let limit = limit.min(self.len());
        let found = quote.closer_on_line(&self.text.as_bytes()[..limit], at);
        self.paid_up_to(at, found.map_or(limit, |(end, _)| end));
        found
    }

    /// See [`Quote::plain_run`].
    #[inline]
    pub(super) fn plain_run(self, quote: Quote, at: usize) -> usize {
        self.paid_up_to(at, quote.plain_run(self.text.as_bytes(), at))
    }

    /// The length of the prefix of a Python literal at `at`, or 0.
    #[inline]
    pub(super) fn prefix_len(self, at: usize) -> usize {
        self.fuel.spend(1);
        prefixed::prefix_len(self.text.as_bytes(), at)
    }

    /// The escape at `at` as Python and JavaScript have it, with its length.
    #[inline]
    pub(super) fn escape_at(self, at: usize, end: usize) -> (Escape, usize) {
        let found = escapes::escape_at(self.text.as_bytes(), at, end);
        self.fuel.spend(1 + found.1);
        found
    }

    /// Whether four hexadecimal digits are at `at`.
    #[inline]
    pub(super) fn has_hex4(self, at: usize) -> bool {
        self.fuel.spend(4);
        strict::parse_hex4(self.text.as_bytes(), at).is_some()
    }

    /// The position after the bare word at `at`.
    #[inline]
    pub(super) fn word_end(self, at: usize) -> usize {
        self.paid_up_to(at, token::word_end(self.text.as_bytes(), at))
    }

    /// The position after the bare word at `at`, if it is no longer than `most` bytes.
    #[inline]
    pub(super) fn word_end_within(self, at: usize, most: usize) -> Option<usize> {
        // A character may begin within the limit and end after it.
        let bytes = self.text.as_bytes();
        let window = &bytes[..bytes.len().min(at.saturating_add(most + 4))];
        let end = self.paid_up_to(at, token::word_end(window, at));
        (end - at <= most).then_some(end)
    }

    /// The position after the word at `at` that may be a number, see [`number::word_end`].
    #[inline]
    pub(super) fn number_end(self, at: usize) -> usize {
        self.paid_up_to(at, number::word_end(self.text.as_bytes(), at))
    }

    /// Where the strict value at `at` ends.
    pub(super) fn strict_value_end(self, at: usize, depth: usize) -> Option<usize> {
        let found = strict::check_value(self.text, at, depth);
        let (Ok(end) | Err(Fault::Syntax(end) | Fault::Depth(end))) = found;
        self.pay_run(CALL + end.saturating_sub(at));
        found.ok()
    }

    /// Where the value at `at` ends that is strict but for what `near_strict` forgives.
    pub(super) fn near_strict_value_end(self, at: usize, depth: usize) -> Option<usize> {
        let (found, seen) = near_strict::value_end(self.text, at, depth);
        self.paid_up_to(at, seen);
        found
    }

    /// See [`slips::is_glued`].
    pub(super) fn is_glued(self, at: usize) -> bool {
        self.fuel.spend(1);
        slips::is_glued(self.text.as_bytes(), at)
    }

    /// The position after what templates leave behind, from `at` on.
    pub(super) fn skip_residue(self, at: usize) -> usize {
        let end = surrounding_text::skip_residue(self.text, at);
        self.fuel.spend(1 + 4 * (end - at));
        end
    }

    /// Where each of these marks is.
    fn find_all(self, mark: &[u8]) -> Vec<usize> {
        let bytes = self.bytes(0..self.len());
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(offset) = memchr::memmem::find(&bytes[from..], mark) {
            found.push(from + offset);
            from += offset + 1;
        }
        self.fuel.spend(4 * found.len());
        found
    }
}

/// Finds the bytes that a JSON string cannot simply contain, and pays for the way to them.
#[derive(Debug)]
pub(super) struct PaidSpecials<'a> {
    specials: Specials<'a>,
    fuel: &'a Fuel,
}

impl<'a> PaidSpecials<'a> {
    /// The position of the first such byte from `at` on.
    #[inline]
    pub(super) fn next(&mut self, at: usize) -> usize {
        let end = self.specials.next(at);
        self.fuel.spend(1 + end.saturating_sub(at));
        end
    }

    /// See [`Specials::block_at`].
    #[inline]
    pub(super) fn block_at(&mut self, at: usize) -> Option<(usize, &'a [u8; BLOCK], Block)> {
        self.fuel.spend(1);
        self.specials.block_at(at)
    }

    /// See [`Specials::load_block`].
    #[inline]
    pub(super) fn load_block(&mut self, at: usize) -> Option<(usize, &'a [u8; BLOCK], Block)> {
        self.fuel.spend(BLOCK / 2);
        self.specials.load_block(at)
    }
}

impl Reader<'_> {
    /// Pays for work that is no look at a byte; false when no fuel is left.
    #[inline]
    pub(super) fn spend_fuel(&self, work: usize) -> bool {
        self.fuel.spend(work)
    }

    /// One piece of trivia, see [`token::trivia_at`].
    #[inline]
    pub(super) fn trivia_at(&self, at: usize) -> Option<(usize, Option<RepairKind>)> {
        if self.text.starts_with(at, b"/*") {
            return Some((self.comment_end(at)?, Some(RepairKind::CommentRemoved)));
        }
        self.text.trivia_at(at)
    }

    /// The position after the block comment that starts at `at`.
    fn comment_end(&self, at: usize) -> Option<usize> {
        let closers = self.comments.closers.get_or_init(|| self.text.find_all(b"*/"));
        self.spend_fuel(4);
        let next = closers.partition_point(|&closer| closer < at + 2);
        closers.get(next).map(|closer| closer + 2)
    }

    /// The last `/*` in this range.
    pub(super) fn last_comment_start(&self, range: Range<usize>) -> Option<usize> {
        let openers = self.comments.openers.get_or_init(|| self.text.find_all(b"/*"));
        self.spend_fuel(4);
        let before = openers.partition_point(|&opener| opener + 2 <= range.end);
        before.checked_sub(1).map(|last| openers[last]).filter(|last| *last >= range.start)
    }
}
