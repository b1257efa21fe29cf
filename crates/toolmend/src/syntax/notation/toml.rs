//! TOML and INI: `key = value` with sections, multi-line strings, arrays and inline tables.
//!
//! Lines without any of these are read by `key_lines`. Comments, dates as values of other types and dotted keys are refused.

use super::members::Event;
use crate::json::strict;
use crate::json::text::unquote;
use crate::schema::guide::fold;
use crate::syntax::ReadContext;

/// Section names that only say that the arguments follow.
const FRAMES: &[&str] = &["arguments", "args", "parameters", "params", "input", "default", "tool"];

/// Reads a whole text as a document with tables.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let first = text.trim_start();
    let has_form = first.starts_with('[') || first.lines().next().is_some_and(|line| line.contains('='));
    if !has_form || first.starts_with(['{', '<']) {
        return None;
    }
    let mut document = Document { rest: text, members: Vec::new(), tables: Vec::new(), escapes: false };
    while document.skip_blank_lines() {
        if document.rest.starts_with('[') {
            document.read_header(context)?;
        } else {
            let member = document.read_member(context.policy.limits.depth)?;
            match document.tables.last_mut() {
                Some(table) => table.members.extend(member),
                None => document.members.extend(member),
            }
        }
    }
    // Only a table shows that this is TOML. In most other languages a backslash between apostrophes is an escape.
    // Case: syntax/backslash-between-apostrophes-of-an-assignment
    let doubtful = document.escapes && document.tables.is_empty() && !first.starts_with('[');
    let mut events = document.into_events();
    events.extend(doubtful.then_some(Event::Doubt));
    Some(events)
}

struct Table {
    name: String,
    /// `[[name]]`: one element of an array.
    is_element: bool,
    members: Vec<Event>,
}

struct Document<'t> {
    rest: &'t str,
    /// What comes before the first table.
    members: Vec<Event>,
    tables: Vec<Table>,
    /// Whether a backslash is between apostrophes.
    escapes: bool,
}

impl<'t> Document<'t> {
    fn skip_blank_lines(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        !self.rest.is_empty()
    }

