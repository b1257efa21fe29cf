//! Previews: what can be shown of JSON that is still being written.
//!
//! A preview only grows. Nothing is shown before it is certain where it belongs, and nothing that was shown is taken back, because the
//! reader here goes from left to right and never returns. Where it would have to, it stops, and the preview stays as it is.
//!
//! It is for display and decides nothing: what runs is what [`fix`](crate::fix) and [`Mender`](crate::Mender) return.

mod lookahead;
mod string;

use self::lookahead::{Seen, after_trivia, key_at, value_follows};
use self::string::OpenString;
use crate::json::{strict, text};

/// How deep brackets may nest.
const MAX_DEPTH: usize = 128;

/// Words for values, in the spelling of several languages. JSON has no number for the last ones, and reads them as null.
const LITERALS: &[(&str, &str)] = &[
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("undefined", "null"),
    ("NaN", "null"),
    ("Infinity", "null"),
    ("-Infinity", "null"),
];

/// Reads JSON piece by piece, and knows at any time what can be shown of it.
///
/// A string that is still open is shown as far as it goes. A number is shown once something after it ends it. Text before the first
/// bracket is left out. The text may have the usual faults: comments, single quotes, keys without quotes, quotes inside of strings,
/// missing and trailing commas.
///
/// A preview is incomplete by definition and must never be used as arguments. It is never taken back: each one begins with the one
/// before it.
///
/// ```
/// let mut preview = toolmend::Preview::new();
/// preview.push(r#"{"path": "a.txt", "content": "Once up"#);
/// assert_eq!(preview.json().as_deref(), Some(r#"{"path": "a.txt", "content": "Once up"}"#));
/// preview.push(r#"on a time", "mode": 64"#);
/// assert_eq!(preview.json().as_deref(), Some(r#"{"path": "a.txt", "content": "Once upon a time"}"#));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// JSON without the closers of what is open.
    shown: String,
    open: Vec<Bracket>,
    place: Place,
    /// Text that more text has to explain.
    rest: String,
    /// The key whose value has not begun, quoted.
    key: Option<String>,
}

/// An open bracket, and whether it has a value yet.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    is_object: bool,
    is_empty: bool,
}

/// Where the reader is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Before the first bracket, after words or not.
    Before { has_words: bool },
    /// Before a key or the end of an object.
    Key,
    /// Before a value, or the end of an array.
    Value,
    /// In a string that is a value.
    String(OpenString),
    /// After a value.
    After,
    /// The text cannot be read on, or the value is complete.
    Stopped,
}

impl Default for Place {
    fn default() -> Self {
        Place::Before { has_words: false }
    }
}

/// How far a step came: the number of bytes that are settled, or that more text is needed.
enum Step {
    Took(usize),
    Wait,
}

impl Preview {
    /// Begins a text.
    ///
    /// ```
    /// assert_eq!(toolmend::Preview::new().json(), None, "there is nothing to show yet");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next piece, which may end anywhere.
    ///
    /// ```
    /// let mut preview = toolmend::Preview::new();
    /// for piece in ["[{'id", "': 1, 'tags': ['a", "', 'b"] {
    ///     preview.push(piece);
    /// }
    /// assert_eq!(preview.json().as_deref(), Some(r#"[{"id": 1, "tags": ["a", "b"]}]"#));
    /// ```
    pub fn push(&mut self, piece: &str) {
        let mut rest = std::mem::take(&mut self.rest);
        rest.push_str(piece);
        let mut at = 0;
        while at < rest.len() && !matches!(self.place, Place::Stopped) {
            match self.step(&rest[at..]) {
                Step::Took(length) => at += length,
                Step::Wait => break,
            }
        }
        if !matches!(self.place, Place::Stopped) {
            rest.drain(..at);
            self.rest = rest;
        }
    }

    /// The value so far as strict JSON, or `None` before its first bracket.
    ///
    /// ```
    /// let mut preview = toolmend::Preview::new();
    /// preview.push("Here it is: ");
    /// assert_eq!(preview.json(), None);
    /// preview.push(r#"{"steps": [{"say": "hi"#);
    /// assert_eq!(preview.json().as_deref(), Some(r#"{"steps": [{"say": "hi"}]}"#));
    /// ```
    pub fn json(&self) -> Option<String> {
        if self.shown.is_empty() {
            return None;
        }
        let mut json = self.shown.clone();
        if matches!(self.place, Place::String(_)) {
            json.push('"');
        }
        json.extend(self.open.iter().rev().map(|bracket| if bracket.is_object { '}' } else { ']' }));
        Some(json)
    }

