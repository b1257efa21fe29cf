//! The HTML report about a run: one file that loads nothing, for light and dark screens.
//!
//! Names of models, tools and files come from the data, so everything that is written goes through [`escape_html`].

mod chart;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use self::chart::{Bar, BarPart, draw_bars, escape_html, group_digits};
use crate::counts::{CallCounts, OUTCOMES, ToolCounts};
use crate::job::Summary;
use crate::write::part_path;

const STYLE: &str = include_str!("report.css");
/// How many bars a chart has at most.
const MAX_BARS: usize = 40;
/// How many rows the table has at most.
const MAX_TABLE_ROWS: usize = 200;
/// How many kinds of repair a row of the table names.
const MAX_TABLE_KINDS: usize = 3;

/// Writes the report under a temporary name, and then gives it its name.
pub(crate) fn write_report(path: &Path, summary: &Summary, files: &[String]) -> io::Result<()> {
    let part = part_path(path);
    fs::write(&part, render_page(summary, files))?;
    fs::rename(&part, path)
}

fn render_page(summary: &Summary, files: &[String]) -> String {
    let counts = &summary.counts;
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<title>Cleaned tool calls</title>\n<style>\n");
    out.push_str(STYLE);
    out.push_str("</style>\n<main>\n<h1>Cleaned tool calls</h1>\n");
    let _ = writeln!(out, "<p class=\"about\">{}</p>", escape_html(&describe_run(summary, files)));
    write_numbers(&mut out, counts);
    write_legend(&mut out);
    if counts.calls() > 0 {
        write_section(&mut out, "All calls", &[outcome_bar("all", counts.outcomes())]);
    }
    if counts.models.len() > 1 {
        write_section(&mut out, "By model", &bars_by_model(counts));
    }
    write_section(&mut out, "By tool", &bars_by_tool(counts));
    let repairs = sum_counters(counts, |tool| &tool.kinds);
    write_section(&mut out, "Repairs by kind", &counter_bars(repairs, "mended"));
    let refusals = sum_counters(counts, |tool| &tool.reasons);
    write_section(&mut out, "Refusals by reason", &counter_bars(refusals, "rejected"));
    write_table(&mut out, counts);
    out.push_str("</main>\n</html>\n");
    out
}

/// Describes the files and the time of a run in one line.
fn describe_run(summary: &Summary, files: &[String]) -> String {
    let files = match files {
        [only] => only.clone(),
        [first, .., last] => format!("{} files, from {first} to {last}", files.len()),
        [] => "no files".to_owned(),
    };
    let seconds = summary.elapsed.as_secs_f64();
    let resumed = if summary.resumed > 0 { ", resumed from an earlier run" } else { "" };
    format!("{files}; {} bytes in {seconds:.1} s{resumed}", group_digits(summary.bytes))
}

fn write_numbers(out: &mut String, counts: &CallCounts) {
    out.push_str("<dl class=\"numbers\">\n");
    let mut write_number = |name: &str, class: &str, count: u64, of: u64| {
        let share = if of > 0 { format!(" <small>{}</small>", percentage(count, of)) } else { String::new() };
        let count = group_digits(count);
        let _ = writeln!(out, "<div class=\"{class}\"><dt>{name}</dt><dd>{count}{share}</dd></div>");
    };
    write_number("rows", "", counts.rows, 0);
    write_number("calls", "", counts.calls(), 0);
    for (outcome, count) in OUTCOMES.iter().zip(counts.outcomes()) {
        write_number(outcome.name(), outcome.name(), count, counts.calls());
    }
    if counts.unreadable > 0 {
        write_number("unreadable rows", "rejected", counts.unreadable, counts.rows);
    }
    out.push_str("</dl>\n");
}

fn write_legend(out: &mut String) {
    out.push_str("<p class=\"legend\">");
    for name in OUTCOMES.map(toolmend::Outcome::name) {
        let _ = write!(out, "<span class=\"{name}\">{name}</span> ");
    }
    out.push_str("</p>\n");
}

/// Writes a section with a chart, unless the chart is empty.
fn write_section(out: &mut String, title: &str, bars: &[Bar]) {
    if !bars.is_empty() {
        let _ = writeln!(out, "<section>\n<h2>{title}</h2>\n{}</section>", draw_bars(title, bars));
    }
}

