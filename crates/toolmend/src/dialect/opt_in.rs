//! Forms that are off by default: `tool: f` with a line for each argument, bold words, bars, and `f/key>value`.
//!
//! Ordinary prose can look like these forms, and nothing marks where such a call ends. They are read only if the caller
//! asks for them, only when the output is complete, and only if the output begins with one.

use super::block::{Block, CallJudge};
use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};
use crate::json::{strict, text};

/// The longest name that the reader waits for.
const MAX_WORD: usize = 96;

/// What the forms begin with.
const STARTS: &[&str] = &["tool:", "---\ntool:", "**Tool:**", "|tool|"];

/// Reads all calls from `at` to the end of the output.
pub(crate) fn read(input: Input<'_>, at: usize, judge: &dyn CallJudge) -> Step<Block> {
    let rest = input.rest(at);
    if !input.done && !input.stable_only {
        let possible = STARTS.iter().any(|word| rest.starts_with(word) || word.starts_with(rest))
            || rest.find('/').is_some_and(|slash| judge.has_tool(&rest[..slash]))
            || rest.len() < MAX_WORD && judge.may_begin_tool_name(rest);
        return if possible { Step::More } else { Step::No };
    }
    let mut calls = Calls { input, judge, made: Vec::new() };
    let read = if rest.starts_with("tool:") || rest.starts_with("---\n") {
        calls.yaml(at)
    } else if rest.starts_with("**Tool:**") {
        calls.bold(at)
    } else if rest.starts_with("|tool|") {
        calls.bars(at)
    } else {
        calls.slash(at)
    };
    match (read, calls.made.last()) {
        (Some(()), Some(last)) => {
            Step::Got(Block { end: last.at.end, calls: calls.made, ..Block::default() })
        }
        _ => Step::No,
    }
}

struct Calls<'t, 'j> {
    input: Input<'t>,
    judge: &'j dyn CallJudge,
    made: Vec<RawCall>,
}

impl Calls<'_, '_> {
    /// Begins a call of this name. The call before it is complete.
    fn begin(&mut self, name: &str, at: usize, recognition: Recognition) -> Option<()> {
        if let Some(before) = self.made.last_mut() {
            before.ending = Ending::Complete;
        }
        let name = unquoted(name).unwrap_or_else(|| name.to_owned());
        if !self.judge.has_tool(&name) {
            return None;
        }
        let arguments = RawArguments::Fields(Vec::new());
        let ending = Ending::Open;
        self.made.push(RawCall {
            name,
            id: None,
            arguments,
            at: at..at,
            ending,
            dialect: recognised(recognition),
            damaged: false,
            open: None,
        });
        Some(())
    }

    /// Adds an argument to the last call. `open`: nothing after the argument shows that it has ended.
    fn argument(&mut self, key: &str, value: RawValue, at: std::ops::Range<usize>, open: bool) -> Option<()> {
        let call = self.made.last_mut()?;
        call.at.end = at.end;
        if open && self.input.stable_only {
            return Some(());
        }
        if self.judge.declares_key(&call.name, key) == Some(false) {
            return None;
        }
        if let RawArguments::Fields(fields) = &mut call.arguments
            && fields.iter().all(|field| field.key != key)
        {
            fields.push(Field { key: key.to_owned(), value, at });
        }
        Some(())
    }

    /// Reads lines of `key: value`, one document for each call.
    // Case: dialects/yaml/malformed
    fn yaml(&mut self, at: usize) -> Option<()> {
        let mut start = at;
        for line in self.input.rest(at).split_inclusive('\n') {
            let (from, open) = (start, !line.ends_with('\n'));
            start += line.len();
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || line == "---" {
                if let Some(call) = self.made.last_mut() {
                    call.at.end = start;
                }
                continue;
            }
            let (key, value) = line.split_once(':')?;
            let (key, value) = (key.trim(), value.trim());
            if key == "tool" {
                self.begin(without_comment(value), from, Recognition::YamlLines)?;
                self.made.last_mut()?.at.end = start;
                continue;
            }
            if matches!(key, "arguments" | "args" | "parameters") && matches!(value, "" | "{}") {
                self.made.last_mut()?.at.end = start;
                continue;
            }
            let place = self.input.text[from..start].find(value).map_or(from, |offset| from + offset);
            let value = match value.bytes().next() {
                Some(b'"' | b'\'') => match unquoted(value) {
                    Some(text) => RawValue::String(text),
                    // A truncated string, or not a string at all.
                    None if open => {
                        self.made.last_mut()?.ending = Ending::Cut;
                        return Some(());
                    }
                    None => return None,
                },
                Some(b'|' | b'>') => return None,
                _ => RawValue::Untyped(without_comment(value).to_owned()),
            };
            self.argument(key, value, place..start, open)?;
        }
        Some(())
    }

