//! The bytes of a unit: a text as it was read, with some places replaced.
//!
//! Most of a log stays as it is. Its bytes are copied once, from where they were read to where the disk takes them.

use std::borrow::Cow;

use toolmend_json::Edits;

/// A text and what is replaced in it.
#[derive(Debug, Default)]
pub(crate) struct Body {
    text: Vec<u8>,
    /// In order.
    edits: Edits,
}

impl From<Vec<u8>> for Body {
    fn from(text: Vec<u8>) -> Body {
        Body::new(text, Edits::default())
    }
}

impl Body {
    pub(crate) fn new(text: Vec<u8>, mut edits: Edits) -> Body {
        edits.sort();
        Body { text, edits }
    }

    /// The bytes, part by part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let mut at = 0;
        let changed = self.edits.iter().flat_map(move |(place, with)| {
            let before = &self.text[at..place.start];
            at = place.end;
            [before, with]
        });
        let last = self.edits.iter().next_back().map_or(0, |(place, _)| place.end);
        changed.chain([&self.text[last..]]).filter(|part| !part.is_empty())
    }

    /// The bytes in one piece.
    pub(crate) fn whole(&self) -> Cow<'_, [u8]> {
        if self.edits.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut whole = Vec::with_capacity(self.parts().map(<[u8]>::len).sum());
        self.parts().for_each(|part| whole.extend_from_slice(part));
        Cow::Owned(whole)
    }

    pub(crate) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        self.parts().for_each(|part| hasher.update(part));
        hasher.finalize()
    }

    /// The memory, for others.
    pub(crate) fn into_rooms(self) -> [Vec<u8>; 2] {
        [self.text, self.edits.into_buffer()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    #[test]
    fn parts_are_the_text_with_its_places_replaced() {
        let check = |places: &[(Range<usize>, &str)], expected: &str| {
            let mut edits = Edits::default();
            for (place, with) in places {
                edits.replace(place.clone(), with);
            }
            let body = Body::new(b"0123456789".to_vec(), edits);
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
