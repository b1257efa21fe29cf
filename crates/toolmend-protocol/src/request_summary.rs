//! The members that requests of every protocol share and that mending needs. Reads them only; never changes a request.

use std::sync::Arc;

use bytes::Bytes;

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
        }
    }
}
