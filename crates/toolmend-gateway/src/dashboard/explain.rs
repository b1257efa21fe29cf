//! Repairs, dialects and places in the words and numbers that the page shows.

use serde_json::{Value, json};
use toolmend::{REPAIRS, Repair};
use toolmend_journal::{Change, Entry};

use crate::observe::journal::{CALL_IN_TEXT, WIRE_FORM};

/// What stands beside the repairs of the library: what the gateway does by itself.
const OWN: [(&str, &str); 2] = [
    (CALL_IN_TEXT, "the server left the call in the text, and the gateway made a call of it"),
    (WIRE_FORM, "the call had no id, a number of another call, or a form that clients cannot read"),
];

/// The table of repairs.
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
    let own = OWN.map(
        |(kind, summary)| json!({"kind": kind, "layer": "gateway", "tier": "lossless", "summary": summary}),
    );
    known.chain(own).collect()
}

/// The table of dialects.
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

/// An entry in full, with places as browsers count them.
pub(super) fn entry(entry: &Entry) -> Value {
    let mut out = json!(entry);
    out["millis"] = json!(entry.id.millis());
    out["shortened"] = json!(entry.is_shortened());
    let before = entry.before.as_deref().unwrap_or_default();
    let change = |change: &Change| {
        let at = change.at.and_then(|(start, end)| units(before, start, end));
        json!({"kind": change.kind, "path": change.path, "at": at})
    };
    out["repairs"] = entry.repairs.iter().map(change).collect();
    out
}

/// Repairs with places as browsers count them, in a text that begins at `offset`.
pub(super) fn places(repairs: &[Repair], text: &str, offset: usize) -> Vec<Value> {
    let change = |repair: &Repair| {
        let at = repair
            .at
            .as_ref()
            .and_then(|at| units(text, at.start.checked_sub(offset)?, at.end.checked_sub(offset)?));
        json!({"kind": repair.kind.name(), "path": repair.path, "at": at})
    };
    repairs.iter().map(change).collect()
}

/// A range of bytes in the units of UTF-16.
fn units(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let count = |text: &str| text.encode_utf16().count();
    let first = count(text.get(..start)?);
    Some((first, first + count(text.get(start..end)?)))
}

#[test]
fn places_are_counted_as_browsers_count() {
    assert_eq!(units("aé😀b", 1, 7), Some((1, 4)));
    assert_eq!(units("aé😀b", 7, 8), Some((4, 5)));
    assert_eq!(units("aé", 2, 3), None);
    assert_eq!(units("a", 0, 9), None);
}
