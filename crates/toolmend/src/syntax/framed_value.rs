//! Values in a frame that is not that of a call: struck out, commented out, in an element that is no template's, called by the
//! name of another tool, or with a remark on their own line.
//!
//! Words on lines of their own are how models talk, and `withdrawn_call` looks for those that take a value back. What is on the
//! value's own line says something about the value. It is read word by word, and what is not understood is doubt.

use std::ops::Range;

use super::ReadContext;
use super::surrounding_text;
use crate::schema::guide::fold;
use crate::text_parts::{first_part, last_part};

/// More text than this on either side of a value is not searched.
const NEARBY: usize = 4096;

/// What strikes out or comments out what follows it on its line, or calls it an output.
const STRIKES: &[&str] = &["//", "<!--", "~~", "<del", "<strike", "/*", "Out["];
/// The same, if nothing else is before the value. Otherwise they begin a heading or a list.
const LONE_STRIKES: &[&str] = &["#", "--", ";", "%"];

/// Words of which the names of elements around a call are made. Any other element is an example, a quotation or data.
const ELEMENT_WORDS: &[&str] = &[
    "tool",
    "tools",
    "function",
    "functions",
    "call",
    "calls",
    "use",
    "json",
    "args",
    "arg",
    "arguments",
    "argument",
    "params",
    "param",
    "parameters",
    "parameter",
    "invoke",
    "answer",
    "output",
    "response",
    "action",
    "actions",
    "input",
    "request",
    "execute",
    "code",
    "xml",
    "data",
    "final",
    "message",
    "assistant",
    "content",
    "object",
    "value",
    "body",
    "s",
    "p",
    "pre",
    "div",
    "span",
    "b",
    "em",
    "strong",
    "td",
    "li",
    "block",
    "begin",
    "end",
    "think",
    "thinking",
    "root",
];

/// Labels of fences around text that is shown.
const SHOWN_FENCES: &[&str] = &[
    "example",
    "examples",
    "wrong",
    "bad",
    "incorrect",
    "invalid",
    "diff",
    "old",
    "before",
    "error",
    "log",
    "draft",
];

/// Words before a value that name no tool.
const LABELS: &[&str] = &[
    "json",
    "json5",
    "jsonc",
    "arguments",
    "args",
    "parameters",
    "params",
    "param",
    "input",
    "inputs",
    "kwargs",
    "toolinput",
    "actioninput",
    "action",
    "call",
    "functioncall",
    "toolcall",
    "tooluse",
    "tool",
    "function",
    "functions",
    "final",
    "answer",
    "result",
    "output",
    "response",
    "return",
    "returns",
    "data",
    "payload",
    "body",
    "request",
    "object",
    "dict",
    "map",
    "assistant",
    "python",
    "javascript",
    "js",
    "ts",
    "typescript",
    "yaml",
    "toml",
    "xml",
    "with",
    "text",
    "prefix",
    "sure",
    "ok",
    "okay",
    "here",
    "yes",
    "and",
    "then",
    "is",
    "are",
];

/// Words of remarks that leave a call as it is. None of them denies, delays or restricts anything.
const HARMLESS_WORDS: &[&str] = &[
    "a",
    "all",
    "also",
    "am",
    "an",
    "and",
    "anything",
    "are",
    "args",
    "argument",
    "arguments",
    "as",
    "ask",
    "asked",
    "assumed",
    "be",
    "been",
    "call",
    "called",
    "calling",
    "can",
    "complete",
    "completes",
    "correct",
    "correctly",
    "default",
    "defaults",
    "do",
    "does",
    "done",
    "else",
    "end",
    "exactly",
    "feel",
    "file",
    "filled",
    "final",
    "find",
    "fine",
    "finished",
    "for",
    "format",
    "free",
    "from",
    "function",
    "get",
    "give",
    "given",
    "gives",
    "go",
    "good",
    "great",
    "has",
    "have",
    "help",
    "helpful",
    "helps",
    "here",
    "here's",
    "hope",
    "i",
    "i'll",
    "i'm",
    "i've",
    "in",
    "input",
    "is",
    "it",
    "it's",
    "its",
    "json",
    "just",
    "know",
    "let",
    "looks",
    "made",
    "make",
    "me",
    "my",
    "name",
    "named",
    "need",
    "needed",
    "needs",
    "next",
    "now",
    "object",
    "of",
    "ok",
    "okay",
    "on",
    "one",
    "output",
    "parameter",
    "parameters",
    "params",
    "passed",
    "path",
    "per",
    "please",
    "query",
    "ready",
    "request",
    "requested",
    "required",
    "result",
    "right",
    "run",
    "runs",
    "search",
    "see",
    "sent",
    "sets",
    "suffix",
    "sure",
    "task",
    "text",
    "thank",
    "thanks",
    "that",
    "that's",
    "the",
    "these",
    "this",
    "to",
    "tool",
    "uses",
    "using",
    "valid",
    "value",
    "values",
    "was",
    "we",
    "will",
    "with",
    "work",
    "worked",
    "works",
    "yes",
    "you",
    "your",
];

