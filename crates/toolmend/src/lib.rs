//! Mends the tool calls that language models get nearly right, or refuses them with a reason.
//!
//! Valid input passes untouched. Input with one reading is repaired, and every change is reported. Input with two
//! readings, and input that was cut off, is refused with feedback for the model. Nothing that runs is ever a guess
//! between two readings.
//!
//! # Cookbook
//!
//! **Mend one call** of a declared tool. Tools can have the format of any common API.
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
//! }]))?;
//!
//! // The quotes inside `content` are not escaped. The schema shows that `name` is not an argument of this tool.
//! let verdict = mender.mend("write_file", r#"{"path": "p.json", "content": "{"name": "x"}"}"#);
//! assert_eq!(verdict.json(), Some(r#"{"path": "p.json", "content": "{\"name\": \"x\"}"}"#));
//!
//! // Half a file is never written.
//! let verdict = mender.mend("write_file", r#"{"path": "p.json", "content": "{"#);
//! assert_eq!(verdict.outcome(), Outcome::Truncated);
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Fix JSON** without tools, and use `?` on the result.
//!
//! ```
//! let success = toolmend::fix("{'city': 'Oslo', // the capital\n}").into_result()?;
//! assert_eq!(success.json, "{\"city\": \"Oslo\" \n}");
//! for repair in &success.repairs {
//!     println!("{} at {:?}", repair.kind, repair.path);
//! }
//! # Ok::<(), toolmend::Refusal>(())
//! ```
//!
//! **Read into a type.** [`from_str`] replaces `serde_json::from_str`.
//!
//! ```
//! #[derive(serde::Deserialize)]
//! struct Search { query: String, limit: u32 }
//!
//! let search: Search = toolmend::from_str(r#"{query: "rust", "limit": "10"}"#)?;
//! assert_eq!((search.query.as_str(), search.limit), ("rust", 10));
//! # Ok::<(), toolmend::Error>(())
//! ```
//!
//! **Split a whole output** into content, reasoning and calls, in the notation of any model.
//!
//! ```
//! use toolmend::{Finish, Mender, TurnOptions};
//!
//! let mender = Mender::new(&serde_json::json!(["get_time"]))?;
//! let output = "One moment.<tool_call>{\"name\": \"get_time\", \"arguments\": {zone: 'CET'}}</tool_call>";
//! let turn = mender.turn(output, &TurnOptions::new(), Finish::Stop);
//! assert_eq!(turn.content, "One moment.");
//! assert_eq!(turn.calls[0].arguments(), Some(r#"{"zone": "CET"}"#));
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Read a stream.** The pieces can be split anywhere.
//!
//! ```
//! use toolmend::{Event, Finish, Mender, TurnOptions};
//!
//! let mender = Mender::new(&serde_json::json!(["get_time"]))?;
//! let mut stream = mender.stream(&TurnOptions::new());
//! let mut events = Vec::new();
//! for piece in ["Hi.<tool_", "call>{\"name\": \"get_time\", \"argu", "ments\": {}}</tool_call>"] {
//!     events.extend(stream.push(piece));
//! }
//! events.extend(stream.finish(Finish::Stop));
//! assert_eq!(events[0], Event::Content("Hi.".to_owned()));
//! assert!(matches!(events.last(), Some(Event::CallEnd { call, .. }) if call.name == "get_time"));
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Choose a policy**: which repairs are allowed, and for which tools. [`REPAIRS`] lists them all.
//!
//! ```
//! use toolmend::{Mender, Policy, Reason, Tier};
//!
//! let policy = Policy::default().max_tier(Tier::Guided).max_tier_for("delete", Tier::Lossless);
//! let mender = Mender::builder().tools(&serde_json::json!(["search", "delete"])).policy(policy).build()?;
//! assert!(mender.mend("search", r#"{"why": "a "good" reason"}"#).json().is_some());
//! assert_eq!(mender.mend("delete", r#"{"why": "a "good" reason"}"#).reason(), Some(Reason::Policy));
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Add a dialect** for a model that writes calls in a form of its own.
//!
//! ```
//! use toolmend::{CustomDialects, Finish, Mender, TurnOptions};
//!
//! let dialects: CustomDialects = serde_json::from_value(serde_json::json!({
//!     "dialect": [{"name": "acme", "call": "<|acme|>{name}<|with|>{arguments}<|done|>"}],
//! })).unwrap();
//! let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).dialects(dialects).build()?;
//! let turn = mender.turn("<|acme|>get_time<|with|>{}<|done|>", &TurnOptions::new(), Finish::Stop);
//! assert_eq!(turn.calls[0].dialect, "acme");
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Send a failed call back** to the model with feedback, and give up after a few attempts.
//!
//! ```
//! use toolmend::{Mender, Recovery, Reprompt};
//!
//! let mender = Mender::new(&serde_json::json!(["get_time"]))?;
//! let mut reprompt = Reprompt::default();
//! let verdict = mender.mend("get_tmie", "{}");
//! if reprompt.label("call-1", &verdict) == Some(Recovery::Reprompt) {
//!     assert!(verdict.feedback().unwrap().contains("if you meant `get_time`"));
//! }
//! assert_eq!(reprompt.label("call-1", &verdict), Some(Recovery::GaveUp));
//! # Ok::<(), toolmend::ToolsError>(())
//! ```
//!
//! **Count** what happens, for each tool and model.
//!
//! ```
//! let stats = toolmend::Stats::new();
//! stats.record(&toolmend::fix("[1, 2,]"), "some-model");
//! assert_eq!(stats.snapshot().by_kind()[&toolmend::RepairKind::TrailingCommaRemoved], 1);
//! ```
//!
//! # The API on one screen
//!
//! | to | use | and get |
//! |---|---|---|
//! | mend calls of declared tools | [`Mender`], [`MenderBuilder`], [`Tool`] | [`Verdict`] |
//! | fix JSON text, with or without a schema | [`fix`], [`fix_with`], [`FixOptions`], [`Schema`] | [`Verdict`] |
//! | read into a Rust type | [`from_str`], [`from_slice`], [`from_value`]; [`from_str_with`] and the like report repairs | the type, or [`Error`] |
//! | read into a type if a framework does the parsing | [`Lenient`] | the type |
//! | find calls in model output | [`Mender::turn`], [`TurnOptions`], [`Finish`] | [`Turn`], [`Call`], [`Part`] |
//! | say what counts as a call | [`Calls`], [`ToolChoice`], [`TurnOptions`] | |
//! | find calls in a stream | [`Mender::stream`], [`Stream`], [`Delivery`] | [`Event`], or a [`Listener`] of your own |
//! | show JSON while it is written | [`Preview`] | its value so far |
//! | use a verdict | [`Verdict::json`], [`Verdict::into_result`] | [`Success`] or [`Refusal`] ([`Reason`], [`Violation`]) |
//! | see what was changed | [`Verdict::repairs`] | [`Repair`] ([`RepairKind`], [`Tier`], [`Layer`]) |
//! | write verdicts as JSON | [`serde::Serialize`], [`Encoding`] | the fields of the batch protocol |
//! | restrict repairs | [`Policy`], [`Preset`], [`Limits`] | |
//! | list or add dialects | [`dialects`], [`dialect_of`], [`CustomDialects`] | [`Dialect`] |
//! | improve tool descriptions | [`with_contract_hints`], [`contract_hint_for`] | |
//! | send calls back, count verdicts | [`Reprompt`], [`Stats`] | [`Recovery`], [`Snapshot`] |
//!
//! # How it works
//!
//! Text goes through four steps. The strict check returns valid input untouched. Otherwise the syntax layer reads the text
//! as JSON, guided by the schema of the tool. If the value does not fit the schema, the shape layer changes it where
//! validation failed. Finally the result is verified: it is strict JSON, it fits the schema, and it differs from the input
//! only by repairs that the policy allows.
//!
//! # Features
//!
//! - `schema` (on by default): schemas and tools. Without it, no schema can be compiled; [`fix`] and [`from_str`] do without.
//! - `schemars`: [`Mender`] and [`Tool`] for a Rust type, with the schema derived from it.
//! - `template`: dialects learned from the chat template of a model.
//! - `tracing`: events for repairs and refusals, and a summary at the end of a run.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/hints.md")]
struct HintsExamples;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/coming-from.md")]
struct ComingFromExamples;

