//! A page about a run: one file, nothing to load, readable by day and by night.

mod chart;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use self::chart::{Bar, Part, bars, escaped, grouped};
use crate::counts::Tally;
use crate::job::Summary;
use crate::write::part_of;

const STYLE: &str = include_str!("report.css");
/// How many rows a chart has; what is left is told as a number.
const MOST_BARS: usize = 40;
/// The outcomes in words, with the class of their colour.
const OUTCOMES: [(&str, &str); 4] =
    [("clean", "clean"), ("mended", "mended"), ("cut off", "cut"), ("refused", "refused")];

/// Writes the page and moves it into its place.
pub(crate) fn write(path: &Path, summary: &Summary, files: &[String]) -> io::Result<()> {
    let part = part_of(path);
    fs::write(&part, page(summary, files))?;
    fs::rename(&part, path)
}

fn page(summary: &Summary, files: &[String]) -> String {
    let tally = &summary.tally;
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<title>Tool calls, cleaned</title>\n<style>\n");
    out.push_str(STYLE);
    out.push_str("</style>\n<main>\n<h1>Tool calls, cleaned</h1>\n");
    let _ = writeln!(out, "<p class=\"about\">{}</p>", escaped(&about(summary, files)));
    out.push_str(&numbers(tally));
    out.push_str(&legend());
    section(&mut out, "All calls", &[bar("all", tally.outcomes())], tally.calls() == 0);
    section(&mut out, "By model", &largest(by_model(tally)), tally.models.len() < 2);
    section(&mut out, "By tool", &largest(by_tool(tally)), false);
    section(&mut out, "Repairs by kind", &counted(kinds(tally), "mended"), false);
    section(&mut out, "Refusals by reason", &counted(reasons(tally), "refused"), false);
    out.push_str(&table(tally));
    out.push_str("</main>\n</html>\n");
    out
}

fn about(summary: &Summary, files: &[String]) -> String {
    let which = match files {
        [only] => only.clone(),
        [first, .., last] => format!("{} files, from {first} to {last}", files.len()),
        [] => "no files".to_owned(),
    };
    let seconds = summary.elapsed.as_secs_f64();
    let resumed = if summary.resumed > 0 { ", going on with an earlier run" } else { "" };
    format!("{which}; {} bytes in {seconds:.1} s{resumed}", grouped(summary.bytes))
}

fn numbers(tally: &Tally) -> String {
    let mut out = String::from("<dl class=\"numbers\">\n");
    let mut number = |name: &str, class: &str, count: u64, of: u64| {
        let part = if of > 0 { format!(" <small>{}</small>", share(count, of)) } else { String::new() };
        let _ =
            writeln!(out, "<div class=\"{class}\"><dt>{name}</dt><dd>{}{part}</dd></div>", grouped(count));
    };
    number("rows", "", tally.rows, 0);
    number("calls", "", tally.calls(), 0);
    for ((name, class), count) in OUTCOMES.iter().zip(tally.outcomes()) {
        number(name, class, count, tally.calls());
    }
    if tally.broken > 0 {
        number("unreadable rows", "refused", tally.broken, tally.rows);
    }
    out.push_str("</dl>\n");
    out
}

fn legend() -> String {
    let mut out = String::from("<p class=\"legend\">");
    for (name, class) in OUTCOMES {
        let _ = write!(out, "<span class=\"{class}\">{name}</span> ");
    }
    out.push_str("</p>\n");
    out
}

fn section(out: &mut String, title: &str, rows: &[Bar], skip: bool) {
    if !skip && !rows.is_empty() {
        let _ = writeln!(out, "<section>\n<h2>{title}</h2>\n{}</section>", bars(title, rows));
    }
}

