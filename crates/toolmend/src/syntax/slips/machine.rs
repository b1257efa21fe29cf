//! A recogniser of JSON: which token may come next, and where the text stops being JSON.
//!
//! It builds nothing. Its whole state is a small `Copy` value, so that a search can go on from any token of a text with
//! one mark added, dropped or changed. It is as tolerant as a notation may be without any doubt about its structure: other
//! quotes, comments, bare keys, trailing commas, and the literals and numbers of other languages.

use crate::json::strict;
use crate::repair::RepairKind;
use crate::syntax::{number, surrounding_text, token};

/// A mark of JSON's structure that is not a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    Comma,
    Colon,
}

/// Every mark but the quote.
pub(super) const MARKS: [Mark; 6] =
    [Mark::OpenObject, Mark::CloseObject, Mark::OpenArray, Mark::CloseArray, Mark::Comma, Mark::Colon];

impl Mark {
    pub(super) const fn of(byte: u8) -> Option<Mark> {
        match byte {
            b'{' => Some(Mark::OpenObject),
            b'}' => Some(Mark::CloseObject),
            b'[' => Some(Mark::OpenArray),
            b']' => Some(Mark::CloseArray),
            b',' => Some(Mark::Comma),
            b':' => Some(Mark::Colon),
            _ => None,
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Mark::OpenObject => "{",
            Mark::CloseObject => "}",
            Mark::OpenArray => "[",
            Mark::CloseArray => "]",
            Mark::Comma => ",",
            Mark::Colon => ":",
        }
    }

    pub(super) const fn closes(self) -> bool {
        matches!(self, Mark::CloseObject | Mark::CloseArray)
    }

    pub(super) const fn opens(self) -> bool {
        matches!(self, Mark::OpenObject | Mark::OpenArray)
    }
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// A value, after a colon or at the root.
    Value,
    /// A value, or the end of the array.
    Element,
    /// A key, or the end of the object.
    Key,
    /// The colon after a key.
    Colon,
    /// A comma, or the end of the object or array.
    Separator,
    /// Nothing more: the root is complete.
    End,
}

/// The state of the recogniser between two tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    /// Where the last token ended.
    pub(super) pos: usize,
    pub(super) expect: Expect,
    depth: u32,
    /// One bit for each open bracket, the innermost last: set for objects.
    objects: u128,
}

/// The most brackets that fit into the bits of a [`Machine`].
const MAX_DEPTH: u32 = u128::BITS;

impl Machine {
    pub(super) const fn at(start: usize) -> Self {
        Machine { pos: start, expect: Expect::Value, depth: 0, objects: 0 }
    }

    /// The same state at another position.
    pub(super) const fn moved_to(self, pos: usize) -> Self {
        Machine { pos, ..self }
    }

    fn in_object(self) -> bool {
        self.depth > 0 && self.objects & 1 == 1
    }

    /// Whether the innermost bracket is an array in an array.
    pub(super) const fn in_row(self) -> bool {
        self.depth > 1 && self.objects.trailing_zeros() > 1
    }

    /// Whether the innermost bracket is an array.
    pub(super) const fn in_array(self) -> bool {
        self.depth > 0 && self.objects & 1 == 0
    }

    /// The state after a mark; `None` if it may not come here.
    pub(super) fn after_mark(self, mark: Mark) -> Option<Machine> {
        match (mark, self.expect) {
            (Mark::OpenObject | Mark::OpenArray, Expect::Value | Expect::Element) => {
                let object = mark == Mark::OpenObject;
                (self.depth < MAX_DEPTH).then(|| Machine {
                    expect: if object { Expect::Key } else { Expect::Element },
                    depth: self.depth + 1,
                    objects: self.objects << 1 | u128::from(object),
                    ..self
                })
            }
            (Mark::CloseObject, Expect::Key | Expect::Separator) if self.in_object() => Some(self.closed()),
            (Mark::CloseArray, Expect::Element | Expect::Separator)
                if self.depth > 0 && !self.in_object() =>
            {
                Some(self.closed())
            }
            (Mark::Comma, Expect::Separator) => {
                let expect = if self.in_object() { Expect::Key } else { Expect::Element };
                Some(Machine { expect, ..self })
            }
            (Mark::Colon, Expect::Colon) => Some(Machine { expect: Expect::Value, ..self }),
            _ => None,
        }
    }

