//! Edits on a text, and the mapping of positions between the edited text and the original.
//!
//! A repair never rewrites a document: it is a patch. What no edit touches survives byte for byte. A patch does not know
//! JSON.

use std::borrow::Cow;
use std::ops::Range;

use crate::repair::RepairKind;

/// Replace `start..end` of the text by `with`, because of `kind`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) with: Cow<'static, str>,
    pub(crate) kind: RepairKind,
}

impl Edit {
    pub(crate) fn new(range: Range<usize>, with: impl Into<Cow<'static, str>>, kind: RepairKind) -> Self {
        Edit { start: range.start, end: range.end, with: with.into(), kind }
    }
}

/// Edits in the order of their positions. They do not overlap; two insertions at one position keep their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    edits: Vec<Edit>,
    /// By how much the text after each edit has moved.
    shifts: Vec<isize>,
}

impl Patch {
    /// Makes a patch from edits in any order. Overlapping edits are a bug of the caller.
    pub(crate) fn new(mut edits: Vec<Edit>) -> Self {
        // An insertion comes before a replacement at the same position.
        if !edits.is_sorted_by_key(|edit| (edit.start, edit.end)) {
            edits.sort_by_key(|edit| (edit.start, edit.end));
        }
        // An overlap is a bug, but a panic would be worse. The edit is left out, and then the proof fails.
        debug_assert!(edits.windows(2).all(|pair| pair[0].end <= pair[1].start), "edits overlap: {edits:?}");
        let mut end = 0;
        edits.retain(|edit| {
            let apart = edit.start >= end;
            end = end.max(edit.end);
            apart
        });
        let mut shift = 0;
        let shifts = edits
            .iter()
            .map(|edit| {
                shift += edit.with.len().cast_signed() - (edit.end - edit.start).cast_signed();
                shift
            })
            .collect();
        Patch { edits, shifts }
    }

    pub(crate) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Applies every edit to the text.
    pub(crate) fn apply(&self, text: &str) -> String {
        let added: usize = self.edits.iter().map(|edit| edit.with.len()).sum();
        let mut out = String::with_capacity(text.len() + added);
        let mut at = 0;
        for edit in &self.edits {
            out.push_str(&text[at..edit.start]);
            out.push_str(&edit.with);
            at = edit.end;
        }
        out.push_str(&text[at..]);
        out
    }

    /// Whether the edits only remove text from both ends of a text of this length.
    pub(crate) fn trims(&self, length: usize) -> bool {
        let mut front = 0;
        let inner = self.edits.iter().skip_while(|edit| {
            let leads = edit.start == front;
            front = edit.end;
            leads
        });
        let mut inner: Vec<&Edit> = inner.collect();
        let mut back = length;
        while let Some(edit) = inner.pop_if(|edit| edit.end == back) {
            back = edit.start;
        }
        inner.is_empty() && self.edits.iter().all(|edit| edit.with.is_empty())
    }

    /// Where the range `after` of the edited text came from. A position inside a replacement maps to all of what was
    /// replaced.
    pub(crate) fn origin(&self, after: &Range<usize>) -> Range<usize> {
        self.origin_of(after.start, false)..self.origin_of(after.end, true)
    }

    /// Where the byte `before` of the original text is in the edited one. A byte that was replaced maps to the start of what
    /// replaced it.
    pub(crate) fn target(&self, before: usize) -> usize {
        let index = self.edits.partition_point(|edit| edit.end <= before);
        match self.edits.get(index) {
            Some(edit) if edit.start <= before => self.start(index),
            _ => before.wrapping_add_signed(self.shift_before(index)),
        }
    }

    /// Where the replacement of the edit with this index starts in the edited text.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.edits[index].start.wrapping_add_signed(self.shift_before(index))
    }

    fn shift_before(&self, index: usize) -> isize {
        index.checked_sub(1).map_or(0, |last| self.shifts[last])
    }

    fn origin_of(&self, after: usize, end: bool) -> usize {
        // Starts in the edited text grow with the index, so a binary search finds the last edit that begins before.
        let (mut low, mut high) = (0, self.edits.len());
        while low < high {
            let middle = low.midpoint(high);
            let begins = if end { self.start(middle) < after } else { self.start(middle) <= after };
            if begins { low = middle + 1 } else { high = middle }
        }
        match low.checked_sub(1) {
            Some(index) if after < self.start(index) + self.edits[index].with.len() => {
                if end {
                    self.edits[index].end
                } else {
                    self.edits[index].start
                }
            }
            _ => after.wrapping_add_signed(-self.shift_before(low)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch() -> Patch {
        Patch::new(vec![
            Edit::new(8..9, "", RepairKind::TrailingCommaRemoved),
            Edit::new(1..4, "\"a\"", RepairKind::QuotesReplaced),
            Edit::new(6..6, "[", RepairKind::ValueToArray),
        ])
    }

    #[test]
    fn edits_are_applied_in_order_of_position() {
        assert_eq!(patch().apply("{'a': 12,}"), "{\"a\": [12}");
    }

    #[test]
    fn a_trim_leaves_the_middle_unchanged() {
        let cut = |range| Edit::new(range, "", RepairKind::ProseRemoved);
        let trims = |edits: Vec<Edit>| Patch::new(edits).trims(20);
        assert!(trims(vec![]));
        assert!(trims(vec![cut(0..3)]));
        assert!(trims(vec![cut(0..3), cut(3..5), cut(12..15), cut(15..20)]));
        assert!(!trims(vec![cut(1..3)]));
        assert!(!trims(vec![cut(0..3), cut(6..7), cut(15..20)]));
        assert!(!trims(vec![cut(0..3), cut(12..15)]));
        assert!(!trims(vec![Edit::new(0..3, "[", RepairKind::MissingOpenerAdded)]));
    }

    #[test]
    fn positions_map_back() {
        let patch = patch();
        assert_eq!(patch.origin(&(0..1)), 0..1);
        assert_eq!(patch.origin(&(1..4)), 1..4);
        assert_eq!(patch.origin(&(7..9)), 6..8, "the number after the insertion");
        assert_eq!(patch.origin(&(9..10)), 9..10, "after the removed comma");
    }
}
