//! Messages that are calls: where their bodies begin.
//!
//! A header may be spread over several tokens. This module follows it as far as it shows that a call comes next, for all
//! families that have headers. It never reads the call.

use super::input::{Input, Step};
use super::message_header::{self, Route};
use super::section::{self, Section};
use super::token::{self, Header, Markup, Role};

/// The tokens before the body of a call that its header does not name.
pub(crate) const UNNAMED_CALL: &str = "function call<|role_sep|>";

/// What a header says about the call after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallMessage {
    /// The body begins here, and this is the name of the tool, if the header gives it.
    Body(Option<String>, usize),
    /// A section that is a call or the frame around calls, or the end of one, and where it begins.
    Section(usize),
}

/// Reads the header at `at`, if it begins a call or belongs to one.
pub(crate) fn read(input: Input<'_>, at: usize, known: &dyn Fn(&str) -> bool) -> Step<CallMessage> {
    let rest = input.rest(at);
    match token::read(rest, input.done, input.custom) {
        Step::Got(Markup::Token { role: Role::Header(header), len, spelling }) => match header {
            Header::Channel => match message_header::read(input, at, known) {
                Step::Got((Route::Call(name), body)) => Step::Got(CallMessage::Body(Some(name), body)),
                Step::More => Step::More,
                _ => Step::No,
            },
            Header::Element => match section::read_section(input, at) {
                Step::Got(section) if is_of_calls(&section) => Step::Got(CallMessage::Section(at)),
                Step::More => Step::More,
                _ => Step::No,
            },
            Header::Recipient if spelling == "<|recipient|>" => read_recipient(input, at + len),
            Header::Recipient => skip_word(input, at + len)
                .and_then(|next| read_second_token(input, next, "<|recipient|>", read_recipient)),
            Header::Author => skip_word(input, at + len).and_then(|next| {
                read_second_token(input, next, "<|content_invoke_tool_json|>", |_, _| {
                    Step::Got(CallMessage::Body(None, next))
                })
            }),
            Header::Label => Step::No,
        },
        Step::Got(Markup::Token { role: Role::MessageEnd, len, spelling: "<|message_sep|>" }) => {
            let next = input.skip_whitespace(at + len);
            let after = input.rest(next);
            match after.starts_with(UNNAMED_CALL) {
                true => Step::Got(CallMessage::Body(None, next + UNNAMED_CALL.len())),
                false if !input.done && UNNAMED_CALL.starts_with(after) => Step::More,
                false => Step::No,
            }
        }
        Step::More => Step::More,
        _ => Step::No,
    }
}

/// Whether a section belongs to calls.
pub(crate) fn is_of_calls(section: &Section<'_>) -> bool {
    matches!(section.word, "tools" | "call" | "argument")
}

/// The position after the mark that ends a section of calls.
pub(crate) fn section_end(input: Input<'_>, at: usize) -> Step<usize> {
    match section::read_section(input, at) {
        Step::Got(section) if section.close && is_of_calls(&section) => Step::Got(section.end),
        Step::More => Step::More,
        _ => Step::No,
    }
}

/// Reads `f\n<|content|>`.
fn read_recipient(input: Input<'_>, at: usize) -> Step<CallMessage> {
    skip_word(input, at).and_then(|next| {
        let name = input.text[at..next].trim();
        if matches!(name, "all" | "") {
            return Step::No;
        }
        read_second_token(input, next, "<|content|>", |_, body| {
            Step::Got(CallMessage::Body(Some(name.to_owned()), body))
        })
    })
}

/// Reads this token, and then what follows it.
fn read_second_token<'t>(
    input: Input<'t>,
    at: usize,
    wanted: &str,
    read: impl Fn(Input<'t>, usize) -> Step<CallMessage>,
) -> Step<CallMessage> {
    match input.markup(at) {
        Step::Got(Markup::Token { spelling, len, .. }) if spelling == wanted => read(input, at + len),
        Step::More => Step::More,
        _ => Step::No,
    }
}

/// The position after a word in a header and the white space around it.
fn skip_word(input: Input<'_>, at: usize) -> Step<usize> {
    // A longer word is text.
    const MOST: usize = 128;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let from = input.skip_whitespace(at);
    let length = input.text.as_bytes()[from..].iter().take_while(|byte| is_part(byte)).count();
    let next = input.skip_whitespace(from + length);
    match next < input.text.len() {
        _ if length > MOST || next - at > 2 * MOST => Step::No,
        true => Step::Got(next),
        false if input.done => Step::No,
        false => Step::More,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::custom::CustomTable;

    fn check(text: &str, done: bool) -> Step<CallMessage> {
        read(Input::new(text, done, CustomTable::empty()), 0, &|_| false)
    }

    #[test]
    fn headers_of_calls_are_followed_to_the_body() {
        let body = |name: &str, text: &str| Step::Got(CallMessage::Body(Some(name.to_owned()), text.len()));
        for header in [
            "<|channel|>commentary to=functions.f <|constrain|>json<|message|>",
            "<|recipient|>f\n<|content|>",
            "<|from|>assistant\n<|recipient|>f\n<|content|>",
        ] {
            assert_eq!(check(header, false), body("f", header), "{header}");
            for end in 1..header.len() - 1 {
                assert_eq!(check(&header[..end], false), Step::More, "{}", &header[..end]);
            }
        }
        let author = "<|message_model|>f";
        assert_eq!(
            check("<|message_model|>f<|content_invoke_tool_json|>{", false),
            Step::Got(CallMessage::Body(None, author.len()))
        );
        let unnamed = "<|message_sep|>\n\nfunction call<|role_sep|>";
        assert_eq!(check(unnamed, false), Step::Got(CallMessage::Body(None, unnamed.len())));
        let section = Step::Got(CallMessage::Section(0));
        assert_eq!(check("<|open|>tools<|sep|>", false), section);
        assert_eq!(check("<|close|>call<|sep|>", false), section);
    }

    #[test]
    fn other_headers_begin_no_call() {
        for header in [
            "<|channel|>final<|message|>a",
            "<|recipient|>all\n<|content|>a",
            "<|from|>user\n<|content|>a",
            "<|message_model|><|content_text|>a",
            "<|message_sep|>\n\nuser<|role_sep|>",
            "<|open|>think<|sep|>",
        ] {
            assert_eq!(check(header, false), Step::No, "{header}");
        }
    }
}
