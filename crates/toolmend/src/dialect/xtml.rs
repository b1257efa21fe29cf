//! Calls in sections: `<|open|>call tool="f"<|sep|> … <|close|>call<|sep|>`.

use super::channel;
use super::raw::{Begun, Ending, Field, Input, RawArguments, RawCall, Step, Written};
use crate::verdict::Reason;

/// The call whose opening section stands at `at`.
pub(crate) fn call(input: Input<'_>, at: usize) -> Step<RawCall> {
    let head = match channel::section(input, at) {
        Step::Got(head) if head.word == "call" && !head.close => head,
        Step::More => return Step::More,
        _ => return Step::No,
    };
    let Some(name) = head.attribute("tool").or_else(|| head.attribute("name")) else { return Step::No };
    let mut call = RawCall {
        name: name.to_owned(),
        id: None,
        arguments: RawArguments::Fields(Vec::new()),
        at: at..head.end,
        ending: Ending::Complete,
        dialect: "kimi_k3",
        damaged: false,
        open: None,
    };
    let (mut fields, mut doubtful) = (Vec::new(), false);
    let mut next = head.end;
    loop {
        next = input.skip_white(next);
        if next >= input.text.len() {
            if !input.done && !input.certain {
                return Step::More;
            }
            call.ending = Ending::Open;
            break;
        }
        match channel::section(input, next) {
            Step::More if input.certain => {
                next = input.text.len();
                call.ending = Ending::Cut;
                break;
            }
            Step::More => return Step::More,
            Step::Got(section) if section.word == "argument" && !section.close => {
                let Some(key) = section.attribute("key").or_else(|| section.attribute("name")) else {
                    return Step::No;
                };
                let string = section.attribute("type").map(|kind| kind == "string");
                match value(input, section.end) {
                    Step::Got((end, behind)) => {
                        let text = input.text[section.end..end].to_owned();
                        doubtful |= is_doubtful(&text);
                        let value =
                            if string == Some(true) { Written::String(text) } else { Written::Untyped(text) };
                        fields.push(Field { key: key.to_owned(), value, at: section.end..end });
                        next = behind;
                    }
                    Step::More if !input.certain => return Step::More,
                    Step::More | Step::No => {
                        next = input.text.len();
                        call.ending = Ending::Cut;
                        let verbatim = string == Some(true);
                        call.open = Some(Begun { key: key.to_owned(), at: section.end, verbatim });
                        break;
                    }
                }
            }
            Step::Got(section) if section.close => {
                next = if section.word == "call" { section.end } else { next };
                call.damaged |= section.word != "call";
                break;
            }
            Step::Got(_) => {
                call.damaged = true;
                break;
            }
            // Half a section at the end of the output.
            Step::No if input.done && input.rest(next).starts_with("<|") => {
                call.ending = Ending::Open;
                next = input.text.len();
                break;
            }
            Step::No => return Step::No,
        }
    }
    call.at.end = next;
    call.arguments = RawArguments::Fields(fields);
    if doubtful && !input.certain {
        let why = "the markup around a value is broken, so nobody can tell where it ends";
        call.arguments = RawArguments::Refused(Reason::Ambiguous, why);
    }
    Step::Got(call)
}

/// Whether a value holds half of what closes values.
fn is_doubtful(value: &str) -> bool {
    let text = value.trim();
    let closes = text.ends_with("<|close|>") || text.ends_with("<|close|>argument");
    closes || text.starts_with("<|sep|>") || text.contains("argument<|sep|>")
}

/// The end of a value, and the place behind what closes it.
fn value(input: Input<'_>, from: usize) -> Step<(usize, usize)> {
    let mut at = from;
    while let Some(offset) = input.rest(at).find("<|") {
        let mark = at + offset;
        at = mark + 2;
        match channel::section(input, mark) {
            Step::More => return Step::More,
            Step::Got(section) => {
                let own = section.close && section.word == "argument";
                let lost =
                    section.word == "call" && section.close || section.word == "argument" && !section.close;
                if own {
                    return Step::Got((mark, section.end));
                }
                if lost {
                    return Step::Got((mark, mark));
                }
            }
            Step::No => {}
        }
    }
    if input.done { Step::No } else { Step::More }
}
