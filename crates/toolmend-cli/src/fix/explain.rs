//! Shows each repair with its location and the source, as compilers show errors.

use std::io::Write;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use toolmend::{Repair, Verdict};

/// How many bytes of a line are shown on each side of a repair. A whole document may be one line.
const MARGIN: usize = 160;

/// Writes every repair to standard error.
pub(crate) fn print_repairs(name: &str, input: &str, verdict: &Verdict<'_>) {
    let lines = LineStarts::new(input);
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    let mut out = anstream::stderr().lock();
    for repair in verdict.repairs() {
        // A closed standard error is not a reason to stop.
        let _ = writeln!(out, "{}\n", render_repair(&renderer, name, input, &lines, repair));
    }
}

fn render_repair(
    renderer: &Renderer,
    name: &str,
    input: &str,
    lines: &LineStarts,
    repair: &Repair,
) -> String {
    let info = repair.kind.info();
    let path = if repair.path.is_empty() { "the root" } else { &repair.path };
    let title = Level::NOTE
        .with_name(info.tier.name())
        .primary_title(format!("{}, in {path}", info.summary))
        .id(info.name);
    let Some(at) = &repair.at else {
        return renderer.render(&[title.element(Origin::path(name))]);
    };
    let (line, column) = lines.position(input, at.start);
    let excerpt = choose_excerpt(input, at);
    let shown = at.start.max(excerpt.start) - excerpt.start..at.end.min(excerpt.end) - excerpt.start;
    let starts_its_line = lines.position(input, excerpt.start).1 == 1;
    let snippet = Snippet::source(input.get(excerpt).unwrap_or_default())
        .line_start(line)
        .annotation(AnnotationKind::Primary.span(shown));
    renderer.render(&[if starts_its_line {
        title.element(snippet.path(name))
    } else {
        // In a shortened line the column cannot be counted from the excerpt.
        title.element(Origin::path(name).line(line).char_column(column)).element(snippet)
    }])
}

/// Chooses what is shown of the input: the lines of the repair, shortened if they are long.
fn choose_excerpt(input: &str, at: &Range<usize>) -> Range<usize> {
    let before = input.get(..at.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let start = input.ceil_char_boundary(line_start.max(at.start.saturating_sub(MARGIN)));
    let shown_end = at.end.min(at.start + 4 * MARGIN);
    let line_end = input
        .get(shown_end..)
        .and_then(|rest| rest.find('\n'))
        .map_or(input.len(), |offset| shown_end + offset);
    start..input.floor_char_boundary(line_end.min(shown_end + MARGIN))
}

/// The positions where the lines of a text start.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> Self {
        LineStarts(
            Some(0).into_iter().chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect(),
        )
    }

    /// Returns the line and the column, in characters. Both count from 1.
    fn position(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.0.partition_point(|&start| start <= at);
        let start = line.checked_sub(1).and_then(|index| self.0.get(index)).copied().unwrap_or(0);
        (line, text.get(start..at).map_or(0, |before| before.chars().count()) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "ä{\n\n  \"é\": 1,}";
        let lines = LineStarts::new(text);
        for (needle, expected) in [("ä", (1, 1)), ("{", (1, 2)), ("\"", (3, 3)), (",", (3, 9))] {
            assert_eq!(lines.position(text, text.find(needle).unwrap()), expected, "{needle}");
        }
    }

    #[test]
    fn an_excerpt_ends_at_characters_and_lines() {
        let text = format!("x\n{}[1,]{}\ny", "é".repeat(500), "ö".repeat(500));
        let at = text.find(",]").unwrap();
        let excerpt = choose_excerpt(&text, &(at..at + 1));
        assert!(excerpt.len() < 3 * MARGIN && text[excerpt].contains("[1,]"));
    }
}
