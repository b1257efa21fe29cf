//! The bytes of a unit: a text as it was read, with some places replaced.
//!
//! Most of a log stays as it is. Its bytes are copied once, from where they were read to where the disk takes them.

use std::borrow::Cow;
use std::ops::Range;

/// Replacements in one text, in the order of their places.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The new texts, one behind the other.
    added: Vec<u8>,
    /// What is replaced, and where the new text ends.
    places: Vec<(Range<usize>, usize)>,
}

/// A text and what is replaced in it.
#[derive(Debug, Default)]
pub(crate) struct Body {
    text: Vec<u8>,
    changes: Changes,
}

impl Changes {
    /// Replaces a place behind all others.
    pub(crate) fn replace(&mut self, place: Range<usize>, with: &[u8]) {
        debug_assert!(self.places.last().is_none_or(|(last, _)| last.end <= place.start));
        self.added.extend_from_slice(with);
        self.places.push((place, self.added.len()));
    }

    pub(crate) fn of(self, text: Vec<u8>) -> Body {
        Body { text, changes: self }
    }
}

impl From<Vec<u8>> for Body {
    fn from(text: Vec<u8>) -> Body {
        Changes::default().of(text)
    }
}

impl Body {
    /// The bytes, part by part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let Changes { added, places } = &self.changes;
        let (mut at, mut used) = (0, 0);
        let changed = places.iter().flat_map(move |(place, end)| {
            let parts = [&self.text[at..place.start], &added[used..*end]];
            (at, used) = (place.end, *end);
            parts
        });
        let last = places.last().map_or(0, |(place, _)| place.end);
        changed.chain([&self.text[last..]]).filter(|part| !part.is_empty())
    }

    /// The bytes in one piece.
    pub(crate) fn whole(&self) -> Cow<'_, [u8]> {
        if self.changes.places.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut whole = Vec::with_capacity(self.text.len() + self.changes.added.len());
        self.parts().for_each(|part| whole.extend_from_slice(part));
        Cow::Owned(whole)
    }

    pub(crate) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        self.parts().for_each(|part| hasher.update(part));
        hasher.finalize()
    }

    /// The memory of the text, for the next one.
    pub(crate) fn into_room(self) -> Vec<u8> {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_text_with_its_places_replaced() {
        let check = |places: &[(Range<usize>, &str)], expected: &str| {
            let mut changes = Changes::default();
            for (place, with) in places {
                changes.replace(place.clone(), with.as_bytes());
            }
            let body = changes.of(b"0123456789".to_vec());
            assert_eq!(body.whole(), expected.as_bytes());
            assert_eq!(body.parts().collect::<Vec<_>>().concat(), expected.as_bytes());
            assert!(body.parts().all(|part| !part.is_empty()));
            assert_eq!(body.checksum(), crc32fast::hash(expected.as_bytes()));
        };
        check(&[], "0123456789");
        check(&[(2..4, "ab")], "01ab456789");
        check(&[(0..1, ""), (1..3, "longer"), (9..10, "end")], "longer345678end");
        check(&[(0..10, "")], "");
        check(&[(5..5, "+"), (5..6, "five")], "01234+five6789");
    }
}
