//! Code in the position of arguments: for an interpreter that is one of the tools, or for an argument that the call left
//! empty.
//!
//! Code has no escapes, and may contain whatever closes it. So its end counts only where something follows that can follow
//! a call.

use super::{Block, CallHead, Progress, Reader};
use crate::dialect::envelope::EnvelopeCall;
use crate::dialect::input::Step;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::table::{self, Form};
use crate::json::strict;
use crate::json::tree::Tree;

/// The argument that code belongs to.
const CODE: &str = "code";

impl Reader<'_, '_> {
    /// Reads code after the token that announces it, in a fence or not. It is a call only if one of the tools runs code.
    // Case: dialects/internlm2/interpreter
    // Case: dialects/internlm2/interpreter-undeclared
    pub(super) fn read_interpreter_code(&self, at: usize) -> Progress {
        let Some((name, key)) = self.judge.interpreter() else { return Progress::No };
        if self.input.stable_only {
            return Progress::More;
        }
        let rest = self.input.rest(at);
        if !self.input.done && "```".starts_with(rest) {
            return Progress::More;
        }
        let fenced = rest.starts_with("```");
        let from = match rest.find('\n') {
            _ if !fenced => at,
            Some(length) => at + length + 1,
            None if self.input.done => return Progress::No,
            None => return Progress::More,
        };
        let closer = if fenced { "```" } else { "<" };
        let Some((code_end, end, ending)) = (match self.find_code_end(from, closer) {
            Step::Got(found) => Some(found),
            Step::More => return Progress::More,
            Step::No => None,
        }) else {
            let none = RawArguments::Fields(Vec::new());
            let head = CallHead { name, ..CallHead::default() };
            let call = self.build_call(&head, none, self.input.text.len(), Ending::Cut, Form::Json);
            return Progress::Got(Block::one(call));
        };
        let place = from..from + without_last_break(&self.input.text[from..code_end]).len();
        let value = RawValue::String(self.input.text[place.clone()].to_owned());
        let arguments = RawArguments::Fields(vec![Field { key, value, at: place }]);
        let head = CallHead { name, ..CallHead::default() };
        Progress::Got(Block::one(self.build_call(&head, arguments, end, ending, Form::Json)))
    }

    /// The end of code, the position after what closes it, and how sure that is. Fences are closed at the start of a line,
    /// and only where a marker or the end of the output follows.
    fn find_code_end(&self, from: usize, closer: &str) -> Step<(usize, usize, Ending)> {
        let is_fence = closer == "```";
        let mut at = from;
        while let Some(offset) = self.input.rest(at).find(closer) {
            let mark = at + offset;
            at = mark + 1;
            if is_fence && !self.input.text[..mark].ends_with('\n') {
                continue;
            }
            let end = if is_fence { mark + closer.len() } else { mark };
            let next = if is_fence { self.skip_gap(end) } else { mark };
            if next >= self.input.text.len() {
                return if self.input.done { Step::Got((mark, end, Ending::Open)) } else { Step::More };
            }
            match self.input.markup(next) {
                Step::Got(markup) if markup.closes() || markup.is_noise() => {
                    return Step::Got((mark, end, Ending::Complete));
                }
                Step::More => return Step::More,
                _ => {}
            }
        }
        let end = self.input.text.len();
        match (self.input.done, is_fence) {
            (false, _) => Step::More,
            (true, false) => Step::Got((end, end, Ending::Open)),
            (true, true) => Step::No,
        }
    }

    /// Reads the element with the code of a call that left its argument for code empty: `{… "code": ""}\n<code>…</code>`.
    /// `None` if there is no such element.
    // Case: dialects/hermes_json/code-element
    pub(super) fn read_code_element(&self, call: &EnvelopeCall, end: usize) -> Option<Progress> {
        let word = table::code_element(&self.frames.markers)?;
        let RawArguments::Text(place) = &call.arguments else { return None };
        let fields = fields_with_empty_code(&self.input.text[place.clone()], place.start)?;
        let (opener, closer) = (format!("<{word}>"), format!("</{word}>"));
        let at = self.skip_gap(end);
        let rest = self.input.rest(at);
        if !rest.starts_with(&opener) {
            return match opener.starts_with(rest) {
                true if !self.input.done => Some(Progress::More),
                // The output was truncated where the element could begin.
                true if !self.stopped => Some(self.truncated_code(call)),
                _ => None,
            };
        }
        let from = at + opener.len();
        let from = from + usize::from(self.input.byte(from) == Some(b'\n'));
        let mut search = from;
        while let Some(offset) = self.input.rest(search).find(&closer) {
            let mark = search + offset;
            search = mark + 1;
            let after = mark + closer.len();
            match self.is_hard_end(after) {
                Step::Got(()) => {
                    let code = from..from + without_last_break(&self.input.text[from..mark]).len();
                    return Some(self.call_with_code(call, fields, code, after));
                }
                Step::More => return Some(Progress::More),
                Step::No => {}
            }
        }
        if !self.input.done {
            return Some(Progress::More);
        }
        Some(self.truncated_code(call))
    }

    /// The call without its arguments, because those for which code was to come are not complete.
    fn truncated_code(&self, call: &EnvelopeCall) -> Progress {
        let head = CallHead { name: call.name.clone(), id: call.id.clone(), ..CallHead::default() };
        let none = RawArguments::Fields(Vec::new());
        let cut = self.build_call(&head, none, self.input.text.len(), Ending::Cut, Form::Json);
        Progress::Got(Block::one(cut))
    }

    /// Drops the arguments of a call that was truncated before the element with its code could begin.
    pub(super) fn drop_awaited_code(&self, call: &mut RawCall) {
        let RawArguments::Text(place) = &call.arguments else { return };
        let is_truncated = self.input.done && !self.stopped && call.ending != Ending::Complete;
        if !is_truncated || table::code_element(&self.frames.markers).is_none() {
            return;
        }
        let written = self.input.text[place.clone()].replace(char::is_whitespace, "");
        if written.contains("\"code\":\"\"") {
            (call.arguments, call.ending) = (RawArguments::Fields(Vec::new()), Ending::Cut);
        }
    }

    fn call_with_code(
        &self,
        call: &EnvelopeCall,
        mut fields: Vec<Field>,
        code: std::ops::Range<usize>,
        end: usize,
    ) -> Progress {
        for field in fields.iter_mut().filter(|field| field.key == CODE) {
            field.value = RawValue::String(self.input.text[code.clone()].to_owned());
            field.at = code.clone();
        }
        let head = CallHead { name: call.name.clone(), id: call.id.clone(), ..CallHead::default() };
        let raw = self.build_call(&head, RawArguments::Fields(fields), end, Ending::Complete, Form::Json);
        Progress::Got(Block::one(RawCall { at: self.start..end, ..raw }))
    }
}

/// The members of arguments whose member for code is an empty string.
fn fields_with_empty_code(arguments: &str, base: usize) -> Option<Vec<Field>> {
    let tree = Tree::parse(arguments, strict::MAX_DEPTH).ok()?;
    let code = tree.member(0, CODE)?;
    if tree.string(code)?.is_empty() {
        let field = |id: usize| {
            let span = tree.nodes.get(id)?.span.clone();
            let value = RawValue::Json(tree.source(id).to_owned());
            Some(Field { key: tree.key(id)?.into_owned(), value, at: base + span.start..base + span.end })
        };
        return tree.children(0).map(field).collect();
    }
    None
}

/// The text without the line break at its end.
fn without_last_break(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
