//! Values in Python's and Gemma's notation, converted to JSON text.
//!
//! Strings keep their meaning and numbers keep their digits. Nesting is an explicit stack, so the input cannot exhaust
//! the thread's stack. The module never decides which type a bare word has; the schema does.

use super::inner_quotes::{self, LOST, Slot};
use super::input::{Input, Step};
use super::python_expression;
use super::python_string::{self, Literal};
use super::raw_call::RawValue;
use crate::json::strict;
use crate::json::text::quote_into;
use crate::syntax::number;

/// The notation around a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// What separates key and value in the notation: `=` in Python's, `:` in Gemma's.
    pub(crate) equals: u8,
    /// What separates them in this call. Some models write Python's notation with colons.
    pub(crate) separator: u8,
    /// What closes the arguments.
    pub(crate) close: u8,
    /// Special tokens in place of quotes.
    pub(crate) delimiters: &'static [&'static str],
    /// Whether backslashes in ordinary quotes are escapes.
    pub(crate) escapes: bool,
    /// The argument has no key, so others without one may follow.
    pub(crate) positional: bool,
    /// The quote of the string that contains the call, or zero.
    pub(crate) within: u8,
    /// The call is in a list of calls, where no variable can be defined. Some templates write strings without quotes there.
    pub(crate) listed: bool,
}

pub(crate) const PYTHON: Style = Style {
    equals: b'=',
    separator: b'=',
    close: b')',
    delimiters: &[],
    escapes: true,
    positional: false,
    within: 0,
    listed: false,
};
pub(crate) const GEMMA: Style = Style {
    equals: b':',
    separator: b':',
    close: b'}',
    delimiters: &["<|\"|>", "<|\\\"|>", "<escape>", "<ctrl46>"],
    escapes: true,
    positional: false,
    within: 0,
    listed: false,
};

/// How deep values may nest.
const MAX_DEPTH: usize = 64;

/// Why a text with a doubled quote is refused.
const DOUBLED: &str =
    "a doubled quote inside a text may be one quote, two, or the end of one text and the start of another";
/// Why a value that has to be evaluated is refused.
const EXPRESSION: &str = "an argument is an expression, which only a program can evaluate";

/// A value, the position after it, and whether one of its delimiters was lost.
pub(crate) type Value = (RawValue, usize, bool);

/// One level of nesting: the bracket that closes it, where its opening bracket is in the result, and what was seen in
/// it.
struct Level {
    close: u8,
    opened: usize,
    colon: bool,
    items: usize,
    key_next: bool,
}

/// Reads the value at `at`, up to the comma or bracket that ends the argument.
pub(crate) fn read(input: Input<'_>, at: usize, style: Style) -> Step<Value> {
    let at = input.skip_whitespace(at);
    if at >= input.text.len() {
        return if input.done { Step::No } else { Step::More };
    }
    match read_string(input, at, style, true) {
        Step::Got(found) => return read_concatenated(input, found, style),
        Step::More => return Step::More,
        Step::No => {}
    }
    if let Some(delimiter) = style.delimiters.iter().find(|delimiter| input.rest(at).starts_with(**delimiter))
    {
        return read_unclosed(input, at + delimiter.len(), delimiter, style);
    }
    match input.byte(at) {
        Some(b'{' | b'[' | b'(') => read_nested(input, at, style),
        _ => read_bare(input, at, style),
    }
}

/// Joins adjacent strings, as Python does.
fn read_concatenated(
    input: Input<'_>,
    (mut text, mut end, mut uneven): StringRead,
    style: Style,
) -> Step<Value> {
    let value = |text: Literal| match text {
        Ok(text) => RawValue::String(text),
        Err(why) => RawValue::Doubtful(why),
    };
    loop {
        let next = input.skip_whitespace(end);
        if style.equals != b'=' || next >= input.text.len() {
            return Step::Got((value(text), end, uneven));
        }
        let next = if input.byte(next) == Some(b'+') { input.skip_whitespace(next + 1) } else { next };
        // Whether another text is joined is not known.
        // Case: dialects/py_call/joined-texts
        if next >= input.text.len() && !input.done {
            return Step::More;
        }
        if !matches!(input.byte(next), Some(b'"' | b'\'')) {
            return Step::Got((value(text), end, uneven));
        }
        match read_string(input, next, style, true) {
            Step::Got((more, after, is_uneven)) => {
                text = text.and_then(|text| Ok(text + &more?));
                end = after;
                uneven |= is_uneven;
            }
            Step::More => return Step::More,
            Step::No => return Step::Got((value(text), end, uneven)),
        }
    }
}

