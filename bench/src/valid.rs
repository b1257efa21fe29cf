//! Valid text without a schema: what everybody pays on every call.

use std::hint::black_box;

use serde_json::Value;

use crate::clock::{Work, compare};
use crate::documents::{file_call, record_call, small_call};
use crate::table::{Scores, print, ratio, time};

const TARGET: f64 = 0.6;

pub(crate) fn measure(scores: &mut Scores) {
    let mut rows = Vec::new();
    for (name, text) in
        [("200 B call", small_call()), ("20 KB file", file_call()), ("20 KB records", record_call())]
    {
        let mut works: [Work<'_>; 2] = [
            Box::new(|| drop(black_box(serde_json::from_str::<Value>(black_box(&text))))),
            Box::new(|| drop(black_box(toolmend::fix(black_box(&text))))),
        ];
        let [theirs, ours] = compare(&mut works)[..] else { continue };
        rows.push(vec![
            name.to_owned(),
            time(theirs),
            time(ours),
            ratio(ours / theirs),
            ratio(TARGET),
            scores.at_most(ours / theirs, TARGET).to_owned(),
        ]);
    }
    print(
        "Valid text, no schema: toolmend::fix against serde_json::from_str::<Value>",
        &["", "serde_json", "toolmend", "ratio", "target", ""],
        &rows,
    );
}
