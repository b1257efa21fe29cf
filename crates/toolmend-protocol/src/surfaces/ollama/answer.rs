//! Answers of Ollama's chat, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::adapter::ClosingFrames;
use crate::answer::{Answer, AnswerEnd, AnswerMeta, AnswerPart, FrameExtras, Usage, read_count};
use crate::frame::{Frame, FrameRole, Framing};
use crate::json::{Object, ValueRef, array};
use crate::turn::{Arguments, CallForm, ReadyCall, StopReason};

use super::{call_json, read_call_piece, read_stop};

pub(super) fn read_answer(root: ValueRef<'_>) -> Option<Answer> {
    let message = root.get_non_null("message")?;
    let mut answer = Answer::default();
    let text = |name| message.get_lossy_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
    answer.parts.extend(text("thinking").map(AnswerPart::Reasoning));
    answer.parts.extend(text("content").map(AnswerPart::Text));
    let calls = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
    for (at, call) in calls.into_iter().flat_map(ValueRef::items).enumerate() {
        let piece = read_call_piece(call, at as u64);
        let arguments = match piece.arguments {
            Some(Arguments::Piece(text) | Arguments::Whole(text)) => text,
            None => "{}".to_owned(),
        };
        // An id counts only if the server sent it: a made-up one could appear twice.
        let id = call.get_lossy_text("id").map(Cow::into_owned).unwrap_or_default();
        let name = piece.name.unwrap_or_default();
        let extras = piece.extras;
        answer.parts.push(AnswerPart::Call(ReadyCall {
            id,
            name,
            arguments,
            form: CallForm::Function,
            extras,
        }));
    }
    answer.meta.model = root.get_lossy_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = read_end(root).unwrap_or_default();
    add_usage(root, &mut answer.usage);
    Some(answer)
}

fn read_end(root: ValueRef<'_>) -> Option<AnswerEnd> {
    root.get("done").filter(|done| done.is_true())?;
    Some(match read_stop(root.get_lossy_text("done_reason").as_deref()) {
        StopReason::Length => AnswerEnd::Length,
        _ => AnswerEnd::Done,
    })
}

/// Reads the token counts of the last line.
pub(super) fn add_usage(root: ValueRef<'_>, usage: &mut Usage) {
    if root.get_non_null("eval_count").is_some() || root.get_non_null("prompt_eval_count").is_some() {
        usage.input = read_count(Some(root), "prompt_eval_count");
        usage.output = read_count(Some(root), "eval_count");
    }
}

pub(super) fn read_frame_extras(root: ValueRef<'_>) -> FrameExtras {
    FrameExtras {
        model: root.get_lossy_text("model").map(Cow::into_owned),
        end: read_end(root),
        ..FrameExtras::default()
    }
}

fn write_head(meta: &AnswerMeta) -> Object {
    Object::new().text("model", &meta.model).text("created_at", format_timestamp(meta.created))
}

fn write_tail(object: Object, end: &AnswerEnd, usage: Usage) -> Object {
    object
        .raw("done", "true")
        .text("done_reason", if *end == AnswerEnd::Length { "length" } else { "stop" })
        .number("prompt_eval_count", usage.input)
        .number("eval_count", usage.output)
}

pub(super) fn write_answer(answer: &Answer) -> String {
    let calls: Vec<String> = answer.calls().map(call_json).collect();
    let reasoning = answer.reasoning();
    let message = Object::new()
        .text("role", "assistant")
        .text("content", answer.text())
        .maybe_text("thinking", Some(&reasoning).filter(|text| !text.is_empty()))
        .maybe("tool_calls", (!calls.is_empty()).then(|| array(&calls)));
    write_tail(write_head(&answer.meta).raw("message", message.end()), &answer.end, answer.usage).end()
}

const EMPTY_MESSAGE: &str = r#"{"role":"assistant","content":""}"#;

/// Returns a first line, from which the encoder learns what every line begins with.
pub(super) fn first_line(meta: &AnswerMeta) -> Frame {
    Frame::new(
        Framing::Lines,
        None,
        &write_head(meta).raw("message", EMPTY_MESSAGE).raw("done", "false").end(),
    )
}

/// Returns the last line.
pub(super) fn closing_frames(answer: &Answer, _wants_usage: bool) -> ClosingFrames {
    let head = write_head(&answer.meta).raw("message", EMPTY_MESSAGE);
    let line = write_tail(head, &answer.end, answer.usage).end();
    let frame = Frame::new(Framing::Lines, None, &line).with_role(FrameRole::Stop);
    ClosingFrames { frames: vec![frame], end: None }
}

/// Formats seconds since 1970 as a date and time.
fn format_timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar, counted in eras of 400 years that begin in March, so that the leap day is the last day.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_follow_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(format_timestamp(seconds), expected);
        }
    }
}
