//! A mark before every line of the text: a quotation of mail and Markdown, an added line of a patch.
//!
//! A text in which every line is a comment is not read: what is commented out is not meant.

use super::encoding::Peeled;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// Marks that are written before lines, each with the blank after it.
const MARKS: [&str; 3] = [">", "|", "+"];

/// Removes the mark that starts every line, if the text is a document after it.
// Case: syntax/quoted-lines
pub(super) fn prefixed_lines(text: &str) -> Peeled {
    let first = text.trim_start();
    let Some(mark) = MARKS.iter().find(|mark| first.starts_with(**mark)) else { return Peeled::None };
    let opens = |line: &str| line[mark.len()..].trim_start().starts_with(['{', '[', '"', '`', '>']);
    if !opens(first) {
        return Peeled::None;
    }
    let mut edits = Vec::new();
    let mut start = 0;
    // A blank after every mark belongs to it, unless one line has none.
    let mut spaced = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        if !content.trim().is_empty() {
            let Some(rest) = content.strip_prefix(mark) else { return Peeled::None };
            spaced &= rest.starts_with(' ') || rest.trim().is_empty();
            let at = start + line.len() - content.len();
            edits.push(Edit::new(at..at + mark.len(), "", RepairKind::LinePrefixRemoved));
        }
        start += line.len();
    }
    if spaced {
        for edit in &mut edits {
            edit.end += usize::from(text.as_bytes().get(edit.end) == Some(&b' '));
        }
    }
    Peeled::Layer(Patch::new(edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_the_mark_or_none_is_removed() {
        let peel = |text: &str| match prefixed_lines(text) {
            Peeled::Layer(patch) => Some(patch.apply(text)),
            _ => None,
        };
        assert_eq!(peel("> {\n>   \"a\": 1\n>\n> }").as_deref(), Some("{\n  \"a\": 1\n\n}"));
        assert_eq!(peel(">{\n> \"a\": 1}").as_deref(), Some("{\n \"a\": 1}"));
        assert_eq!(peel("> {\n  \"a\": 1\n> }"), None);
        assert_eq!(peel("# Title\n# more"), None);
    }
}