/// A string that was read: its meaning, the position after it, and whether quotes of its own kind are in it.
type StringRead = (Literal, usize, bool);

/// Reads a string in any quotes of the style.
fn read_string(input: Input<'_>, at: usize, style: Style, outer: bool) -> Step<StringRead> {
    let rest = input.rest(at);
    if let Some(delimiter) = style.delimiters.iter().find(|delimiter| rest.starts_with(**delimiter)) {
        return read_delimited(input, at + delimiter.len(), delimiter, style, outer);
    }
    if !input.done
        && style
            .delimiters
            .iter()
            .any(|delimiter| rest.len() < delimiter.len() && delimiter.starts_with(rest))
    {
        return Step::More;
    }
    let (prefix, kind) = match rest.as_bytes() {
        [b'r' | b'R', b'"' | b'\'', ..] => (1, StringKind::Raw),
        [b'f' | b'F', b'"' | b'\'', ..] => (1, StringKind::Format),
        [b'b' | b'B' | b'u' | b'U', b'"' | b'\'', ..] => (1, StringKind::Plain),
        [b'r' | b'R' | b'b' | b'B' | b'u' | b'U' | b'f' | b'F'] if !input.done => return Step::More,
        _ => (0, StringKind::Plain),
    };
    if prefix > 0 && style.equals != b'=' {
        return Step::No;
    }
    let open = at + prefix;
    let Some(mark @ (b'"' | b'\'')) = input.byte(open) else { return Step::No };
    let triple: &[u8] = &[mark; 3];
    let after = input.text.as_bytes().get(open..).unwrap_or_default();
    if !input.done && after.len() < 3 && after.iter().all(|&byte| byte == mark) {
        return Step::More;
    }
    let (body, width) =
        if style.equals == b'=' && after.starts_with(triple) { (open + 3, 3) } else { (open + 1, 1) };
    read_quoted(input, body, (mark, width), style, outer, kind)
}

/// What the letter before the quotes says about the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Plain,
    Raw,
    /// The text may contain expressions in braces.
    Format,
}

