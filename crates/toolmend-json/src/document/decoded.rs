//! The text of strings that were decoded while they were read. Never decodes on its own account.

use crate::text::{MAX_KEPT_BYTES, unescape};

/// The decoded text of some values of a document, one after the other in one buffer.
#[derive(Debug, Default, Clone)]
pub(super) struct DecodedTexts {
    /// Never gets shorter: the bytes after the last text are left over from earlier documents.
    bytes: Vec<u8>,
    /// The index of a value and the end of its text, which starts where the text before it ends.
    ends: Vec<(usize, usize)>,
}

impl DecodedTexts {
    pub(super) fn clear(&mut self) {
        // One long text must not hold memory for the rest of a run.
        if self.bytes.len() > MAX_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        self.ends.clear();
    }

    /// Decodes the text of a value up to the quote that ends it, and returns where that quote is. `None` if there is no such
    /// quote, or if an escape is broken.
    pub(super) fn decode(&mut self, id: usize, inner: &[u8]) -> Option<usize> {
        let start = self.ends.last().map_or(0, |(_, end)| *end);
        let (read, end) = unescape::<true>(inner, &mut self.bytes, start)?;
        if read == inner.len() {
            return None;
        }
        self.ends.push((id, end));
        Some(read)
    }

    /// Returns the text of a value if it was decoded.
    pub(super) fn get(&self, id: usize) -> Option<&[u8]> {
        let index = self.ends.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].1);
        self.bytes.get(start..self.ends[index].1)
    }
}
