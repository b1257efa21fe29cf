//! Measures valid text without a schema, the cost of every call.

use std::hint::black_box;

use serde_json::Value;

use crate::documents::{file_call, record_call, small_call};
use crate::table::{Scores, comparison_row, print_table};
use crate::timing::{Work, compare_times};

const TARGET: f64 = 0.6;

/// Prints the table.
pub(crate) fn measure(scores: &mut Scores) {
    let mut rows = Vec::new();
    for (name, text) in
        [("200 B call", small_call()), ("20 KB file", file_call()), ("20 KB records", record_call())]
    {
        let mut works: [Work<'_>; 2] = [
            Box::new(|| drop(black_box(serde_json::from_str::<Value>(black_box(&text))))),
            Box::new(|| drop(black_box(toolmend::fix(black_box(&text))))),
        ];
        let [theirs, ours] = compare_times(&mut works)[..] else { continue };
        rows.push(comparison_row(
            name,
            theirs,
            ours,
            TARGET,
            [scores.score_at_most(ours / theirs, TARGET).to_owned()],
        ));
    }
    print_table(
        "Valid text, no schema: toolmend::fix against serde_json::from_str::<Value>",
        &["", "serde_json", "toolmend", "ratio", "target", ""],
        &rows,
    );
}