/// Reads the text between two special tokens.
///
/// A text cannot contain the token, so the next one ends it, or one of them was lost.
fn read_delimited(
    input: Input<'_>,
    from: usize,
    delimiter: &str,
    style: Style,
    outer: bool,
) -> Step<StringRead> {
    let Some(offset) = input.rest(from).find(delimiter) else {
        return if input.done { Step::No } else { Step::More };
    };
    let end = from + offset;
    match can_follow(input, end + delimiter.len(), style, outer) {
        Step::Got(()) => Step::Got((Ok(input.text[from..end].to_owned()), end + delimiter.len(), false)),
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// Markers that end a call in this notation.
pub(crate) const CLOSERS: &[&str] = &[
    "<tool_call|>",
    "<end_function_call>",
    "<|tool_call>",
    "<start_function_call>",
    "<|/tool_call|>",
    "<ctrl44>",
];

/// The first marker from `from` on that ends the call.
pub(crate) fn find_closer(input: Input<'_>, from: usize) -> Option<usize> {
    CLOSERS.iter().filter_map(|closer| input.rest(from).find(closer)).min().map(|offset| from + offset)
}

/// Reads a text whose closing token was lost. It ends before the next key, or before the bracket that closes the call.
// Case: dialects/gemma4/lost-delimiter-first
// Case: dialects/gemma4/lost-closing-delimiter
fn read_unclosed(input: Input<'_>, from: usize, delimiter: &str, style: Style) -> Step<Value> {
    let Some(limit) = find_closer(input, from) else { return if input.done { Step::No } else { Step::More } };
    let text = &input.text[from..limit];
    let lost = |end: usize| Step::Got((RawValue::String(input.text[from..end].to_owned()), end, true));
    // `,key:` directly before the next token: that token opens the next value.
    if let Some(next) = text.find(delimiter) {
        let before = text[..next].trim_end();
        let word = |ch: char| ch.is_alphanumeric() || ch == '_';
        let key = before.strip_suffix(':').map(|before| before.trim_end_matches(word));
        return match key.and_then(|before| before.trim_end().strip_suffix(',')) {
            Some(before) => lost(from + before.len()),
            None => Step::No,
        };
    }
    let close = char::from(style.close);
    match text.trim_end().strip_suffix(close) {
        Some(before) => {
            let end = from + text.trim_end().len() - close.len_utf8();
            Step::Got((RawValue::String(without_layout(before).to_owned()), end, true))
        }
        None => Step::No,
    }
}

/// A text without the white space and the fence before the bracket that closes the call. A text of several lines may end in a line
/// break of its own.
// Case: dialects/gemma4/lost-closing-delimiter-after-a-line-break
fn without_layout(text: &str) -> &str {
    let trimmed = text.trim_end_matches(|ch: char| ch.is_whitespace() || ch == '`');
    let is_last_line_whole = trimmed.contains('\n') && text[trimmed.len()..].starts_with('\n');
    if is_last_line_whole { &text[..=trimmed.len()] } else { trimmed }
}

fn read_quoted(
    input: Input<'_>,
    from: usize,
    (mark, width): (u8, usize),
    style: Style,
    outer: bool,
    kind: StringKind,
) -> Step<StringRead> {
    let bytes = input.text.as_bytes();
    let slot = if outer && !style.positional { Slot::Keyed } else { Slot::Listed };
    let mut uneven = false;
    let mut at = from;
    while let Some(offset) = memchr::memchr2(mark, b'\\', &bytes[at.min(bytes.len())..]) {
        at += offset;
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        let after = at + width;
        let whole = width == 1 || bytes[at..].starts_with(&[mark; 3]);
        if whole {
            match can_follow(input, after, style, outer) {
                Step::Got(()) => {
                    let text = &input.text[from..at];
                    let is_python = style.equals == b'=';
                    let meaning = match kind {
                        _ if uneven && is_python && width > 1 => Err(LOST),
                        // Case: dialects/pythonic/doubled-quote
                        _ if uneven && is_python && joins_words(text, mark) => Err(DOUBLED),
                        _ if uneven && is_python && inner_quotes::hold_structure(text, mark, slot) => {
                            Err(LOST)
                        }
                        // Case: dialects/pythonic/expressions
                        StringKind::Format if text.contains('{') => Err(EXPRESSION),
                        StringKind::Raw => Ok(text.to_owned()),
                        _ if !style.escapes => Ok(text.to_owned()),
                        _ => python_string::meaning(text),
                    };
                    return Step::Got((meaning, after, uneven && is_python));
                }
                Step::More => return Step::More,
                Step::No => uneven = true,
            }
        } else if !input.done && bytes.len() - at < 3 {
            return Step::More;
        }
        at += 1;
    }
    if input.done { Step::No } else { Step::More }
}

/// Whether a doubled quote is between two words: `it''s`.
fn joins_words(text: &str, mark: u8) -> bool {
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    text.as_bytes()
        .windows(4)
        .any(|four| four[1] == mark && four[2] == mark && is_word(four.first()) && is_word(four.last()))
}

/// Whether what follows at `at` can follow a string.
fn can_follow(input: Input<'_>, at: usize, style: Style, outer: bool) -> Step<()> {
    let next = input.skip_whitespace(at);
    let Some(byte) = input.byte(next) else { return at_end(input) };
    match byte {
        byte if byte == style.close && outer => after_close(input, next + 1, style.within),
        b',' if outer => after_comma(input, next + 1, style),
        b')' | b']' | b'}' | b':' | b',' if !outer => Step::Got(()),
        // Another string directly after this one continues it, in Python.
        b'"' | b'\'' | b'+' if style.equals == b'=' && (byte == b'+' || next > at) => Step::Got(()),
        // The comma before the next key was lost.
        // Case: dialects/pythonic/lost-comma
        _ if outer && is_key_byte(byte) && style.equals == b'=' => glued_key(input, next),
        _ => Step::No,
    }
}

/// Whether `key=`, and not a comparison, is directly after a quote.
fn glued_key(input: Input<'_>, at: usize) -> Step<()> {
    let rest = input.rest(at);
    let word = rest.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    match rest.as_bytes().get(word..) {
        Some([] | [b'=']) if !input.done => Step::More,
        Some([b'=', next, ..]) if *next != b'=' && !next.is_ascii_whitespace() => Step::Got(()),
        _ => Step::No,
    }
}

/// The end of the text counts only if no more can come.
fn at_end(input: Input<'_>) -> Step<()> {
    if input.done { Step::Got(()) } else { Step::More }
}

/// The word before a call in Gemma's notation.
const CALL: &str = "call:";

/// After the bracket that closes the call, only another call, markup or the end can follow.
fn after_close(input: Input<'_>, at: usize, within: u8) -> Step<()> {
    let next = input.skip_whitespace(at);
    match input.byte(next) {
        None => at_end(input),
        // The string that contains the call ends here.
        Some(quote) if quote == within && within != 0 => match input.byte(input.skip_whitespace(next + 1)) {
            None => at_end(input),
            Some(b',' | b']' | b'}' | b')' | b';' | b'`') => Step::Got(()),
            Some(_) if input.rest(next + 1).trim_start_matches([' ', '\t']).starts_with('\n') => {
                Step::Got(())
            }
            Some(_) => Step::No,
        },
        Some(b',' | b']' | b'<' | b'`' | b';' | b'[') => Step::Got(()),
        // Case: dialects/gemma4/two-calls-in-a-block
        Some(b'c') if input.rest(next).starts_with(CALL) => Step::Got(()),
        Some(b'c') if !input.done && CALL.starts_with(input.rest(next)) => Step::More,
        // `print(…)` around the call, or one bracket too many.
        Some(b')' | b'}') => after_close_again(input, next + 1),
        // Another line, or words after the call.
        Some(_) if next > at => Step::Got(()),
        Some(byte) if byte.is_ascii_alphabetic() && input.text[..at].ends_with("])") => Step::Got(()),
        Some(_) => Step::No,
    }
}

fn after_close_again(input: Input<'_>, at: usize) -> Step<()> {
    let next = input.skip_whitespace(at);
    match input.byte(next) {
        None => at_end(input),
        Some(b',' | b']' | b'<' | b'`' | b';') => Step::Got(()),
        Some(_) if input.text[at..next].contains('\n') => Step::Got(()),
        Some(_) => Step::No,
    }
}

/// After the comma of an argument, only the next key, another value or the end can follow.
fn after_comma(input: Input<'_>, at: usize, style: Style) -> Step<()> {
    let mut at = input.skip_whitespace(at);
    // A comma that was written twice.
    while style.equals == b'=' && input.byte(at) == Some(b',') {
        at = input.skip_whitespace(at + 1);
    }
    let rest = input.rest(at);
    if rest.is_empty() {
        return at_end(input);
    }
    if rest.as_bytes()[0] == style.close {
        return Step::Got(());
    }
    if style.positional && rest.starts_with(|ch: char| "\"'[{-".contains(ch) || ch.is_ascii_digit()) {
        return Step::Got(());
    }
    let bare = rest.trim_start_matches(['"', '\'']);
    let word = key_length(bare);
    let after = bare[word..].trim_start_matches(['"', '\'']).trim_start();
    match after.as_bytes().first() {
        None if !input.done => Step::More,
        Some(&byte) if byte == style.separator && word > 0 => {
            // `==` is a comparison, so this is not a key.
            let double = byte == b'=' && after.as_bytes().get(1) == Some(&b'=');
            if double { Step::No } else { Step::Got(()) }
        }
        _ => Step::No,
    }
}

/// The length of the key at the start of a text. Markdown puts a backslash before an underscore.
pub(crate) fn key_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let escapes = |at: usize| bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'_');
    (0..bytes.len()).find(|&at| !is_key_byte(bytes[at]) && !escapes(at)).unwrap_or(bytes.len())
}

