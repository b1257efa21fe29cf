//! Where marks come next, so that no text is searched twice for the same mark.
//!
//! Elements and messages are looked for their end, which may be far away or missing. Every one of them asks, and a text may
//! be full of them.

use std::ops::Range;

/// The positions of the marks that were looked for. All of them are in the output, so they stay valid.
#[derive(Debug, Clone, Default)]
pub(super) struct NextMarks(Vec<KnownMark>);

#[derive(Debug, Clone)]
struct KnownMark {
    mark: String,
    /// What was searched: the mark is at its end, or not in it.
    searched: Range<usize>,
    next: Option<usize>,
}

/// More marks than this are not remembered.
const MOST: usize = 16;

impl NextMarks {
    /// The first of these marks in a range of the text, which begins at `offset` of the output.
    pub(super) fn find(
        &mut self,
        mark: &str,
        text: &str,
        offset: usize,
        range: Range<usize>,
    ) -> Option<usize> {
        let (from, limit) = (offset + range.start, offset + range.end);
        let index = self.0.iter().position(|known| known.mark == mark).unwrap_or_else(|| {
            if self.0.len() >= MOST {
                self.0.remove(0);
            }
            self.0.push(KnownMark { mark: mark.to_owned(), searched: 0..0, next: None });
            self.0.len() - 1
        });
        let known = &mut self.0[index];
        let is_known = known.searched.start <= from && from <= known.searched.end;
        if !is_known || known.next.is_some_and(|next| next < from) {
            (known.searched, known.next) = (from..from, None);
        }
        if known.next.is_none() && known.searched.end < limit {
            // The mark may have begun before the end of what was searched.
            let start = from.max((known.searched.end + 1).saturating_sub(mark.len())) - offset;
            #[cfg(test)]
            crate::syntax::meter::add(range.end - start);
            let found = memchr::memmem::find(&text.as_bytes()[start..range.end], mark.as_bytes());
            known.next = found.map(|at| offset + start + at);
            known.searched.end = known.next.unwrap_or(limit);
        }
        known.next.filter(|next| next + mark.len() <= limit).map(|next| next - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_a_search_finds() {
        let text = "<!--a--><!--b<pre>--></pre>--><!--c";
        for reach in [3, 8, 40] {
            for from in 0..4 {
                let mut marks = NextMarks::default();
                for at in (from..text.len()).step_by(from + 1) {
                    for mark in ["-->", "</pre>", "x"] {
                        let end = text.len().min(at + reach);
                        let found = text[at..end].find(mark).map(|found| at + found);
                        assert_eq!(marks.find(mark, text, 0, at..end), found, "{mark} in {at}..{end}");
                        // What was dropped from the front of the text does not matter.
                        assert_eq!(
                            marks.find(mark, &text[at..], at, 0..end - at),
                            found.map(|found| found - at)
                        );
                    }
                }
            }
        }
    }
}
