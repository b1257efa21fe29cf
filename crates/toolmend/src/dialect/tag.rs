//! One tag of the form `<word …>`, in all the ways models write it.
//!
//! Namespaces and decorations (`antml:`, `｜DSML｜`, a `:suffix`) are separated from the word, so that one table of words
//! serves every family. This module does not know what a word means; `token` does.

use super::custom::CustomTable;
use super::input::Step;
use super::json_extent::{self, Extent};

/// A longer header is text.
const MAX_HEADER: usize = 256;
/// A longer word is not in the table, whether or not it has ended, so no reader waits for more of it.
// Case: dialects/hostile/word-without-end
pub(super) const MAX_WORD: usize = 40;

/// The parts of a tag. Everything borrows from the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    pub(crate) close: bool,
    /// The namespace before the word, with what separates them: `antml:`, `DSML|`, `longcat_`.
    pub(crate) space: &'t str,
    pub(crate) word: &'t str,
    /// The suffix after the word and a colon: `opensource`.
    pub(crate) suffix: &'t str,
    /// The value of `<word=VALUE>`.
    pub(crate) equals: Option<&'t str>,
    pub(crate) attributes: Vec<(&'t str, &'t str)>,
    /// `<word/>`
    pub(crate) empty: bool,
    /// The `>` is missing.
    pub(crate) damaged: bool,
    pub(crate) len: usize,
}

impl<'t> Tag<'t> {
    /// An opening tag without its `>`.
    pub(crate) fn unended(word: &'t str, len: usize) -> Self {
        Tag { damaged: true, ..Tag::plain(word, false, len) }
    }

    /// A tag of nothing but its word. A special token in the position of a tag is one: its spelling is the word.
    pub(crate) fn plain(word: &'t str, close: bool, len: usize) -> Self {
        Tag {
            close,
            space: "",
            word,
            suffix: "",
            equals: None,
            attributes: Vec::new(),
            empty: false,
            damaged: false,
            len,
        }
    }

    pub(crate) fn attribute(&self, names: &[&str]) -> Option<&'t str> {
        self.attributes.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value)
    }

    /// Whether an attribute is there twice, with different values.
    // Case: dialects/attr_tag/arguments-twice
    pub(crate) fn contradicts_itself(&self) -> bool {
        const ARGUMENTS: &[&str] = &["arguments", "args", "parameters", "input"];
        let same =
            |one: &str, other: &str| one == other || ARGUMENTS.contains(&one) && ARGUMENTS.contains(&other);
        // No tag of a call has more attributes.
        self.attributes.iter().take(16).enumerate().any(|(index, (name, value))| {
            self.attributes[..index].iter().any(|(before, other)| same(before, name) && other != value)
        })
    }

    /// How the tag is decorated.
    pub(crate) fn style(&self) -> Style<'t> {
        Style { space: self.space, suffix: self.suffix, is_token: self.word.starts_with('<') }
    }

    /// Whether this is an opening tag with nothing but its word.
    pub(crate) fn is_bare(&self) -> bool {
        !self.close && !self.empty && self.equals.is_none() && self.attributes.is_empty()
    }

    /// The tag in the spelling of the table.
    pub(crate) fn marker(&self) -> String {
        if self.word.starts_with('<') {
            return self.word.to_owned();
        }
        format!("<{}{}>", self.space, self.word.to_ascii_lowercase())
    }

    /// The name in the tag, as its value or as an attribute.
    pub(crate) fn name(&self) -> Option<&'t str> {
        self.equals
            .or_else(|| self.attribute(&["name", "tool", "function", "tool_name", "rname"]))
            .map(str::trim)
    }
}

/// What is around the word of a tag. The tag that closes something has the style of the one that opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style<'t> {
    space: &'t str,
    suffix: &'t str,
    is_token: bool,
}

/// Namespaces with the separator that ends them. If one begins another, the longer one comes first.
pub(super) const NAMESPACES: &[&str] =
    &["antml:", "atem:", "steptml:", "minimax:", "seed:", "mm:", "dots_", "longcat_", "ns:", "xml:", "xai:"];
/// Namespaces that bars separate from the word: `｜DSML｜word`, `ifm|word`. They never occur in text.
pub(super) const BARRED: &[&str] = &["DSML|", "GCML|", "ifm|"];

/// Bars of either width, and what detokenisers make of them.
pub(super) fn is_bar(ch: char) -> bool {
    matches!(ch, '|' | '｜' | '‖')
}

/// The word of a tag that says by itself that it closes something: `end_of_tool_call`.
// Case: dialects/hy3/json-body
pub(super) fn closing_word(word: &str) -> Option<&str> {
    word.strip_prefix("end_of_").filter(|word| !word.is_empty())
}

