//! A completion, read into neutral terms.

use std::borrow::Cow;

use crate::surface::chat;
use crate::translate::answer::{Answer, Aside, End, Said};
use crate::turn::{Form, ReadyCall};
use crate::wire::doc::View;

pub(crate) fn read(root: View<'_>) -> Option<Answer> {
    let choice = root.get("choices")?.items().next()?;
    let mut answer = Answer { said: said(choice), ..Answer::default() };
    answer.meta.model = root.get_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = end(choice).unwrap_or_default();
    chat::answer::add_counts(root, &mut answer.usage);
    Some(answer)
}

/// Thoughts, text and calls. Thoughts stand in the text once more.
fn said(choice: View<'_>) -> Vec<Said> {
    let mut text = choice.get_text("text").unwrap_or_default().into_owned();
    let mut out = Vec::new();
    if let Some(thoughts) = choice.get_text("reasoning") {
        text = text.replacen(&*thoughts, "", 1);
        out.push(Said::Reasoning(thoughts.into_owned()));
    }
    let mut calls = Vec::new();
    let list = choice.some("tool_calls").filter(|calls| calls.is_array());
    for call in list.into_iter().flat_map(View::items) {
        let Some(function) = call.some("function") else { continue };
        let field = |of: View<'_>, name: &str| of.get_text(name).unwrap_or_default().into_owned();
        let call = ReadyCall {
            id: field(call, "id"),
            name: field(function, "name"),
            arguments: field(function, "arguments"),
            form: Form::Function,
        };
        calls.push(Said::Call(call));
    }
    if !text.trim().is_empty() || (calls.is_empty() && !text.is_empty()) {
        out.push(Said::Text(text));
    }
    out.extend(calls);
    out
}

fn end(choice: View<'_>) -> Option<End> {
    let reason = choice.get_text("finish_reason").filter(|reason| !reason.is_empty())?;
    Some(if super::stop(&reason) == crate::turn::Stop::Length { End::Length } else { End::Done })
}

pub(crate) fn aside(root: View<'_>) -> Aside {
    let choice = root.get("choices").and_then(|choices| choices.items().next());
    Aside {
        model: root.get_text("model").map(Cow::into_owned),
        end: choice.and_then(end),
        said: choice.map(said).unwrap_or_default(),
        instead: true,
    }
}
