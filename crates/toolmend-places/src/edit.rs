//! Parts of a text that get another text.

use std::ops::Range;

/// Replacements in one text. They do not overlap.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// What stands in this place is replaced.
    pub fn replace(&mut self, place: Range<usize>, with: String) {
        self.list.push((place, with));
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets everything, and keeps the room for more.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Moves every place: the text that was looked at is part of a longer one.
    pub fn shift(&mut self, by: usize) {
        if by > 0 {
            for (place, _) in &mut self.list {
                *place = place.start + by..place.end + by;
            }
        }
    }

    /// The replacements in the order of their places. One that overlaps an earlier one is not made.
    pub fn sorted(&mut self) -> impl Iterator<Item = (Range<usize>, &str)> {
        self.list.sort_by_key(|(place, _)| place.start);
        let mut at = 0;
        self.list.iter().filter_map(move |(place, with)| {
            if place.start < at {
                return None;
            }
            at = place.end;
            Some((place.clone(), with.as_str()))
        })
    }

    /// The text with everything replaced.
    pub fn apply(&mut self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len() + 64);
        self.write(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// The same for bytes, behind what `out` holds.
    pub fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        for (place, with) in self.sorted() {
            if let Some(before) = text.get(at..place.start) {
                out.extend_from_slice(before);
                out.extend_from_slice(with.as_bytes());
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
        edits.replace(4..6, "Z".into());
        edits.replace(0..1, "yy".into());
        edits.replace(5..6, "overlaps".into());
        assert_eq!(edits.apply("a-b-cd-é"), "yy-b-Z-é");
    }
}
