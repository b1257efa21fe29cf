//! The end of the content that was reported, which shows whether a fence is announced as an example.
//!
//! It has a fixed size and never allocates.

use std::borrow::Cow;

/// At least this many bytes are kept, if there were so many.
pub(super) const ENOUGH: usize = 240;
/// The capacity. Surplus text is dropped in bulk, so that a piece costs no more than its copy.
const ROOM: usize = 2 * ENOUGH;

#[derive(Debug, Clone)]
pub(super) struct RecentText {
    bytes: [u8; ROOM],
    length: usize,
    /// Where the text begins that nothing interrupted.
    restart: usize,
}

impl Default for RecentText {
    fn default() -> Self {
        RecentText { bytes: [0; ROOM], length: 0, restart: 0 }
    }
}

impl RecentText {
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        let end = self.length + text.len();
        if let Some(room) = self.bytes.get_mut(self.length..end) {
            room.copy_from_slice(text.as_bytes());
            self.length = end;
        } else {
            self.make_room(text);
        }
    }

    /// Drops all but the end of the text.
    fn make_room(&mut self, text: &str) {
        // If the new text alone is long enough, nothing before it is needed.
        let kept = if text.len() < ENOUGH { self.length.min(ENOUGH) } else { 0 };
        let text = &text.as_bytes()[text.len().saturating_sub(ENOUGH)..];
        self.restart = if kept > 0 { self.restart.saturating_sub(self.length - kept) } else { 0 };
        self.bytes.copy_within(self.length - kept..self.length, 0);
        self.bytes[kept..kept + text.len()].copy_from_slice(text);
        self.length = kept + text.len();
    }

    /// Notes that something other than text is here.
    pub(super) fn interrupt(&mut self) {
        self.restart = self.length;
    }

    /// The kept text since something other than text.
    // Case: dialects/hostile/quotation-before-a-call
    pub(super) fn uninterrupted(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[self.restart..self.length])
    }

    /// The kept text. A character whose first bytes were dropped is a replacement character.
    pub(super) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[..self.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_all_text_is_remembered() {
        for piece in ["a", "word ", "äöü", &"long ".repeat(50), &"longer ".repeat(200)] {
            let (mut memory, mut all) = (RecentText::default(), String::new());
            for _ in 0..400 {
                memory.push(piece);
                all.push_str(piece);
                let text = memory.text();
                let known = text.trim_start_matches('\u{FFFD}');
                assert!(all.ends_with(known), "{known}");
                assert!(text.len() >= all.len().min(ENOUGH) && text.len() <= ROOM + 6);
            }
        }
    }
}
