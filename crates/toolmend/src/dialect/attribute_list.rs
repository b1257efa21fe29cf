//! Calls written like the attributes of a tag: `[Calling tool="f" key="value"]`.
//!
//! This module reads the name and the attributes, up to the bracket that closes the list. Values have no types; the
//! schema gives them.

use std::borrow::Cow;

use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawValue};
use crate::json::text;
use crate::verdict::Reason;

/// A longer name is text.
const MAX_NAME: usize = 160;

/// The name and the arguments of a call, and how far they were read.
pub(crate) struct AttributeList {
    pub(crate) name: String,
    pub(crate) arguments: RawArguments,
    pub(crate) end: usize,
    pub(crate) ending: Ending,
}

/// Reads `f" key="value"]`, which follows a marker that ends in a quote.
// Case: dialects/calling_tool/single
pub(crate) fn read(input: Input<'_>, from: usize) -> Step<AttributeList> {
    let rest = input.rest(from);
    let Some(length) = rest.find('"').filter(|length| *length <= MAX_NAME) else {
        return if input.done || rest.len() > MAX_NAME { Step::No } else { Step::More };
    };
    let name = rest[..length].trim().to_owned();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Step::No;
    }
    let mut fields: Vec<Field> = Vec::new();
    let mut at = from + length + 1;
    // The same argument with another value: neither is the one that was meant.
    let mut twice = false;
    let finish = |fields, end, ending, twice| {
        let why = "an argument is there twice, with different values";
        let arguments =
            if twice { RawArguments::Refused(Reason::Ambiguous, why) } else { RawArguments::Fields(fields) };
        Step::Got(AttributeList { name, arguments, end, ending })
    };
    loop {
        at = input.skip_whitespace(at);
        let rest = input.rest(at);
        let closed = [("]", 1), ("/>", 2), (">", 1)].iter().find(|(closer, _)| rest.starts_with(closer));
        if let Some((_, length)) = closed {
            return finish(fields, at + length, Ending::Complete, twice);
        }
        match read_attribute(input, at) {
            Step::Got((field, after)) => {
                match fields.iter().find(|known| known.key == field.key) {
                    Some(known) => twice |= known.value != field.value,
                    None => fields.push(field),
                }
                at = after;
            }
            // Nothing is final before the list ends, because an argument may come twice.
            Step::More => return Step::More,
            // The output ends inside the list.
            Step::No if input.done && !rest.contains(']') => {
                return finish(fields, input.text.len(), Ending::Cut, twice);
            }
            Step::No => return Step::No,
        }
    }
}

/// Reads `key="value"`.
fn read_attribute(input: Input<'_>, at: usize) -> Step<(Field, usize)> {
    let rest = input.rest(at);
    let length =
        rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let after = &rest[length..];
    if after.len() < 2 && !input.done && "=\"".starts_with(after) {
        return Step::More;
    }
    if length == 0 || !after.starts_with("=\"") {
        return Step::No;
    }
    let start = at + length + 2;
    let mut escaped = false;
    for (offset, byte) in input.rest(start).bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let place = start..start + offset;
                let value = RawValue::Untyped(decode(&input.text[place.clone()]).into_owned());
                let after = place.end + 1;
                return Step::Got((Field { key: rest[..length].to_owned(), value, at: place }, after));
            }
            _ => {}
        }
    }
    if input.done { Step::No } else { Step::More }
}

/// The text of a value. Its escapes are those of JSON, as far as they are valid.
fn decode(written: &str) -> Cow<'_, str> {
    if !written.contains('\\') {
        return written.into();
    }
    let quoted = format!("\"{}\"", written.replace('\n', "\\n"));
    match crate::json::strict::check(&quoted, 1) {
        Ok(()) => text::unquote(&quoted).into_owned().into(),
        Err(_) => written.replace("\\\"", "\"").into(),
    }
}