    /// Reads `**Tool:** f  **Key:** value`.
    fn bold(&mut self, at: usize) -> Option<()> {
        let parts: Vec<&str> = self.input.rest(at).split("**").collect();
        let mut from = at + parts.first()?.len();
        let count = parts.len() - 1;
        for (index, pair) in parts[1..].chunks(2).enumerate() {
            let [key, value] = pair else {
                // Half of a key.
                return Some(());
            };
            let end = from + 4 + key.len() + value.len();
            let open = index * 2 + 2 == count;
            let key = key.trim().strip_suffix(':')?.to_lowercase().replace(' ', "_");
            if key == "tool" {
                self.begin(value.trim(), from, Recognition::BoldWords)?;
                self.made.last_mut()?.at.end = end;
            } else {
                self.argument(
                    &key,
                    RawValue::Untyped(value.trim().to_owned()),
                    end - value.len()..end,
                    open,
                )?;
            }
            from = end;
        }
        Some(())
    }

    /// Reads `|tool| f |key| value |/tool|`.
    // Case: dialects/md_bold/malformed
    fn bars(&mut self, at: usize) -> Option<()> {
        let mut parts = self.input.rest(at).split('|');
        let mut from = at + parts.next()?.len();
        while let Some(key) = parts.next() {
            let key = key.trim();
            let value = parts.next();
            let end = (from + 2 + key.len() + value.map_or(0, str::len)).min(self.input.text.len());
            match (key, value) {
                ("tool", Some(name)) => self.begin(name.trim(), from, Recognition::BoldWords)?,
                ("/tool", _) => self.made.last_mut()?.ending = Ending::Complete,
                (_, None) => return Some(()),
                (key, Some(value)) => {
                    let open = parts.clone().next().is_none();
                    let value = RawValue::Untyped(value.trim().to_owned());
                    self.argument(key, value, from..end, open)?;
                }
            }
            self.made.last_mut()?.at.end = end;
            from = end;
        }
        Some(())
    }

    /// Reads `f/key>value`, each at the start of a line.
    fn slash(&mut self, at: usize) -> Option<()> {
        let mut start = at;
        let mut last: Option<(String, usize)> = None;
        for line in self.input.rest(at).split_inclusive('\n') {
            if let Some((name, key, length)) = self.shorthand(line) {
                self.close_shorthand(last.take(), start, false)?;
                self.begin(&name, start, Recognition::SlashKeyValue)?;
                last = Some((key, start + length));
            }
            start += line.len();
        }
        self.close_shorthand(last, start, true)
    }

    fn close_shorthand(&mut self, value: Option<(String, usize)>, end: usize, open: bool) -> Option<()> {
        let Some((key, from)) = value else { return Some(()) };
        let text = self.input.text[from..end].trim_end();
        self.argument(&key, RawValue::Untyped(text.to_owned()), from..from + text.len(), open)
    }

    /// The name and the key that a line begins with, and their length.
    fn shorthand(&self, line: &str) -> Option<(String, String, usize)> {
        let (name, body) = line.split_once('/')?;
        let (key, _) = body.split_once('>')?;
        let known = self.judge.has_tool(name) && self.judge.declares_key(name, key) == Some(true);
        known.then(|| (name.to_owned(), key.to_owned(), name.len() + key.len() + 2))
    }
}

/// Decodes a quoted value that only a comment may follow.
fn unquoted(value: &str) -> Option<String> {
    let end = match value.bytes().next()? {
        b'"' => strict::check_string(value.as_bytes(), 0).ok()?,
        b'\'' => 2 + value[1..].replace("''", "  ").find('\'')?,
        _ => return None,
    };
    let after = value[end..].trim_start();
    if !after.is_empty() && !after.starts_with('#') {
        return None;
    }
    let literal = &value[..end];
    Some(if literal.starts_with('"') {
        text::unquote(literal).into_owned()
    } else {
        literal[1..literal.len() - 1].replace("''", "'")
    })
}

fn without_comment(value: &str) -> &str {
    value.split_once(" #").map_or(value, |(value, _)| value).trim_end()
}
