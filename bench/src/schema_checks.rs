//! Measures calls with a schema against parsing and validating by hand.

use std::hint::black_box;

use serde_json::Value;
use toolmend::{FixOptions, Schema};

use crate::documents::{file_call, small_call, small_schema};
use crate::table::{Scores, comparison_row, print_line, print_table};
use crate::timing::{Work, compare_times};
use crate::write_file_schema::write_file_schema;

const VALID_TARGET: f64 = 1.1;
const WRONG_TYPE_TARGET: f64 = 3.0;

/// Prints the table.
pub(crate) fn measure(scores: &mut Scores) {
    let small = small_call();
    let wrong_type = small.replace("\"passengers\":2", "\"passengers\":\"2\"");
    let cases = [
        ("valid, 200 B call", small.clone(), small.clone(), small_schema(), VALID_TARGET),
        ("valid, 20 KB file", file_call(), file_call(), write_file_schema(), VALID_TARGET),
        ("one wrong type, 200 B call", wrong_type, small, small_schema(), WRONG_TYPE_TARGET),
    ];
    let mut rows = Vec::new();
    for (name, text, valid, schema, target) in cases {
        let (Ok(validator), Ok(compiled)) = (jsonschema::options().build(&schema), Schema::new(&schema))
        else {
            print_line(&format!("{name}: the schema does not compile"));
            continue;
        };
        let options = FixOptions::new().schema(compiled);
        let is_right = toolmend::fix_with(&text, &options).value() == serde_json::from_str(&valid).ok();
        let mut works: [Work<'_>; 2] = [
            Box::new(|| {
                let value = serde_json::from_str::<Value>(black_box(&valid)).unwrap_or_default();
                black_box(validator.is_valid(&value));
            }),
            Box::new(|| drop(black_box(toolmend::fix_with(black_box(&text), &options)))),
        ];
        let [theirs, ours] = compare_times(&mut works)[..] else { continue };
        rows.push(comparison_row(
            name,
            theirs,
            ours,
            target,
            [
                if is_right { "right" } else { "WRONG" }.to_owned(),
                scores.score(is_right && ours / theirs <= target).to_owned(),
            ],
        ));
    }
    print_table(
        "With a schema: toolmend::fix_with against serde_json and jsonschema by hand on the valid text",
        &["", "by hand", "toolmend", "ratio", "target", "value", ""],
        &rows,
    );
}