/// A part of a whole as people write it.
#[expect(clippy::cast_precision_loss, reason = "for the eye")]
fn share(count: u64, of: u64) -> String {
    let percent = 100.0 * count as f64 / of.max(1) as f64;
    if percent > 0.0 && percent < 0.1 { "&lt; 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

fn bar(name: &str, outcomes: [u64; 4]) -> Bar {
    let parts = OUTCOMES.iter().zip(outcomes);
    let parts = parts.map(|((name, class), count)| Part { name, class, count }).collect();
    Bar { name: if name.is_empty() { "(not named)".to_owned() } else { name.to_owned() }, parts }
}

fn by_model(tally: &Tally) -> Vec<Bar> {
    let rows = tally.models.iter().map(|(model, tools)| {
        let mut sum = [0; 4];
        for counts in tools.values() {
            sum.iter_mut().zip(counts.outcomes).for_each(|(sum, count)| *sum += count);
        }
        bar(model, sum)
    });
    rows.collect()
}

fn by_tool(tally: &Tally) -> Vec<Bar> {
    let mut sums: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for (tool, counts) in tally.models.values().flatten() {
        let sum = sums.entry(tool).or_default();
        sum.iter_mut().zip(counts.outcomes).for_each(|(sum, count)| *sum += count);
    }
    sums.into_iter().map(|(tool, sum)| bar(tool, sum)).collect()
}

/// The rows with most calls first, and not too many of them.
fn largest(mut rows: Vec<Bar>) -> Vec<Bar> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.total()));
    rows.truncate(MOST_BARS);
    rows
}

fn kinds(tally: &Tally) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (kind, count) in tally.models.values().flat_map(BTreeMap::values).flat_map(|counts| &counts.kinds) {
        *sums.entry(kind.as_str()).or_default() += count;
    }
    sums
}

fn reasons(tally: &Tally) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (reason, count) in tally.models.values().flat_map(BTreeMap::values).flat_map(|counts| &counts.reasons)
    {
        *sums.entry(reason.as_str()).or_default() += count;
    }
    sums
}

fn counted(sums: BTreeMap<&str, u64>, class: &'static str) -> Vec<Bar> {
    let rows = sums.into_iter().map(|(name, count)| Bar {
        name: name.to_owned(),
        parts: vec![Part { name: "times", class, count }],
    });
    largest(rows.collect())
}

/// Every model and tool in numbers, with the kinds of repair that were most frequent.
fn table(tally: &Tally) -> String {
    let mut rows: Vec<_> = tally
        .models
        .iter()
        .flat_map(|(model, tools)| tools.iter().map(move |(tool, counts)| (model, tool, counts)))
        .collect();
    rows.sort_by_key(|(_, _, counts)| std::cmp::Reverse(counts.outcomes.iter().sum::<u64>()));
    let mut out = String::from(
        "<section>\n<h2>By model and tool</h2>\n<div class=\"wide\"><table>\n<tr><th>model<th>tool",
    );
    for name in ["calls", "clean", "mended", "cut off", "refused"] {
        let _ = write!(out, "<th class=\"number\">{name}");
    }
    out.push_str("<th>repairs\n");
    for (model, tool, counts) in rows.iter().take(5 * MOST_BARS) {
        let _ = write!(out, "<tr><td>{}<td>{}", escaped(model), escaped(tool));
        let calls = counts.outcomes.iter().sum::<u64>();
        for count in std::iter::once(calls).chain(counts.outcomes) {
            let _ = write!(out, "<td class=\"number\">{}", grouped(count));
        }
        let mut kinds: Vec<_> = counts.kinds.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds =
            kinds.iter().take(3).map(|(kind, count)| format!("{} {}", escaped(kind), grouped(**count)));
        let _ = writeln!(out, "<td class=\"kinds\">{}", kinds.collect::<Vec<_>>().join(", "));
    }
    out.push_str("</table></div>\n</section>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_page_tells_everything_and_loads_nothing() {
        let mut tally = Tally { rows: 1_234_567, broken: 1, ..Tally::default() };
        tally.count("<b>model</b>", "f&g", &toolmend::fix("{a: 1,}"));
        tally.count("other", "f&g", &toolmend::fix("{}"));
        tally.count("other", "h", &toolmend::fix("{\"a\": \"x"));
        tally.count("other", "h", &toolmend::fix("{a: 1} {a: 2}"));
        let summary =
            Summary { files: 1, bytes: 10, resumed: 0, tally, elapsed: Duration::from_millis(1500) };
        let page = page(&summary, &["a.jsonl".to_owned()]);
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
            assert!(!page.contains(part), "{part} does not belong there");
        }
    }

    #[test]
    fn nothing_is_a_page_too() {
        let summary =
            Summary { files: 0, bytes: 0, resumed: 0, tally: Tally::default(), elapsed: Duration::ZERO };
        assert!(page(&summary, &[]).contains("<h1>"));
    }
}
