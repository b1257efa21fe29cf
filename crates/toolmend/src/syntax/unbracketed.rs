//! Values without brackets of their own: an object without its brace, `name(key=value)`, `key=value`, scalars, command
//! lines and plain values.
//!
//! This module decides which of these notations a text is in. The members themselves are read by the reader.

use super::lookahead::EndEvidence;
use super::reader::Reader;
use super::reading::{Frame, FrameKind, Run, Survivor};
use super::token::{self, Punctuation};
use super::{Finish, MendedText, ReadContext, Reading, notation, plain_value, surrounding_text};
use crate::json::strict;
use crate::json::text::unquote;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;
use crate::schema::guide::{SchemaPosition, Types};
use crate::verdict::{Reason, Refusal};

/// Reads text whose value has no bracket of its own.
// Case: syntax/call-syntax
// Case: syntax/key-value-text
pub(super) fn read_unbracketed(reader: &mut Reader<'_>, context: &ReadContext<'_>) -> Option<Run> {
    let start = reader.text.skip_residue(0);
    if start >= reader.text.len() {
        return None;
    }
    if let Some(body) = find_call_body(reader, start) {
        return Some(reader.read_members(start, body, FrameKind::Call, RepairKind::CallSyntaxRead));
    }
    if let Some(opener) = find_missing_opener(reader, start, context) {
        let mut run = reader.read_members(start, start, FrameKind::Implicit, opener);
        let quoted = matches!(reader.text.punctuation_at(start), Some((Punctuation::Quote(_), _)));
        let swallows = |best: &Survivor| {
            has_bare_lines(reader.text.rest(0), best) || holds_assignments(reader.text.rest(0), best)
        };
        if !quoted && run.best.as_ref().is_some_and(swallows) {
            run.best = None;
        }
        if let Some(best) = &mut run.best {
            // The whole object depends on the reading of its first key.
            for edit in &mut best.edits {
                if opener == RepairKind::KeyValueTextRead && edit.kind == RepairKind::MissingOpenerAdded {
                    edit.kind = opener;
                }
            }
            best.cost.assumed = super::document::is_assumed(&best.edits);
        }
        return Some(run);
    }
    read_lone_scalar(reader, start)
}

/// Whether a bare value goes over several lines. Without brackets it has swallowed members of another notation.
// Case: syntax/half-read-block-scalar
fn has_bare_lines(text: &str, best: &Survivor) -> bool {
    bare_values(text, best).any(|value| value.contains('\n'))
}

/// Whether a bare value holds another assignment, as in a query string or a command line. Then it has swallowed members.
// Case: syntax/query-string-without-schema
// Case: syntax/flags-without-schema
fn holds_assignments(text: &str, best: &Survivor) -> bool {
    let is_assignment = |part: &str| {
        let name = part.trim_start_matches('-');
        let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        length > 0 && name[length..].starts_with('=') && !name[length..].starts_with("==")
    };
    bare_values(text, best).any(|value| {
        value
            .split(['&', ';', ' ', '\t', '|'])
            .skip(1)
            .any(|part| is_assignment(part) || part.starts_with("--"))
    })
}

/// The values that were quoted by the reader.
fn bare_values<'t>(text: &'t str, best: &Survivor) -> impl Iterator<Item = &'t str> {
    let mut inserts = best
        .edits
        .iter()
        .filter(|edit| edit.kind == RepairKind::ValueQuoted && edit.with == "\"")
        .map(|edit| edit.start);
    std::iter::from_fn(move || Some((inserts.next()?, inserts.next()?)))
        .filter_map(|(open, close)| text.get(open..close))
}

/// Whether the text starts with a quote. Asked first, because making a reader searches the whole text.
pub(super) fn starts_with_quote(text: &str) -> bool {
    let start = super::surrounding_text::skip_residue(text, 0);
    matches!(token::punctuation_at(text.as_bytes(), start), Some((Punctuation::Quote(_), _)))
}

/// Whether the text starts with a key.
pub(super) fn starts_with_key(reader: &mut Reader<'_>, context: &ReadContext<'_>) -> bool {
    let start = reader.text.skip_residue(0);
    find_missing_opener(reader, start, context).is_some()
}

/// The position after the bracket of `name(`.
fn find_call_body(reader: &mut Reader<'_>, start: usize) -> Option<usize> {
    let end = reader.text.word_end(start);
    let name = reader.text.str(start..end);
    let plain = name.starts_with(|ch: char| ch.is_alphabetic() || ch == '_');
    if !plain || reader.text.byte(end) != Some(&b'(') {
        return None;
    }
    let inside = reader.after_trivia(end + 1);
    let frame = root_frame(reader);
    let empty = reader.text.byte(inside) == Some(&b')');
    (empty || reader.find_key_ahead(inside, &frame).is_some_and(|key| key.evidence > EndEvidence::No))
        .then_some(end + 1)
}

