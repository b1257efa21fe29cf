//! An answer of Ollama's chat, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::translate::answer::{Answer, Aside, End, Meta, Said, Usage, count};
use crate::turn::{Arguments, Form, ReadyCall, Stop};
use crate::wire::doc::{View, array};
use crate::wire::frame::{Frame, Framing, Mark};
use crate::wire::write::Object;

use super::{call_json, call_piece};

pub(crate) fn read(root: View<'_>) -> Option<Answer> {
    let message = root.some("message")?;
    let mut answer = Answer::default();
    let text = |name| message.get_text(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
    answer.said.extend(text("thinking").map(Said::Reasoning));
    answer.said.extend(text("content").map(Said::Text));
    let calls = message.some("tool_calls").filter(|calls| calls.is_array());
    for (at, call) in calls.into_iter().flat_map(View::items).enumerate() {
        let piece = call_piece(call, at as u64);
        let arguments = match piece.arguments {
            Some(Arguments::Piece(text) | Arguments::Whole(text)) => text,
            None => "{}".to_owned(),
        };
        // Ids are known only where the server gives them; one that is made up must not stand twice.
        let id = call.get_text("id").map(Cow::into_owned).unwrap_or_default();
        let name = piece.name.unwrap_or_default();
        answer.said.push(Said::Call(ReadyCall { id, name, arguments, form: Form::Function }));
    }
    answer.meta.model = root.get_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = end(root).unwrap_or_default();
    add_counts(root, &mut answer.usage);
    Some(answer)
}

fn end(root: View<'_>) -> Option<End> {
    root.get("done").filter(|done| done.is_true())?;
    Some(match super::stop(root.get_text("done_reason").as_deref()) {
        Stop::Length => End::Length,
        _ => End::Done,
    })
}

/// Adds what the last line counts.
pub(crate) fn add_counts(root: View<'_>, usage: &mut Usage) {
    if root.some("eval_count").is_some() || root.some("prompt_eval_count").is_some() {
        usage.input = count(Some(root), "prompt_eval_count");
        usage.output = count(Some(root), "eval_count");
    }
}

pub(crate) fn aside(root: View<'_>) -> Aside {
    Aside { model: root.get_text("model").map(Cow::into_owned), end: end(root), ..Aside::default() }
}

fn head(meta: &Meta) -> Object {
    Object::new().text("model", &meta.model).text("created_at", timestamp(meta.created))
}

fn tail(object: Object, end: &End, usage: Usage) -> Object {
    object
        .raw("done", "true")
        .text("done_reason", if *end == End::Length { "length" } else { "stop" })
        .number("prompt_eval_count", usage.input)
        .number("eval_count", usage.output)
}

pub(crate) fn write(answer: &Answer) -> String {
    let calls: Vec<String> = answer.calls().map(call_json).collect();
    let thoughts = answer.reasoning();
    let message = Object::new()
        .text("role", "assistant")
        .text("content", answer.text())
        .maybe_text("thinking", Some(&thoughts).filter(|text| !text.is_empty()))
        .maybe("tool_calls", (!calls.is_empty()).then(|| array(&calls)));
    tail(head(&answer.meta).raw("message", message.end()), &answer.end, answer.usage).end()
}

const EMPTY: &str = r#"{"role":"assistant","content":""}"#;

/// A first line, from which the encoder learns what every line begins with.
pub(crate) fn begin(meta: &Meta) -> Frame {
    Frame::new(Framing::Lines, None, &head(meta).raw("message", EMPTY).raw("done", "false").end())
}

/// The last line.
pub(crate) fn finish(meta: &Meta, end: &End, usage: Usage) -> Frame {
    let line = tail(head(meta).raw("message", EMPTY), end, usage).end();
    Frame::new(Framing::Lines, None, &line).marked(Mark::Stop)
}

/// Seconds since 1970 as a date and a time.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar, counted in eras of 400 years that begin in March.
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
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(timestamp(seconds), expected);
        }
    }
}
