//! Replacements in text. Everything between them keeps its bytes. The text is copied and never parsed.

use std::ops::Range;

use crate::text::quote_into_bytes;

/// Replacements in one text.
///
/// The new text is in one buffer, one replacement after the other, because a file may need thousands of them.
///
/// ```
/// use toolmend_json::Edits;
///
/// let mut edits = Edits::default();
/// edits.replace(4..5, "2");
/// edits.replace_quoted(1..2, "a");
/// assert_eq!(edits.apply("{a: 1}"), r#"{"a": 2}"#);
/// ```
#[derive(Debug, Default)]
pub struct Edits {
    added: Vec<u8>,
    /// What is replaced, and where its replacement is in `added`.
    list: Vec<(Range<usize>, Range<usize>)>,
    /// Where the current part of the text starts. Spans count from there.
    base: usize,
}

/// The state of [`Edits`] before a part was begun.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checkpoint {
    added: usize,
    list: usize,
    base: usize,
}

impl Edits {
    /// Starts without replacements, with a buffer for their text. The content of the buffer is dropped.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Edits {
        buffer.clear();
        Edits { added: buffer, ..Edits::default() }
    }

    /// Returns the buffer, to be used again.
    pub fn into_buffer(self) -> Vec<u8> {
        self.added
    }

    /// Begins the part of the text that starts at `base`. Until the next part is begun, spans count from there.
    ///
    /// ```
    /// use toolmend_json::Edits;
    ///
    /// let mut edits = Edits::default();
    /// let checkpoint = edits.begin_part(4);
    /// edits.replace(0..1, "2");
    /// assert_eq!(edits.apply("[1, 0]"), "[1, 2]");
    /// edits.roll_back(checkpoint);
    /// assert!(edits.is_empty());
    /// ```
    pub fn begin_part(&mut self, base: usize) -> Checkpoint {
        let checkpoint = Checkpoint { added: self.added.len(), list: self.list.len(), base: self.base };
        self.base = base;
        checkpoint
    }

    /// Drops the replacements since the checkpoint.
    pub fn roll_back(&mut self, checkpoint: Checkpoint) {
        self.added.truncate(checkpoint.added);
        self.list.truncate(checkpoint.list);
        self.base = checkpoint.base;
    }

    /// Takes the replacements since the checkpoint out, because they belong to another text.
    #[must_use]
    pub fn split_off(&mut self, checkpoint: Checkpoint) -> Edits {
        let added = self.added.split_off(checkpoint.added);
        let moved = |(span, with): (Range<usize>, Range<usize>)| {
            (span, with.start - checkpoint.added..with.end - checkpoint.added)
        };
        let list = self.list.split_off(checkpoint.list).into_iter().map(moved).collect();
        self.base = checkpoint.base;
        Edits { added, list, base: 0 }
    }

    /// Replaces a span.
    pub fn replace(&mut self, span: Range<usize>, with: impl AsRef<str>) {
        let start = self.added.len();
        self.added.extend_from_slice(with.as_ref().as_bytes());
        self.push(span, start);
    }

    /// Replaces a span by `text` as a JSON string.
    pub fn replace_quoted(&mut self, span: Range<usize>, text: &str) {
        let start = self.added.len();
        quote_into_bytes(&mut self.added, text);
        self.push(span, start);
    }

    fn push(&mut self, span: Range<usize>, start: usize) {
        let span = span.start + self.base..span.end + self.base;
        self.list.push((span, start..self.added.len()));
    }

    /// Returns whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Drops all replacements and keeps the memory.
    pub fn clear(&mut self) {
        self.roll_back(Checkpoint::default());
    }

    /// Sorts the replacements by position and drops those that overlap an earlier one.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|(span, _)| span.start);
        let mut at = 0;
        self.list.retain(|(span, _)| {
            let free = span.start >= at;
            if free {
                at = span.end;
            }
            free
        });
    }

    /// Returns the spans and their replacements. They are in the order of the text after [`sort`](Edits::sort).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, &[u8])> {
        self.list.iter().map(|(span, with)| (span.clone(), &self.added[with.clone()]))
    }

    /// Returns the text with everything replaced.
    pub fn apply(&mut self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len() + 64);
        self.write(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Appends the text with everything replaced to `out`.
    pub fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.sort();
        let mut at = 0;
        for (span, with) in self.iter() {
            if let Some(kept) = text.get(at..span.start) {
                out.extend_from_slice(kept);
                out.extend_from_slice(with);
                at = span.end;
            }
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_stays_as_it_is() {
        let mut edits = Edits::default();
        assert_eq!(edits.apply("abc"), "abc");
        edits.replace(4..6, "Z");
        edits.replace(0..1, "yy");
        edits.replace(5..8, "overlaps");
        // An edit that is dropped does not block the next one.
        edits.replace(6..7, "+");
        assert_eq!(edits.apply("a-b-cd-é"), "yy-b-Z+é");
        // Applying twice gives the same.
        assert_eq!(edits.apply("a-b-cd-é"), "yy-b-Z+é");
    }

    #[test]
    fn parts_are_begun_and_rolled_back() {
        let mut edits = Edits::with_buffer(vec![7; 30]);
        edits.begin_part(2);
        edits.replace_quoted(0..1, "\n");
        let checkpoint = edits.begin_part(5);
        edits.replace(0..1, "gone");
        edits.roll_back(checkpoint);
        edits.replace(4..5, "kept");
        let checkpoint = edits.begin_part(0);
        edits.replace(0..1, "other");
        assert_eq!(edits.split_off(checkpoint).apply("text"), "otherext");
        edits.replace(7..8, "last");
        assert_eq!(edits.apply("0123456789"), r#"01"\n"345kept78last"#);
        edits.clear();
        assert!(edits.is_empty());
        edits.replace(0..1, "x");
        assert_eq!(edits.apply("0123"), "x123");
    }
}
