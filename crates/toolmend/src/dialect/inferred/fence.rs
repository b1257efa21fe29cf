//! Code fences and code spans that contain calls.
//!
//! The label says what the fence contains. A fence whose label is not known shows something to the reader, unless the
//! prompt asked for calls in Python's notation: then models put them into fences of any kind.

use super::call_sequence::{self, Place};
use super::{InferenceRules, MAX_WORD, asks_for_python, new_reader, plausible, read_sequence, within_word};
use crate::dialect::begun_again;
use crate::dialect::block::Block;
use crate::dialect::input::{Input, Step};
use crate::dialect::python;
use crate::dialect::table::{Form, Recognition, recognised};

/// Labels of fences that contain calls, beside those of the rows.
const LABELS: &[&str] = &[
    "",
    "json",
    "tool_call",
    "tool-call",
    "tool_calls",
    "tool_use",
    "toolcall",
    "invoke",
    "xml",
    "tool",
    "function_call",
    "call",
    "plaintext",
    "text",
];

/// The first line of a fence.
struct Opening<'t> {
    label: &'t str,
    /// Where the text in the fence begins.
    body: usize,
}

/// Reads the fence or the code span at `at`. A fence that is opened again before it was closed, with the same words, counts
/// once.
// Case: dialects/fenced_json/begun-again
pub(super) fn read(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let mut begun = at;
    for _ in 1..begun_again::MAX_BEGINNINGS {
        match find_next_opening(input, begun) {
            Step::Got(next) => begun = next,
            Step::More => return Step::More,
            Step::No => break,
        }
    }
    match read_once(input, begun, rules) {
        Step::Got(mut block) if begun > at => {
            block.calls.iter_mut().for_each(|call| call.at.start = at);
            Step::Got(block.damaged())
        }
        other => other,
    }
}

/// Where a fence with a label is opened again, with everything that was in it.
fn find_next_opening(input: Input<'_>, at: usize) -> Step<usize> {
    let rest = input.rest(at);
    let Some((line, body)) = rest.split_once('\n').filter(|(line, _)| line.starts_with("```")) else {
        return Step::No;
    };
    if line.len() > MAX_WORD || line.trim_matches('`').trim().is_empty() {
        return Step::No;
    }
    let Some(length) = body.find("\n```") else { return Step::No };
    let (length, next) = (length, at + line.len() + 1 + length + 1);
    if !input.rest(next).starts_with(line.trim_end()) {
        return Step::No;
    }
    let written = &rest[..line.len() + 1 + length];
    if written.trim_end() == line.trim_end() {
        Step::No
    } else {
        begun_again::find_repetition(input, written, next)
    }
}

fn read_once(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let mark = rest.chars().next().unwrap_or('`');
    let width = rest.chars().take_while(|&ch| ch == mark).count();
    if width < 3 {
        return match width {
            _ if !input.done && width == rest.len() => Step::More,
            1 if mark == '`' => read_span(input, at, rules),
            _ => Step::No,
        };
    }
    // Models write their calls between backticks. Tildes show something.
    if mark == '~' && rules.requested.is_none() && !rules.request.demands_call() {
        return Step::No;
    }
    let opening = match read_opening(input, at + width) {
        Step::Got(opening) => opening,
        Step::More => return Step::More,
        Step::No => return Step::No,
    };
    if asks_for_python(rules) {
        match read_calls(input, at, &opening, rules) {
            Step::No => {}
            other => return other,
        }
    }
    read_labelled(input, at, &opening, rules)
}

/// Reads a code span that is a whole line: `` `f(a=1)` ``. Unless it was asked for, nothing may come before it.
// Case: dialects/pythonic/code-span
// Case: dialects/hostile/code-span-in-text
fn read_span(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    if asks_for_python(rules) || rules.first && !rules.example {
        read_sequence(input, at, Place::Framed, rules)
    } else {
        Step::No
    }
}

