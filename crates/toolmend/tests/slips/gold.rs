//! The gold calls: valid arguments of tools with schemas of many shapes, filled with texts of many kinds.

use serde_json::Value;
use toolmend::{Mender, Schema, Tool};

use crate::contents::{self, Content};
use crate::render::{Rendered, Style, render};

/// A tool, and a call of it in which `@short` and `@long` are replaced by texts.
struct Shape {
    tool: &'static str,
    schema: &'static str,
    call: &'static str,
}

/// Shapes with room for text. Each kind of text goes into several of them.
const WITH_TEXT: &[Shape] = &[
    Shape {
        tool: "write_file",
        schema: r#"{"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"},
            "overwrite": {"type": "boolean"}}, "required": ["path", "content"], "additionalProperties": false}"#,
        call: r#"{"path":@short,"content":@long,"overwrite":true}"#,
    },
    Shape {
        tool: "edit_file",
        schema: r#"{"type": "object", "properties": {"file": {"type": "string"}, "edits": {"type": "array",
            "items": {"type": "object", "properties": {"line": {"type": "integer"}, "old": {"type": "string"},
            "new": {"type": "string"}}, "required": ["line", "old", "new"]}}}, "required": ["file", "edits"]}"#,
        call: r#"{"file":"a.txt","edits":[{"line":12,"old":@short,"new":"x"},{"line":340,"old":"","new":@long}]}"#,
    },
    Shape {
        tool: "run_command",
        schema: r#"{"type": "object", "properties": {"command": {"type": "string"}, "env": {"type": "object",
            "additionalProperties": {"type": "string"}}, "timeout": {"type": "integer"}}, "required": ["command"]}"#,
        call: r#"{"command":@long,"env":{"NAME":@short,"MODE":"fast"},"timeout":1200}"#,
    },
    Shape {
        tool: "search",
        schema: r#"{"type": "object", "properties": {"query": {"type": "object", "properties": {"all": {"type": "array",
            "items": {"type": "object", "properties": {"field": {"type": "string"}, "value": {"type": "string"},
            "boost": {"type": "number"}}, "required": ["field", "value"], "additionalProperties": false}}},
            "required": ["all"]}, "limit": {"type": "integer"}}, "required": ["query"], "additionalProperties": false}"#,
        call: r#"{"query":{"all":[{"field":"body","value":@long,"boost":2.5},{"field":"title","value":@short}]},"limit":20}"#,
    },
    Shape {
        tool: "send_messages",
        schema: r#"{"type": "object", "properties": {"to": {"type": "array", "items": {"type": "string"}},
            "lines": {"type": "array", "items": {"type": "string"}}, "urgent": {"type": ["boolean", "null"]}},
            "required": ["to", "lines"], "additionalProperties": false}"#,
        call: r#"{"to":["ann","bob"],"lines":[@short,"ok",@long],"urgent":null}"#,
    },
    Shape {
        tool: "add_note",
        schema: r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "string"}, {"type": "object",
            "properties": {"path": {"type": "string"}, "line": {"type": "integer"}}, "required": ["path"]}]},
            "note": {"type": "string"}, "score": {"type": ["number", "string", "null"]}}, "required": ["target", "note"]}"#,
        call: r#"{"target":{"path":@short,"line":7},"note":@long,"score":-0.5}"#,
    },
];

/// Shapes that are hard by themselves.
const BY_THEMSELVES: &[Shape] = &[
    Shape {
        tool: "delete_rows",
        schema: r#"{"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer"}},
            "table": {"type": "string"}}, "required": ["ids", "table"], "additionalProperties": false}"#,
        call: r#"{"ids":[100,200,3],"table":"orders"}"#,
    },
    Shape {
        tool: "plot",
        schema: r#"{"type": "object", "properties": {"series": {"type": "array", "items": {"type": "array",
            "items": {"type": "number"}}}, "range": {"type": "array", "items": {"type": "number"}},
            "labels": {"type": "object", "additionalProperties": {"type": "number"}}}, "required": ["series"]}"#,
        call: r#"{"series":[[1,2.5],[-3,1e3],[]],"range":[0,0.75],"labels":{"low":1,"high":20}}"#,
    },
    Shape {
        tool: "create_item",
        schema: r#"{"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array",
            "items": {"type": "string"}}, "meta": {"type": "object"}, "note": {"type": "string"},
            "parts": {"type": "array", "items": {"type": "object"}}}, "required": ["name", "tags", "meta"]}"#,
        call: r#"{"name":@short,"tags":[],"meta":{},"note":"","parts":[{},{"a":[]}]}"#,
    },
    Shape {
        tool: "set_flags",
        schema: r#"{"type": "object", "properties": {"flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "levels": {"type": "array", "items": {"enum": ["low", "high"]}}, "dry_run": {"type": "boolean"}},
            "required": ["flags"], "additionalProperties": false}"#,
        call: r#"{"flags":{"cache":true,"trace":false},"levels":["low","high"],"dry_run":false}"#,
    },
    Shape {
        tool: "book_trip",
        schema: r#"{"type": "object", "properties": {"trip": {"type": "object", "properties": {"legs": {"type": "array",
            "items": {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"},
            "seats": {"type": "array", "items": {"type": "string"}}}, "required": ["from", "to"]}}, "date": {"type": "string"}},
            "required": ["legs", "date"]}, "cost": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}},
            "required": ["trip"]}"#,
        call: r#"{"trip":{"legs":[{"from":"OSL","to":"CDG","seats":["12A","12B"]},{"from":"CDG","to":"LIS"}],"date":"2026-03-14"},"cost":[420,75]}"#,
    },
];

/// How many shapes each kind of text goes into. With all of them, the test would take minutes.
const SHAPES_FOR_A_TEXT: usize = 2;

/// A valid call in one rendering.
#[derive(Debug)]
pub(crate) struct Gold {
    pub(crate) tool: &'static str,
    pub(crate) content: &'static str,
    pub(crate) schema: Schema,
    pub(crate) mender: Mender,
    pub(crate) rendered: Rendered,
    pub(crate) value: Value,
}

/// Every gold call in every rendering.
pub(crate) fn all() -> Vec<Gold> {
    let mut out = Vec::new();
    for (at, content) in contents::ALL.iter().enumerate() {
        for turn in 0..SHAPES_FOR_A_TEXT {
            // A step that differs from round to round, so that neighbours do not always share both shapes.
            let shape = &WITH_TEXT[(at + turn * (1 + at / WITH_TEXT.len())) % WITH_TEXT.len()];
            add_renderings(&mut out, shape, content);
        }
    }
    for shape in BY_THEMSELVES {
        add_renderings(&mut out, shape, &contents::PLAIN);
    }
    out
}

fn add_renderings(out: &mut Vec<Gold>, shape: &Shape, content: &Content) {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let call = shape.call.replace("@short", &quoted(content.short)).replace("@long", &quoted(content.long));
    let value: Value = serde_json::from_str(&call).unwrap();
    let source: Value = serde_json::from_str(shape.schema).unwrap();
    let schema = Schema::new(&source).unwrap();
    assert!(schema.accepts(&value), "{call} does not fit the schema of {}", shape.tool);
    let mender = Mender::builder().tool(Tool::new(shape.tool, &source).unwrap()).build().unwrap();
    for style in Style::ALL {
        out.push(Gold {
            tool: shape.tool,
            content: content.name,
            schema: schema.clone(),
            mender: mender.clone(),
            rendered: render(&call, style),
            value: value.clone(),
        });
    }
}
