//! Mend the tool calls that language models get nearly right, or refuse them with a reason.
//!
//! A text takes one way: the strict pass, which hands back what is valid untouched; else the syntax layer, which
//! reads it as JSON with the tool's schema as a guide; then the shape layer, which fits the value to the schema
//! only where validation failed; then the proof. What leaves is a [`Verdict`]: `clean`, `mended`, `truncated` or
//! `rejected`, with every change named, and words for the model where the call does not run.
//!
//! ```
//! use toolmend::{Mender, Outcome};
//!
//! let mender = Mender::new(&serde_json::json!([{
//!     "name": "write_file",
//!     "parameters": {
//!         "type": "object",
//!         "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
//!         "required": ["path", "content"],
//!     },
//! }])).unwrap();
//!
//! // Quotes that are not escaped: the schema tells that `name` is no argument of this tool.
//! let verdict = mender.mend("write_file", r#"{"path": "p.json", "content": "{"name": "x"}"}"#);
//! assert_eq!(verdict.json(), Some(r#"{"path": "p.json", "content": "{\"name\": \"x\"}"}"#));
//!
//! // Half a file is never written.
//! let verdict = mender.mend("write_file", r#"{"path": "p.json", "content": "{"#);
//! assert_eq!(verdict.outcome(), Outcome::Truncated);
//! ```
//!
//! | you have | take |
//! |---|---|
//! | calls of declared tools | [`Mender`] |
//! | JSON text, with a schema or without | [`fix`], [`fix_with`] |
//! | a Rust type | [`from_str`], [`from_slice`], [`from_value`] |
//! | a framework that owns the parsing | [`Lenient`] |
//!
//! # Features
//!
//! - `schemars`: [`Mender`] for a Rust type, with the schema derived from it.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;

mod contract;
mod dialect;
mod encode;
mod feedback;
mod fix;
mod mender;
mod name;
mod patch;
mod pipeline;
mod policy;
mod repair;
mod report;
mod reprompt;
mod schema;
mod segments;
mod shape;
mod spelling;
mod stats;
mod stream;
mod syntax;
mod tools;
mod turn;
mod typed;
mod verdict;
mod wire_names;

use toolmend_json as json;
pub use toolmend_json::text::compact_json;

pub use crate::{
    contract::with_contract_hints,
    dialect::{CustomDialects, Dialect, DialectError, Written, dialect_of, dialects},
    encode::{Encoded, Encoding},
    fix::{FixOptions, fix, fix_with},
    mender::{Mender, MenderBuilder},
    policy::{Limits, Policy, Preset},
    repair::{Layer, REPAIRS, Repair, RepairInfo, RepairKind, Tier},
    reprompt::{Recovery, Reprompt, RepromptError},
    schema::{Schema, SchemaError},
    segments::Part,
    stats::{Counts, Snapshot, Stats},
    stream::Stream,
    syntax::Finish,
    tools::{Tool, ToolsError},
    turn::{Call, Delivery, Event, Listener, Source, Turn, TurnOptions},
    typed::{Error, Lenient, from_slice, from_str, from_str_with, from_value},
    verdict::{Outcome, Reason, Refusal, Success, Verdict, Violation},
    wire_names::UnknownName,
};
