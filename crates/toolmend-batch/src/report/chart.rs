//! Bar charts as SVG.

use std::fmt::Write;

/// A bar of a chart.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<BarPart>,
}

/// A part of a bar.
#[derive(Debug)]
pub(super) struct BarPart {
    pub(super) name: &'static str,
    /// The CSS class of its colour.
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
const ROW_HEIGHT: f64 = 28.0;
const BAR_HEIGHT: f64 = 18.0;
/// Longer names are shortened. A tooltip shows them in full.
const MAX_NAME_CHARS: usize = 34;

/// Draws a chart of horizontal bars. The longest bar fills the width, and every part is wide enough to be visible.
pub(super) fn draw_bars(title: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(Bar::total).max().unwrap_or(0).max(1);
    let height = ROW_HEIGHT * to_float(bars.len() as u64);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escape_html(title)
    );
    for (index, bar) in bars.iter().enumerate() {
        let top = ROW_HEIGHT * to_float(index as u64);
        let middle = top + ROW_HEIGHT / 2.0;
        let name = escape_html(&bar.name);
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{middle}\"><title>{name}</title>{}</text>",
            NAME_WIDTH - 12.0,
            escape_html(&shorten_name(&bar.name))
        );
        let mut left = NAME_WIDTH;
        let scale = (WIDTH - NAME_WIDTH - COUNT_WIDTH) / to_float(most);
        for part in bar.parts.iter().filter(|part| part.count > 0) {
            let width = (to_float(part.count) * scale).max(1.5);
            let _ = writeln!(
                out,
                "<rect class=\"{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\"><title>{name}: {} {}</title></rect>",
                part.class,
                top + (ROW_HEIGHT - BAR_HEIGHT) / 2.0,
                group_digits(part.count),
                part.name
            );
            left += width;
        }
        let _ = writeln!(
            out,
            "<text class=\"count\" x=\"{:.1}\" y=\"{middle}\">{}</text>",
            left + 8.0,
            group_digits(bar.total())
        );
    }
    out.push_str("</svg>\n");
    out
}

#[expect(clippy::cast_precision_loss, reason = "only for display")]
fn to_float(count: u64) -> f64 {
    count as f64
}

fn shorten_name(name: &str) -> String {
    if name.chars().count() <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(Some('…')).collect()
}

/// Writes a number with its digits in groups of three.
pub(super) fn group_digits(count: u64) -> String {
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

/// Escapes text for HTML.
pub(super) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!(
            [group_digits(0), group_digits(999), group_digits(1000), group_digits(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
