//! One import changed: arguments of a type of your own, read with repair.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

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
    // A single path for a list, a number in a string, null for a field with a default.
    for text in [
        r#"{"query": "fn main", "paths": "src", "limit": "5"}"#,
        r#"{"query": "fn main", "paths": "[\"src\", \"tests\"]", "limit": null}"#,
    ] {
        let search: Search = toolmend::from_str_with(text, |repair| {
            println!("repaired {} at {:?}", repair.kind, repair.path);
        })?;
        println!("{} in {:?}, at most {}", search.query, search.paths, search.limit);
    }

    // What cannot be mended fails as it would with serde_json.
    let error = toolmend::from_str::<Search>(r#"{"limit": 5}"#).unwrap_err();
    println!("{error}");
    Ok(())
}
