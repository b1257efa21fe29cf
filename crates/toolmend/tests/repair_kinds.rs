//! Every row of the table of repairs has a rule that makes it, and an example that shows it.
//!
//! The example of a new kind is run with the default setup of its layer. If it needs a schema, add it to `schema_for`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolmend::{Finish, FixOptions, Layer, Mender, Policy, REPAIRS, RepairInfo, Tool, TurnOptions, fix_with};

/// Where the rules of a layer are, below `src`.
fn folders(layer: Layer) -> &'static [&'static str] {
    match layer {
        Layer::Syntax => &["syntax"],
        // Arguments that are missing altogether are filled in before there is a value to fit.
        Layer::Shape => &["shape", "mender"],
        Layer::Name => &["name", "mender"],
        _ => &["dialect", "stream", "mender"],
    }
}

#[test]
fn every_repair_kind_has_a_rule() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    for row in REPAIRS {
        let variant = format!("RepairKind::{:?}", row.kind);
        let folders = folders(row.layer);
        let is_made = folders.iter().any(|folder| {
            rust_files(&source.join(folder))
                .iter()
                .any(|file| names(&fs::read_to_string(file).unwrap(), &variant))
        });
        assert!(
            is_made,
            "src/repair.rs has a row for `{}`, but no file in src/{} makes it: {variant} is not named there",
            row.name,
            folders.join(" or src/"),
        );
    }
}

#[test]
fn the_example_of_every_repair_shows_it() {
    let mut wrong = Vec::new();
    for row in REPAIRS {
        let (found, kinds) = run_example(row);
        if found.as_deref() != Some(row.example.1) || !kinds.contains(&row.name) {
            wrong.push(format!("{}: {:?} became {found:?} by {kinds:?}", row.name, row.example.0));
        }
    }
    assert!(
        wrong.is_empty(),
        "correct the examples in crates/toolmend/src/repair.rs, or give them a schema in crates/toolmend/tests/repair_kinds.rs:\n{}",
        wrong.join("\n")
    );
}

/// Returns the schema of an example that needs more than the default setup of its layer.
fn schema_for(kind: &str) -> Option<Value> {
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    let string = json!({"type": "string"});
    let integer = json!({"type": "integer"});
    let closed = |mut schema: Value| {
        schema["additionalProperties"] = false.into();
        schema
    };
    Some(match kind {
        "marks_swapped" => closed(object(json!({"a": string}), &["a"])),
        "command_line_read" | "main_field_wrapped" => object(json!({"file": string}), &["file"]),
        "empty_arguments_filled" | "empty_array_to_object" => object(json!({}), &[]),
        "string_to_number" | "empty_string_dropped" => object(json!({"s": string, "n": integer}), &[]),
        "float_to_integer" => {
            // Since draft 6 a whole number with a fraction is an integer.
            let mut schema = object(json!({"n": integer}), &["n"]);
            schema["$schema"] = json!("http://json-schema.org/draft-04/schema#");
            schema
        }
        "string_to_boolean" | "number_to_boolean" => object(json!({"b": {"type": "boolean"}}), &["b"]),
        "string_to_null" => object(json!({"z": {"type": ["integer", "null"]}}), &["z"]),
        "scalar_to_string" | "null_dropped" | "envelope_removed" | "element_unwrapped" | "list_to_object" => {
            object(json!({"s": string, "o": string}), &["s"])
        }
        "string_to_container"
        | "value_to_array"
        | "placeholder_unwrapped"
        | "empty_object_to_array"
        | "indexed_object_to_array"
        | "list_text_split" => object(json!({"l": {"type": "array", "items": integer}}), &["l"]),
        "enum_matched" => object(json!({"e": {"enum": ["red", "green"]}}), &["e"]),
        "key_respelled" => object(json!({"user_id": integer}), &["user_id"]),
        "key_renamed" => closed(object(json!({"path": string}), &["path"])),
        "paths_unflattened" => closed(object(
            json!({"a": {"type": "array", "items": object(json!({"b": integer}), &[])}}),
            &["a"],
        )),
        "value_lifted" => object(
            json!({"opts": {"type": "array", "items": object(json!({"old": string}), &[])}, "path": string}),
            &["path"],
        ),
        "default_filled" => object(json!({"d": {"type": "integer", "default": 1}}), &["d"]),
        "relational_default_filled" => {
            let mut schema = object(json!({"limit": integer, "offset": integer}), &[]);
            schema["x-toolmend"] =
                json!({"relational": [{"fields": ["limit", "offset"], "defaults": {"offset": 0}}]});
            schema
        }
        "link_unwrapped" => object(
            json!({"path": {"type": "string", "x-toolmend": {"semantic": "absolute_path"}}}),
            &["path"],
        ),
        "swallowed_parameter_split" => {
            closed(object(json!({"content": string, "path": string}), &["content", "path"]))
        }
        "code_quotes_normalised" => {
            object(json!({"content": {"type": "string", "x-toolmend": {"semantic": "code"}}}), &["content"])
        }
        "container_to_text" => object(json!({"path": string, "content": string}), &["content"]),
        "unknown_key_dropped" | "tool_label_dropped" => closed(object(json!({"s": string}), &["s"])),
        "arguments_placed" => object(json!({"a": integer, "b": string}), &["a", "b"]),
        "key_lines_read"
        | "yaml_read"
        | "toml_read"
        | "query_string_read"
        | "arrow_array_read"
        | "xml_attributes_read"
        | "restart_removed" => object(json!({"a": string, "b": integer}), &["a", "b"]),
        "key_value_text_read" | "objects_merged" => object(json!({"a": integer, "b": integer}), &["a", "b"]),
        "double_encoding_removed" => object(json!({"a": integer}), &["a"]),
        _ => return None,
    })
}

