//! Reads arguments into a type of your own: one changed import adds repair.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Search {
    query: String,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default = "ten")]
    limit: u32,
}

fn ten() -> u32 {
    10
}

fn main() -> Result<(), toolmend::Error> {
    // A single path instead of a list, a number in a string, and null for a field with a default.
    for text in [
        r#"{"query": "fn main", "paths": "src", "limit": "5"}"#,
        r#"{"query": "fn main", "paths": "[\"src\", \"tests\"]", "limit": null}"#,
    ] {
        let search: Search = toolmend::from_str_with(text, |repairs| {
            for repair in repairs {
                println!("repaired {} at {:?}", repair.kind, repair.path);
            }
        })?;
        println!("{} in {:?}, at most {}", search.query, search.paths, search.limit);
    }

    // Anything that cannot be mended fails as it does with serde_json, and has feedback for the model.
    let error = toolmend::from_str::<Search>(r#"{"limit": 5}"#).unwrap_err();
    println!("{error}\n{}", error.feedback().unwrap_or_default());
    Ok(())
}
