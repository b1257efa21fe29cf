//! Pieces that are only text.
//!
//! Most pieces of most outputs are, so this is the hot path of a stream: such a piece is lent to the listener
//! unchanged, without a copy or an allocation. Text that waited for a moment and turned out to be text takes the same
//! path.

use super::candidate_scan::{self, Glance, ScanResult};
use super::{Mode, Stream};
use crate::dialect::token::TextKind;
use crate::turn::Listener;

impl Stream {
    /// Whether the next piece is text unless it shows otherwise.
    pub(super) fn expects_plain_text(&self) -> bool {
        let waits = self.skip_space || self.fresh || self.stripped || self.off || self.finished;
        !waits && matches!(self.mode, Mode::Text) && self.partial.is_empty() && self.held.is_none()
    }

    /// Passes on a piece as far as it is text, and keeps the rest. Returns whether nothing is left to decide.
    pub(super) fn pass_text(&mut self, text: &str, listener: &mut impl Listener) -> bool {
        self.attempts.received += text.len();
        if self.buffer.is_empty() {
            let at = self.text_length(text);
            self.lend_text(&text[..at], listener);
            if at < text.len() {
                self.buffer.push_str(&text[at..]);
            }
            return at == text.len();
        }
        self.note_piece(text.as_bytes());
        self.buffer.push_str(text);
        if self.attempts.should_rest(self.buffer.len()) {
            return false;
        }
        match self.scan(self.scanned).next(&self.buffer, self.scanned, self.line_start) {
            ScanResult::Candidate { .. } => false,
            ScanResult::End { line_start } => {
                self.line_start = line_start;
                self.scanned = 0;
                self.attempts.waiting = None;
                let mut held = std::mem::take(&mut self.buffer);
                self.lend_text(&held, listener);
                held.clear();
                self.buffer = held;
                true
            }
        }
    }

    /// How far a piece is text. Notes whether a line begins there.
    #[inline]
    fn text_length(&mut self, text: &str) -> usize {
        let place = match candidate_scan::glance(text.as_bytes()) {
            Glance::Text if !self.line_start => return text.len(),
            Glance::Word if !self.line_start => {
                return candidate_scan::half_word(text.as_bytes(), 0, self.last).unwrap_or(text.len());
            }
            _ => self.scan(0).next(text, 0, self.line_start),
        };
        let (at, line_start) = match place {
            ScanResult::Candidate { at, line_start } => (at, line_start),
            ScanResult::End { line_start } => (text.len(), line_start),
        };
        self.line_start = line_start;
        at
    }

    /// Passes on text unchanged, and holds white space at its end.
    #[inline]
    fn lend_text(&mut self, text: &str, listener: &mut impl Listener) {
        let bytes = text.as_bytes();
        let visible = match bytes {
            [] => return,
            [.., last] if last.is_ascii_graphic() => text,
            [.., before, b' '] if before.is_ascii_graphic() => &text[..text.len() - 1],
            _ => text.trim_end(),
        };
        self.offset += text.len();
        self.last = match bytes.last() {
            Some(&last) if last.is_ascii() => Some(char::from(last)),
            _ => text.chars().next_back(),
        };
        if !visible.is_empty() {
            if !self.space.is_empty() {
                let before = std::mem::take(&mut self.space);
                self.emit_text_to(&before, listener);
                self.space = before;
                self.space.clear();
            }
            self.emit_text_to(visible, listener);
        }
        if visible.len() < text.len() {
            self.space.push_str(&text[visible.len()..]);
        }
    }

    #[inline]
    fn emit_text_to(&mut self, text: &str, listener: &mut impl Listener) {
        match self.text_kind {
            TextKind::Content => {
                self.recent.push(text);
                listener.content(text);
            }
            TextKind::Reasoning => listener.reasoning(text),
        }
    }
}
