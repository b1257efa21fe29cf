//! Texts of strings that were made while the strings were read.

use crate::escape::{LONGEST_ROOM, unescape};

/// The texts of some values of a document.
#[derive(Debug, Default, Clone)]
pub(crate) struct Texts {
    /// Never shorter than it was: what stands behind the last text is rubbish.
    bytes: Vec<u8>,
    /// The value, and where its text ends. It begins where the one before ends.
    list: Vec<(usize, usize)>,
}

impl Texts {
    pub(crate) fn clear(&mut self) {
        // One long text must not hold memory for the rest of a run.
        if self.bytes.len() > LONGEST_ROOM {
            self.bytes = Vec::new();
        }
        self.list.clear();
    }

    /// Takes the text of a value up to the quote that ends it, and tells where that is. None where there is no end, or an
    /// escape is none.
    pub(crate) fn take(&mut self, id: usize, inner: &[u8]) -> Option<usize> {
        let start = self.list.last().map_or(0, |(_, end)| *end);
        let (read, end) = unescape(inner, &mut self.bytes, start)?;
        if read == inner.len() {
            return None;
        }
        self.list.push((id, end));
        Some(read)
    }

    /// The text of a value, where it was taken.
    pub(crate) fn of(&self, id: usize) -> Option<&[u8]> {
        let index = self.list.binary_search_by_key(&id, |(of, _)| *of).ok()?;
        let start = index.checked_sub(1).map_or(0, |before| self.list[before].1);
        self.bytes.get(start..self.list[index].1)
    }
}