/// Remarks with a word that alone would be a condition.
const HARMLESS_PHRASES: &[&str] = &["let me know if ", "note that ", "as expected"];

/// Why the frame around a value is not that of a call.
// Case: syntax/object-struck-out
pub(super) fn find_frame(
    text: &str,
    value: &Range<usize>,
    context: &ReadContext<'_>,
) -> Option<&'static str> {
    let before = last_part(&text[..value.start], NEARBY);
    let after = first_part(&text[value.end..], NEARBY);
    let line_before = before.rsplit('\n').next().unwrap_or_default().trim();
    let is_closed = line_before.contains("*/") || line_before.contains("-->");
    if !is_closed && STRIKES.iter().any(|mark| line_before.starts_with(mark)) {
        return Some("it is struck out or in a comment");
    }
    if LONE_STRIKES.contains(&line_before) {
        return Some("it is in a comment");
    }
    if is_in_other_element(before, after) {
        return Some("it is in an element that holds no calls");
    }
    if is_in_shown_fence(before) {
        return Some("its fence says that it is shown");
    }
    let tool = context.tool?;
    if names_other_tool(before, tool) {
        return Some("it follows the name of another tool");
    }
    if is_label_in_brackets(line_before) {
        return Some("the label before it may take it back");
    }
    is_unclear_remark(after.split('\n').next().unwrap_or_default())
        .then_some("the words after it, on its own line, may take it back")
}

/// Whether a value is on a line that starts as a comment or as struck-out text, or follows such a mark.
// Case: syntax/value-in-a-comment
pub(super) fn is_commented_out(text: &str, start: usize) -> bool {
    let line = text[..start].rsplit('\n').next().unwrap_or_default().trim();
    let mut marks = STRIKES.iter().chain(["#", "--"].iter());
    marks.any(|mark| line.starts_with(mark) || line.ends_with(mark))
}

/// Whether the value is inside `<name>…</name>`, and the name is none that templates have.
// Case: syntax/object-in-an-element-of-its-own
fn is_in_other_element(before: &str, after: &str) -> bool {
    let Some(close) = after.find("</") else { return false };
    let name = &after[close + 2..];
    let end = name.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '-'))).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let opens = |at: usize| {
        let rest = &before[at + 1..];
        rest.starts_with(name) && rest[name.len()..].starts_with(['>', ' '])
    };
    let is_known = |word: &str| ELEMENT_WORDS.contains(&word.to_ascii_lowercase().as_str());
    !name.is_empty()
        && rest.trim_start().starts_with('>')
        && !name.split(['_', '-']).all(is_known)
        && before.match_indices('<').any(|(at, _)| opens(at))
}

