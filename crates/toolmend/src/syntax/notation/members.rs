//! What a notation yields, and how it becomes JSON: the schema types every bare word.
//!
//! The events are flat, so neither a recogniser nor the writer recurses over the input.

use std::collections::HashSet;
use std::ops::Range;

use crate::json::strict;
use crate::json::text::quote_into;
use crate::schema::guide::{KeyFit, SchemaPosition, Types, fold};
use crate::syntax::ReadContext;
use crate::syntax::number::{self, Literal};

/// A piece of an object or array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// An object, and how it is written in the text if it is delimited there.
    Object(Option<Range<usize>>),
    /// An array, likewise.
    Array(Option<Range<usize>>),
    Close,
    Key(String),
    /// Text that was delimited: a string.
    Quoted(String),
    /// Text that was not delimited: the schema says what it is.
    Bare(String),
    /// A value that is not there.
    Missing,
    /// Behind all others: the notation reads the text, but it may as well not be meant.
    Doubt,
}

/// Keys around the arguments that say no more than that they are the arguments.
const ENVELOPES: &[&str] =
    &["arguments", "args", "parameters", "params", "input", "toolinput", "toolarguments", "kwargs"];

/// The text after `arguments:` or another word that only says that the arguments follow.
pub(super) fn without_label(text: &str) -> &str {
    match text.split_once(':') {
        Some((label, rest)) if ENVELOPES.contains(&fold(label.trim()).as_str()) => rest,
        _ => text,
    }
}

/// The events inside an object whose only member is an envelope that the schema does not declare.
pub(super) fn without_envelope<'e>(events: &'e [Event], context: &ReadContext<'_>) -> &'e [Event] {
    let [Event::Object(_), Event::Key(key), inner @ .., Event::Close] = events else { return events };
    let guide = context.guide;
    let is_envelope = ENVELOPES.contains(&fold(key).as_str()) && !guide.declares_key(guide.root(), key);
    let is_only =
        matches!(inner.first(), Some(Event::Object(_))) && after_close(inner, 1) == Some(inner.len());
    if is_envelope && is_only { inner } else { events }
}

struct Frame {
    is_object: bool,
    position: SchemaPosition,
    member: SchemaPosition,
    count: usize,
    keys: HashSet<String>,
}

/// The events as a JSON object, if the schema bears it out: every key at the top is declared, none comes twice, none that is
/// required is missing, and every value has a type that its position allows.
pub(super) fn write(events: &[Event], text: &str, context: &ReadContext<'_>) -> Option<String> {
    let guide = context.guide;
    let mut out = String::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut used = 0u128;
    let mut at = 0;
    while let Some(event) = events.get(at) {
        at += 1;
        if let Event::Close = event {
            out.push(if frames.pop()?.is_object { '}' } else { ']' });
            continue;
        }
        if let Event::Key(key) = event {
            let is_root = frames.len() == 1;
            let frame = frames.last_mut()?;
            let (name, bit) = resolve_key(key, frame.position, is_root, context)?;
            used |= bit;
            frame.member = guide.member(frame.position, &name);
            if frame.count > 0 {
                out.push(',');
            }
            quote_into(&mut out, &name);
            out.push(':');
            frame.count += 1;
            if !frame.is_object || !frame.keys.insert(name) {
                return None;
            }
            continue;
        }
        let position = next_position(&mut frames, &mut out, context);
        match event {
            Event::Object(raw) | Event::Array(raw) => {
                let is_object = matches!(event, Event::Object(_));
                let empty = events.get(at) == Some(&Event::Close);
                let types = guide.types(position);
                // PHP and TOML write an empty object like an empty array.
                let is_object = is_object || empty && types.has(Types::OBJECT) && !types.has(Types::ARRAY);
                let wanted = if is_object { Types::OBJECT } else { Types::ARRAY };
                if !types.has(wanted) {
                    // A text field that is written like a collection: the text is what was written.
                    let raw = raw.clone().filter(|_| types.has(Types::STRING))?;
                    quote_into(&mut out, &text[raw]);
                    at = after_close(events, at)?;
                    continue;
                }
                if frames.is_empty() && !is_object || frames.len() >= context.policy.limits.depth {
                    return None;
                }
                out.push(if is_object { '{' } else { '[' });
                let member = SchemaPosition::ANY;
                frames.push(Frame { is_object, position, member, count: 0, keys: HashSet::new() });
            }
            Event::Quoted(string) => quote_into(&mut out, string),
            Event::Bare(word) => write_bare(&mut out, word, guide.types(position))?,
            Event::Missing if guide.types(position).has(Types::NULL) => out.push_str("null"),
            _ => return None,
        }
    }
    (frames.is_empty() && guide.required(guide.root()) & !used == 0).then_some(out)
}

/// The name that a key is written with, and the bit of the property at the root that it is.
fn resolve_key(
    key: &str,
    position: SchemaPosition,
    is_root: bool,
    context: &ReadContext<'_>,
) -> Option<(String, u128)> {
    match context.guide.match_key(position, key) {
        KeyFit::Declared(index) => {
            let (name, ..) = context.guide.properties(position).nth(index)?;
            let bit = if is_root && index < 128 { 1 << index } else { 0 };
            Some((name.to_owned(), bit))
        }
        _ if is_root => None,
        _ => Some((key.to_owned(), 0)),
    }
}

/// The schema position of the value that comes next. Elements are separated here; members were by their keys.
fn next_position(frames: &mut [Frame], out: &mut String, context: &ReadContext<'_>) -> SchemaPosition {
    match frames.last_mut() {
        None => context.guide.root(),
        Some(frame) if frame.is_object => frame.member,
        Some(frame) => {
            if frame.count > 0 {
                out.push(',');
            }
            frame.count += 1;
            context.guide.element(frame.position, frame.count - 1)
        }
    }
}

/// The position after the events of a collection whose first event was taken.
fn after_close(events: &[Event], mut at: usize) -> Option<usize> {
    let mut depth = 1usize;
    while depth > 0 {
        match events.get(at)? {
            Event::Object(_) | Event::Array(_) => depth += 1,
            Event::Close => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

/// Writes an undelimited word as what its position wants. JSON inside it counts only if it is strict.
fn write_bare(out: &mut String, word: &str, types: Types) -> Option<()> {
    let container = match word.as_bytes().first() {
        Some(b'{') => Types::OBJECT,
        Some(b'[') => Types::ARRAY,
        _ => Types::NONE,
    };
    if types.has(container) && strict::check(word, strict::MAX_DEPTH).is_ok() {
        out.push_str(word);
        return Some(());
    }
    let literal = match number::parse_literal(word) {
        Some(literal @ (Literal::True | Literal::False)) if types.has(Types::BOOLEAN) => Some(literal.json()),
        Some(Literal::Null) if types.has(Types::NULL) => Some("null"),
        None if types.has(Types::NULL.union(Types::BOOLEAN)) && number::is_misspelt_literal(word) => {
            return None;
        }
        _ => None,
    };
    if let Some(literal) = literal {
        out.push_str(literal);
    } else if types.has(Types::NUMBER) && number::is_strict(word) {
        out.push_str(word);
    } else if types.has(Types::STRING) {
        quote_into(out, word);
    } else if types.has(Types::NUMBER)
        && let Some(number) = number::spell_as_json(word)
    {
        out.push_str(&number);
    } else if container == Types::NONE && !word.is_empty() {
        // Left to the shape layer, which knows how words become other types.
        quote_into(out, word);
    } else {
        return None;
    }
    Some(())
}
