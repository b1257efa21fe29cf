//! Parts of a text that get another text.

use std::ops::Range;

use crate::escape::quote_behind;

/// Replacements in one text. They do not overlap.
///
/// The new texts stand in one piece of memory, one behind the other: a text may get thousands of them.
#[derive(Debug, Default)]
pub struct Edits {
    added: Vec<u8>,
    /// What is replaced, and what of the new texts stands there instead.
    list: Vec<(Range<usize>, Range<usize>)>,
    /// Where the part begins that places are told in.
    base: usize,
}

/// The replacements that there were before a part was begun.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checkpoint {
    added: usize,
    list: usize,
    base: usize,
}

impl Edits {
    /// No replacements, with room for their texts. What the room holds is forgotten.
    pub fn with_buffer(mut room: Vec<u8>) -> Edits {
        room.clear();
        Edits { added: room, ..Edits::default() }
    }

    /// Gives the room back, for others.
    pub fn into_buffer(self) -> Vec<u8> {
        self.added
    }

    /// Places are told in the part of the text that begins here, until the next one is begun.
    pub fn begin_part(&mut self, base: usize) -> Checkpoint {
        let before = Checkpoint { added: self.added.len(), list: self.list.len(), base: self.base };
        self.base = base;
        before
    }

    /// Forgets what was replaced since then.
    pub fn roll_back(&mut self, before: Checkpoint) {
        self.added.truncate(before.added);
        self.list.truncate(before.list);
        self.base = before.base;
    }

    /// Takes what was replaced since then: those were places of another text.
    #[must_use]
    pub fn split_off(&mut self, before: Checkpoint) -> Edits {
        let added = self.added.split_off(before.added);
        let moved = |(place, with): (Range<usize>, Range<usize>)| {
            (place, with.start - before.added..with.end - before.added)
        };
        let list = self.list.split_off(before.list).into_iter().map(moved).collect();
        self.base = before.base;
        Edits { added, list, base: 0 }
    }

    /// What stands in this place is replaced.
    pub fn replace(&mut self, place: Range<usize>, with: impl AsRef<str>) {
        let start = self.added.len();
        self.added.extend_from_slice(with.as_ref().as_bytes());
        self.push(place, start);
    }

    /// What stands in this place is replaced by a JSON string with this text.
    pub fn replace_quoted(&mut self, place: Range<usize>, text: &str) {
        let start = self.added.len();
        quote_behind(text, &mut self.added);
        self.push(place, start);
    }

    fn push(&mut self, place: Range<usize>, start: usize) {
        let place = place.start + self.base..place.end + self.base;
        self.list.push((place, start..self.added.len()));
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets everything, and keeps the room for more.
    pub fn clear(&mut self) {
        self.roll_back(Checkpoint::default());
    }

    /// Brings the replacements into the order of their places. One that overlaps an earlier one is not made.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|(place, _)| place.start);
        let mut at = 0;
        self.list.retain(|(place, _)| {
            let free = place.start >= at;
            if free {
                at = place.end;
            }
            free
        });
    }

    /// The replacements, in order once they were sorted.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, &[u8])> {
        self.list.iter().map(|(place, with)| (place.clone(), &self.added[with.clone()]))
    }

    /// The text with everything replaced.
    pub fn apply(&mut self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len() + 64);
        self.write(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// The same for bytes, behind what `out` holds.
    pub fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.sort();
        let mut at = 0;
        for (place, with) in self.iter() {
            if let Some(before) = text.get(at..place.start) {
                out.extend_from_slice(before);
                out.extend_from_slice(with);
                at = place.end;
            }
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_stays() {
        let mut edits = Edits::default();
        assert_eq!(edits.apply("abc"), "abc");
        edits.replace(4..6, "Z");
        edits.replace(0..1, "yy");
        edits.replace(5..8, "overlaps");
        // What is not made stands in nobody's way.
        edits.replace(6..7, "+");
        assert_eq!(edits.apply("a-b-cd-é"), "yy-b-Z+é");
        // Applied once more it is the same.
        assert_eq!(edits.apply("a-b-cd-é"), "yy-b-Z+é");
    }

    #[test]
    fn parts_are_begun_and_forgotten() {
        let mut edits = Edits::with_buffer(vec![7; 30]);
        edits.begin_part(2);
        edits.replace_quoted(0..1, "\n");
        let before = edits.begin_part(5);
        edits.replace(0..1, "gone");
        edits.roll_back(before);
        edits.replace(4..5, "kept");
        let before = edits.begin_part(0);
        edits.replace(0..1, "other");
        assert_eq!(edits.split_off(before).apply("text"), "otherext");
        edits.replace(7..8, "last");
        assert_eq!(edits.apply("0123456789"), r#"01"\n"345kept78last"#);
        edits.clear();
        assert!(edits.is_empty());
        edits.replace(0..1, "x");
        assert_eq!(edits.apply("0123"), "x123");
    }
}
