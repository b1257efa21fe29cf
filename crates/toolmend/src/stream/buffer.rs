//! The text that is not decided yet.

use std::ops::Deref;

/// Text that grows at its end and is dropped from its front. Both take time linear in what is added.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer {
    text: String,
    /// Everything before this position was dropped.
    head: usize,
}

impl Buffer {
    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn push(&mut self, ch: char) {
        self.text.push(ch);
    }

    /// Drops the first bytes.
    pub(super) fn drop_front(&mut self, length: usize) {
        self.head += length;
        if self.head == self.text.len() {
            self.text.clear();
            self.head = 0;
        } else if self.head > self.text.len() / 2 {
            self.text.drain(..self.head);
            self.head = 0;
        }
    }

    /// Puts text back in front. If it was dropped there and the memory still holds it, nothing is copied.
    pub(super) fn put_back(&mut self, front: &str) {
        match self.head.checked_sub(front.len()) {
            Some(head) if self.text.as_bytes()[head..].starts_with(front.as_bytes()) => self.head = head,
            _ => {
                self.text.replace_range(..self.head, front);
                self.head = 0;
            }
        }
    }

    /// Drops everything, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.head = 0;
    }

    /// Takes the first bytes out. If these are all, they are moved and not copied.
    pub(super) fn take_front(&mut self, length: usize) -> String {
        if self.head == 0 && length == self.text.len() {
            return std::mem::take(&mut self.text);
        }
        let front = self[..length].to_owned();
        self.drop_front(length);
        front
    }
}

impl Deref for Buffer {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text[self.head..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_was_dropped_can_be_put_back() {
        for dropped in 0..=8 {
            let mut buffer = Buffer::default();
            buffer.push_str("abcdefgh");
            buffer.drop_front(dropped);
            buffer.put_back(&"abcdefgh"[..dropped]);
            assert_eq!(&*buffer, "abcdefgh");
            buffer.put_back("xy");
            assert_eq!(&*buffer, "xyabcdefgh");
        }
    }
}