/// The repair for the opener that is missing before the key at `start`, if there is a key.
fn find_missing_opener(
    reader: &mut Reader<'_>,
    start: usize,
    context: &ReadContext<'_>,
) -> Option<RepairKind> {
    let frame = root_frame(reader);
    let key = reader.find_key_ahead(start, &frame)?;
    let assigns = reader.text.byte(key.after.checked_sub(1)?) == Some(&b'=');
    let quoted = matches!(reader.text.punctuation_at(start), Some((Punctuation::Quote(_), _)));
    // `"{key": …`: the brace is there, but in the wrong position.
    if quoted && matches!(reader.text.byte(start + 1), Some(b'{' | b'[')) {
        return None;
    }
    let word = reader.text.word_end(start);
    let declared = reader.guide.declares_key(reader.guide.root(), reader.text.str(start..word));
    let closed = reader.text.rest(0).trim_end().ends_with(['}', '｝']);
    // Base64 ends like that.
    // Case: syntax/main-field-encoded
    if assigns && !declared && reader.text.rest(key.after).trim().is_empty() {
        return None;
    }
    // A flag is no key.
    if assigns && !declared && reader.text.byte(start) == Some(&b'-') {
        return None;
    }
    if assigns && !quoted && !closed {
        // Lines of another file assign, too. If keys are declared, the first one must be one of them.
        // Case: syntax/assignments-of-another-file
        let fits = declared || context.tool.is_some() && !reader.guide.declares(reader.guide.root());
        return fits.then_some(RepairKind::KeyValueTextRead);
    }
    (quoted || key.quoted || key.evidence == EndEvidence::Strong || closed)
        .then_some(RepairKind::MissingOpenerAdded)
}

/// An object frame at the root, to look ahead with.
fn root_frame(reader: &Reader<'_>) -> Frame {
    Frame {
        kind: FrameKind::Implicit,
        position: reader.guide.root(),
        open: 0,
        used: 0,
        count: 0,
        last_end: 0,
        key: (0, 0),
        value_position: SchemaPosition::ANY,
    }
}

/// Reads a lone string, number or literal.
fn read_lone_scalar(reader: &mut Reader<'_>, start: usize) -> Option<Run> {
    let whole = reader.text.rest(start).trim_end().trim_end_matches([',', ';', '`']).trim_end();
    let quoted = matches!(reader.text.punctuation_at(start), Some((Punctuation::Quote(_), _)));
    if !quoted
        && super::number::parse_literal(whole).is_none()
        && super::number::spell_as_json(whole).is_none()
    {
        return None;
    }
    Some(reader.read_from(start))
}

/// The arguments of a tool from text that is not JSON at all.
pub(super) fn read_plain_text(text: &str, context: &ReadContext<'_>) -> Option<MendedText> {
    let tool = context.tool?;
    let trimmed = text.trim();
    // Nothing shows where a plain text ends, so one that may be cut off is not taken.
    // Case: syntax/command-line-cut
    if trimmed.is_empty() || trimmed.starts_with(['{', '[', '<', '`']) || context.finish == Finish::Length {
        return None;
    }
    let root = context.guide.root();
    let (json, kind) = (root != SchemaPosition::ANY && context.guide.types(root) == Types::STRING)
        .then(|| (crate::json::text::quote(trimmed), RepairKind::ValueQuoted))
        .or_else(|| {
            super::command_line::read_command_line(trimmed, tool, context)
                .map(|json| (json, RepairKind::CommandLineRead))
        })?;
    let patch = Patch::new(vec![Edit::new(0..text.len(), json.clone(), kind)]);
    Some(MendedText { text: json, layers: vec![patch] })
}

/// Reads a text that is one JSON string where an object is wanted: another notation in it, or the tool's main value.
// Case: syntax/yaml-in-a-string
pub(super) fn read_json_string(text: &str, context: &ReadContext<'_>) -> Option<Reading> {
    let trimmed = text.trim();
    if !trimmed.starts_with('"')
        || context.guide.types(context.guide.root()) == Types::STRING
        || strict::check_string(trimmed.as_bytes(), 0) != Ok(trimmed.len())
    {
        return None;
    }
    let inner = unquote(trimmed).into_owned();
    if let Some(reading) = notation::read(&inner, context) {
        let Reading::One(mut mended) = reading else { return Some(reading) };
        let kind = RepairKind::DoubleEncodingRemoved;
        mended.layers.insert(0, Patch::new(vec![Edit::new(0..text.len(), inner, kind)]));
        return Some(Reading::One(mended));
    }
    plain_value::read(text, context).map(Reading::One)
}

/// Reads a text that begins with a declared key, but that no notation explains: as members on one line, or not at all. A value
/// that takes in several lines has swallowed what no notation could explain.
// Case: syntax/half-read-yaml
pub(super) fn read_members_only(text: &str, context: &ReadContext<'_>) -> Reading {
    let mut reader = Reader::new(text, context);
    let run = read_unbracketed(&mut reader, context);
    let one_line = !text.trim().contains('\n');
    let swallows = |best: &Survivor| {
        let doubtful = |edit: &Edit| match edit.kind {
            // What a comment drops, and what quotes of another language enclose, is part of the value in most notations.
            RepairKind::CommentRemoved => true,
            RepairKind::QuotesReplaced => text[edit.start..].starts_with('`'),
            RepairKind::ValueQuoted => !one_line || text.contains(['&', ';']),
            _ => false,
        };
        best.edits.iter().any(doubtful)
            || bare_values(text, best).any(|value| notation::holds_member(value, context.guide))
    };
    let whole = run.and_then(|run| run.best).filter(|best| {
        best.contested.is_none()
            && best.cost.fit == 0
            && !swallows(best)
            && surrounding_text::skip_residue(text, best.end) >= text.trim_end().len()
    });
    match whole {
        Some(best) => super::document::take_value(text, best),
        None => Reading::Refused(Refusal {
            reason: Some(Reason::Syntax),
            message: "the text starts with a key, but no notation explains all of it".to_owned(),
            ..Refusal::default()
        }),
    }
}
