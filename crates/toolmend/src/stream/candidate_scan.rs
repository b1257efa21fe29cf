//! The search for the next position at which something other than text may begin.
//!
//! Nearly all output is text, so this is the hot path. A table classifies most bytes, and the first letters classify
//! most lines: no tool's name and no announcement begins with them. The scan needs no buffer, so a piece that is only
//! text is passed on unchanged. It never decides that something is a call; it only says that something is certainly
//! text.

use super::shown_elements;
use crate::dialect::custom::CustomTable;
use crate::dialect::inferred;
use crate::dialect::table::Form;
use crate::dialect::token;
use crate::mender::Mender;
use toolmend_json::scan::{VECTOR, find_any};

/// What the search depends on.
#[derive(Clone, Copy)]
pub(super) struct Scan<'s> {
    pub(super) mender: &'s Mender,
    pub(super) custom: &'s CustomTable,
    /// The form that the caller asked for.
    pub(super) requested_form: Option<Form>,
    /// Lines are judged by their first letters. Otherwise every line is a candidate.
    pub(super) quick: bool,
    /// A server stripped the special tokens, so bare words are headers.
    pub(super) stripped: bool,
    /// The character before the text, if it is text.
    pub(super) last: Option<char>,
}

/// What the search found, and whether only blanks come before that position in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanResult {
    Candidate { at: usize, line_start: bool },
    End { line_start: bool },
}

impl Scan<'_> {
    /// Searches `text` from `at` on. `line_start`: a line begins there.
    pub(super) fn next(&self, text: &str, mut at: usize, line_start: bool) -> ScanResult {
        let bytes = text.as_bytes();
        let from = at;
        if line_start {
            match self.line(text, at) {
                Line::Blank => return ScanResult::End { line_start: true },
                Line::Mark(at) => return ScanResult::Candidate { at, line_start: true },
                Line::Text(after) => at = after,
            }
        }
        loop {
            if !self.stripped {
                at = next_mark(bytes, at);
            }
            let Some(&byte) = bytes.get(at) else { break };
            let mark = match byte {
                b'\n' => match self.line(text, at + 1) {
                    Line::Blank => return ScanResult::End { line_start: true },
                    Line::Mark(at) => return ScanResult::Candidate { at, line_start: true },
                    Line::Text(after) => {
                        at = after;
                        continue;
                    }
                },
                b'[' if self.ends_word(bytes, from, at) => {
                    return ScanResult::Candidate { at: at + 1 - WORD.len(), line_start: false };
                }
                b'[' if self.requested_form == Some(Form::Python) => true,
                b'<' if shown_elements::may_begin(&text[at..]) => true,
                b'<' | b'[' | b']' | 0xE2 => !token::is_text(&text[at..], self.custom),
                b'{' => self.requested_form == Some(Form::Json),
                b'>' => b">>>".starts_with(&bytes[at..bytes.len().min(at + 3)]),
                b'a' => self.stripped && agrees(ROLE, &text[at..]),
                _ => false,
            };
            if mark {
                return ScanResult::Candidate { at, line_start: false };
            }
            at += 1;
        }
        match half_word(bytes, from, self.last) {
            Some(at) => ScanResult::Candidate { at, line_start: false },
            None => ScanResult::End { line_start: false },
        }
    }

    /// Classifies the line that begins at `at`.
    fn line(&self, text: &str, mut at: usize) -> Line {
        let bytes = text.as_bytes();
        loop {
            match bytes.get(at) {
                None => return Line::Blank,
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(_) => break,
            }
        }
        let begins = || inferred::may_begin(&text[at..], |letter| self.mender.may_begin_name(letter));
        if !self.quick || MARKS[usize::from(bytes[at])] || begins() {
            Line::Mark(at)
        } else {
            Line::Text(at + 1)
        }
    }

    /// Whether the bracket at `at` ends the marker that looks like a word.
    // Case: dialects/functools/behind-words
    fn ends_word(&self, bytes: &[u8], from: usize, at: usize) -> bool {
        bytes[from..=at].ends_with(WORD) && begins_word(bytes, at + 1 - WORD.len(), self.last)
    }
}

/// The position at which the text stops inside that marker.
pub(super) fn half_word(bytes: &[u8], from: usize, last: Option<char>) -> Option<usize> {
    let mut at = bytes.len();
    // Most texts end in another letter, in a blank, or in a longer word.
    while at > from && bytes.len() - at < WORD.len() && LETTERS[usize::from(bytes[at - 1])] {
        at -= 1;
        if bytes[at] == WORD[0] {
            return (WORD.starts_with(&bytes[at..]) && begins_word(bytes, at, last)).then_some(at);
        }
    }
    None
}

fn begins_word(bytes: &[u8], at: usize, last: Option<char>) -> bool {
    match at.checked_sub(1) {
        Some(before) => bytes[before].is_ascii_whitespace(),
        None => last.is_none_or(|last| last.is_ascii_whitespace()),
    }
}

/// What is at the start of a line.
enum Line {
    /// Only white space.
    Blank,
    /// A candidate, at this position.
    Mark(usize),
    /// Text, at least up to this position.
    Text(usize),
}

/// The marker that looks like a word.
const WORD: &[u8] = b"functools[";

/// The speaker in headers whose special tokens were stripped.
pub(super) const ROLE: &str = "assistant";

/// Whether the text begins with this word, as far as the text goes.
pub(super) fn agrees(word: &str, text: &str) -> bool {
    text.starts_with(word) || word.starts_with(text)
}

/// Bytes at which something other than text may begin.
const BEGINNINGS: &[u8; 7] = b"<[]{>\n\xE2";
const MARKS: [bool; 256] = table(BEGINNINGS);

/// What a piece in the middle of a line is, judged by its bytes alone.
pub(super) enum Glance {
    Text,
    /// Text, unless it stops inside the marker that looks like a word.
    Word,
    Marks,
}

#[inline]
pub(super) fn glance(piece: &[u8]) -> Glance {
    match piece.iter().fold(0, |seen, &byte| seen | SIGHTS[usize::from(byte)]) {
        0 => Glance::Text,
        FIRST_LETTER => Glance::Word,
        _ => Glance::Marks,
    }
}

/// A byte at which something may begin.
const MARK: u8 = 1;
/// The first byte of that marker.
const FIRST_LETTER: u8 = 2;
static SIGHTS: [u8; 256] = {
    let mut sights = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if MARKS[byte] {
            sights[byte] = MARK;
        }
        byte += 1;
    }
    sights[WORD[0] as usize] |= FIRST_LETTER;
    sights
};

/// The next position from `at` on at which something other than text may begin.
#[inline]
fn next_mark(bytes: &[u8], at: usize) -> usize {
    // Most pieces are single words, for which a table is faster than vector instructions.
    if bytes.len() < at + VECTOR {
        let rest = bytes.get(at..).unwrap_or_default();
        return rest
            .iter()
            .position(|&byte| MARKS[usize::from(byte)])
            .map_or(bytes.len(), |length| at + length);
    }
    find_any(bytes, at, *BEGINNINGS).unwrap_or(bytes.len())
}

/// The bytes of that marker.
static LETTERS: [bool; 256] = table(WORD);

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
}
