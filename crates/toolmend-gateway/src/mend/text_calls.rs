//! Calls written as text, for protocols that have no other place for them.

use toolmend::{CallToRender, dialects};
use toolmend_protocol::{OutgoingPart, ReadyCall};

/// The dialect that most readers know, for calls in a dialect that cannot be written.
const FALLBACK: &str = "hermes_json";

/// Assembles text with calls. Calls are written in the dialect of their model. Consecutive calls are written together,
/// because most dialects have one frame around all of them. Programs also find them listed beside the text.
#[derive(Debug)]
pub(super) struct TextCallWriter {
    out: Vec<OutgoingPart>,
    calls: Vec<ReadyCall>,
    dialect: &'static str,
    reasoning: String,
    /// Whether the current line already has text.
    line_has_text: bool,
}

impl TextCallWriter {
    /// Returns a writer. `line_has_text`: there is text before.
    pub(super) fn new(line_has_text: bool) -> Self {
        TextCallWriter {
            out: Vec::new(),
            calls: Vec::new(),
            dialect: "",
            reasoning: String::new(),
            line_has_text,
        }
    }

    /// Adds a part; `dialect` is the dialect of a call.
    pub(super) fn add_part(&mut self, part: OutgoingPart, dialect: &'static str) {
        if let OutgoingPart::Call(call) = part {
            if dialect != self.dialect {
                self.flush();
            }
            self.flush_reasoning();
            self.dialect = dialect;
            self.calls.push(call);
        } else {
            let after_calls = !self.calls.is_empty();
            self.flush();
            match part {
                OutgoingPart::Text(text) if after_calls => self.write_on_new_line(&text),
                OutgoingPart::Text(text) => self.write_text(text),
                other => self.out.push(other),
            }
        }
    }

    fn write_text(&mut self, text: String) {
        self.line_has_text = !text.ends_with('\n') && (self.line_has_text || !text.is_empty());
        self.out.push(OutgoingPart::Text(text));
    }

    /// Writes text on a new line: readers strip white space around calls, and some dialects are recognised only at the
    /// beginning of a line.
    fn write_on_new_line(&mut self, text: &str) {
        let text = text.trim_start_matches('\n');
        self.write_text(if self.line_has_text { format!("\n{text}") } else { text.to_owned() });
    }

    /// Adds the model's reasoning, which is part of the text here.
    pub(super) fn add_reasoning(&mut self, text: &str) {
        self.flush_calls();
        self.reasoning.push_str(text);
    }

    /// Returns everything that was written.
    pub(super) fn finish(mut self) -> Vec<OutgoingPart> {
        self.flush();
        self.out
    }

    fn flush(&mut self) {
        self.flush_reasoning();
        self.flush_calls();
    }

    fn flush_reasoning(&mut self) {
        if !self.reasoning.is_empty() {
            let reasoning = std::mem::take(&mut self.reasoning);
            self.write_text(format!("<think>{reasoning}</think>"));
        }
    }

    fn flush_calls(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            return;
        }
        let written: Vec<CallToRender<'_>> = calls
            .iter()
            .map(|call| CallToRender { name: &call.name, arguments: &call.arguments, id: &call.id })
            .collect();
        let rows = [self.dialect, FALLBACK].into_iter();
        let rows = rows.filter_map(|name| dialects().iter().find(|row| row.name() == name));
        let text = rows.into_iter().find_map(|row| row.render(&written)).unwrap_or_default();
        self.write_on_new_line(&text);
        self.out.extend(calls.into_iter().map(OutgoingPart::Call));
    }
}
