//! Measures broken documents against `serde_json` on the valid text, and against other repairers on the same text.

use std::hint::black_box;

use serde_json::Value;
use toolmend::{FixOptions, Schema};

use crate::documents::{BrokenDocument, broken_documents};
use crate::repairers::NAMES;
use crate::subprocess::{Reply, ask_child};
use crate::table::{Scores, comparison_row, format_time, print_table};
use crate::timing::{Work, compare_times, median};

const TARGET: f64 = 2.5;
/// How often each repairer is measured. The repairers take turns.
const TURNS: usize = 3;

/// Prints the tables.
pub(crate) fn measure(scores: &mut Scores) {
    let documents = broken_documents();
    print_table(
        "Broken 20 KB documents: toolmend against serde_json on the valid text",
        &["", "serde_json", "toolmend", "ratio", "target", "value", ""],
        &documents.iter().map(|document| compare_with_serde_json(document, scores)).collect::<Vec<_>>(),
    );
    let head: Vec<&str> = Some("").into_iter().chain(NAMES).chain(Some("")).collect();
    print_table(
        "The same documents: each repairer in a process of its own (time, and whether the value is right)",
        &head,
        &documents.iter().map(|document| compare_with_repairers(document, scores)).collect::<Vec<_>>(),
    );
}

fn compare_with_serde_json(document: &BrokenDocument, scores: &mut Scores) -> Vec<String> {
    let mut options = FixOptions::new();
    if let Some(schema) = document.schema.as_ref().and_then(|schema| Schema::new(schema).ok()) {
        options = options.schema(schema);
    }
    let is_right =
        toolmend::fix_with(&document.text, &options).value() == serde_json::from_str(&document.valid).ok();
    let mut works: [Work<'_>; 2] = [
        Box::new(|| drop(black_box(serde_json::from_str::<Value>(black_box(&document.valid))))),
        Box::new(|| drop(black_box(toolmend::fix_with(black_box(&document.text), &options)))),
    ];
    let times = compare_times(&mut works);
    let (theirs, ours) = (times[0], times[1]);
    comparison_row(
        document.name,
        theirs,
        ours,
        TARGET,
        [
            if is_right { "right" } else { "WRONG" }.to_owned(),
            scores.score(is_right && ours / theirs <= TARGET).to_owned(),
        ],
    )
}

/// The result of one repairer for a document.
struct Measurement {
    nanoseconds: f64,
    right: bool,
}

fn compare_with_repairers(document: &BrokenDocument, scores: &mut Scores) -> Vec<String> {
    let schema = document.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    let expected: Option<Value> = serde_json::from_str(&document.valid).ok();
    let mut times = vec![Vec::new(); NAMES.len()];
    let mut right = vec![false; NAMES.len()];
    let mut refusals = vec![""; NAMES.len()];
    for _ in 0..TURNS {
        for (index, name) in NAMES.iter().enumerate() {
            let reply = ask_child(&["repair", name, &schema], &document.text);
            let Reply::Answer(answer) = reply else {
                refusals[index] = reply.failure();
                continue;
            };
            let output = answer["output"].as_str().and_then(|text| serde_json::from_str(text).ok());
            right[index] = output.is_some() && output == expected;
            times[index].extend(answer["ns"].as_f64());
        }
    }
    let results: Vec<Option<Measurement>> = times
        .into_iter()
        .zip(right)
        .map(|(times, right)| (!times.is_empty()).then(|| Measurement { nanoseconds: median(times), right }))
        .collect();
    let ours = results.first().and_then(Option::as_ref);
    let fastest = ours.is_some_and(|ours| {
        let slower = |other: &Measurement| !other.right || other.nanoseconds > ours.nanoseconds;
        ours.right && results.iter().skip(1).flatten().all(slower)
    });
    let mut row = vec![document.name.to_owned()];
    row.extend(results.iter().zip(refusals).map(|(result, refusal)| match result {
        Some(Measurement { nanoseconds, right }) => {
            format!("{} {}", format_time(*nanoseconds), if *right { "right" } else { "wrong" })
        }
        None => refusal.to_owned(),
    }));
    row.push(scores.score(fastest).to_owned());
    row
}
