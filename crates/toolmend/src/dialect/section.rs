//! Calls in sections: `<|open|>call tool="f"<|sep|> … <|close|>call<|sep|>`.
//!
//! This module reads the marks of sections and the calls in them. It never decides what other sections mean; the stream
//! does.

use super::input::{Input, Step};
use super::raw_call::{Ending, Field, OpenArgument, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};
use crate::text_parts::first_part;
use crate::verdict::Reason;

/// A longer header is text.
const MAX_HEADER: usize = 400;

/// A section mark: `<|open|>word attributes<|sep|>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section<'t> {
    pub(crate) close: bool,
    pub(crate) word: &'t str,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) end: usize,
}

impl Section<'_> {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads the section mark at `at`.
pub(crate) fn read_section(input: Input<'_>, at: usize) -> Step<Section<'_>> {
    let (open, close, sep) = ("<|open|>", "<|close|>", "<|sep|>");
    let rest = input.rest(at);
    let closes = rest.starts_with(close);
    let mark = if closes { close } else { open };
    if !rest.starts_with(mark) {
        let half = !input.done && (open.starts_with(rest) || close.starts_with(rest));
        return if half { Step::More } else { Step::No };
    }
    let header = &rest[mark.len()..];
    // A header that ends after this limit is text, so nothing beyond it is searched.
    let near = first_part(header, MAX_HEADER + sep.len());
    // If another section begins before this header ends, the end of the header was lost.
    let lost = [open, close].iter().filter_map(|mark| near.find(mark)).min();
    let length = near.find(sep).filter(|&length| lost.is_none_or(|lost| length < lost));
    let Some(length) = length else {
        let all = header.len() >= MAX_HEADER + sep.len();
        return if input.done || lost.is_some() || all { Step::No } else { Step::More };
    };
    let text = header[..length].trim();
    let (word, attributes) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if word.is_empty() || length > MAX_HEADER {
        return Step::No;
    }
    Step::Got(Section {
        close: closes,
        word,
        attributes: pairs(attributes),
        end: at + mark.len() + length + sep.len(),
    })
}

/// Parses `key="value"` pairs, in which `&amp;` and `&quot;` are escaped.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some((key, after)) = rest.split_once('=') {
        let Some(body) = after.trim_start().strip_prefix('"') else { break };
        let end = body.find('"').unwrap_or(body.len());
        out.push((key.trim().to_owned(), body[..end].replace("&quot;", "\"").replace("&amp;", "&")));
        rest = body.get(end + 1..).unwrap_or("").trim_start();
    }
    out
}

/// Reads the call whose opening section mark is at `at`.
// Case: dialects/kimi_k3/malformed
pub(crate) fn read_call(input: Input<'_>, at: usize) -> Step<RawCall> {
    let head = match read_section(input, at) {
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
        dialect: recognised(Recognition::Section),
        damaged: false,
        open: None,
    };
    let (mut fields, mut ambiguous) = (Vec::new(), false);
    let mut next = head.end;
    loop {
        next = input.skip_whitespace(next);
        if next >= input.text.len() {
            if !input.done && !input.stable_only {
                return Step::More;
            }
            call.ending = Ending::Open;
            break;
        }
        match read_section(input, next) {
            Step::More if input.stable_only => {
                next = input.text.len();
                call.ending = Ending::Cut;
                break;
            }
            Step::More => return Step::More,
            Step::Got(section) if section.word == "argument" && !section.close => {
                let Some(key) = section.attribute("key").or_else(|| section.attribute("name")) else {
                    return Step::No;
                };
                // The quote that ends an attribute was lost.
                // Case: dialects/kimi_k3/lost-quote
                ambiguous |= key.contains(|ch: char| ch.is_whitespace() || ch == '=');
                let string = section.attribute("type").map(|kind| kind == "string");
                match find_value_end(input, section.end) {
                    Step::Got((end, after)) => {
                        let text = input.text[section.end..end].to_owned();
                        ambiguous |= is_ambiguous(&text);
                        let value = if string == Some(true) {
                            RawValue::String(text)
                        } else {
                            RawValue::Untyped(text)
                        };
                        fields.push(Field { key: key.to_owned(), value, at: section.end..end });
                        next = after;
                    }
                    Step::More if !input.stable_only => return Step::More,
                    Step::More | Step::No => {
                        next = input.text.len();
                        call.ending = Ending::Cut;
                        let verbatim = string == Some(true);
                        call.open = Some(OpenArgument { key: key.to_owned(), at: section.end, verbatim });
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
            // Half a section mark at the end of the output.
            // Case: dialects/kimi_k3/half-an-argument
            Step::No if input.done && input.rest(next).starts_with("<|") => {
                let closes =
                    "<|close|>".starts_with(input.rest(next)) || input.rest(next).starts_with("<|close|>");
                call.ending = if closes { Ending::Open } else { Ending::Cut };
                next = input.text.len();
                break;
            }
            Step::No => return Step::No,
        }
    }
    call.at.end = next;
    call.arguments = RawArguments::Fields(fields);
    if ambiguous && !input.stable_only {
        let why = "the markup around a value is broken, so its end is not known";
        call.arguments = RawArguments::Refused(Reason::Ambiguous, why);
    }
    Step::Got(call)
}

/// Whether a value contains half of a closing mark, or the beginning of a call, so that its end is ambiguous.
// Case: dialects/kimi_k3/doubled-close
// Case: dialects/kimi_k3/call-in-value
fn is_ambiguous(value: &str) -> bool {
    let text = value.trim();
    if text.contains("<|open|>call ") || text.contains("<|open|>tools<|sep|>") {
        return true;
    }
    let closes = text.ends_with("<|close|>") || text.contains("<|close|>argument");
    closes || text.starts_with("<|sep|>") || text.contains("argument<|sep|>")
}

/// Finds the end of a value, and the position after its closing mark.
// Case: dialects/kimi_k3/missing-close
fn find_value_end(input: Input<'_>, from: usize) -> Step<(usize, usize)> {
    let mut at = from;
    while let Some(offset) = input.rest(at).find("<|") {
        let mark = at + offset;
        at = mark + 2;
        match read_section(input, mark) {
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
