//! The schema of a tool that tests and measurements call with long texts.

use serde_json::{Value, json};

/// Returns the schema of a tool that writes files.
pub(crate) fn write_file_schema() -> Value {
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
