//! Shows the output of the model with a label beside each part: content, reasoning, markup or call.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use toolmend::{Part, Turn};

const CALL_COLOURS: [AnsiColor; 4] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Blue, AnsiColor::Yellow];

/// Writes every part to standard error, line by line.
pub(crate) fn print_parts(input: &str, turn: &Turn) {
    let mut out = anstream::stderr().lock();
    let parts = turn.segments(input);
    let width = parts.iter().map(|(part, _)| part_label(*part, turn).len()).max().unwrap_or(0);
    for (part, range) in parts {
        let (style, text) = (part_style(part, turn), input.get(range).unwrap_or_default());
        // White space around markup is only noise here.
        let text = if part == Part::Markup { text.trim() } else { text };
        let mut label = part_label(part, turn);
        for line in text.split_inclusive('\n') {
            let line = line.strip_suffix('\n').unwrap_or(line);
            // A closed standard error is not a reason to stop.
            let _ = writeln!(out, "{label:>width$} | {style}{line}{style:#}");
            label.clear();
        }
    }
    let _ = writeln!(out);
}

fn part_label(part: Part, turn: &Turn) -> String {
    match part {
        Part::Content => "content".to_owned(),
        Part::Reasoning => "reasoning".to_owned(),
        Part::Call(index) => {
            let outcome = turn.calls.get(index).map_or("", |call| call.outcome().name());
            format!("call {} {outcome}", index + 1)
        }
        _ => "markup".to_owned(),
    }
}

fn part_style(part: Part, turn: &Turn) -> Style {
    match part {
        Part::Content => Style::new(),
        Part::Reasoning => Style::new().italic(),
        Part::Call(index) => match turn.calls.get(index) {
            Some(call) if call.outcome().runs() => CALL_COLOURS[index % CALL_COLOURS.len()].on_default(),
            _ => AnsiColor::Red.on_default(),
        },
        _ => AnsiColor::BrightBlack.on_default(),
    }
}