    fn take_line(&mut self) -> &'t str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line.trim()
    }

    fn read_header(&mut self, context: &ReadContext<'_>) -> Option<()> {
        let line = self.take_line();
        let double = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]"));
        let name = double.or_else(|| line.strip_prefix('[')?.strip_suffix(']'))?.trim();
        let plain = name.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-'));
        if name.is_empty() || !plain {
            return None;
        }
        let guide = context.guide;
        if !guide.declares_key(guide.root(), name) {
            let is_frame = FRAMES.contains(&fold(name).as_str())
                || context.tool.is_some_and(|tool| fold(tool) == fold(name));
            // The frame is the first thing in the document, or it would hide where members belong.
            return (is_frame && double.is_none() && self.members.is_empty() && self.tables.is_empty())
                .then_some(());
        }
        self.tables.push(Table { name: name.to_owned(), is_element: double.is_some(), members: Vec::new() });
        Some(())
    }

    fn read_member(&mut self, depth: usize) -> Option<Vec<Event>> {
        let (key, value) = self.rest.split_once('=')?;
        let key = key.trim().trim_matches('"');
        let plain = key.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-'));
        if key.is_empty() || !plain {
            return None;
        }
        self.rest = value.trim_start_matches([' ', '\t']);
        let mut events = vec![Event::Key(key.to_owned())];
        self.read_value(&mut events, depth)?;
        let line = self.take_line();
        line.is_empty().then_some(events)
    }

    /// Reads a value with its nested arrays and inline tables.
    fn read_value(&mut self, events: &mut Vec<Event>, depth: usize) -> Option<()> {
        let mut open: Vec<bool> = Vec::new();
        loop {
            if !open.is_empty() {
                self.rest = self.rest.trim_start();
            }
            let is_table = open.last() == Some(&true);
            if !open.is_empty() && self.rest.starts_with(if is_table { '}' } else { ']' }) {
                self.rest = &self.rest[1..];
                events.push(Event::Close);
                open.pop();
            } else {
                if is_table {
                    let (key, value) = self.rest.split_once('=')?;
                    let key = key.trim().trim_matches('"');
                    if key.is_empty() || !key.chars().all(|ch| ch.is_alphanumeric() || "_-".contains(ch)) {
                        return None;
                    }
                    events.push(Event::Key(key.to_owned()));
                    self.rest = value.trim_start();
                }
                if let Some(rest) = self.rest.strip_prefix(['[', '{']) {
                    let is_table = self.rest.starts_with('{');
                    if open.len() >= depth {
                        return None;
                    }
                    open.push(is_table);
                    events.push(if is_table { Event::Object(None) } else { Event::Array(None) });
                    self.rest = rest;
                    continue;
                }
                let scalar = self.read_scalar(!open.is_empty())?;
                events.push(scalar);
            }
            if open.is_empty() {
                return Some(());
            }
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else if !self.rest.starts_with([']', '}']) {
                return None;
            }
        }
    }

    fn read_scalar(&mut self, nested: bool) -> Option<Event> {
        for mark in ["\"\"\"", "'''"] {
            if let Some(body) = self.rest.strip_prefix(mark) {
                let (inner, rest) = body.split_once(mark)?;
                let inner = inner.strip_prefix("\r\n").or(inner.strip_prefix('\n')).unwrap_or(inner);
                self.escapes |= mark.starts_with('\'') && inner.contains('\\');
                // Escapes in a multi-line string are JSON's, except that line breaks are text.
                let string = if mark.starts_with('\'') || !inner.contains('\\') {
                    inner.to_owned()
                } else {
                    decode_basic(inner)?
                };
                self.rest = rest;
                return Some(Event::Quoted(string));
            }
        }
        if self.rest.starts_with('"') {
            let end = strict::check_string(self.rest.as_bytes(), 0).ok()?;
            let string = unquote(&self.rest[..end]).into_owned();
            self.rest = &self.rest[end..];
            return Some(Event::Quoted(string));
        }
        if let Some(body) = self.rest.strip_prefix('\'') {
            let (inner, rest) = body.split_once('\'')?;
            self.escapes |= inner.contains('\\');
            self.rest = rest;
            return (!inner.contains('\n')).then(|| Event::Quoted(inner.to_owned()));
        }
        let stops: &[char] = if nested { &[',', ']', '}', '\n', ' '] } else { &['\n', ' ', '\r'] };
        let end = self.rest.find(stops).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.rest = &self.rest[end..];
        crate::syntax::number::is_scalar(word).then(|| Event::Bare(word.to_owned()))
    }

    fn into_events(self) -> Vec<Event> {
        let mut events = vec![Event::Object(None)];
        events.extend(self.members);
        let mut tables = self.tables.into_iter().peekable();
        while let Some(table) = tables.next() {
            events.push(Event::Key(table.name.clone()));
            if table.is_element {
                events.push(Event::Array(None));
            }
            events.push(Event::Object(None));
            events.extend(table.members);
            events.push(Event::Close);
            if table.is_element {
                while let Some(next) = tables.next_if(|next| next.is_element && next.name == table.name) {
                    events.push(Event::Object(None));
                    events.extend(next.members);
                    events.push(Event::Close);
                }
                events.push(Event::Close);
            }
        }
        events.push(Event::Close);
        events
    }
}

/// A multi-line string with escapes: JSON's, where a backslash at the end of a line joins it with the next.
fn decode_basic(inner: &str) -> Option<String> {
    if inner.contains("\\\n") || inner.contains("\\\r") {
        return None;
    }
    let mut literal = String::with_capacity(inner.len() + 2);
    literal.push('"');
    let mut escaped = false;
    for ch in inner.chars() {
        match ch {
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            '"' if !escaped => literal.push_str("\\\""),
            _ => literal.push(ch),
        }
        escaped = ch == '\\' && !escaped;
    }
    literal.push('"');
    (strict::check_string(literal.as_bytes(), 0) == Ok(literal.len())).then(|| unquote(&literal).into_owned())
}
