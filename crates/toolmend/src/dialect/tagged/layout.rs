//! White space that belongs to the layout of a call, and not to its values.
//!
//! A model that indents its tags indents the lines between them as well. If the closing tag of a value is on a line of its
//! own, under its opening tag, then the blanks before it are layout, and so are as many before each line of the value.

use std::ops::Range;

/// What the lines around a value say about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The value is what is between its tags.
    Plain,
    /// This is the value, with one line break around it.
    Indented(String),
    /// The layout leaves the value in doubt, for this reason.
    Doubtful(&'static str),
}

const DEEPER: &str = "the lines of a value are indented deeper than its tags, by layout or by intent";
const ESCAPED: &str =
    "the line breaks between the tags are written as \\n, so the backslashes of a value may be escapes";

/// The layout of a value whose opening tag is at `tag`.
// Case: dialects/qwen3_xml/indented
// Case: dialects/qwen3_xml/indented-deeper
// Case: dialects/qwen3_xml/escaped-line-breaks
pub(super) fn find(text: &str, tag: usize, value: &Range<usize>) -> Layout {
    let written = &text[value.clone()];
    if text[..tag].trim_end_matches([' ', '\t']).ends_with("\\n") && written.contains('\\') {
        let inner = written.strip_prefix("\\n").and_then(|inner| inner.strip_suffix("\\n"));
        return match inner.filter(|inner| !inner.contains('\\')) {
            Some(inner) => Layout::Indented(format!("\n{inner}\n")),
            None => Layout::Doubtful(ESCAPED),
        };
    }
    let indent = indent_before(text, tag);
    let (Some(body), Some((lines, last))) = (written.strip_prefix('\n'), written.rsplit_once('\n')) else {
        return Layout::Plain;
    };
    if indent.is_empty() || last != indent || lines.is_empty() {
        return Layout::Plain;
    }
    let body = &body[..body.len() - last.len() - 1];
    let filled = || body.lines().filter(|line| !line.trim().is_empty());
    // Lines that are less indented than their tag were not laid out with it.
    if !filled().all(|line| line.starts_with(indent)) {
        return Layout::Indented(format!("\n{body}\n"));
    }
    let is_deeper = |line: &str| line[indent.len()..].starts_with([' ', '\t']);
    if filled().all(is_deeper) && filled().count() > 1 {
        return Layout::Doubtful(DEEPER);
    }
    let is_line = filled().count() == 1;
    let inner = body.split('\n').map(|line| {
        let line = line.strip_prefix(indent).unwrap_or(if line.trim().is_empty() { "" } else { line });
        if is_line { line.trim_start() } else { line }
    });
    Layout::Indented(format!("\n{}\n", inner.collect::<Vec<_>>().join("\n")))
}

/// Whether the layout of the value after the tag at this position is known only at its end.
pub(super) fn is_laid_out(text: &str, tag: usize) -> bool {
    !indent_before(text, tag).is_empty() || text[..tag].trim_end_matches([' ', '\t']).ends_with("\\n")
}

/// The blanks before a position, if only they are before it in its line.
fn indent_before(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    if line.trim_matches([' ', '\t']).is_empty() && line.len() < at { line } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        let tag = text.find("<p>").unwrap();
        find(text, tag, &(tag + 3..text.find("</p>").unwrap()))
    }

    #[test]
    fn blanks_under_an_indented_tag_are_layout() {
        for (text, inner) in [
            ("\n  <p>\n  a\n  </p>", "\na\n"),
            ("\n  <p>\n    a\n  </p>", "\na\n"),
            ("\n  <p>\n  a:\n    b\n\n  c\n  </p>", "\na:\n  b\n\nc\n"),
            ("\n  <p>\na\n  </p>", "\na\n"),
        ] {
            assert_eq!(layout(text), Layout::Indented(inner.to_owned()), "{text:?}");
        }
        for text in ["\n<p>\n  a\n</p>", "\n  <p>a</p>", "\n  <p>\n  a\n</p>", "<p>\n  a\n  </p>"] {
            assert_eq!(layout(text), Layout::Plain, "{text:?}");
        }
        assert_eq!(layout("\n  <p>\n    a\n    b\n  </p>"), Layout::Doubtful(DEEPER));
    }
}
