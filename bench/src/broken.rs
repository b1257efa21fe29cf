//! Broken documents: against `serde_json` on the valid twin, and against everybody on the same text.

use std::hint::black_box;

use serde_json::Value;
use toolmend::{FixOptions, Schema};

use crate::child::{Reply, ask};
use crate::clock::{Work, compare, median};
use crate::documents::{Broken, broken};
use crate::peers::NAMES;
use crate::table::{Scores, print, ratio, time};

const TARGET: f64 = 2.5;
/// How often each repairer is asked, in turns.
const TURNS: usize = 3;

pub(crate) fn measure(scores: &mut Scores) {
    let documents = broken();
    print(
        "Broken 20 KB documents: toolmend against serde_json on the valid twin",
        &["", "serde_json", "toolmend", "ratio", "target", "value", ""],
        &documents.iter().map(|document| against_serde_json(document, scores)).collect::<Vec<_>>(),
    );
    let head: Vec<&str> = Some("").into_iter().chain(NAMES).chain(Some("")).collect();
    print(
        "The same documents: each repairer in a process of its own (time, and whether the value is right)",
        &head,
        &documents.iter().map(|document| against_peers(document, scores)).collect::<Vec<_>>(),
    );
}

fn against_serde_json(document: &Broken, scores: &mut Scores) -> Vec<String> {
    let mut options = FixOptions::new();
    if let Some(schema) = document.schema.as_ref().and_then(|schema| Schema::new(schema).ok()) {
        options = options.schema(schema);
    }
    let right =
        toolmend::fix_with(&document.text, &options).value() == serde_json::from_str(&document.twin).ok();
    let mut works: [Work<'_>; 2] = [
        Box::new(|| drop(black_box(serde_json::from_str::<Value>(black_box(&document.twin))))),
        Box::new(|| drop(black_box(toolmend::fix_with(black_box(&document.text), &options)))),
    ];
    let times = compare(&mut works);
    let (theirs, ours) = (times[0], times[1]);
    vec![
        document.name.to_owned(),
        time(theirs),
        time(ours),
        ratio(ours / theirs),
        ratio(TARGET),
        if right { "right" } else { "WRONG" }.to_owned(),
        scores.holds(right && ours / theirs <= TARGET).to_owned(),
    ]
}

/// What one repairer made of a document.
struct Result {
    nanoseconds: f64,
    right: bool,
}

fn against_peers(document: &Broken, scores: &mut Scores) -> Vec<String> {
    let schema = document.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    let expected: Option<Value> = serde_json::from_str(&document.twin).ok();
    let mut times = vec![Vec::new(); NAMES.len()];
    let mut right = vec![false; NAMES.len()];
    let mut troubles = vec![""; NAMES.len()];
    for _ in 0..TURNS {
        for (index, name) in NAMES.iter().enumerate() {
            let reply = ask(&["repair", name, &schema], &document.text);
            let Reply::Answer(answer) = reply else {
                troubles[index] = reply.refusal();
                continue;
            };
            let output = answer["output"].as_str().and_then(|text| serde_json::from_str(text).ok());
            right[index] = output.is_some() && output == expected;
            times[index].extend(answer["ns"].as_f64());
        }
    }
    let results: Vec<Option<Result>> = times
        .into_iter()
        .zip(right)
        .map(|(times, right)| (!times.is_empty()).then(|| Result { nanoseconds: median(times), right }))
        .collect();
    let ours = results.first().and_then(Option::as_ref);
    let fastest = ours.is_some_and(|ours| {
        let slower = |other: &Result| !other.right || other.nanoseconds > ours.nanoseconds;
        ours.right && results.iter().skip(1).flatten().all(slower)
    });
    let mut row = vec![document.name.to_owned()];
    row.extend(results.iter().zip(troubles).map(|(result, refusal)| match result {
        Some(Result { nanoseconds, right }) => {
            format!("{} {}", time(*nanoseconds), if *right { "right" } else { "wrong" })
        }
        None => refusal.to_owned(),
    }));
    row.push(scores.holds(fastest).to_owned());
    row
}