    /// The state after a string, which is a key or a value.
    pub(super) fn after_string(self) -> Option<Machine> {
        match self.expect {
            Expect::Key => Some(Machine { expect: Expect::Colon, ..self }),
            _ => self.after_scalar(),
        }
    }

    /// The state after a number or literal.
    pub(super) fn after_scalar(self) -> Option<Machine> {
        matches!(self.expect, Expect::Value | Expect::Element).then(|| self.after_value())
    }

    fn closed(self) -> Machine {
        Machine { depth: self.depth - 1, objects: self.objects >> 1, ..self }.after_value()
    }

    fn after_value(self) -> Machine {
        Machine { expect: if self.depth == 0 { Expect::End } else { Expect::Separator }, ..self }
    }
}

/// What one step of the recogniser came to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A token: where it starts, and the state after it.
    Token(usize, Machine),
    /// The root is complete, and what follows is no part of it.
    Accepted,
    /// The token that starts here may not come here, or is no token.
    Dead(usize),
}

/// The text that is recognised, and the work that is left.
#[derive(Debug)]
pub(super) struct Recogniser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    comments_end: usize,
    fuel: usize,
    /// Whether keys may lack their quotes: only if the first one does.
    // Case: syntax/assignment-in-text
    bare_keys: bool,
}

/// So many bytes that are skipped by vector code cost as much as one token.
const BYTES_PER_STEP: usize = 16;

impl<'t> Recogniser<'t> {
    pub(super) fn new(text: &'t str, fuel: usize) -> Self {
        let bytes = text.as_bytes();
        Recogniser {
            text,
            bytes,
            comments_end: memchr::memmem::rfind(bytes, b"*/").map_or(0, |last| last + 2),
            fuel,
            bare_keys: true,
        }
    }

