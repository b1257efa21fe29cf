//! Bars as SVG, inside the page.

use std::fmt::Write;

/// One row of a chart.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// The class that gives it its colour.
    pub(super) class: &'static str,
    pub(super) count: u64,
}

impl Bar {
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().map(|part| part.count).sum()
    }
}

const WIDTH: f64 = 960.0;
const NAME_WIDTH: f64 = 250.0;
const COUNT_WIDTH: f64 = 110.0;
const ROW: f64 = 28.0;
const BAR: f64 = 18.0;
/// Names that are longer are cut; hovering tells all of it.
const NAME_LENGTH: usize = 34;

/// A chart of horizontal bars. Bars are as long as their counts; a part that is there is wide enough to be seen.
pub(super) fn bars(title: &str, rows: &[Bar]) -> String {
    let most = rows.iter().map(Bar::total).max().unwrap_or(0).max(1);
    let height = ROW * number(rows.len() as u64);
    let mut out =
        format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n", escaped(title));
    for (index, row) in rows.iter().enumerate() {
        let top = ROW * number(index as u64);
        let middle = top + ROW / 2.0;
        let name = escaped(&row.name);
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{middle}\"><title>{name}</title>{}</text>",
            NAME_WIDTH - 12.0,
            escaped(&short(&row.name))
        );
        let mut left = NAME_WIDTH;
        let scale = (WIDTH - NAME_WIDTH - COUNT_WIDTH) / number(most);
        for part in row.parts.iter().filter(|part| part.count > 0) {
            let width = (number(part.count) * scale).max(1.5);
            let _ = writeln!(
                out,
                "<rect class=\"{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BAR}\"><title>{name}: {} {}</title></rect>",
                part.class,
                top + (ROW - BAR) / 2.0,
                grouped(part.count),
                part.name
            );
            left += width;
        }
        let _ = writeln!(
            out,
            "<text class=\"count\" x=\"{:.1}\" y=\"{middle}\">{}</text>",
            left + 8.0,
            grouped(row.total())
        );
    }
    out.push_str("</svg>\n");
    out
}

#[expect(clippy::cast_precision_loss, reason = "for the eye")]
fn number(count: u64) -> f64 {
    count as f64
}

fn short(name: &str) -> String {
    if name.chars().count() <= NAME_LENGTH {
        return name.to_owned();
    }
    name.chars().take(NAME_LENGTH - 1).chain(Some('…')).collect()
}

/// A number with its digits in groups of three.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Text that is safe in the page.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