/// Reads the label, which begins at `at`. In a fence on one line, the text follows it directly.
// Case: dialects/pythonic/fence-on-one-line
fn read_opening(input: Input<'_>, at: usize) -> Step<Opening<'_>> {
    let rest = input.rest(at);
    let ends = ['\n', '{', '[', '(', '<', '`', '"', '\'', '=', '#'];
    let Some(length) = within_word(rest.find(ends)) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    // The name of a call is not a label: ```` ```f(a=1)``` ````.
    let label = match rest.as_bytes()[length] {
        b'(' | b'=' => rest[..length].rsplit_once(' ').map_or("", |(label, _)| label),
        _ => &rest[..length],
    };
    Step::Got(Opening { label: label.trim(), body: input.skip_whitespace(at + label.len()) })
}

/// Reads a fence that contains nothing but calls in Python's notation.
fn read_calls(input: Input<'_>, at: usize, opening: &Opening<'_>, rules: InferenceRules<'_>) -> Step<Block> {
    match begins_program(input, opening.body, rules) {
        Step::Got(()) => {}
        Step::More => return Step::More,
        Step::No => return Step::No,
    }
    let program = recognised(Recognition::Program);
    let is_program = program.fence_labels.contains(&opening.label.to_ascii_lowercase().as_str());
    let dialect = if is_program { program } else { input.custom.row_of(&[], Form::Python) };
    call_sequence::read(input, opening.body, Place::Fence, dialect, rules).map(|mut block| {
        if let Some(first) = block.calls.first_mut() {
            first.at.start = at;
        }
        block
    })
}

/// Whether a program may begin here that consists of calls: with a call, an assignment, or a comment.
fn begins_program(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<()> {
    let mut at = at;
    while input.byte(at) == Some(b'#') {
        let rest = input.rest(at);
        let Some(length) = rest.find('\n') else { return if input.done { Step::No } else { Step::More } };
        at = input.skip_whitespace(at + length);
    }
    match call_sequence::begins(input, at, rules) {
        Step::No => {}
        other => return other,
    }
    match call_sequence::read_target(input, at) {
        Step::Got((_, after)) => call_sequence::begins(input, after, rules),
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// Reads a fence whose label says that it contains calls.
fn read_labelled(
    input: Input<'_>,
    at: usize,
    opening: &Opening<'_>,
    rules: InferenceRules<'_>,
) -> Step<Block> {
    let Opening { label, body } = *opening;
    let name = label.strip_prefix("tool ").or_else(|| label.strip_prefix("tool:")).unwrap_or(label).trim();
    let named_by_label = !name.is_empty() && rules.judge.has_tool(name);
    let program = recognised(Recognition::Program);
    let folded = label.to_ascii_lowercase();
    let is_label = LABELS.contains(&folded.as_str()) || program.fence_labels.contains(&folded.as_str());
    if !named_by_label && !is_label {
        return Step::No;
    }
    // Words or the text around it announce an example.
    // Case: dialects/fenced_json/example
    if rules.example {
        return Step::No;
    }
    let Some(byte) = input.byte(body) else { return if input.done { Step::No } else { Step::More } };
    let code = program.fence_labels.contains(&label);
    if !named_by_label {
        let found = match may_be_calls(input, opening, rules) {
            Step::Got(()) => read_calls(input, at, opening, rules),
            Step::More => return Step::More,
            Step::No => Step::No,
        };
        match found {
            Step::No => {}
            other => return other,
        }
    }
    match byte {
        b'{' | b'[' if !code || byte == b'[' => {
            match if byte == b'{' && !named_by_label { plausible(input, body, rules) } else { Step::Got(()) }
            {
                Step::Got(()) => {}
                Step::More => return Step::More,
                Step::No => return Step::No,
            }
        }
        b'<' => {}
        _ => return Step::No,
    }
    let marks: &[&str] = if code { program.marks } else { &[] };
    let mut reader = new_reader(input, at, rules, marks);
    reader.read(at).map(|mut block| {
        for call in &mut block.calls {
            call.dialect = call.dialect.in_fence();
        }
        block
    })
}

/// Whether calls in Python's notation are meant to be made, and not shown as a program: a label that only calls have,
/// the prefix of one family, or a fence with which the output begins.
// Case: dialects/tool_code/lines-in-python-fence
fn may_be_calls(input: Input<'_>, opening: &Opening<'_>, rules: InferenceRules<'_>) -> Step<()> {
    let program = recognised(Recognition::Program);
    let label = opening.label;
    if rules.first || program.marks.contains(&label) || !program.fence_labels.contains(&label) {
        return Step::Got(());
    }
    match python::read_head(input, opening.body) {
        Step::Got((name, _)) if name.starts_with("default_api.") || name == "print" => Step::Got(()),
        Step::More => Step::More,
        _ => Step::No,
    }
}
