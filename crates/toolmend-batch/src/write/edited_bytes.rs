//! The bytes of a unit of lines: the text as it was read, and the edits that replace parts of it.
//!
//! Most of a log stays unchanged. Its bytes are copied once: from where they were read to the block that is written.

use std::borrow::Cow;

use toolmend_json::Edits;

/// A text and the edits to it.
#[derive(Debug, Default)]
pub(crate) struct EditedBytes {
    text: Vec<u8>,
    /// Sorted by position.
    edits: Edits,
}

impl From<Vec<u8>> for EditedBytes {
    fn from(text: Vec<u8>) -> EditedBytes {
        EditedBytes::new(text, Edits::default())
    }
}

impl EditedBytes {
    pub(crate) fn new(text: Vec<u8>, mut edits: Edits) -> EditedBytes {
        edits.sort();
        EditedBytes { text, edits }
    }

    /// Iterates over the edited bytes, part by part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let mut at = 0;
        let changed = self.edits.iter().flat_map(move |(span, replacement)| {
            let before = &self.text[at..span.start];
            at = span.end;
            [before, replacement]
        });
        let last = self.edits.iter().next_back().map_or(0, |(span, _)| span.end);
        changed.chain([&self.text[last..]]).filter(|part| !part.is_empty())
    }

    /// Returns the edited bytes in one piece.
    pub(crate) fn to_bytes(&self) -> Cow<'_, [u8]> {
        if self.edits.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut bytes = Vec::with_capacity(self.parts().map(<[u8]>::len).sum());
        self.parts().for_each(|part| bytes.extend_from_slice(part));
        Cow::Owned(bytes)
    }

    /// Returns the CRC-32 of the edited bytes.
    pub(crate) fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        self.parts().for_each(|part| hasher.update(part));
        hasher.finalize()
    }

    /// Returns the buffers, so that they can be reused.
    pub(crate) fn into_buffers(self) -> [Vec<u8>; 2] {
        [self.text, self.edits.into_buffer()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    #[test]
    fn parts_are_the_text_with_the_edits_applied() {
        let check = |replacements: &[(Range<usize>, &str)], expected: &str| {
            let mut edits = Edits::default();
            for (span, replacement) in replacements {
                edits.replace(span.clone(), replacement);
            }
            let bytes = EditedBytes::new(b"0123456789".to_vec(), edits);
            assert_eq!(bytes.to_bytes(), expected.as_bytes());
            assert_eq!(bytes.parts().collect::<Vec<_>>().concat(), expected.as_bytes());
            assert!(bytes.parts().all(|part| !part.is_empty()));
            assert_eq!(bytes.checksum(), crc32fast::hash(expected.as_bytes()));
        };
        check(&[], "0123456789");
        check(&[(2..4, "ab")], "01ab456789");
        check(&[(0..1, ""), (1..3, "longer"), (9..10, "end")], "longer345678end");
        check(&[(0..10, "")], "");
        check(&[(5..5, "+"), (5..6, "five")], "01234+five6789");
    }
}
