//! Calls in Python's notation that are written as a list, as strings, in a code span, or as the lines of a program.
//!
//! Prompts ask for `[f(a=1), g()]`, and models answer with strings in a list, with one string around all calls, with a
//! program that assigns the results, or with a fence around any of these. The reader takes the whole sequence or nothing
//! of it: if one item is something else, the text is not a sequence of calls.

use super::{InferenceRules, MAX_WORD, within_word};
use crate::dialect::block::{Block, Frames};
use crate::dialect::input::{Input, Step};
use crate::dialect::python::{self, Surroundings};
use crate::dialect::python_string;
use crate::dialect::raw_call::{Ending, RawArguments, RawCall, RawValue};
use crate::dialect::table::{Dialect, Form};

/// How many brackets and quotes may be open around a call.
const MAX_FRAMES: usize = 4;

/// Where a sequence stands, which says where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In brackets or quotes that are closed.
    Framed,
    /// On lines, up to a closing fence.
    Fence,
    /// On lines, up to the end of the output.
    Program,
    /// On one line, up to something else.
    Line,
    /// In a string that was decoded, up to its end.
    Decoded,
}

/// Skips the brackets and quotes that may be around the first call of a sequence. `None` if the text ends there.
fn skip_openers(input: Input<'_>, at: usize) -> Option<usize> {
    let mut at = input.skip_whitespace(at);
    for _ in 0..MAX_FRAMES {
        if !matches!(input.byte(at)?, b'[' | b'{' | b'"' | b'\'' | b'`') {
            break;
        }
        at = input.skip_whitespace(at + 1);
    }
    input.byte(at).map(|_| at)
}