/// Runs the example and returns its result, with the names of the repairs that were made.
fn run_example(row: &RepairInfo) -> (Option<String>, Vec<&'static str>) {
    let (before, _) = row.example;
    let policy = Policy::default().with(row.kind);
    let schema = schema_for(row.name);
    let verdict = match row.layer {
        Layer::Syntax if schema.is_none() => {
            let options = FixOptions::new().policy(policy).finish(Finish::Stop);
            fix_with(before, &options).into_owned()
        }
        Layer::Syntax | Layer::Shape => {
            let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
            let mender = Mender::builder().tool(Tool::new("read", &schema).unwrap()).policy(policy).build();
            mender.unwrap().mend_finished("read", before, Finish::Stop).into_owned()
        }
        Layer::Name => {
            let schema = json!({"properties": {"path": {"type": "string"}}, "required": ["path"]});
            let mender =
                Mender::builder().tool(Tool::new("read_file", &schema).unwrap()).policy(policy).build();
            let arguments = if before.contains('{') { "" } else { r#"{"path":"x"}"# };
            let verdict = mender.unwrap().mend(before, arguments).into_owned();
            let kinds = verdict.repairs().iter().map(|repair| repair.kind.name()).collect();
            return (verdict.json().and(verdict.tool()).map(str::to_owned), kinds);
        }
        _ => {
            let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
            let mender = Mender::builder().tool(Tool::new("f", &schema).unwrap()).policy(policy).build();
            let turn = mender.unwrap().turn(before, &TurnOptions::new(), Finish::Stop);
            let verdict = turn.calls.into_iter().next().expect(row.name).verdict;
            let repairs = turn.repairs.iter().chain(verdict.repairs());
            let kinds = repairs.map(|repair| repair.kind.name()).collect();
            return (verdict.json().map(str::to_owned), kinds);
        }
    };
    let kinds = verdict.repairs().iter().map(|repair| repair.kind.name()).collect();
    (verdict.json().map(str::to_owned), kinds)
}

/// Whether a text names a variant as a whole, and not as the beginning of another.
fn names(text: &str, variant: &str) -> bool {
    let mut found = text.match_indices(variant).map(|(at, _)| text[at + variant.len()..].chars().next());
    found.any(|next| next.is_none_or(|next| !next.is_alphanumeric()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out
}
