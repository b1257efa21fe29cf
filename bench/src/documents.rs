//! What is measured: calls as agents make them, and the same calls broken in the ways that models break them.

use std::fmt::Write;

use serde_json::{Value, json};

/// The size of a large call.
const LARGE: usize = 20_000;

/// A text and the strict text of the same value.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) twin: String,
    pub(crate) schema: Option<Value>,
}

/// A call of about 200 bytes.
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

/// A call of about 20 KB that writes a file.
pub(crate) fn file_call() -> String {
    json!({"path": "src/report.py", "content": source_file(), "overwrite": true}).to_string()
}

/// A call of about 20 KB that carries records.
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

/// The schema of a tool that writes files.
pub(crate) fn file_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "overwrite": {"type": "boolean"},
        },
        "required": ["path", "content"],
    })
}

/// The schema of the small call.
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

/// Every large broken document.
pub(crate) fn broken() -> Vec<Broken> {
    let records = record_call();
    let file = file_call();
    let content = source_file();
    let escaped_quotes = content.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped_lines = content.replace('\\', "\\\\").replace('\n', "\\n");
    let write_call = |content: &str| {
        format!("{{\"path\": \"src/report.py\", \"content\": \"{content}\", \"overwrite\": true}}")
    };
    vec![
        Broken {
            name: "trailing commas",
            text: records.replace('}', ",}").replace(']', ",]"),
            twin: records.clone(),
            schema: None,
        },
        Broken { name: "raw newlines", text: write_call(&escaped_quotes), twin: file.clone(), schema: None },
        Broken {
            name: "unescaped quotes, with schema",
            text: write_call(&escaped_lines),
            twin: file,
            schema: Some(file_schema()),
        },
        Broken {
            name: "single quotes",
            text: records.replace('"', "'"),
            twin: records.clone(),
            schema: None,
        },
        Broken {
            name: "fenced, with prose",
            text: format!("Here is the list:\n\n```json\n{records}\n```\n\nThat is all."),
            twin: records,
            schema: None,
        },
    ]
}

/// About 20 KB of a program.
fn source_file() -> String {
    source_text(LARGE)
}

/// A program of about so many bytes, with quotes, apostrophes and backslashes in it.
pub(crate) fn source_text(bytes: usize) -> String {
    let mut text = String::from("\"\"\"A report.\"\"\"\nimport re\n\n");
    for number in 0.. {
        if text.len() > bytes {
            break;
        }
        let _ = write!(
            text,
            "def part_{number}(rows, sep=\",\"):\n    # it's part {number}\n    names = [re.sub(r\"\\s+\", \" \", row[\"name\"]) for row in rows]\n    print(\"part {number}\", sep.join(names), end=\"\")\n    return {{\"part\": {number}, \"names\": names}}\n\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_what_their_names_say() {
        assert!((180..240).contains(&small_call().len()), "{}", small_call().len());
        for text in [file_call(), record_call()] {
            assert!((20_000..23_000).contains(&text.len()), "{}", text.len());
            serde_json::from_str::<Value>(&text).unwrap();
        }
        for document in broken() {
            assert!(serde_json::from_str::<Value>(&document.text).is_err(), "{} is broken", document.name);
            serde_json::from_str::<Value>(&document.twin).unwrap();
        }
    }
}