/// Whether a sequence of calls may begin here, judged by the name of its first call.
pub(super) fn begins(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<()> {
    let Some(first) = skip_openers(input, at) else {
        return if input.done { Step::No } else { Step::More };
    };
    match python::read_head(input, first) {
        Step::Got((name, _)) if is_callable(&name, rules) => Step::Got(()),
        Step::More if input.rest(first).len() <= MAX_WORD => Step::More,
        _ => Step::No,
    }
}

/// Whether a call of this name belongs to the sequence.
fn is_callable(name: &str, rules: InferenceRules<'_>) -> bool {
    name == "print" || rules.judge.has_tool(name) || rules.requested_form() == Some(Form::Python)
}

/// Reads the sequence of calls at `at`.
pub(super) fn read(
    input: Input<'_>,
    at: usize,
    place: Place,
    dialect: &'static Dialect,
    rules: InferenceRules<'_>,
) -> Step<Block> {
    let sequence = Sequence {
        input,
        place,
        dialect,
        rules,
        open: Vec::new(),
        calls: Vec::new(),
        assigned: Vec::new(),
        damaged: false,
    };
    match sequence.run(at) {
        Step::Got(mut block) => {
            if let Some(first) = block.calls.first_mut() {
                first.at.start = at;
            }
            if let Some(last) = block.calls.last_mut() {
                last.at.end = block.end.max(last.at.start);
            }
            Step::Got(block)
        }
        other => other,
    }
}

struct Sequence<'t, 'j> {
    input: Input<'t>,
    place: Place,
    dialect: &'static Dialect,
    rules: InferenceRules<'j>,
    /// The brackets and quotes that are open.
    open: Vec<u8>,
    calls: Vec<RawCall>,
    /// Variables that hold results.
    assigned: Vec<String>,
    /// Brackets or quotes were lost, or something else than a comma separates the calls.
    damaged: bool,
}

/// What the reader does next.
enum Next {
    /// Continue at this position.
    At(usize),
    /// The sequence ends here.
    End(usize),
    More,
    /// This is not a sequence of calls.
    No,
}

impl Sequence<'_, '_> {
    fn run(mut self, from: usize) -> Step<Block> {
        let mut at = from;
        loop {
            let next = self.skip_blanks(at);
            let Some(byte) = self.input.byte(next) else {
                return if self.input.done { self.finish(at) } else { Step::More };
            };
            let next = match byte {
                _ if self.place == Place::Line && self.is_line_over(at, next) => Next::End(at),
                b'`' if self.input.rest(next).starts_with("```") => self.read_fence(next),
                b'<' => self.read_markup(next),
                b'[' | b'{' => self.open_bracket(next, byte),
                b']' | b'}' => self.close_bracket(next, byte),
                b'"' | b'\'' | b'`' => self.read_quote(next, byte),
                b',' | b';' => self.read_separator(at, next),
                b'|' | b'&' | b'+' | b'-' | b'*' | b'/' if self.may_be_operator() => {
                    self.damaged = true;
                    Next::At(next + 1)
                }
                _ => self.read_item(next),
            };
            match next {
                Next::At(after) => at = after,
                Next::End(end) => return self.finish(end),
                Next::More => return Step::More,
                Next::No => return Step::No,
            }
            if self.calls.last().is_some_and(|call| call.ending != Ending::Complete) {
                let end = self.input.text.len();
                return self.finish(end);
            }
            if self.place == Place::Framed && self.open.is_empty() {
                return self.finish(at);
            }
        }
    }

    /// Skips white space and comments. On one line, line breaks count.
    fn skip_blanks(&self, at: usize) -> usize {
        let mut at = self.input.skip_whitespace(at);
        while self.input.byte(at) == Some(b'#') {
            let length = self.input.rest(at).find('\n').unwrap_or(self.input.rest(at).len());
            at = self.input.skip_whitespace(at + length);
        }
        at
    }

    /// Whether the next item is on another line, or is not a call.
    fn is_line_over(&self, at: usize, next: usize) -> bool {
        !self.calls.is_empty() && self.open.is_empty() && self.input.text[at..next].contains('\n')
    }

    /// An operator between two calls combines their results. Both have to be made, whatever happens to the results.
    // Case: dialects/pythonic/combined
    fn may_be_operator(&self) -> bool {
        self.rules.requested_form() == Some(Form::Python)
            && !self.calls.is_empty()
            && self.open.last() == Some(&b'[')
    }

    /// The calls that were read, if they can be all of the sequence.
    fn finish(self, end: usize) -> Step<Block> {
        let brackets = self.open.len();
        let partial = self.place == Place::Decoded && (brackets > 0 || end < self.input.text.len());
        let cut = || self.calls.iter().any(|call| call.ending != Ending::Complete);
        if self.calls.is_empty() || partial || self.place == Place::Decoded && cut() {
            return Step::No;
        }
        let damaged = self.damaged || brackets > 0;
        let frames = Frames { brackets, ..Frames::default() };
        let calls = self.calls.into_iter();
        let calls = calls.map(|call| RawCall { damaged: call.damaged || damaged, ..call }).collect();
        Step::Got(Block { calls, end, frames, ..Block::default() })
    }

    fn open_bracket(&mut self, at: usize, byte: u8) -> Next {
        // Empty brackets after a call mean nothing.
        let inner = self.input.skip_whitespace(at + 1);
        match self.input.byte(inner) {
            None if !self.input.done => return Next::More,
            Some(b']' | b'}') if !self.calls.is_empty() => {
                self.damaged = true;
                return Next::At(inner + 1);
            }
            _ => {}
        }
        if self.open.len() >= MAX_FRAMES {
            return Next::No;
        }
        self.open.push(byte);
        // `{"tool_calls": ["f(a=1)"]}`
        if byte == b'{' { self.skip_list_key(inner) } else { Next::At(at + 1) }
    }

    /// Skips the key of an object that holds the list of calls.
    fn skip_list_key(&mut self, at: usize) -> Next {
        const KEYS: &[&str] = &[
            "tool_calls",
            "tools_call",
            "tools_calls",
            "tool_call",
            "function_calls",
            "function_call",
            "calls",
        ];
        let rest = self.input.rest(at);
        let Some(word) = rest.strip_prefix(['"', '\'']) else { return Next::At(at) };
        let Some(length) = within_word(word.find(['"', '\''])) else {
            return if self.input.done || word.len() > MAX_WORD { Next::At(at) } else { Next::More };
        };
        if !KEYS.contains(&&word[..length]) {
            return Next::At(at);
        }
        let colon = self.input.skip_whitespace(at + length + 2);
        match self.input.byte(colon) {
            None if !self.input.done => Next::More,
            Some(b':') => Next::At(colon + 1),
            _ => Next::No,
        }
    }

    /// Closes a bracket. A quote that was not closed before it was lost.
    fn close_bracket(&mut self, at: usize, byte: u8) -> Next {
        let open = if byte == b']' { b'[' } else { b'{' };
        while matches!(self.open.last(), Some(b'"' | b'\'' | b'`')) {
            self.open.pop();
            self.damaged = true;
        }
        if self.open.last() == Some(&open) {
            self.open.pop();
            return Next::At(at + 1);
        }
        if self.open.is_empty() && !self.calls.is_empty() { Next::End(at) } else { Next::No }
    }

    fn read_separator(&self, at: usize, next: usize) -> Next {
        if self.calls.is_empty() {
            return Next::No;
        }
        // After the last item of a line, a separator belongs to what follows.
        if self.place == Place::Line && self.open.is_empty() {
            let after = self.skip_blanks(next + 1);
            return match begins(self.input, after, self.rules) {
                Step::Got(()) => Next::At(next + 1),
                Step::More => Next::More,
                Step::No => Next::End(at),
            };
        }
        Next::At(next + 1)
    }

    /// Reads the markup that ends the sequence.
    fn read_markup(&self, at: usize) -> Next {
        match self.input.markup(at) {
            Step::Got(markup) if !self.calls.is_empty() && (markup.closes() || markup.is_noise()) => {
                Next::End(at)
            }
            Step::More => Next::More,
            _ => Next::No,
        }
    }

    /// Reads the fence that ends the sequence.
    fn read_fence(&self, at: usize) -> Next {
        let rest = self.input.rest(at);
        let width = rest.bytes().take_while(|&byte| byte == b'`').count();
        if width == rest.len() && !self.input.done {
            return Next::More;
        }
        match self.place {
            Place::Fence if !self.calls.is_empty() => Next::End(at + width),
            Place::Framed | Place::Line if !self.calls.is_empty() => Next::End(at),
            _ => Next::No,
        }
    }

    /// Reads a quote: the end of an item, or a string that contains calls.
    fn read_quote(&mut self, at: usize, quote: u8) -> Next {
        if self.open.last() == Some(&quote) {
            self.open.pop();
            return Next::At(at + 1);
        }
        if matches!(self.open.last(), Some(b'"' | b'\'')) || self.open.len() >= MAX_FRAMES {
            return Next::No;
        }
        if quote != b'`' {
            match self.read_escaped(at, quote) {
                Step::Got(Some(end)) => return Next::At(end),
                Step::Got(None) => return Next::No,
                Step::More => return Next::More,
                Step::No => {}
            }
        }
        self.open.push(quote);
        Next::At(at + 1)
    }

    /// Reads a string with escapes: its meaning is the text of the calls. If the text as it stands has another meaning,
    /// it is not known which one counts, and there is no position to continue at.
    // Case: dialects/pythonic/strings-two-depths
    fn read_escaped(&mut self, at: usize, quote: u8) -> Step<Option<usize>> {
        let Some(length) = literal_length(self.input.rest(at + 1), quote) else {
            return if self.input.done { Step::No } else { Step::More };
        };
        let literal = &self.input.text[at + 1..at + 1 + length];
        let end = at + length + 2;
        let after = self.input.skip_whitespace(end);
        match self.input.byte(after) {
            None if !self.input.done => return Step::More,
            None | Some(b',' | b']' | b'}' | b'\n') => {}
            _ => return Step::No,
        }
        if !literal.contains('\\') {
            return Step::No;
        }
        let decoded = python_string::unescape(literal);
        let input = Input { text: &decoded, done: true, stable_only: false, ..self.input };
        let Step::Got(block) = read(input, 0, Place::Decoded, self.dialect, self.rules) else {
            return Step::No;
        };
        let plain = Input { text: literal, ..input };
        if let Step::Got(other) = read(plain, 0, Place::Decoded, self.dialect, self.rules)
            && !same_calls(&block.calls, &other.calls)
        {
            return Step::Got(None);
        }
        for mut call in block.calls {
            call.at = at..end;
            if let RawArguments::Fields(fields) = &mut call.arguments {
                for field in fields {
                    field.at = at..end;
                }
            }
            self.calls.push(call);
        }
        Step::Got(Some(end))
    }

    /// Reads a call, or a part of a program that makes no call of its own.
    fn read_item(&mut self, at: usize) -> Next {
        match python::read_head(self.input, at) {
            Step::More => return Next::More,
            Step::Got((name, _)) if is_callable(&name, self.rules) => return self.read_call(at, &name),
            _ => {}
        }
        if let Some(next) = self.read_conjunction(at) {
            return next;
        }
        let lines = matches!(self.place, Place::Fence | Place::Program);
        let asked = self.rules.requested_form() == Some(Form::Python);
        if !self.open.is_empty() || !(lines || asked) {
            return self.end_or_refuse(at);
        }
        match read_target(self.input, at) {
            Step::Got((names, after)) => {
                // A text that is assigned is not run.
                // Case: dialects/hostile/text-in-a-variable
                match self.input.byte(self.input.skip_whitespace(after)) {
                    Some(b'"' | b'\'') => return Next::No,
                    None if !self.input.done => return Next::More,
                    _ => {}
                }
                self.assigned.extend(names.split(',').map(|name| name.trim().to_owned()));
                Next::At(after)
            }
            Step::More => Next::More,
            Step::No => self.end_or_refuse(at),
        }
    }

    /// Reads the word between two calls on one line.
    // Case: dialects/pythonic/conjunction
    fn read_conjunction(&self, at: usize) -> Option<Next> {
        let rest = self.input.rest(at);
        let asked = self.rules.requested_form() == Some(Form::Python);
        if self.calls.is_empty() || !asked {
            return None;
        }
        if !self.input.done && "and ".starts_with(rest) {
            return Some(Next::More);
        }
        let after = at + rest.strip_prefix("and ").map(|_| "and ".len())?;
        match begins(self.input, after, self.rules) {
            Step::Got(()) => Some(Next::At(after)),
            Step::More => Some(Next::More),
            Step::No => None,
        }
    }

    /// What is not a call ends a line, and makes everything else something other than a sequence.
    fn end_or_refuse(&self, at: usize) -> Next {
        if self.place == Place::Line && self.open.is_empty() && !self.calls.is_empty() {
            Next::End(at)
        } else {
            Next::No
        }
    }

    fn read_call(&mut self, at: usize, name: &str) -> Next {
        let within = self.open.iter().rev().copied().find(|byte| matches!(byte, b'"' | b'\'')).unwrap_or(0);
        let around = Surroundings { within, listed: self.open.contains(&b'[') };
        match python::read_call_within(self.input, at, self.dialect, around) {
            Step::Got(call) if self.is_whole(&call) => {
                let end = call.at.end;
                self.calls.push(call);
                Next::At(end)
            }
            Step::More => Next::More,
            Step::No if name == "print" => self.skip_print(at),
            Step::Got(_) | Step::No => Next::No,
        }
    }

    /// Whether the call names what it may name. In a form that was asked for, that is any tool. In a program it is a
    /// declared one, because programs call other functions as well.
    fn is_whole(&self, call: &RawCall) -> bool {
        let listed = self.open.contains(&b'[') || self.place == Place::Line;
        listed && self.rules.requested_form() == Some(Form::Python) || self.rules.judge.has_tool(&call.name)
    }

    /// Skips `print(result)`, if the variable holds the result of a call.
    // Case: dialects/tool_code/assigned
    fn skip_print(&self, at: usize) -> Next {
        let rest = self.input.rest(at);
        let Some(close) = within_word(rest.find(')')) else {
            return if self.input.done || rest.len() > MAX_WORD { Next::No } else { Next::More };
        };
        let printed = rest[..close].split_once('(').map_or("", |(_, inner)| inner.trim());
        if self.assigned.iter().any(|name| name == printed) { Next::At(at + close + 1) } else { Next::No }
    }
}

/// The length of the literal that ends with this quote.
fn literal_length(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(quote, b'\\', bytes.get(at..)?)?;
        if bytes[at] == quote {
            return Some(at);
        }
        at += 2;
    }
}

/// Reads `name =` or `a, b =` before a call. Returns the names and the position after the sign.
pub(super) fn read_target(input: Input<'_>, at: usize) -> Step<(&str, usize)> {
    let rest = input.rest(at);
    let Some(sign) = within_word(rest.find(|ch: char| !(ch.is_alphanumeric() || "_, ".contains(ch)))) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let names = rest[..sign].trim();
    let single = names.split(',').all(|name| !name.trim().is_empty() && !name.trim().contains(' '));
    match &rest.as_bytes()[sign..] {
        [b'='] if !input.done => Step::More,
        [b'=', next, ..] if *next != b'=' && single => Step::Got((names, at + sign + 1)),
        _ => Step::No,
    }
}

/// Whether two readings of a text are the same calls.
fn same_calls(one: &[RawCall], other: &[RawCall]) -> bool {
    fn fields(call: &RawCall) -> Vec<(&str, &RawValue)> {
        match &call.arguments {
            RawArguments::Fields(fields) => {
                fields.iter().map(|field| (field.key.as_str(), &field.value)).collect()
            }
            _ => Vec::new(),
        }
    }
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one.name == other.name && fields(one) == fields(other))
}