pub(crate) fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$') || !byte.is_ascii()
}

/// Reads a list, tuple, set or dict as JSON text.
// Case: dialects/pythonic/literals
fn read_nested(input: Input<'_>, from: usize, style: Style) -> Step<Value> {
    let mut out = String::new();
    let mut stack: Vec<Level> = Vec::new();
    let (mut doubt, mut damaged) = (None, false);
    let mut at = from;
    loop {
        at = input.skip_whitespace(at);
        let Some(byte) = input.byte(at) else { return if input.done { Step::No } else { Step::More } };
        match byte {
            b'{' | b'[' | b'(' => {
                if stack.len() >= MAX_DEPTH {
                    return Step::No;
                }
                count_item(&mut stack);
                let (open, close, keys) = match byte {
                    b'{' => ('{', b'}', true),
                    b'[' => ('[', b']', false),
                    _ => ('[', b')', false),
                };
                stack.push(Level { close, opened: out.len(), colon: false, items: 0, key_next: keys });
                out.push(open);
                at += 1;
            }
            b'}' | b']' | b')' => {
                let Some(level) = stack.pop().filter(|level| level.close == byte) else { return Step::No };
                if out.ends_with(", ") {
                    out.truncate(out.len() - 2);
                }
                // A set becomes a list.
                let set = byte == b'}' && level.items > 0 && !level.colon;
                if set {
                    out.replace_range(level.opened..=level.opened, "[");
                }
                out.push(if byte == b'}' && !set { '}' } else { ']' });
                at += 1;
                if stack.is_empty() {
                    // Items without a comma between them, or keys without a value.
                    // Case: dialects/pythonic/lost-comma-in-a-list
                    let broken = style.equals == b'=' && strict::check(&out, strict::MAX_DEPTH).is_err();
                    doubt = doubt.or(broken.then_some(LOST));
                    let value = doubt.map_or(RawValue::Json(out), RawValue::Doubtful);
                    return Step::Got((value, at, damaged));
                }
            }
            b',' => {
                if out.ends_with(", ") || out.ends_with(['{', '[']) {
                    damaged |= style.equals == b'=';
                } else {
                    out.push_str(", ");
                }
                if let Some(level) = stack.last_mut() {
                    level.key_next = level.close == b'}';
                }
                at += 1;
            }
            b':' => {
                let Some(level) = stack.last_mut().filter(|level| level.close == b'}') else {
                    return Step::No;
                };
                level.colon = true;
                level.key_next = false;
                out.push_str(": ");
                at += 1;
            }
            _ => {
                let key = stack.last().is_some_and(|level| level.key_next);
                count_item(&mut stack);
                match read_item(input, at, style, key, &mut out) {
                    Step::Got((why, end, uneven)) => {
                        doubt = doubt.or(why);
                        damaged |= uneven;
                        at = end;
                    }
                    Step::More => return Step::More,
                    Step::No => return Step::No,
                }
            }
        }
    }
}