/// Writes a share in percent.
#[expect(clippy::cast_precision_loss, reason = "only for display")]
fn percentage(count: u64, of: u64) -> String {
    let percent = 100.0 * count as f64 / of.max(1) as f64;
    if percent > 0.0 && percent < 0.1 { "&lt; 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// Makes a bar with a part for each outcome.
fn outcome_bar(name: &str, outcomes: [u64; 4]) -> Bar {
    let parts = OUTCOMES.iter().zip(outcomes);
    let parts = parts
        .map(|(outcome, count)| BarPart { name: outcome.name(), class: outcome.name(), count })
        .collect();
    Bar { name: if name.is_empty() { "(unknown)".to_owned() } else { name.to_owned() }, parts }
}

fn add_outcomes(sum: &mut [u64; 4], outcomes: [u64; 4]) {
    sum.iter_mut().zip(outcomes).for_each(|(sum, count)| *sum += count);
}

fn bars_by_model(counts: &CallCounts) -> Vec<Bar> {
    let bars = counts.models.iter().map(|(model, tools)| {
        let mut sum = [0; 4];
        for tool in tools.values() {
            add_outcomes(&mut sum, tool.outcomes);
        }
        outcome_bar(model, sum)
    });
    keep_largest(bars.collect())
}

fn bars_by_tool(counts: &CallCounts) -> Vec<Bar> {
    let mut sums: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for (tool, counts) in counts.models.values().flatten() {
        add_outcomes(sums.entry(tool).or_default(), counts.outcomes);
    }
    keep_largest(sums.into_iter().map(|(tool, sum)| outcome_bar(tool, sum)).collect())
}

/// Sorts bars by length, longest first, and drops the shortest ones if there are too many.
fn keep_largest(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by_key(|bar| Reverse(bar.total()));
    bars.truncate(MAX_BARS);
    bars
}

/// Adds up counters of all models and tools.
fn sum_counters(
    counts: &CallCounts,
    counters: impl Fn(&ToolCounts) -> &BTreeMap<String, u64>,
) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in counts.models.values().flat_map(BTreeMap::values).flat_map(counters) {
        *sums.entry(name.as_str()).or_default() += count;
    }
    sums
}

fn counter_bars(sums: BTreeMap<&str, u64>, class: &'static str) -> Vec<Bar> {
    let bars = sums.into_iter().map(|(name, count)| Bar {
        name: name.to_owned(),
        parts: vec![BarPart { name: "times", class, count }],
    });
    keep_largest(bars.collect())
}

/// Writes a table of all models and tools, with their most frequent kinds of repair.
fn write_table(out: &mut String, counts: &CallCounts) {
    let mut rows: Vec<_> = counts
        .models
        .iter()
        .flat_map(|(model, tools)| tools.iter().map(move |(tool, counts)| (model, tool, counts)))
        .collect();
    rows.sort_by_key(|(_, _, counts)| Reverse(counts.outcomes.iter().sum::<u64>()));
    out.push_str("<section>\n<h2>By model and tool</h2>\n<div class=\"wide\"><table>\n<tr><th>model<th>tool");
    for name in std::iter::once("calls").chain(OUTCOMES.map(toolmend::Outcome::name)) {
        let _ = write!(out, "<th class=\"number\">{name}");
    }
    out.push_str("<th>repairs\n");
    for (model, tool, counts) in rows.iter().take(MAX_TABLE_ROWS) {
        let _ = write!(out, "<tr><td>{}<td>{}", escape_html(model), escape_html(tool));
        let calls = counts.outcomes.iter().sum::<u64>();
        for count in std::iter::once(calls).chain(counts.outcomes) {
            let _ = write!(out, "<td class=\"number\">{}", group_digits(count));
        }
        let mut kinds: Vec<_> = counts.kinds.iter().collect();
        kinds.sort_by_key(|(_, count)| Reverse(**count));
        let kinds = kinds.iter().take(MAX_TABLE_KINDS);
        let kinds = kinds.map(|(kind, count)| format!("{} {}", escape_html(kind), group_digits(**count)));
        let _ = writeln!(out, "<td class=\"kinds\">{}", kinds.collect::<Vec<_>>().join(", "));
    }
    out.push_str("</table></div>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_page_shows_all_counts_and_loads_nothing() {
        let mut counts = CallCounts { rows: 1_234_567, unreadable: 1, ..CallCounts::default() };
        counts.count_verdict("<b>model</b>", "f&g", &toolmend::fix("{a: 1,}"));
        counts.count_verdict("other", "f&g", &toolmend::fix("{}"));
        counts.count_verdict("other", "h", &toolmend::fix("{\"a\": \"x"));
        counts.count_verdict("other", "h", &toolmend::fix("{a: 1} {a: 2}"));
        let summary =
            Summary { files: 1, bytes: 10, resumed: 0, counts, elapsed: Duration::from_millis(1500) };
        let page = render_page(&summary, &["a.jsonl".to_owned()]);
        for part in [
            "&lt;b&gt;model&lt;/b&gt;",
            "f&amp;g",
            "1,234,567",
            "trailing_comma_removed",
            "ambiguous",
            "unreadable rows",
            "a.jsonl; 10 bytes in 1.5 s",
            "prefers-color-scheme",
            "<svg",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        for part in ["<b>model", "http", "src=", "url(", "<script"] {
            assert!(!page.contains(part), "{part} must not be in the page");
        }
        for class in OUTCOMES.map(toolmend::Outcome::name) {
            assert!(STYLE.contains(&format!("rect.{class} ")), "{class} has no colour");
        }
    }

    #[test]
    fn a_run_without_files_has_a_page_too() {
        let summary = Summary {
            files: 0,
            bytes: 0,
            resumed: 0,
            counts: CallCounts::default(),
            elapsed: Duration::ZERO,
        };
        assert!(render_page(&summary, &[]).contains("<h1>"));
    }
}
