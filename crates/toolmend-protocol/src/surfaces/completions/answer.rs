//! Answers of text completions, read into neutral terms.

use std::borrow::Cow;

use super::super::chat;
use super::read_stop;
use crate::answer::{Answer, AnswerEnd, AnswerPart, FrameExtras};
use crate::json::ValueRef;
use crate::turn::{CallForm, ReadyCall, StopReason};

pub(super) fn read_answer(root: ValueRef<'_>) -> Option<Answer> {
    let choice = root.get("choices")?.items().next()?;
    let mut answer = Answer { parts: read_parts(choice), ..Answer::default() };
    answer.meta.model = root.get_lossy_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = read_end(choice).unwrap_or_default();
    chat::add_usage(root, &mut answer.usage);
    Some(answer)
}

/// Reads reasoning, text and calls. The text repeats the reasoning.
fn read_parts(choice: ValueRef<'_>) -> Vec<AnswerPart> {
    let mut text = choice.get_lossy_text("text").unwrap_or_default().into_owned();
    let mut out = Vec::new();
    if let Some(reasoning) = choice.get_lossy_text("reasoning") {
        text = text.replacen(&*reasoning, "", 1);
        out.push(AnswerPart::Reasoning(reasoning.into_owned()));
    }
    let mut calls = Vec::new();
    let list = choice.get_non_null("tool_calls").filter(|calls| calls.is_array());
    for call in list.into_iter().flat_map(ValueRef::items) {
        let Some(function) = call.get_non_null("function") else { continue };
        let field = |of: ValueRef<'_>, name: &str| of.get_lossy_text(name).unwrap_or_default().into_owned();
        let call = ReadyCall {
            id: field(call, "id"),
            name: field(function, "name"),
            arguments: field(function, "arguments"),
            form: CallForm::Function,
            ..ReadyCall::default()
        };
        calls.push(AnswerPart::Call(call));
    }
    if !text.trim().is_empty() || (calls.is_empty() && !text.is_empty()) {
        out.push(AnswerPart::Text(text));
    }
    out.extend(calls);
    out
}

fn read_end(choice: ValueRef<'_>) -> Option<AnswerEnd> {
    let reason = choice.get_lossy_text("finish_reason").filter(|reason| !reason.is_empty())?;
    Some(if read_stop(&reason) == StopReason::Length { AnswerEnd::Length } else { AnswerEnd::Done })
}

pub(super) fn read_frame_extras(root: ValueRef<'_>) -> FrameExtras {
    let choice = root.get("choices").and_then(|choices| choices.items().next());
    FrameExtras {
        model: root.get_lossy_text("model").map(Cow::into_owned),
        end: choice.and_then(read_end),
        parts: choice.map(read_parts).unwrap_or_default(),
        replaces_parts: true,
    }
}