fn count_item(stack: &mut [Level]) {
    if let Some(level) = stack.last_mut() {
        level.items += 1;
    }
}

/// Reads a string or a bare word inside brackets. Returns why it is in doubt, if it is, the position after it, and whether
/// it is a string with quotes of its own kind inside.
fn read_item(
    input: Input<'_>,
    at: usize,
    style: Style,
    key: bool,
    out: &mut String,
) -> Step<(Option<&'static str>, usize, bool)> {
    match read_string(input, at, style, false) {
        Step::Got((Ok(text), end, uneven)) => {
            quote_into(out, &text);
            return Step::Got((None, end, uneven));
        }
        Step::Got((Err(why), end, uneven)) => return Step::Got((Some(why), end, uneven)),
        Step::More => return Step::More,
        Step::No => {}
    }
    let rest = input.rest(at);
    let stops: &[char] = if key { &[',', ']', '}', ')', ':', '\n'] } else { &[',', ']', '}', ')', '\n'] };
    let Some(length) = rest.find(stops) else { return if input.done { Step::No } else { Step::More } };
    let word = rest[..length].trim();
    if word.is_empty() || word.starts_with(['"', '\'']) {
        return Step::No;
    }
    // If no colon follows, a word in the position of a key is a member of a set.
    let key = key && rest[length..].starts_with(':');
    let mut doubt = None;
    if let Some(json) = python_scalar(word, style).filter(|_| !key) {
        out.push_str(&json);
    } else {
        quote_into(out, word);
        doubt = doubt_about_word(word, style).filter(|_| !key);
    }
    Step::Got((doubt, at + length, false))
}

