//! Describes repairs, dialects and journal entries in the form that the dashboard displays.

use serde_json::{Value, json};
use toolmend::{REPAIRS, Repair};
use toolmend_journal::{Entry, RepairRecord};

use crate::observe::{CALL_IN_TEXT, MARKUP_REMOVED, REASONING_IN_TEXT, SURPLUS_CALL, WIRE_FORM};

/// Repairs that the gateway makes itself, in addition to those of the library.
const GATEWAY_REPAIRS: [(&str, &str); 5] = [
    (CALL_IN_TEXT, "the server left the call in the text, and the gateway turned it into a call"),
    (WIRE_FORM, "the call had no id, the index of another call, or a form that clients cannot read"),
    (SURPLUS_CALL, "the request allows one call in a turn, so a further one was left out"),
    (MARKUP_REMOVED, "markup without a meaning was removed from the text"),
    (REASONING_IN_TEXT, "the server left reasoning in the text, and the gateway moved it"),
];

/// Returns the table of repairs.
pub(super) fn repairs() -> Vec<Value> {
    let known = REPAIRS.iter().map(|row| {
        json!({
            "kind": row.name,
            "layer": row.layer.name(),
            "tier": row.tier.name(),
            "summary": row.summary,
            "before": row.example.0,
            "after": row.example.1,
        })
    });
    let own = GATEWAY_REPAIRS.map(
        |(kind, summary)| json!({"kind": kind, "layer": "gateway", "tier": "lossless", "summary": summary}),
    );
    known.chain(own).collect()
}

/// Returns the table of dialects.
pub(super) fn dialects() -> Vec<Value> {
    let row = |dialect: &toolmend::Dialect| {
        json!({
            "name": dialect.name(),
            "families": dialect.families(),
            "markers": dialect.markers().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "reasoning": dialect.reasoning(),
            "source": dialect.source().name(),
            "on_by_default": dialect.on_by_default(),
            "example": dialect.example(),
        })
    };
    toolmend::dialects().iter().map(row).collect()
}

/// Returns a full entry, with positions in UTF-16 units as browsers count them.
pub(super) fn entry(entry: &Entry) -> Value {
    let mut out = json!(entry);
    out["millis"] = json!(entry.id.millis());
    out["shortened"] = json!(entry.is_shortened());
    let before = entry.before.as_deref().unwrap_or_default();
    let change = |change: &RepairRecord| {
        let at = change.at.and_then(|(start, end)| to_utf16_range(before, start, end));
        json!({"kind": change.kind, "path": change.path, "at": at})
    };
    out["repairs"] = entry.repairs.iter().map(change).collect();
    out
}

/// Returns repairs with positions in UTF-16 units, for a text that begins at `offset` of the repaired input.
pub(super) fn places(repairs: &[Repair], text: &str, offset: usize) -> Vec<Value> {
    let change = |repair: &Repair| {
        let at = repair
            .at
            .as_ref()
            .and_then(|at| to_utf16_range(text, at.start.checked_sub(offset)?, at.end.checked_sub(offset)?));
        json!({"kind": repair.kind.name(), "path": repair.path, "at": at})
    };
    repairs.iter().map(change).collect()
}

/// Converts a byte range to UTF-16 units.
fn to_utf16_range(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let count = |text: &str| text.encode_utf16().count();
    let first = count(text.get(..start)?);
    Some((first, first + count(text.get(start..end)?)))
}

#[test]
fn positions_are_counted_in_utf16_units() {
    assert_eq!(to_utf16_range("aé😀b", 1, 7), Some((1, 4)));
    assert_eq!(to_utf16_range("aé😀b", 7, 8), Some((4, 5)));
    assert_eq!(to_utf16_range("aé", 2, 3), None);
    assert_eq!(to_utf16_range("a", 0, 9), None);
}