/// Reads the tag at the start of `text`, which begins with `<`.
pub(crate) fn read<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Tag<'t>> {
    let bytes = text.as_bytes();
    let mut at = 1;
    let more = |at: usize| !done && at >= bytes.len();
    at = skip_blanks(text, at);
    let mut close = bytes.get(at) == Some(&b'/');
    at += usize::from(close);
    at = skip_blanks(text, at);
    if !done && half_decoration(text.get(at..).unwrap_or(""), custom) {
        return Step::More;
    }
    let (space, after) = namespace(text, at, custom);
    at = skip_blanks(text, after);
    // `<｜DSML｜/invoke>` and the like.
    if !close && !space.is_empty() && bytes.get(at) == Some(&b'/') {
        close = true;
        at += 1;
    }
    if more(at) {
        return Step::More;
    }
    let word_at = at;
    at += bytes[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    if at - word_at > MAX_WORD {
        return Step::No;
    }
    if more(at) {
        return Step::More;
    }
    let word = &text[word_at..at];
    if word.is_empty() || !word.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_') {
        return Step::No;
    }
    let mut tag = Tag { space, ..Tag::plain(word, close, 0) };
    if let Some(word) = closing_word(word) {
        (tag.close, tag.word) = (true, word);
    }
    if bytes.get(at) == Some(&b':') {
        // `<word:suffix>`
        // Case: dialects/hy3/malformed
        let suffix = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if more(at + 1 + suffix) {
            return Step::More;
        }
        if suffix > 0 && bytes.get(at + 1 + suffix) == Some(&b'>') {
            tag.suffix = &text[at + 1..at + 1 + suffix];
            at += 1 + suffix;
        }
        // `<word: name>`
        // Case: dialects/cwm/single
        if suffix == 0 && !tag.close && bytes.get(at + 1) == Some(&b' ') {
            return match equals(text, at + 1, done, &mut tag) {
                Step::Got(tag) if tag.damaged || tag.equals.is_none_or(|name| name.contains(' ')) => Step::No,
                other => other,
            };
        }
    }
    header(text, at, tag_end(text, at, done), done, &mut tag)
}

/// The word and the attributes of a tag that never ends. The last value reaches to the end of the text.
pub(crate) fn half(text: &str) -> Option<(&str, Vec<(&str, &str)>)> {
    let rest = text.strip_prefix('<')?;
    let length =
        rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let (word, mut rest) = rest.split_at(length);
    let mut out = Vec::new();
    loop {
        rest = rest.trim_start();
        let key = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (key, after) = rest.split_at(key);
        let Some(after) = after.strip_prefix('=').filter(|_| !key.is_empty()) else {
            // Most text has no attribute here, and the rest of it need not be searched.
            if out.is_empty() || rest.contains('=') {
                return None;
            }
            break;
        };
        let quote = after.chars().next().filter(|ch| matches!(ch, '"' | '\''))?;
        let body = &after[1..];
        let end = body
            .match_indices(quote)
            .map(|(at, _)| at)
            .find(|&at| ends_attribute(body, at + 1) && !body[at + 1..].trim().is_empty());
        out.push((key, &body[..end.unwrap_or(body.len())]));
        rest = end.map_or("", |end| &body[end + 1..]);
    }
    (tag_end(text, 1 + length, true).is_none() && !out.is_empty()).then_some((word, out))
}

/// Skips blanks in a header. A line break is not part of one.
fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    text.len().max(at) - rest.trim_start_matches([' ', '\t']).len()
}

/// The namespace at `at`, and the position after it and its separator.
fn namespace(text: &str, at: usize, custom: &CustomTable) -> (&'static str, usize) {
    let rest = text.get(at..).unwrap_or("");
    let first = rest.as_bytes().first();
    let begins = |space: &&&str| space.as_bytes().first() == first && rest.starts_with(**space);
    if let Some(space) = NAMESPACES.iter().chain(custom.namespaces()).find(begins) {
        return (space, at + space.len());
    }
    // Bars are of either width, once or twice, and blanks may be around them.
    // Case: dialects/dsml_v4/malformed
    let decorates = |ch: char| is_bar(ch) || ch == ' ';
    let inner = rest.trim_start_matches(decorates);
    for space in BARRED.iter().chain(custom.barred_namespaces()) {
        let name = space.trim_end_matches('|');
        let Some(after) = inner.get(..name.len()).filter(|word| word.eq_ignore_ascii_case(name)) else {
            continue;
        };
        let after = &inner[after.len()..];
        let word = after.trim_start_matches(decorates);
        let barred = rest[..rest.len() - inner.len()].contains(is_bar) && word.len() < after.len();
        if !barred && !after.starts_with(is_bar) {
            continue;
        }
        // One model samples two more characters between the namespace and the word.
        // Case: dialects/dsml_v4/alias
        let word = word.strip_prefix("r:").unwrap_or(word);
        return (space, at + rest.len() - word.len());
    }
    ("", at)
}