/// Why a bare word that is no literal cannot be a text. In a list of calls it can, because some templates write no quotes.
// Case: dialects/py_call/variable
fn doubt_about_word(word: &str, style: Style) -> Option<&'static str> {
    // With colons it is not Python.
    if style.equals != b'=' || style.separator != b'=' {
        return is_call(word, style).then_some(EXPRESSION);
    }
    let computes = || word.contains(['[', '{', '*', '+', '%', '(', '"']) || word.contains(" if ");
    if python_expression::is_expression(word) && (!style.listed || computes()) || is_call(word, style) {
        return Some(EXPRESSION);
    }
    inner_quotes::holds_marks(word).then_some(LOST)
}

/// Converts a literal of Python to JSON.
fn python_scalar(word: &str, style: Style) -> Option<String> {
    scalar(word).or_else(|| {
        // `1_000`
        let grouped = style.equals == b'=' && word.contains('_') && !word.contains("__");
        let apart = |ch: char| !ch.is_ascii_digit();
        let inside = !word.starts_with(apart)
            && !word.ends_with(apart)
            && !word.contains("_.")
            && !word.contains("._");
        let digits = word.replace('_', "");
        (grouped && inside && number::is_strict(&digits)).then_some(digits)
    })
}

/// Converts a number, a boolean or a word for nothing to JSON.
pub(crate) fn scalar(word: &str) -> Option<String> {
    match word {
        "true" | "True" | "TRUE" => Some("true".to_owned()),
        "false" | "False" | "FALSE" => Some("false".to_owned()),
        "null" | "None" | "none" | "NULL" | "nil" => Some("null".to_owned()),
        _ if number::is_strict(word) => Some(word.to_owned()),
        _ => None,
    }
}

