//! What a request says that matters here.

use std::sync::Arc;

use bytes::Bytes;

use super::Surface;
use super::ollama::Form;
use crate::mend::report::Refused;
use crate::wire::doc::{Doc, View, array, quote};

/// What a request asks for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) model: Arc<str>,
    pub(crate) stream: bool,
    /// The list of tools as it was written; empty where none may be called.
    pub(crate) tools: Bytes,
    /// Whether more than one answer is wanted.
    pub(crate) several: bool,
}

impl Asked {
    pub(crate) fn read(surface: Surface, root: View<'_>) -> Asked {
        let stream = match (root.get("stream"), surface.streams_unasked()) {
            (Some(stream), _) => stream.is_true(),
            (None, default) => default,
        };
        let choice = root.get("tool_choice");
        let none = choice.is_some_and(|choice| {
            choice.text().as_deref() == Some("none") || choice.get_text("type").as_deref() == Some("none")
        });
        let tools = root.some("tools").filter(|tools| tools.is_array() && !none).map(View::bytes);
        Asked {
            model: root.get_text("model").unwrap_or_default().as_ref().into(),
            stream,
            tools: tools.filter(|tools| tools.len() > 2).unwrap_or_default(),
            several: root.get("n").and_then(View::number).is_some_and(|n| n > 1),
        }
    }
}

/// The request once more, with the calls that did not run and the words for the model.
pub(crate) fn reprompt(surface: Surface, body: &Bytes, refused: &[Refused]) -> Option<Bytes> {
    let doc = Doc::parse(body)?;
    let root = doc.root();
    let raw: Vec<&str> = refused.iter().map(|refused| refused.raw.as_str()).collect();
    let feedback: Vec<&str> = refused.iter().map(|refused| refused.feedback.as_str()).collect();
    // As text, because a server that reads the history again would choke on the broken call itself.
    let (raw, feedback) = (raw.join("\n"), feedback.join("\n\n"));
    let member = match surface {
        Surface::Responses => "input",
        Surface::Chat | Surface::Messages | Surface::Ollama(Form::Chat) => "messages",
        // A prompt is not a conversation: nobody knows how the next turn begins.
        Surface::Completions | Surface::Ollama(Form::Generate) => return None,
    };
    let list = root.get(member)?;
    let mut all: Vec<String> = match list.text() {
        Some(text) => vec![format!(r#"{{"role":"user","content":{}}}"#, quote(&text))],
        None => list.items().map(|item| item.raw().to_owned()).collect(),
    };
    for (role, text) in [("assistant", raw), ("user", feedback)] {
        all.push(format!(r#"{{"role":"{role}","content":{}}}"#, quote(&text)));
    }
    Some(root.with(&[(member, Some(array(all)))]).into())
}
