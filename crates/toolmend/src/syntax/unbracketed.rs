//! Values without brackets of their own: an object without its brace, `name(key=value)`, `key=value`, scalars, command
//! lines and plain values.
//!
//! This module decides which of these notations a text is in. The members themselves are read by the reader.

use super::lookahead::EndEvidence;
use super::reader::Reader;
use super::reading::{Frame, FrameKind, Run};
use super::token::{self, Punctuation};
use super::{MendedText, ReadContext};
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::{SchemaPosition, Types};

/// Reads text whose value has no bracket of its own.
// Case: syntax/call-syntax
// Case: syntax/key-value-text
pub(super) fn read_unbracketed(reader: &mut Reader<'_>, context: &ReadContext<'_>) -> Option<Run> {
    let start = super::surrounding_text::skip_residue(reader.text, 0);
    if start >= reader.bytes.len() {
        return None;
    }
    if let Some(body) = find_call_body(reader, start) {
        return Some(reader.read_members(start, body, FrameKind::Call, RepairKind::CallSyntaxRead));
    }
    if let Some(opener) = find_missing_opener(reader, start, context) {
        let mut run = reader.read_members(start, start, FrameKind::Implicit, opener);
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

/// Whether the text starts with a quote. Asked first, because making a reader searches the whole text.
pub(super) fn starts_with_quote(text: &str) -> bool {
    let start = super::surrounding_text::skip_residue(text, 0);
    matches!(token::punctuation_at(text.as_bytes(), start), Some((Punctuation::Quote(_), _)))
}

/// Whether the text starts with a key.
pub(super) fn starts_with_key(reader: &mut Reader<'_>, context: &ReadContext<'_>) -> bool {
    let start = super::surrounding_text::skip_residue(reader.text, 0);
    find_missing_opener(reader, start, context).is_some()
}

/// The position after the bracket of `name(`.
fn find_call_body(reader: &mut Reader<'_>, start: usize) -> Option<usize> {
    let end = reader.word_end(start);
    let name = &reader.text[start..end];
    let plain = name.starts_with(|ch: char| ch.is_alphabetic() || ch == '_');
    if !plain || reader.bytes.get(end) != Some(&b'(') {
        return None;
    }
    let inside = reader.after_trivia(end + 1);
    let frame = root_frame(reader);
    let empty = reader.bytes.get(inside) == Some(&b')');
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
    let assigns = reader.bytes.get(key.after.checked_sub(1)?) == Some(&b'=');
    let quoted = matches!(token::punctuation_at(reader.bytes, start), Some((Punctuation::Quote(_), _)));
    // `"{key": …`: the brace is there, but in the wrong position.
    if quoted && matches!(reader.bytes.get(start + 1), Some(b'{' | b'[')) {
        return None;
    }
    let word = reader.word_end(start);
    let declared = reader.guide.declares_key(reader.guide.root(), &reader.text[start..word]);
    let closed = reader.text.trim_end().ends_with(['}', '｝']);
    if assigns && !quoted && !closed {
        return (declared || context.tool.is_some()).then_some(RepairKind::KeyValueTextRead);
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
    let whole = reader.text[start..].trim_end().trim_end_matches([',', ';', '`']).trim_end();
    let quoted = matches!(token::punctuation_at(reader.bytes, start), Some((Punctuation::Quote(_), _)));
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
    if trimmed.is_empty() || trimmed.starts_with(['{', '[', '<', '`']) {
        return None;
    }
    let root = context.guide.root();
    let (json, kind) = (root != SchemaPosition::ANY && context.guide.types(root) == Types::STRING)
        .then(|| (crate::json::text::quote(trimmed), RepairKind::ValueQuoted))
        .or_else(|| {
            super::command_line::read_command_line(trimmed, tool, context)
                .map(|json| (json, RepairKind::CommandLineRead))
        })
        .or_else(|| {
            super::command_line::wrap_plain_value(trimmed, tool, context)
                .map(|json| (json, RepairKind::MainFieldWrapped))
        })?;
    let patch = crate::patch::Patch::new(vec![Edit::new(0..text.len(), json.clone(), kind)]);
    Some(MendedText { text: json, layers: vec![patch] })
}
