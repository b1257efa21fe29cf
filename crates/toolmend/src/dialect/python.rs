//! Calls in Python's notation: `name(key=value, …)`.
//!
//! This module finds names, keys and the extent of arguments. Reading single values is left to `value_literals`.

use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::Dialect;
use super::value_literals::{self, PYTHON, Style};

/// A longer name is not a name.
const MAX_NAME: usize = 160;

/// Reads the name of the call at `at`. Returns it with the position of its bracket.
pub(crate) fn read_head(input: Input<'_>, at: usize) -> Step<(String, usize)> {
    let rest = input.rest(at);
    let length = name_length(rest);
    let starts = rest.starts_with(|ch: char| ch.is_alphabetic() || ch == '_');
    if length > MAX_NAME || (!starts && !rest.is_empty()) {
        return Step::No;
    }
    if !input.done && &rest[length..] == "\\" {
        return Step::More;
    }
    let open = at + length + (rest[length..].len() - rest[length..].trim_start_matches(' ').len());
    match input.byte(open) {
        None if !input.done => Step::More,
        Some(b'(') if length > 0 => Step::Got((without_escapes(&rest[..length]), open)),
        _ => Step::No,
    }
}

/// The length of the name at the start of a text. Markdown puts a backslash before an underscore.
// Case: dialects/pythonic/markdown-name
pub(crate) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let escapes = |at: usize| bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'_');
    (0..bytes.len()).find(|&at| !is_name_byte(bytes[at]) && !escapes(at)).unwrap_or(bytes.len())
}

fn without_escapes(name: &str) -> String {
    name.replace("\\_", "_")
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':' | b'/')
}

/// What is around a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The quote of the string that contains the call, or zero.
    pub(crate) within: u8,
    /// The call is in a list of calls.
    pub(crate) listed: bool,
}

/// Reads the call at `at`.
pub(crate) fn read_call(input: Input<'_>, at: usize, dialect: &'static Dialect) -> Step<RawCall> {
    read_call_within(input, at, dialect, Surroundings::default())
}

/// Reads the call at `at`, which is inside a string or a list.
pub(crate) fn read_call_within(
    input: Input<'_>,
    at: usize,
    dialect: &'static Dialect,
    around: Surroundings,
) -> Step<RawCall> {
    let (name, open) = match read_head(input, at) {
        Step::Got(head) => head,
        Step::More => return Step::More,
        Step::No => return Step::No,
    };
    // `print(default_api.f(…))`
    if name == "print" {
        let inner = match read_head(input, input.skip_whitespace(open + 1)) {
            Step::Got(inner) => inner,
            Step::More => return Step::More,
            Step::No => return Step::No,
        };
        return match read_plain_call(input, at, inner, dialect, around) {
            Step::Got(call) if call.ending == Ending::Complete => {
                let close = input.skip_whitespace(call.at.end);
                match input.byte(close) {
                    Some(b')') => Step::Got(RawCall { at: at..close + 1, ..call }),
                    None if !input.done => Step::More,
                    _ => Step::No,
                }
            }
            other => other,
        };
    }
    read_plain_call(input, at, (name, open), dialect, around)
}