/// The length of the beginning of a tag whose decoration never occurs in text: `<｜DSML｜`, `</｜DSML｜`. With it comes
/// the namespace.
// Case: dialects/dsml_v4/mangled-opener
pub(crate) fn decoration(text: &str, custom: &CustomTable) -> Option<(&'static str, usize)> {
    let inner = text.strip_prefix('<')?;
    let from = text.len() - inner.strip_prefix('/').unwrap_or(inner).len();
    let (space, after) = namespace(text, from, custom);
    space.ends_with('|').then_some((space, after))
}

/// The position after the first `>` of the line.
pub(crate) fn end_in_line(text: &str) -> Option<usize> {
    let end = memchr::memchr2(b'>', b'\n', text.as_bytes())?;
    (text.as_bytes()[end] == b'>').then_some(end + 1)
}

/// Whether the text stops inside a `｜DSML｜`.
fn half_decoration(rest: &str, custom: &CustomTable) -> bool {
    let inner = rest.trim_start_matches(|ch: char| is_bar(ch) || ch == ' ');
    let begins = |space: &&str| {
        let name = space.trim_end_matches('|');
        name.get(..inner.len()).is_some_and(|start| start.eq_ignore_ascii_case(inner))
    };
    inner.len() < rest.len() && BARRED.iter().chain(custom.barred_namespaces()).any(begins)
}

/// The end of the header: the first `>` or `<` outside quotes.
fn tag_end(text: &str, from: usize, done: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut quote, mut at) = (None, from);
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (None, b'>' | b'<') => return Some(at),
            (None, b'"' | b'\'') if at > from && bytes[at - 1] == b'=' => {
                match json_value_end(text, at + 1) {
                    JsonValue::Until(end) => at = end,
                    JsonValue::Open if !done => return None,
                    JsonValue::Open | JsonValue::None => quote = Some(byte),
                }
            }
            (Some(open), byte) if byte == open && ends_attribute(text, at + 1) => quote = None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// A JSON object as the value of an attribute.
enum JsonValue {
    /// The object is complete, and this quote ends the value.
    Until(usize),
    /// The object may go on.
    Open,
    /// There is no object, or its quotes make no sense.
    None,
}

/// Finds the quote after the JSON object at `at`. The object shows where the value ends, so the quote may be of the other
/// kind than the one that opened it.
// Case: dialects/attr_tag/quotes-of-two-kinds
fn json_value_end(text: &str, at: usize) -> JsonValue {
    if text.as_bytes().get(at) != Some(&b'{') {
        return JsonValue::None;
    }
    match json_extent::measure(text, at) {
        Extent::Whole(end) if text[end..].starts_with(['"', '\'']) && ends_attribute(text, end + 1) => {
            JsonValue::Until(end)
        }
        Extent::Whole(end) if end >= text.len() => JsonValue::Open,
        Extent::Whole(_) | Extent::Broken(_) => JsonValue::None,
        Extent::Open => JsonValue::Open,
    }
}

/// Whether a quote before `at` can end an attribute. Attributes sometimes contain JSON with its own quotes.
// Case: dialects/attr_tag/malformed
fn ends_attribute(text: &str, at: usize) -> bool {
    let rest = text[at..].trim_start();
    rest.is_empty() || rest.starts_with('>') || rest.starts_with("/>") || {
        let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        name > 0 && rest[name..].trim_start().starts_with('=') && rest.len() < text[at..].len()
    }
}

/// Reads what is between the word and the end of the tag.
fn header<'t>(text: &'t str, at: usize, end: Option<usize>, done: bool, tag: &mut Tag<'t>) -> Step<Tag<'t>> {
    let rest = &text[at..];
    let trimmed = rest.trim_start_matches([' ', '\t']);
    if let Some(value) = trimmed.strip_prefix('=') {
        return equals(text, text.len() - value.len(), done, tag);
    }
    // Only an attribute makes a header long, and it begins early.
    let length = end.map_or(rest.len(), |end| end - at);
    if length > MAX_HEADER && !has_attribute(rest) {
        return Step::No;
    }
    let Some(end) = end else { return if done { Step::No } else { Step::More } };
    if text.as_bytes()[end] == b'<' {
        return Step::No;
    }
    let mut inner = text[at..end].trim();
    if let Some(before) = inner.strip_suffix('/') {
        tag.empty = true;
        inner = before.trim_end();
    }
    match attributes(inner) {
        Some(attributes) => tag.attributes = attributes,
        // `<function get_weather>`: the equals sign before the name is missing.
        None if rest.starts_with([' ', '\t'])
            && inner.split_whitespace().count() == 1
            && inner.contains(char::is_alphanumeric)
            && !tag.close =>
        {
            tag.equals = Some(inner);
        }
        None => return Step::No,
    }
    tag.len = end + 1;
    Step::Got(tag.clone())
}

