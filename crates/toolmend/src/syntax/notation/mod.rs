//! Notations other than JSON for a whole object: YAML, lines of keys and values, query strings, PHP arrays, XML attributes.
//!
//! A text is in one notation. Each recogniser in [`NOTATIONS`] must explain every byte that is not blank, or it answers that
//! the text is not in its notation. What it yields are the model's own words; `members` writes them as JSON, typed by the
//! schema. There is evidence only if a schema declares every key at the top and no required one is missing. Two notations
//! that explain the text and mean different things refuse it. A text that no notation explains is left to the reader of
//! damaged JSON, which has its own guards in `unbracketed`.

mod arrow_array;
mod braceless;
mod frame;
mod key_lines;
mod members;
mod query_string;
mod toml;
mod xml_attributes;
mod yaml_block;
mod yaml_flow;
mod yaml_scalar;

use std::ops::Range;

use self::members::Event;
use super::{Finish, MendedText, ReadContext, Reading, surrounding_text};
use crate::json::text::compact_json;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::verdict::{Reason, Refusal};

pub(super) use self::key_lines::{begins_with_member, holds_member};

/// One notation: how it is read and which repair reports it.
struct Notation {
    kind: RepairKind,
    read: fn(&str, &ReadContext<'_>) -> Option<Vec<Event>>,
}

/// Every notation. The order is that of the repairs only: a text must have one meaning in all that explain it.
// Case: syntax/yaml-block-scalar
// Case: syntax/yaml-nested
// Case: syntax/yaml-flow
// Case: syntax/key-lines
// Case: syntax/query-string
// Case: syntax/php-array
// Case: syntax/toml-tables
// Case: syntax/xml-attributes
const NOTATIONS: &[Notation] = &[
    Notation { kind: RepairKind::KeyLinesRead, read: key_lines::read },
    Notation { kind: RepairKind::YamlRead, read: yaml_block::read },
    Notation { kind: RepairKind::YamlRead, read: yaml_flow::read_document },
    Notation { kind: RepairKind::TomlRead, read: toml::read },
    Notation { kind: RepairKind::QueryStringRead, read: query_string::read },
    Notation { kind: RepairKind::ArrowArrayRead, read: arrow_array::read },
    Notation { kind: RepairKind::XmlAttributesRead, read: xml_attributes::read },
];

/// Reads a text that is an object in another notation; `None` if no notation explains all of it.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Reading> {
    let body = frame::find_body(text)?;
    if let Some(edits) = braceless::find_edits(text, &body, context) {
        return Some(mend(text, &body, edits));
    }
    if !context.guide.declares(context.guide.root()) {
        return None;
    }
    let inner = &text[body.clone()];
    // Nearly every text that comes here is damaged JSON, and no notation starts like that.
    // Case: syntax/damaged-json-after-a-label
    let mut first = members::without_label(inner).trim_start().bytes();
    if first.next() == Some(b'{') && matches!(first.find(|byte| !byte.is_ascii_whitespace()), Some(b'"')) {
        return None;
    }
    let mut found: Option<(String, RepairKind)> = None;
    for notation in NOTATIONS {
        let Some(events) = (notation.read)(inner, context) else { continue };
        let doubt = events.last() == Some(&Event::Doubt);
        let events = events.strip_suffix(&[Event::Doubt]).unwrap_or(&events);
        let events = members::without_envelope(events, context);
        let Some(json) = members::write(events, inner, context) else { continue };
        if doubt {
            let other = found.as_ref().map(|(known, _)| compact_json(known));
            let readings = other
                .filter(|known| *known != compact_json(&json))
                .map(|known| vec![known, compact_json(&json)]);
            return Some(refuse_ambiguous(
                "marks in the text have two readings",
                readings.unwrap_or_default(),
            ));
        }
        match &found {
            None => found = Some((json, notation.kind)),
            Some((known, _)) if compact_json(known) == compact_json(&json) => {}
            Some((known, _)) => {
                let readings = vec![compact_json(known), compact_json(&json)];
                return Some(refuse_ambiguous(
                    "two notations explain the text and mean different values",
                    readings,
                ));
            }
        }
    }
    let (json, kind) = found?;
    // Nothing closes most notations, so a text that the token limit cut off looks complete.
    // Case: syntax/yaml-cut-off
    if context.finish == Finish::Length && body.end == text.len() {
        return Some(Reading::Cut(Refusal {
            message: "the text was cut off at the root".to_owned(),
            cut: Some(String::new()),
            ..Refusal::default()
        }));
    }
    Some(mend(text, &body, vec![Edit::new(body.clone(), json, kind)]))
}

fn refuse_ambiguous(message: &str, readings: Vec<String>) -> Reading {
    let reason = Some(if readings.is_empty() { Reason::Syntax } else { Reason::Ambiguous });
    Reading::Refused(Refusal { reason, message: message.to_owned(), readings, ..Refusal::default() })
}

/// The text with these edits in its body, and without what surrounds it.
fn mend(text: &str, body: &Range<usize>, inner: Vec<Edit>) -> Reading {
    let mut edits = inner;
    for range in [0..body.start, body.end..text.len()] {
        let mut removed = Vec::new();
        surrounding_text::remove_surroundings(text, range.clone(), &mut removed);
        super::document::widen_over_white_space(&mut removed, &range);
        edits.append(&mut removed);
    }
    let patch = Patch::new(edits);
    Reading::One(MendedText { text: patch.apply(text), layers: vec![patch] })
}
