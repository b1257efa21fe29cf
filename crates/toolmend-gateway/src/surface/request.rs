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
    pub(crate) fn read(surface: Surface, doc: &Doc) -> Asked {
        let root = doc.root();
        let stream = match (root.get("stream"), surface.streams_unasked()) {
            (Some(stream), _) => stream.is_true(),
            (None, default) => default,
        };
        let choice = root.get("tool_choice");
        let none = choice.is_some_and(|choice| {
            choice.text().as_deref() == Some("none") || choice.get_text("type").as_deref() == Some("none")
        });
        let tools = root.some("tools").filter(|tools| tools.is_array() && !none);
        let tools = tools.map(|tools| doc.source().slice(tools.span()));
        Asked {
            model: root.get_text("model").unwrap_or_default().as_ref().into(),
            stream,
            tools: tools.filter(|tools| tools.len() > 2).unwrap_or_default(),
            several: root.get("n").and_then(View::number).is_some_and(|n| n > 1),
        }
    }
}

/// The request once more, with the calls that did not run and the words for the model. None where nobody knows how
/// the conversation goes on.
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
        Surface::Completions | Surface::Ollama(Form::Generate) => {
            let prompt = root.get_text("prompt")?;
            // Where the server writes the template, the prompt is what the user says.
            let templated = surface != Surface::Completions && !root.get("raw").is_some_and(View::is_true);
            let next = if templated {
                format!("{prompt}\n\nYou answered:\n{raw}\n\n{feedback}")
            } else {
                next_turn(&prompt, &raw, &feedback)?
            };
            return Some(root.with(&[("prompt", Some(quote(&next)))]).into());
        }
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

/// A template of prompts: what opens the model's turn, and what stands around the user's next words.
struct Template {
    opens: &'static str,
    before: &'static str,
    after: &'static str,
}

const TEMPLATES: [Template; 5] = [
    Template {
        opens: "<|im_start|>assistant\n",
        before: "<|im_end|>\n<|im_start|>user\n",
        after: "<|im_end|>\n",
    },
    Template {
        opens: "<|start_header_id|>assistant<|end_header_id|>\n\n",
        before: "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        after: "<|eot_id|>",
    },
    Template {
        opens: "<start_of_turn>model\n",
        before: "<end_of_turn>\n<start_of_turn>user\n",
        after: "<end_of_turn>\n",
    },
    Template { opens: "<|assistant|>\n", before: "<|end|>\n<|user|>\n", after: "<|end|>\n" },
    Template { opens: "[/INST]", before: "</s>[INST] ", after: " " },
];

/// A prompt with the next two turns, in the template that it is written in.
fn next_turn(prompt: &str, raw: &str, feedback: &str) -> Option<String> {
    let ends = |template: &&Template| prompt.trim_end().ends_with(template.opens.trim_end());
    let Template { opens, before, after } = TEMPLATES.iter().find(ends)?;
    Some(format!("{prompt}{raw}{before}{feedback}{after}{opens}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_goes_on_in_its_template() {
        for (prompt, next) in [
            (
                "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
                Some(
                    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nCALL<|im_end|>\n<|im_start|>user\nWHY<|im_end|>\n<|im_start|>assistant\n",
                ),
            ),
            ("[INST] hi [/INST]", Some("[INST] hi [/INST]CALL</s>[INST] WHY [/INST]")),
            ("Once upon a time", None),
        ] {
            assert_eq!(next_turn(prompt, "CALL", "WHY").as_deref(), next, "{prompt}");
        }
    }

    #[test]
    fn surfaces_of_text_are_asked_again_where_it_is_known_how() {
        let refused = [Refused { raw: "CALL".to_owned(), feedback: "WHY".to_owned() }];
        let again = |surface: Surface, body: &'static str| {
            reprompt(surface, &Bytes::from_static(body.as_bytes()), &refused)
                .map(|body| String::from_utf8_lossy(&body).into_owned())
        };
        let generate = Surface::Ollama(Form::Generate);
        let told = again(generate, r#"{"prompt":"hi"}"#).unwrap();
        assert_eq!(told, r#"{"prompt":"hi\n\nYou answered:\nCALL\n\nWHY"}"#);
        assert_eq!(again(generate, r#"{"prompt":"hi","raw":true}"#), None);
        assert_eq!(again(Surface::Completions, r#"{"prompt":"hi"}"#), None);
        assert_eq!(again(Surface::Completions, r#"{"prompt":["hi"]}"#), None);
        assert!(again(Surface::Completions, r#"{"prompt":"[INST] hi [/INST]"}"#).is_some());
    }
}