/// Whether the fence that is open before the value is labelled as text that is shown.
// Case: syntax/fence-of-an-example
fn is_in_shown_fence(before: &str) -> bool {
    let Some(open) = before.rfind("```") else { return false };
    let label = before[open + 3..].lines().next().unwrap_or_default();
    let mut words = label.split(|ch: char| !ch.is_alphanumeric());
    before.matches("```").count() % 2 == 1
        && words.any(|word| SHOWN_FENCES.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether the only word on the line before the value is a name that is not the tool's: `read_file {…}`, `read_file({…})`,
/// `<function=read_file>{…}`.
// Case: syntax/name-of-another-tool
fn names_other_tool(before: &str, tool: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    let lead = line.strip_suffix('(').unwrap_or(line).trim_end();
    let Some(word) = name_in_tag(lead).or_else(|| lone_word(lead)) else { return false };
    // `functions.read_file:0`
    let counted = word.rsplit_once(':').filter(|(_, count)| count.bytes().all(|byte| byte.is_ascii_digit()));
    let word = counted.map_or(word, |(word, _)| word);
    let is_name = word.starts_with(|ch: char| ch.is_alphabetic() || ch == '_')
        && word.ends_with(|ch: char| ch.is_alphanumeric() || ch == '_');
    let (name, own) = (fold(word), fold(tool));
    is_name && !name.ends_with(&own) && !own.ends_with(&name) && !LABELS.contains(&name.as_str())
}

/// The name in a tag at the end of the text that opens a call: `<function=read_file>`.
fn name_in_tag(lead: &str) -> Option<&str> {
    let lead = lead.strip_suffix('>')?;
    let tag = &lead[lead.rfind('<')? + 1..];
    let name = tag.strip_prefix("function=").or_else(|| tag.strip_prefix("invoke name="))?;
    Some(name.trim_matches(['"', '\'']))
}

/// The word at the end of a line, if there is no other on it. Template tokens may be on either side of it.
fn lone_word(line: &str) -> Option<&str> {
    let mut lead = line;
    // The tokens between a name and its arguments.
    while let Some(open) = lead.strip_suffix(['>', ']']).and_then(|rest| rest.rfind(['<', '['])) {
        lead = lead[..open].trim_end();
    }
    let is_name = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.' | ':' | '/');
    let start = lead.trim_end_matches(is_name).len();
    let rest = lead[..start].trim_end_matches(['`', '*', '"', '\'']).trim_end();
    (rest.is_empty() || rest.ends_with(['>', ']'])).then(|| &lead[start..]).filter(|word| !word.is_empty())
}

/// Whether the line before a value is a label in brackets that says something unknown: `[draft] {…}`, `(old) {…}`.
// Case: syntax/label-in-brackets
fn is_label_in_brackets(line: &str) -> bool {
    let inside = ['[', '(']
        .iter()
        .zip([']', ')'])
        .find_map(|(open, close)| line.strip_prefix(*open).and_then(|rest| rest.strip_suffix(close)));
    let is_plain = |ch: char| ch.is_lowercase() || ch.is_ascii_uppercase() || matches!(ch, ' ' | '-' | '_');
    let is_token = surrounding_text::skip_residue(line, 0) == line.len();
    inside.is_some_and(|inside| {
        let words = inside.to_lowercase();
        let mut words = words.split(|ch: char| !ch.is_alphanumeric());
        !is_token
            && inside.chars().all(is_plain)
            && !words.all(|word| {
                HARMLESS_WORDS.contains(&word) || LABELS.contains(&word) || ELEMENT_WORDS.contains(&word)
            })
    })
}

/// Whether a remark after a value, on its own line, has anything in it that is not plainly harmless: a word that is not known, a
/// flag, a sign of a terminal.
// Case: syntax/remark-on-the-line-of-the-value
fn is_unclear_remark(line: &str) -> bool {
    // What touches the value is no remark.
    if line.starts_with(|ch: char| ch.is_ascii_alphanumeric()) {
        return false;
    }
    let remark = line[surrounding_text::skip_residue(line, 0)..]
        .trim()
        .trim_start_matches([')', '.', ';', ','])
        .trim();
    let remark = remark[surrounding_text::skip_residue(remark, 0)..].trim();
    // Brackets are other values or marks, and are judged elsewhere.
    if remark.is_empty()
        || remark.starts_with(['{', '[', '<', '"', '\'', '`', '|']) && !remark.starts_with("<-")
    {
        return false;
    }
    let lower = remark.to_lowercase().replace('’', "'");
    let body = HARMLESS_PHRASES.iter().find_map(|phrase| lower.strip_prefix(phrase)).unwrap_or(&lower);
    let is_harmless =
        |word: &str| HARMLESS_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = body.split(|ch: char| !(ch.is_alphanumeric() || ch == '\''));
    let has_signs = body.contains(['^', '$', '&', '|', '~', '≠'])
        || body.split_whitespace().any(|word| {
            word.trim_start_matches('-').len() < word.len() && word.ends_with(char::is_alphanumeric)
        });
    has_signs || !words.all(|word| is_harmless(word.trim_matches('\'')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_tools() {
        for lead in [
            "read_file",
            "read_file(",
            "x\nread_file ",
            "functions.other:0",
            "[TOOL_CALLS]other[ARGS]",
            "<function=other>",
        ] {
            assert!(names_other_tool(lead, "bash"), "{lead}");
        }
        for lead in [
            "bash",
            "functions.bash:0",
            "Bash(",
            "[TOOL_CALLS]bash[ARGS]",
            "json\n",
            "```json",
            "Run this: ",
            "args =",
            "<tool_call>",
        ] {
            assert!(!names_other_tool(lead, "bash"), "{lead}");
        }
    }

    #[test]
    fn remarks() {
        for line in [
            " ^C",
            " --dry-run",
            " nicht",
            " 不要执行",
            " if confirmed",
            " later",
            " <- wrong",
            " x",
            " if ok else None",
        ] {
            assert!(is_unclear_remark(line), "{line}");
        }
        for line in [
            "",
            ")",
            "}",
            " Let me know if it worked!",
            "  <-- arguments",
            " is the output.",
            "<|im_end|>",
            "```",
            "xx",
            ", {\"a\": 1}",
        ] {
            assert!(!is_unclear_remark(line), "{line}");
        }
    }

    #[test]
    fn labels_in_brackets() {
        for line in ["[draft]", "(old)", "[DRY RUN]", "[do not run]"] {
            assert!(is_label_in_brackets(line), "{line}");
        }
        for line in ["[TOOL_CALLS]", "[call]", "(1)", "x", "[arguments]"] {
            assert!(!is_label_in_brackets(line), "{line}");
        }
    }

    #[test]
    fn elements() {
        assert!(is_in_other_element("<example>\nso: ", "\n</example>"));
        assert!(is_in_other_element("<do_not_run>", "</do_not_run>"));
        assert!(!is_in_other_element("<tool_call>", "</tool_call>"));
        assert!(!is_in_other_element("<b>this</b> ", " </b>x"));
    }
}