/// Reads a value without quotes, up to the comma before the next key or the bracket that closes the arguments.
// Case: dialects/pythonic/malformed
fn read_bare(input: Input<'_>, at: usize, style: Style) -> Step<Value> {
    let bytes = input.text.as_bytes();
    let mut depth = 0usize;
    let mut end = at;
    while end < bytes.len() {
        match bytes[end] {
            b'(' | b'[' | b'{' => depth += 1,
            close @ (b')' | b']' | b'}') if depth == 0 => {
                if close == style.close {
                    break;
                }
                return Step::No;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => match after_comma(input, end + 1, style) {
                Step::Got(()) => break,
                Step::More => return Step::More,
                Step::No => {}
            },
            b'<' if style.equals == b':' => {
                // A delimiter inside a bare value: the one that opens it was lost.
                // Case: dialects/gemma4/lost-opening-delimiter
                let rest = input.rest(end);
                if let Some(delimiter) =
                    style.delimiters.iter().find(|delimiter| rest.starts_with(**delimiter))
                {
                    let after = end + delimiter.len();
                    return can_follow(input, after, style, true).map(|()| {
                        let text = &input.text[at..end];
                        // With ordinary quotes around the value, the delimiter is redundant.
                        let inner =
                            text.strip_prefix(['\'', '"']).and_then(|inner| inner.strip_suffix(['\'', '"']));
                        (RawValue::String(inner.unwrap_or(text).to_owned()), after, true)
                    });
                }
                if !input.done && style.delimiters.iter().any(|delimiter| delimiter.starts_with(rest)) {
                    return Step::More;
                }
                if CLOSERS.iter().any(|closer| rest.starts_with(closer)) {
                    return Step::No;
                }
            }
            _ => {}
        }
        end += 1;
    }
    if end >= bytes.len() {
        return if input.done { Step::No } else { Step::More };
    }
    let word = input.text[at..end].trim_end();
    // An escaped quote begins a string in the notation around the call, not a bare word.
    // Case: dialects/pythonic/strings-escaped
    if word.starts_with("\\\"") || word.starts_with("\\'") {
        return Step::No;
    }
    // An unbalanced quote: the string continues elsewhere.
    let quote = word.chars().next().filter(|ch| matches!(ch, '"' | '\''));
    if word.is_empty() || quote.is_some_and(|quote| word.len() < 2 || !word.ends_with(quote)) {
        return Step::No;
    }
    // A whole literal before something that does not usually follow one.
    // Case: dialects/pythonic/bold
    if let Some(quote) = quote.filter(|_| style.delimiters.is_empty()) {
        let inner = &word[1..word.len() - 1];
        return match python_string::meaning(inner) {
            _ if inner.contains(quote) => Step::No,
            Ok(text) => Step::Got((RawValue::String(text), end, true)),
            Err(why) => Step::Got((RawValue::Doubtful(why), end, true)),
        };
    }
    // Case: dialects/pythonic/curly-quotes
    if let Some(text) = [('“', '”'), ('‘', '’')].iter().find_map(|(open, close)| {
        word.strip_prefix(*open)?.strip_suffix(*close).filter(|text| !text.contains([*open, *close]))
    }) {
        return Step::Got((RawValue::String(text.to_owned()), end, true));
    }
    if let Some(json) = python_scalar(word, style) {
        return Step::Got((RawValue::Json(json), end, false));
    }
    let doubt = doubt_about_word(word, style);
    let value = doubt.map_or_else(|| RawValue::Untyped(word.to_owned()), RawValue::Doubtful);
    Step::Got((value, end, false))
}

/// Whether a bare word of Python's notation is a call: `datetime(2020, 1, 1)`.
// Case: dialects/pythonic/expressions
fn is_call(word: &str, style: Style) -> bool {
    let name = word.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)).count();
    style.equals == b'=' && name > 0 && word[name..].starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::custom::CustomTable;
    use crate::json::text::quote;

    /// The JSON text of a value of known type.
    fn to_json(value: &RawValue) -> Option<String> {
        match value {
            RawValue::Json(json) => Some(json.clone()),
            RawValue::String(text) => Some(quote(text)),
            RawValue::Untyped(_) | RawValue::Verbatim(_) | RawValue::Doubtful(_) => None,
        }
    }

    fn check(text: &str, style: Style, expected: &str) {
        let input = Input::new(text, true, CustomTable::empty());
        match read(input, 0, style) {
            Step::Got((value, ..)) => {
                let json = to_json(&value).unwrap_or_else(|| format!("{value:?}"));
                assert_eq!(json, expected, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn python_values_become_json() {
        check("'Oslo', b=1)", PYTHON, r#""Oslo""#);
        check("'it's \"nice\"', b=1)", PYTHON, r#""it's \"nice\"""#);
        check("'echo 'a', 'b'', n=1)", PYTHON, r#""echo 'a', 'b'""#);
        check(
            "{'a': [1, True, None], 'b': (1.10, 'x')})",
            PYTHON,
            r#"{"a": [1, true, null], "b": [1.10, "x"]}"#,
        );
        check("{1, 2})", PYTHON, "[1, 2]");
        check("{})", PYTHON, "{}");
        check("12345678901234567890)", PYTHON, "12345678901234567890");
        check("r'C:\\new')", PYTHON, r#""C:\\new""#);
        check("'''a\n'b' ''')", PYTHON, r#""a\n'b' ""#);
        check("'a' 'b', c=1)", PYTHON, r#""ab""#);
        check(r"'tab\t q\' \d')", PYTHON, r#""tab\t q' \\d""#);
    }

    #[test]
    fn gemma_values_become_json() {
        check("<|\"|>say \"x\", y: 2<|\"|>,b:1}", GEMMA, r#""say \"x\", y: 2""#);
        check("{a:[1,true,null],b:<|\"|>x<|\"|>}}", GEMMA, r#"{"a": [1, true, null], "b": "x"}"#);
        check("\"weather, location: Boston\", limit:3}", GEMMA, r#""weather, location: Boston""#);
        check("108}", GEMMA, "108");
    }

    #[test]
    fn a_value_that_may_continue_waits() {
        for text in ["'Oslo'", "'Oslo', ", "'Oslo', b", "{'a': 1", "tru", "r", "''"] {
            assert_eq!(read(Input::new(text, false, CustomTable::empty()), 0, PYTHON), Step::More, "{text}");
        }
    }
}
