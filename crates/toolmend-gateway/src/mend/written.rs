//! Calls as text, for the surfaces that have no other place for them.

use toolmend::{Written, dialects};

use crate::turn::{Made, ReadyCall};

/// The notation that most readers of text know, for calls of a dialect that has no way to write them.
const FALLBACK: &str = "hermes";

/// Puts text together again. Calls are written as their model writes them, those that follow each other in one go,
/// because most dialects have one frame around all of them; programs find them beside the text, too.
#[derive(Debug)]
pub(super) struct Writer {
    out: Vec<Made>,
    calls: Vec<ReadyCall>,
    dialect: &'static str,
    thoughts: String,
    /// Whether what comes next stands behind something on its line.
    follows: bool,
}

impl Writer {
    /// `follows`: there is text before.
    pub(super) fn new(follows: bool) -> Self {
        Writer { out: Vec::new(), calls: Vec::new(), dialect: "", thoughts: String::new(), follows }
    }

    pub(super) fn add(&mut self, made: Made, dialect: &'static str) {
        if let Made::Call(call) = made {
            if dialect != self.dialect {
                self.flush();
            }
            self.flush_thoughts();
            self.dialect = dialect;
            self.calls.push(call);
        } else {
            let after_calls = !self.calls.is_empty();
            self.flush();
            match made {
                Made::Text(text) if after_calls => self.line(&text),
                Made::Text(text) => self.text(text),
                other => self.out.push(other),
            }
        }
    }

    fn text(&mut self, text: String) {
        self.follows = !text.ends_with('\n') && (self.follows || !text.is_empty());
        self.out.push(Made::Text(text));
    }

    /// Text on a line of its own: the reader takes white space off around calls, and some notations are known by the
    /// line that they begin.
    fn line(&mut self, text: &str) {
        let text = text.trim_start_matches('\n');
        self.text(if self.follows { format!("\n{text}") } else { text.to_owned() });
    }

    /// The model's thoughts, which are part of the text here.
    pub(super) fn thoughts(&mut self, text: &str) {
        self.flush_calls();
        self.thoughts.push_str(text);
    }

    pub(super) fn finish(mut self) -> Vec<Made> {
        self.flush();
        self.out
    }

    fn flush(&mut self) {
        self.flush_thoughts();
        self.flush_calls();
    }

    fn flush_thoughts(&mut self) {
        if !self.thoughts.is_empty() {
            let thoughts = std::mem::take(&mut self.thoughts);
            self.text(format!("<think>{thoughts}</think>"));
        }
    }

    fn flush_calls(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            return;
        }
        let written: Vec<Written<'_>> = calls
            .iter()
            .map(|call| Written { name: &call.name, arguments: &call.arguments, id: &call.id })
            .collect();
        let rows = [self.dialect, FALLBACK].into_iter();
        let rows = rows.filter_map(|name| dialects().iter().find(|row| row.name() == name));
        let text = rows.into_iter().find_map(|row| row.render(&written)).unwrap_or_default();
        self.line(&text);
        self.out.extend(calls.into_iter().map(Made::Call));
    }
}