// Types with a schema need the feature.
#[cfg(all(doctest, feature = "schemars"))]
#[doc = include_str!("../../../docs/rust.md")]
struct RustExamples;

mod capabilities;
mod contract;
mod dialect;
mod encode;
mod feedback;
mod fix;
mod intent;
mod mender;
mod name;
mod patch;
mod pipeline;
mod policy;
mod preview;
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
#[cfg(feature = "template")]
mod template;
mod text_parts;
mod tools;
mod trace;
mod turn;
mod typed;
mod verdict;
mod wire_names;

use toolmend_json as json;
pub use toolmend_json::text::compact_json;

#[cfg(feature = "template")]
pub use crate::template::{ChatTemplate, LearnedDialect, TemplateError};

pub use crate::{
    capabilities::Capabilities,
    contract::{contract_hint_for, with_contract_hints},
    dialect::{CallToRender, CustomDialects, Dialect, DialectError, dialect_of, dialects},
    encode::{Encoded, Encoding},
    fix::{FixOptions, fix, fix_with},
    intent::{Calls, ToolChoice},
    mender::{Mender, MenderBuilder},
    policy::{Limits, Policy, Preset},
    preview::Preview,
    repair::{Layer, REPAIRS, Repair, RepairInfo, RepairKind, Tier},
    reprompt::{Recovery, Reprompt, RepromptError},
    schema::{Schema, SchemaError},
    segments::Part,
    stats::{Counts, Snapshot, Stats},
    stream::Stream,
    syntax::Finish,
    tools::{Tool, ToolsError},
    turn::{Call, Delivery, Event, Listener, Source, Turn, TurnOptions},
    typed::{
        Error, Lenient, from_slice, from_slice_with, from_str, from_str_with, from_value, from_value_with,
    },
    verdict::{Outcome, Reason, Refusal, Success, Verdict, Violation},
    wire_names::UnknownName,
};
