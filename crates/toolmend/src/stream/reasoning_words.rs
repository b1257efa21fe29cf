//! Reasoning that a model begins and ends with words.
//!
//! Only the id of the model shows that these words mean something: for any other model they are text. They are text as well
//! if the words that end the reasoning never come.

use super::Stream;
use super::held_output::Assumption;
use crate::dialect::input::Step;
use crate::dialect::models::ReasoningWords;
use crate::dialect::token::TextKind;

impl Stream {
    /// Whether the reasoning of the model begins or ends here with words. They are consumed.
    // Case: dialects/granite3_json/thought-process
    pub(super) fn read_reasoning_words(
        &mut self,
        words: &'static ReasoningWords,
        at: usize,
        line_start: bool,
        done: bool,
    ) -> Step<()> {
        let rest = &self.buffer[at..];
        if self.is_first(at) && line_start {
            match find_words(words.openers, rest, done) {
                Step::Got(length) => {
                    self.open_reasoning_with_words(at + length);
                    return Step::Got(());
                }
                Step::More => return Step::More,
                Step::No => {}
            }
        }
        if self.text_kind != TextKind::Reasoning || !self.assumes(Assumption::OpenReasoning) {
            return Step::No;
        }
        match find_words(words.closers, rest, done) {
            Step::Got(length) if line_start || rest.starts_with('<') => {
                self.confirm_held_output();
                self.flush_before(at);
                self.consume(length);
                self.enter_text(TextKind::Content);
                self.scanned = 0;
                Step::Got(())
            }
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    /// Assumes that what follows the first bytes of the buffer is reasoning.
    fn open_reasoning_with_words(&mut self, length: usize) {
        // If the reasoning is never closed, everything is read again, and the words are text.
        let words = self.reasoning_words.take();
        self.hold_output(Assumption::OpenReasoning);
        self.reasoning_words = words;
        self.consume(length);
        self.enter_text(TextKind::Reasoning);
        self.reads_calls_in_reasoning = false;
        self.scanned = 0;
    }

    /// Whether every line may end the reasoning.
    pub(super) fn waits_for_words(&self) -> bool {
        self.reasoning_words.is_some() && self.text_kind == TextKind::Reasoning
    }
}

/// The length of the words that the text begins with.
fn find_words(words: &[&str], text: &str, done: bool) -> Step<usize> {
    match words.iter().find(|words| text.starts_with(**words)) {
        Some(words) => Step::Got(words.len()),
        None if !done && words.iter().any(|words| words.starts_with(text)) => Step::More,
        None => Step::No,
    }
}
