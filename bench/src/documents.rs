//! The documents that are measured: calls as agents make them, and the same calls broken as models break them.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::write_file_schema::write_file_schema;

/// The size of a large call.
const LARGE: usize = 20_000;

/// A broken text, and valid text of the same value.
#[derive(Debug)]
pub(crate) struct BrokenDocument {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) valid: String,
    pub(crate) schema: Option<Value>,
}

/// Returns a call of about 200 bytes.
pub(crate) fn small_call() -> String {
    json!({
        "query": "flights from Lisbon to Oslo",
        "departure": {"date": "2026-03-14", "after": "08:30"},
        "passengers": 2,
        "max_price": 349.5,
        "direct": true,
        "cabins": ["economy", "premium"],
        "notes": null,
    })
    .to_string()
}

/// Returns a call of about 20 KB that writes a file.
pub(crate) fn file_call() -> String {
    json!({"path": "src/report.py", "content": source_file(), "overwrite": true}).to_string()
}

/// Returns a call of about 20 KB that contains records.
pub(crate) fn record_call() -> String {
    let mut text = String::from("[");
    for id in 0.. {
        if text.len() > LARGE {
            break;
        }
        let comma = if id == 0 { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{{\"id\": {id}, \"name\": \"item {id}\", \"price\": {}.{:02}, \"tags\": [\"a\", \"b{id}\"], \"sold\": {}}}",
            id * 7 % 400,
            id % 100,
            id % 3 == 0
        );
    }
    text + "]"
}

/// Returns the schema of the small call.
pub(crate) fn small_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "departure": {
                "type": "object",
                "properties": {"date": {"type": "string"}, "after": {"type": "string"}},
                "required": ["date"],
            },
            "passengers": {"type": "integer", "minimum": 1},
            "max_price": {"type": "number"},
            "direct": {"type": "boolean"},
            "cabins": {"type": "array", "items": {"enum": ["economy", "premium", "business"]}},
            "notes": {"type": ["string", "null"]},
        },
        "required": ["query", "departure", "passengers"],
    })
}

/// Returns every large broken document.
pub(crate) fn broken_documents() -> Vec<BrokenDocument> {
    let records = record_call();
    let file = file_call();
    let content = source_file();
    let escaped_quotes = content.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped_lines = content.replace('\\', "\\\\").replace('\n', "\\n");
    let write_call = |content: &str| {
        format!("{{\"path\": \"src/report.py\", \"content\": \"{content}\", \"overwrite\": true}}")
    };
    vec![
        BrokenDocument {
            name: "trailing commas",
            text: records.replace('}', ",}").replace(']', ",]"),
            valid: records.clone(),
            schema: None,
        },
        BrokenDocument {
            name: "raw newlines",
            text: write_call(&escaped_quotes),
            valid: file.clone(),
            schema: None,
        },
        BrokenDocument {
            name: "unescaped quotes, with schema",
            text: write_call(&escaped_lines),
            valid: file,
            schema: Some(write_file_schema()),
        },
        BrokenDocument {
            name: "single quotes",
            text: records.replace('"', "'"),
            valid: records.clone(),
            schema: None,
        },
        BrokenDocument {
            name: "fenced, with prose",
            text: format!("Here is the list:\n\n```json\n{records}\n```\n\nThat is all."),
            valid: records,
            schema: None,
        },
    ]
}

/// Returns about 20 KB of source code.
fn source_file() -> String {
    source_text(LARGE)
}

/// Returns source code of about this many bytes that contains quotes, apostrophes and backslashes.
pub(crate) fn source_text(bytes: usize) -> String {
    let mut text = String::from("\"\"\"A report.\"\"\"\nimport re\n\n");
    for number in 0.. {
        if text.len() > bytes {
            break;
        }
        let _ = write!(
            text,
            "def part_{number}(rows, sep=\",\"):\n    # it's part {number}\n    names = [re.sub(r\"\\s+\", \" \", row[\"name\"]) for row in rows]\n    print_table(\"part {number}\", sep.join(names), end=\"\")\n    return {{\"part\": {number}, \"names\": names}}\n\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_their_size_and_their_defects() {
        assert!((180..240).contains(&small_call().len()), "{}", small_call().len());
        for text in [file_call(), record_call()] {
            assert!((20_000..23_000).contains(&text.len()), "{}", text.len());
            serde_json::from_str::<Value>(&text).unwrap();
        }
        for document in broken_documents() {
            assert!(serde_json::from_str::<Value>(&document.text).is_err(), "{} is broken", document.name);
            serde_json::from_str::<Value>(&document.valid).unwrap();
        }
    }
}