fn read_plain_call(
    input: Input<'_>,
    at: usize,
    (name, open): (String, usize),
    dialect: &'static Dialect,
    Surroundings { within, listed }: Surroundings,
) -> Step<RawCall> {
    let name = name.strip_suffix(".call").map_or(name.clone(), str::to_owned);
    let escaped = input.text[at..open].contains("\\_");
    match read_arguments(input, open + 1, Style { within, listed, ..PYTHON }) {
        Step::Got(mut read) => {
            // Markdown escapes a whole text or nothing of it.
            if escaped {
                for field in &mut read.fields {
                    if let RawValue::String(text) | RawValue::Untyped(text) = &mut field.value {
                        *text = without_escapes(text);
                    }
                }
            }
            Step::Got(RawCall {
                name,
                id: None,
                arguments: RawArguments::Fields(read.fields),
                at: at..read.end,
                ending: read.ending,
                dialect,
                damaged: read.damaged || escaped,
                open: None,
            })
        }
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// Arguments that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) fields: Vec<Field>,
    pub(crate) end: usize,
    pub(crate) ending: Ending,
    pub(crate) damaged: bool,
    /// The text stops inside a string, which reaches to the end.
    pub(crate) swallows: bool,
}

/// Whether one of the style's own delimiters opens a string here.
fn opens_string(input: Input<'_>, at: usize, style: Style) -> bool {
    let rest = input.rest(input.skip_whitespace(at));
    style.delimiters.iter().any(|delimiter| rest.starts_with(delimiter))
}

/// Reads arguments up to their closing bracket. An argument without a key gets an empty key.
pub(crate) fn read_arguments(input: Input<'_>, from: usize, style: Style) -> Step<Arguments> {
    let mut fields: Vec<Field> = Vec::new();
    match read_fields(input, from, style, &mut fields) {
        Step::More if input.stable_only => {
            let end = input.text.len();
            Step::Got(Arguments { fields, end, ending: Ending::Cut, damaged: false, swallows: true })
        }
        Step::More => Step::More,
        Step::No => Step::No,
        Step::Got(found) => Step::Got(Arguments { fields, ..found }),
    }
}

/// The same, but collects the fields in `fields` and leaves those of the result empty.
fn read_fields(input: Input<'_>, from: usize, mut style: Style, fields: &mut Vec<Field>) -> Step<Arguments> {
    let mut damaged = false;
    // Whether a comma can follow.
    let mut comma = false;
    let mut at = from;
    let found = |end, ending, damaged, swallows| {
        Step::Got(Arguments { fields: Vec::new(), end, ending, damaged, swallows })
    };
    loop {
        at = input.skip_whitespace(at);
        let Some(byte) = input.byte(at) else {
            return if input.done { found(at, Ending::Cut, damaged, true) } else { Step::More };
        };
        if byte == style.close {
            return found(at + 1, Ending::Complete, damaged, false);
        }
        if byte == b',' {
            // Case: dialects/pythonic/doubled-comma
            damaged |= !comma && style.equals == b'=';
            comma = false;
            at += 1;
            continue;
        }
        let found_key = if fields.is_empty() {
            read_first_key(input, at, style)
        } else {
            read_key(input, at, style).map(|(key, after)| (key, after, style.separator))
        };
        let (key, value_at) = match found_key {
            Step::Got((key, after, separator)) => {
                style.separator = separator;
                (key, after)
            }
            Step::More => return Step::More,
            Step::No => (String::new(), at),
        };
        let style = Style { positional: key.is_empty(), ..style };
        match value_literals::read(input, value_at, style) {
            // If a delimiter was lost, the end of the value is a guess.
            Step::Got((_, _, true)) if input.stable_only => return Step::More,
            Step::Got((value, end, lost)) => {
                damaged |= lost;
                let start = input.skip_whitespace(value_at);
                let declares = style.equals == b'=' && style.separator == b':' && is_type_word(&value);
                if declares || key.is_empty() && matches!(value, RawValue::Untyped(_)) {
                    return Step::No;
                }
                match check_next(input, end, style) {
                    Ok(lost_comma) => damaged |= lost_comma && style.equals == b'=',
                    Err(problem) => return problem,
                }
                comma = true;
                fields.push(Field { key, value, at: start..end });
                at = end;
            }
            Step::More => return Step::More,
            // A string that never ends takes the rest of the output: what looks like another call may be its text.
            // Case: dialects/hostile/python-string-with-call
            Step::No if opens_string(input, value_at, style) => {
                if !input.done {
                    return Step::More;
                }
                return found(input.text.len(), Ending::Cut, damaged, true);
            }
            // In Gemma's notation the marker says that this is a call, however broken it is.
            Step::No if input.done || style.equals == b':' => {
                return found(input.text.len(), Ending::Cut, damaged, false);
            }
            Step::No => return Step::No,
        }
    }
}

/// Checks what follows a value: a comma, the end, or, if the comma was lost, the next key. Returns whether it was lost.
// Case: dialects/pythonic/malformed-no-comma
fn check_next(input: Input<'_>, at: usize, style: Style) -> Result<bool, Step<Arguments>> {
    let next = input.skip_whitespace(at);
    match input.byte(next) {
        None | Some(b',') => Ok(false),
        Some(byte) if byte == style.close => Ok(false),
        Some(_) => match read_key(input, next, style) {
            Step::Got(_) => Ok(true),
            Step::More => Err(Step::More),
            Step::No => Err(Step::No),
        },
    }
}

/// Reads `key=`. Returns the key and the position after it.
fn read_key(input: Input<'_>, at: usize, style: Style) -> Step<(String, usize)> {
    let rest = input.rest(at);
    let delimiter =
        style.delimiters.iter().find(|delimiter| rest.starts_with(**delimiter)).copied().unwrap_or("");
    let bare = rest[delimiter.len()..].trim_start_matches(['"', '\'']);
    let quoted = bare.len() + delimiter.len() < rest.len();
    let length = value_literals::key_length(bare);
    let mut after = &bare[length..];
    if !delimiter.is_empty() {
        after = after.strip_prefix(delimiter).unwrap_or(after);
    }
    if quoted {
        let unquoted = after.trim_start_matches(['"', '\'']);
        // `"a=b"` is a string, not a key.
        if delimiter.is_empty() && style.equals == b'=' && unquoted.len() == after.len() && !after.is_empty()
        {
            return Step::No;
        }
        after = unquoted;
    }
    let after = after.trim_start();
    match after.as_bytes() {
        [] | [b'\\'] if !input.done => Step::More,
        [sign] if *sign == style.separator && length > 0 && style.equals == b'=' && !input.done => Step::More,
        [b'=', b'=', ..] => Step::No,
        // An address, or a path with a drive.
        [b':', b'/' | b'\\', ..] if style.equals == b'=' => Step::No,
        [sign, ..] if *sign == style.separator && length > 0 => {
            Step::Got((without_escapes(&bare[..length]), input.text.len() - after.len() + 1))
        }
        _ => Step::No,
    }
}

/// Reads the first key, which shows whether the keys are separated from their values by `=` or by `:`.
// Case: dialects/pythonic/colons
fn read_first_key(input: Input<'_>, at: usize, style: Style) -> Step<(String, usize, u8)> {
    match read_key(input, at, style) {
        Step::Got((key, after)) => return Step::Got((key, after, style.separator)),
        Step::More => return Step::More,
        Step::No if style.equals != b'=' => return Step::No,
        Step::No => {}
    }
    match read_key(input, at, Style { separator: b':', ..style }) {
        Step::Got((key, after)) if key.starts_with(|ch: char| ch.is_alphabetic() || ch == '_') => {
            Step::Got((key, after, b':'))
        }
        Step::More => Step::More,
        _ => Step::No,
    }
}

/// Whether a bare value after a colon is the type of a parameter: `f(city: str)` declares, it does not call.
// Case: dialects/hostile/signature
fn is_type_word(value: &RawValue) -> bool {
    const WORDS: &[&str] = &[
        "str", "string", "int", "integer", "float", "number", "bool", "boolean", "list", "dict", "array",
        "object", "any", "bytes", "datetime", "date", "optional", "union",
    ];
    match value {
        RawValue::Untyped(text) => {
            let word = text.split(['[', '|', ' ', '=', '?']).next().unwrap_or("").to_ascii_lowercase();
            WORDS.contains(&word.as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::custom::CustomTable;
    use crate::dialect::table::{Recognition, recognised};

    fn row() -> &'static Dialect {
        recognised(Recognition::PythonLine)
    }

    fn fields(text: &str) -> Vec<(String, String)> {
        match read_call(Input::new(text, true, CustomTable::empty()), 0, row()) {
            Step::Got(RawCall {
                arguments: RawArguments::Fields(fields), ending: Ending::Complete, ..
            }) => fields.into_iter().map(|field| (field.key, format!("{:?}", field.value))).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn arguments_keep_their_notation() {
        assert_eq!(fields("f()"), []);
        assert_eq!(
            fields("f(a='x', b=3)"),
            [("a".to_owned(), "String(\"x\")".to_owned()), ("b".to_owned(), "Json(\"3\")".to_owned())]
        );
        assert_eq!(fields("f(city=San Francisco, days=3)")[0].1, "Untyped(\"San Francisco\")");
        assert_eq!(fields("f(city=\"Oslo\"days=3)").len(), 2);
        assert_eq!(fields("print(default_api.f(a=1))").len(), 1);
        assert_eq!(fields("f(\"Oslo\")")[0].0, "");
    }

    #[test]
    fn a_truncated_call_is_cut() {
        for text in ["f(", "f(a='x", "f(a='x', b=", "f(a=1"] {
            match read_call(Input::new(text, true, CustomTable::empty()), 0, row()) {
                Step::Got(call) => assert_eq!(call.ending, Ending::Cut, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
            assert_eq!(
                read_call(Input::new(text, false, CustomTable::empty()), 0, row()),
                Step::More,
                "{text}"
            );
        }
    }
}
