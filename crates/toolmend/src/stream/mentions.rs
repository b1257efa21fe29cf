//! Markup that the text only talks about: in inline code, in a quotation, in the middle of a sentence.
//!
//! Such markup is text, whatever dialect it belongs to. What comes before the markup is known; for what comes after it
//! the machine waits, but never longer than to the next word.

use super::Stream;
use super::markup_action::MarkupAction;
use super::refusing_words;
use super::text_before::{Before, continues_sentence, is_before_markup, is_quoted};
use crate::dialect::input::{Input, Step};
use crate::dialect::token::{self, TextKind};

impl Stream {
    /// Whether the text only mentions this markup.
    // Case: dialects/hostile/tokens-in-a-sentence
    // Case: dialects/hostile/call-in-inline-code
    pub(super) fn is_mentioned(&self, action: &MarkupAction, at: usize, len: usize, done: bool) -> Step<()> {
        if self.text_kind != TextKind::Content || matches!(action, MarkupAction::Text) {
            return Step::No;
        }
        let line = self.line_before(at);
        let is_asked = self.is_asked_at(at);
        if !is_asked && (is_quoted(&line) || self.is_shown_by_lines(at)) {
            return Step::Got(());
        }
        // Models put calls that were asked for into inline code. Even then a negation counts.
        // Case: dialects/hermes_json/asked-for-and-negated
        if is_asked && is_quoted(&line) && refusing_words::negates(&line) {
            return Step::Got(());
        }
        let before = is_before_markup(&line);
        let rest = &self.buffer[at + len..];
        match action {
            // What follows the marker belongs to the call.
            MarkupAction::Block => Step::No,
            // What closes a section that is only mentioned is mentioned, too.
            // Case: dialects/hostile/reasoning-markers-in-a-sentence
            MarkupAction::Leave(_) if self.mentions_reasoning => Step::Got(()),
            _ if before == Before::Item => Step::Got(()),
            MarkupAction::Answer(..)
                if before == Before::Nothing && !rest.is_empty() && !rest.starts_with(' ') =>
            {
                Step::No
            }
            MarkupAction::Answer(..)
            | MarkupAction::Drop(_)
            | MarkupAction::Hide(_)
            | MarkupAction::Orphan(_)
            | MarkupAction::Tail(_) => match before {
                Before::Nothing => continues_sentence(rest, done, char::is_lowercase),
                Before::Sentence => match continues_sentence(rest, done, char::is_alphanumeric) {
                    Step::No => self.ends_sentence(at + len, done),
                    other => other,
                },
                Before::Item | Before::Glued | Before::Other => Step::No,
            },
            _ => self.is_in_sentence(&line, at + len, done),
        }
    }

    /// Whether a sentence ends with this markup: nothing follows it, or another line of text.
    // Case: dialects/hostile/token-ends-a-sentence
    fn ends_sentence(&self, after: usize, done: bool) -> Step<()> {
        // After a call, it may belong to it.
        if self.calls > 0 {
            return Step::No;
        }
        let rest = &self.buffer[after..];
        let next = rest.trim_start();
        if next.is_empty() {
            return match done {
                true if self.has_stopped() => Step::Got(()),
                true => Step::No,
                false => Step::More,
            };
        }
        if !rest[..rest.len() - next.len()].contains('\n') {
            return Step::No;
        }
        match token::read(next, done, self.custom.table()) {
            Step::Got(_) => Step::No,
            Step::More => Step::More,
            Step::No => Step::Got(()),
        }
    }

    /// Whether a marker that begins no call is part of a sentence.
    pub(super) fn is_mentioned_opener(&self, at: usize, done: bool) -> Step<()> {
        let Step::Got(markup) = Input::new(&self.buffer, done, self.custom.table()).markup(at) else {
            return Step::No;
        };
        if self.text_kind != TextKind::Content {
            return Step::No;
        }
        self.is_in_sentence(&self.line_before(at), at + markup.len(), done)
    }

    /// Whether markup of this length, whatever it means, is quoted or part of a sentence.
    // Case: dialects/dsml_v4/tags-in-a-sentence
    pub(super) fn is_in_words(&self, at: usize, len: usize, done: bool) -> Step<()> {
        if self.text_kind != TextKind::Content || self.is_asked_at(at) {
            return Step::No;
        }
        let line = self.line_before(at);
        if is_quoted(&line) || self.is_shown_by_lines(at) || is_before_markup(&line) == Before::Item {
            return Step::Got(());
        }
        self.is_in_sentence(&line, at + len, done)
    }

    fn is_in_sentence(&self, line: &str, after: usize, done: bool) -> Step<()> {
        match is_before_markup(line) {
            Before::Sentence => continues_sentence(&self.buffer[after..], done, char::is_alphanumeric),
            Before::Nothing | Before::Glued | Before::Other | Before::Item => Step::No,
        }
    }
}