/// Whether a quoted attribute begins within the limit for headers.
fn has_attribute(header: &str) -> bool {
    header
        .bytes()
        .zip(header.bytes().skip(1))
        .take(MAX_HEADER)
        .any(|pair| matches!(pair, (b'=', b'"' | b'\'')))
}

/// Reads `=VALUE>`. If the `>` is missing, the line ends the value.
// Case: dialects/qwen3_xml/malformed-header
fn equals<'t>(text: &'t str, from: usize, done: bool, tag: &mut Tag<'t>) -> Step<Tag<'t>> {
    let stop = text[from..].find(['>', '\n', '<']).map(|offset| from + offset);
    let Some(stop) = stop else {
        return if done || text.len() - from > MAX_HEADER { Step::No } else { Step::More };
    };
    let value = text[from..stop].trim().trim_matches(['"', '\'']).trim();
    if value.is_empty() || stop - from > MAX_HEADER {
        return Step::No;
    }
    tag.equals = Some(value);
    tag.damaged = text.as_bytes()[stop] != b'>';
    tag.len = stop + usize::from(!tag.damaged);
    Step::Got(tag.clone())
}

/// Parses `a="x" b='y' c=z`, or nothing at all.
fn attributes(mut rest: &str) -> Option<Vec<(&str, &str)>> {
    let mut out = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Some(out);
        }
        let name =
            rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':')).count();
        let after = rest[name..].trim_start().strip_prefix('=')?.trim_start();
        if name == 0 {
            return None;
        }
        let name = &rest[..name];
        if let Some(quote @ ('"' | '\'')) = after.chars().next() {
            let body = &after[1..];
            let end = match json_value_end(body, 0) {
                JsonValue::Until(end) => end,
                _ => body
                    .match_indices(quote)
                    .map(|(at, _)| at)
                    .find(|&at| ends_attribute(body, at + 1))
                    .unwrap_or(body.len()),
            };
            out.push((name, &body[..end]));
            rest = body.get(end + 1..).unwrap_or("");
        } else {
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            out.push((name, &after[..end]));
            rest = &after[end..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, close: bool, space: &str, word: &str, name: Option<&str>, len: usize) {
        match read(text, true, CustomTable::empty()) {
            Step::Got(tag) => {
                assert_eq!((tag.close, tag.space, tag.word), (close, space, word), "{text}");
                assert_eq!((tag.name(), tag.len), (name, len), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn families_differ_in_decoration_only() {
        check("<tool_call>x", false, "", "tool_call", None, 11);
        check("</tool_call>", true, "", "tool_call", None, 12);
        check("<function=read_file>", false, "", "function", Some("read_file"), 20);
        check("<invoke name=\"f\">", false, "", "invoke", Some("f"), 17);
        check("<｜DSML｜invoke name=\"f\">", false, "DSML|", "invoke", Some("f"), 27);
        check("<｜DSML｜ invoke name=f>", false, "DSML|", "invoke", Some("f"), 26);
        check("</｜｜DSML｜｜parameter>", true, "DSML|", "parameter", None, 28);
        check("<｜GCML｜invoke name=\"f\">", false, "GCML|", "invoke", Some("f"), 27);
        check("<ifm|tool_call>", false, "ifm|", "tool_call", None, 15);
        check("</ifm｜tool_call>", true, "ifm|", "tool_call", None, 18);
        check("<｜DSML｜r:invoke name=\"f\">", false, "DSML|", "invoke", Some("f"), 29);
        check("<end_of_tool_call:opensource>", true, "", "tool_call", None, 29);
        check("<tool: bash>", false, "", "tool", Some("bash"), 12);
        check("<arg_key:opensource>", false, "", "arg_key", None, 20);
        check("<longcat_arg_key>", false, "longcat_", "arg_key", None, 17);
        check("<function read_file>", false, "", "function", Some("read_file"), 20);
        check("<tool name='x' args='{\"a\": \"b>\"}'/>", false, "", "tool", Some("x"), 35);
    }

    #[test]
    fn a_tag_that_may_continue_waits() {
        for text in [
            "<",
            "</",
            "<too",
            "<tool_call",
            "<function=",
            "<function=ab",
            "<invoke name=\"",
            "<|DS",
            "<｜DSML｜",
        ] {
            assert_eq!(read(text, false, CustomTable::empty()), Step::More, "{text}");
        }
        for text in ["<tool\\_call>", "<3", "< b", "<a href=x <", "<é>"] {
            assert_eq!(read(text, true, CustomTable::empty()), Step::No, "{text}");
        }
    }
}