    /// How long the preview is, without closers.
    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }

    fn step(&mut self, rest: &str) -> Step {
        match self.place {
            Place::Before { has_words } => self.step_before(has_words, rest),
            Place::String(string) => self.step_in_string(string, rest),
            Place::Stopped => Step::Wait,
            Place::Key | Place::Value | Place::After => match after_trivia(rest) {
                Seen::Wait => Step::Wait,
                Seen::No => self.stop(),
                Seen::Yes(0) => match self.place {
                    Place::Key => self.step_key(rest),
                    Place::Value => self.step_value(rest),
                    _ => self.step_after(rest),
                },
                Seen::Yes(trivia) => Step::Took(trivia),
            },
        }
    }

    fn stop(&mut self) -> Step {
        // An open string stays shown as far as it goes.
        if matches!(self.place, Place::String(_)) {
            self.shown.push('"');
        }
        self.place = Place::Stopped;
        Step::Wait
    }

    /// Looks for the first bracket. After words, only one that begins a value counts.
    fn step_before(&mut self, has_words: bool, rest: &str) -> Step {
        let at = rest.find(['{', '[']);
        let before = &rest[..at.unwrap_or(rest.len())];
        let has_words = match lookahead::words_in(before) {
            Seen::Wait if at.is_none() => return Step::Wait,
            Seen::Yes(_) => true,
            _ => has_words,
        };
        let Some(at) = at else {
            self.place = Place::Before { has_words };
            return Step::Took(rest.len());
        };
        let inside = &rest[at + 1..];
        let begins = match rest.as_bytes()[at] {
            _ if !has_words => Seen::Yes(0),
            b'{' => lookahead::key_follows(inside),
            _ => lookahead::object_follows(inside),
        };
        match begins {
            Seen::Wait => Step::Wait,
            Seen::No => {
                self.place = Place::Before { has_words: true };
                Step::Took(at + 1)
            }
            Seen::Yes(_) => {
                self.place = Place::Value;
                Step::Took(at)
            }
        }
    }

    fn step_key(&mut self, rest: &str) -> Step {
        if rest.starts_with('}') {
            return self.close(true);
        }
        match key_at(rest) {
            Ok((key, length)) => {
                self.key = Some(key);
                self.place = Place::Value;
                Step::Took(length)
            }
            Err(Seen::Wait) => Step::Wait,
            Err(_) => self.stop(),
        }
    }

    fn step_value(&mut self, rest: &str) -> Step {
        let Some(first) = rest.chars().next() else { return Step::Wait };
        match first {
            '{' | '[' => self.open_bracket(first == '{'),
            ']' => self.close(false),
            _ => match OpenString::of_quote(first, rest) {
                Ok(string) => {
                    self.begin_value();
                    self.shown.push('"');
                    self.place = Place::String(string);
                    Step::Took(first.len_utf8())
                }
                Err(Seen::Wait) => Step::Wait,
                Err(_) => self.step_word(rest),
            },
        }
    }

    /// A number, a literal or words without quotes. They are shown once it is certain where they end.
    fn step_word(&mut self, rest: &str) -> Step {
        let Some(length) = rest.find([',', '}', ']', '\n', '"', '{', '[', '#']) else {
            return if rest.len() > lookahead::MAX_LENGTH { self.stop() } else { Step::Wait };
        };
        let word = lookahead::without_comment(&rest[..length]).trim_end();
        let Some(json) = read_word(word) else { return self.stop() };
        match value_follows(&rest[word.len()..], self.is_in_object()) {
            Seen::Wait => Step::Wait,
            Seen::No => self.stop(),
            Seen::Yes(_) => {
                self.begin_value();
                self.shown.push_str(&json);
                self.place = Place::After;
                Step::Took(word.len())
            }
        }
    }

    fn step_in_string(&mut self, mut string: OpenString, rest: &str) -> Step {
        let step = string.read(rest, self.is_in_object(), &mut self.shown);
        match step {
            string::Read::More(length) => {
                self.place = Place::String(string);
                if length == 0 { Step::Wait } else { Step::Took(length) }
            }
            string::Read::End(length) => {
                self.shown.push('"');
                self.place = Place::After;
                Step::Took(length)
            }
        }
    }

    fn step_after(&mut self, rest: &str) -> Step {
        let is_in_object = self.is_in_object();
        match rest.as_bytes()[0] {
            b'}' => self.close(true),
            b']' => self.close(false),
            // A comma that is missing makes no difference to what is shown.
            byte => {
                self.place = if is_in_object { Place::Key } else { Place::Value };
                if matches!(byte, b',' | b';') { Step::Took(1) } else { self.step(rest) }
            }
        }
    }

    fn is_in_object(&self) -> bool {
        self.open.last().is_some_and(|bracket| bracket.is_object)
    }

    /// Shows the comma and the key that come before a value.
    fn begin_value(&mut self) {
        if let Some(bracket) = self.open.last_mut() {
            if !bracket.is_empty {
                self.shown.push_str(", ");
            }
            bracket.is_empty = false;
        }
        if let Some(key) = self.key.take() {
            self.shown.push_str(&key);
            self.shown.push_str(": ");
        }
    }

    fn open_bracket(&mut self, is_object: bool) -> Step {
        if self.open.len() == MAX_DEPTH {
            return self.stop();
        }
        self.begin_value();
        self.shown.push(if is_object { '{' } else { '[' });
        self.open.push(Bracket { is_object, is_empty: true });
        self.place = if is_object { Place::Key } else { Place::Value };
        Step::Took(1)
    }

    /// Closes a bracket. One that was forgotten before it stops the reader.
    fn close(&mut self, is_object: bool) -> Step {
        match self.open.last() {
            Some(bracket) if bracket.is_object == is_object && self.key.is_none() => {
                self.open.pop();
                self.shown.push(if is_object { '}' } else { ']' });
                self.place = if self.open.is_empty() { Place::Stopped } else { Place::After };
                Step::Took(1)
            }
            _ => self.stop(),
        }
    }
}

/// The JSON of a number, a literal or words. Numbers that JSON does not know are left to the repairs.
fn read_word(word: &str) -> Option<String> {
    if let Some((_, json)) = LITERALS.iter().find(|(literal, _)| *literal == word) {
        return Some((*json).to_owned());
    }
    if strict::check(word, 1).is_ok() {
        return Some(word.to_owned());
    }
    word.starts_with(char::is_alphabetic).then(|| text::quote(word))
}
