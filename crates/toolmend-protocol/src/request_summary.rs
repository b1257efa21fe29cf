//! The members that requests of every protocol share and that mending needs. Reads them only; never changes a request.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::json::{Document, ValueRef};

/// What a request asks for.
#[derive(Debug, Clone)]
pub struct RequestSummary {
    /// The model.
    pub model: Arc<str>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The list of tools as it was written; empty if none may be called.
    pub tools: Bytes,
    /// Whether more than one answer is wanted.
    pub several_answers: bool,
    /// Which tools may be called, as it was written.
    pub tool_choice: Option<Value>,
    /// The format of the answer, as Chat Completions writes it.
    pub answer_format: Option<Value>,
    /// Whether several calls may be made at once, if the request says so.
    pub parallel_calls: Option<bool>,
}

impl RequestSummary {
    /// Reads a request. `streams_by_default` is the protocol's [`Features::streams_by_default`](crate::Features).
    pub fn read(doc: &Document, streams_by_default: bool) -> RequestSummary {
        let root = doc.root();
        let choice = root.get("tool_choice");
        let forbids_tools = choice.is_some_and(|choice| {
            choice.lossy_text().as_deref() == Some("none")
                || choice.get_lossy_text("type").as_deref() == Some("none")
        });
        let tools = root.get_non_null("tools").filter(|tools| tools.is_array() && !forbids_tools);
        let tools = tools.map(|tools| doc.source().slice(tools.span()));
        RequestSummary {
            model: root.get_lossy_text("model").unwrap_or_default().as_ref().into(),
            stream: root.get("stream").map_or(streams_by_default, ValueRef::is_true),
            tools: tools.filter(|tools| tools.len() > 2).unwrap_or_default(),
            several_answers: root.get("n").and_then(ValueRef::number).is_some_and(|n| n > 1),
            tool_choice: choice.and_then(|choice| parse(doc, choice)),
            answer_format: answer_format(doc),
            parallel_calls: parallel_calls(root),
        }
    }
}

fn parse(doc: &Document, value: ValueRef<'_>) -> Option<Value> {
    serde_json::from_slice(&doc.source().slice(value.span())).ok()
}

/// The format of the answer. Each protocol has its own place for it.
fn answer_format(doc: &Document) -> Option<Value> {
    let root = doc.root();
    let inside = |name: &str| root.get_non_null(name).and_then(|settings| settings.get("format"));
    let format = root.get_non_null("response_format").or_else(|| inside("text"));
    let format = format.or_else(|| root.get_non_null("output_format")).or_else(|| inside("output_config"));
    if let Some(format) = format {
        return parse(doc, format);
    }
    // Ollama has the word `json`, or the schema itself.
    let format =
        root.get_non_null("format").filter(|format| format.is_object() || format.lossy_text().is_some())?;
    Some(serde_json::json!({"type": if format.is_object() { "json_schema" } else { "json_object" }}))
}

fn parallel_calls(root: ValueRef<'_>) -> Option<bool> {
    let allowed = root.get_non_null("parallel_tool_calls").map(ValueRef::is_true);
    let forbidden = || root.get_non_null("tool_choice")?.get_non_null("disable_parallel_tool_use");
    allowed.or_else(|| forbidden().map(|forbidden| !forbidden.is_true()))
}