    /// A recogniser of another text that goes on with this one's fuel.
    pub(super) fn of_other<'u>(&self, text: &'u str) -> Recogniser<'u> {
        Recogniser { bare_keys: self.bare_keys, ..Recogniser::new(text, self.fuel) }
    }

    /// Takes over what the recogniser of another text left of the fuel.
    pub(super) fn take_fuel_of(&mut self, other: &Recogniser<'_>) {
        self.fuel = other.fuel;
    }

    /// Lets keys lack their quotes if the first key of the value at `start` does.
    pub(super) fn learn_keys(&mut self, start: usize) {
        let mut at = start;
        while matches!(self.bytes.get(at), Some(b'{' | b'[')) {
            at = self.after_trivia(at + 1);
        }
        self.bare_keys = !matches!(self.bytes.get(at), Some(b'"' | b'\''));
    }

    pub(super) fn out_of_fuel(&self) -> bool {
        self.fuel == 0
    }

    /// Pays for `bytes` that were looked at.
    pub(super) fn pay(&mut self, bytes: usize) {
        self.fuel = self.fuel.saturating_sub(1 + bytes / BYTES_PER_STEP);
    }

    /// Runs to the end: `None` if the text is accepted from this state on, otherwise where it stops being JSON.
    pub(super) fn run(&mut self, mut machine: Machine) -> Option<usize> {
        loop {
            match self.step(machine) {
                Step::Token(_, next) => machine = next,
                Step::Accepted => return None,
                Step::Dead(at) => return Some(at),
            }
            if self.out_of_fuel() {
                return Some(machine.pos);
            }
        }
    }

    /// Reads the next token.
    pub(super) fn step(&mut self, machine: Machine) -> Step {
        let at = self.after_trivia(machine.pos);
        self.pay(at - machine.pos);
        if machine.expect == Expect::End {
            return if self.is_harmless_rest(machine.pos, at) { Step::Accepted } else { Step::Dead(at) };
        }
        let Some(&byte) = self.bytes.get(at) else { return Step::Dead(at) };
        let next = if let Some(mark) = Mark::of(byte) {
            machine.after_mark(mark).map(|next| next.moved_to(at + 1))
        } else if matches!(byte, b'"' | b'\'') {
            let end = self.string_end(byte, at + 1);
            machine.after_string().zip(end).map(|(next, end)| next.moved_to(end))
        } else {
            self.after_word(machine, at)
        };
        next.map_or(Step::Dead(at), |next| Step::Token(at, next))
    }

    /// The position after the quote that closes a string whose content starts at `body`.
    pub(super) fn string_end(&mut self, quote: u8, body: usize) -> Option<usize> {
        let mut at = body;
        let end = loop {
            let Some(offset) = memchr::memchr2(quote, b'\\', self.bytes.get(at..).unwrap_or_default()) else {
                break None;
            };
            at += offset;
            if self.bytes[at] == quote {
                break Some(at + 1);
            }
            at += 2;
        };
        self.pay(end.unwrap_or(self.bytes.len()).saturating_sub(body));
        end
    }

    fn after_word(&mut self, machine: Machine, at: usize) -> Option<Machine> {
        if machine.expect != Expect::Key
            && let Ok(end) = strict::check_number(self.bytes, at)
            && !self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
        {
            return machine.after_scalar().map(|next| next.moved_to(end));
        }
        let end = token::word_end(self.bytes, at);
        self.pay(end - at);
        let word = &self.text[at..end];
        let next = match machine.expect {
            Expect::Key => machine.after_string().filter(|_| self.bare_keys && is_bare_key(word)),
            _ => machine.after_scalar().filter(|_| number::is_scalar(word)),
        };
        next.map(|next| next.moved_to(end))
    }

    /// The position after white space and comments.
    pub(super) fn after_trivia(&self, at: usize) -> usize {
        let mut end = at;
        while let Some((next, kind)) = token::trivia_at(self.bytes, end, self.comments_end) {
            // Marks in a comment may be the structure that is missed after it.
            // Case: syntax/comment-with-marks
            let is_comment = kind == Some(RepairKind::CommentRemoved);
            if is_comment && memchr::memchr3(b'"', b'}', b']', &self.bytes[end..next]).is_some() {
                break;
            }
            end = next;
        }
        end
    }

    /// Whether what follows the root can be no part of it: nothing, a fence, residue of a template, or words without any
    /// mark.
    fn is_harmless_rest(&mut self, end: usize, at: usize) -> bool {
        let rest = &self.text[at.min(self.text.len())..];
        self.pay(rest.len());
        // `{"a": 12}0`: what touches the last bracket belongs to the value.
        // Case: syntax/digit-after-the-last-bracket
        if is_glued(self.bytes, at) {
            return false;
        }
        // Words follow a value only after its own last bracket. After one that was added they may be the rest of it.
        // Case: syntax/cut-after-inner-quote
        let is_closed = end.checked_sub(1).is_some_and(|last| matches!(self.bytes[last], b'}' | b']'));
        let has_marks = rest.bytes().any(|byte| Mark::of(byte).is_some() || byte == b'"');
        if !has_marks && (is_closed || rest.is_empty()) {
            return true;
        }
        let may_be_residue = if is_closed { !rest.starts_with(['}', ']', ',', ';']) } else { !has_marks };
        may_be_residue && surrounding_text::skip_residue(self.text, at) >= self.text.len()
    }
}

/// Whether a letter or digit directly follows a closing bracket.
pub(in crate::syntax) fn is_glued(bytes: &[u8], at: usize) -> bool {
    at > 0 && matches!(bytes[at - 1], b'}' | b']') && bytes.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether a word can be a key without quotes.
fn is_bare_key(word: &str) -> bool {
    word.starts_with(|ch: char| ch.is_alphabetic() || ch == '_' || ch == '$')
}
