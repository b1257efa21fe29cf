//! A model's output inside a row: calls that are mended are written back the way their model writes them.

use std::ops::Range;

use toolmend::{Call, Finish, Outcome, Part, Turn, TurnOptions, Written, dialects};
use toolmend_json::{Document, Edits, ValueRef as View};

use crate::judge::{self, Row};

/// Why a call stays as it was although it could be mended.
const UNPROVED: &str = "mended, and its notation has no way to write it so that it is read back the same";

/// Mends the calls in an output.
pub(super) fn mend(row: &mut Row<'_, '_>, view: View<'_>, finish: Finish, place: &dyn Fn() -> String) {
    let Some(text) = view.text() else { return };
    let tools = row.desk.declared(&row.kit);
    let options = TurnOptions::new().model(row.model.as_ref());
    let read = |text: &str| tools.take_apart(&[text.to_owned()], &options, finish).0;
    let turn = read(&text);
    for call in &turn.calls {
        row.desk.counter.count(&row.model, &call.name, &call.verdict);
        if !call.outcome().runs() {
            row.refuse(&place(), &call.name, &call.verdict, &call.raw);
        }
    }
    let mended = |call: &&Call| call.outcome() == Outcome::Mended;
    if turn.calls.iter().any(|call| mended(&call)) {
        let meant = Meant { turn: &turn, markup: markup(&turn, &text) };
        let ways = [alone(&text, &turn), together(&text, &turn)].into_iter().flatten();
        match ways.into_iter().find(|written| meant.is_read_from(written, &read(written))) {
            Some(written) => row.edits.replace_quoted(view.span(), &written),
            None => {
                for call in turn.calls.iter().filter(mended) {
                    row.unwritten(&place(), &call.name, UNPROVED, &call.raw);
                }
            }
        }
    }
}

/// Mends an output that is one call, as JSON with a name and arguments.
pub(super) fn mend_call(row: &mut Row<'_, '_>, view: View<'_>, place: &dyn Fn() -> String) {
    let Some(text) = view.text() else { return };
    let outer = toolmend::fix(&text);
    let Some(json) = outer.json() else {
        row.desk.counter.count(&row.model, "", &outer);
        return row.refuse(&place(), "", &outer, &text);
    };
    let Some(doc) = Document::parse(&json) else { return };
    let Some(name) = doc.root().get("name") else {
        return mend(row, view, Finish::Unknown, place);
    };
    let arguments = doc.root().get("arguments").or_else(|| doc.root().get("parameters"));
    let call = judge::Written { name: Some(name), arguments, as_value: false, finish: Finish::Unknown };
    // The places of this call are places in its own text: its edits are not those of the row.
    let before = row.edits.begin_part(0);
    let refused = row.desk.rejects.len();
    let inner = row.call(&call, place);
    let mut edits = row.edits.split_off(before);
    if inner == Outcome::Clean && outer.outcome() == Outcome::Mended {
        row.desk.counter.recount(&row.model, &name.text().unwrap_or_default(), &outer);
    }
    let changed = !edits.is_empty() || outer.outcome() == Outcome::Mended;
    if changed && row.desk.rejects.len() == refused {
        row.edits.replace_quoted(view.span(), &edits.apply(json));
    }
}

/// The text with every mended call written anew in its own place.
fn alone(text: &str, turn: &Turn) -> Option<String> {
    let parts = turn.segments(text);
    let mut edits = Edits::default();
    for (index, call) in turn.calls.iter().enumerate().filter(|(_, call)| call.outcome() == Outcome::Mended) {
        let place = call.at.start..closed(text, &parts, index)?;
        edits.replace(place, render(std::slice::from_ref(call))?);
    }
    Some(edits.apply(text))
}

/// The text with all calls written anew in the place from the first to the last: most dialects have one frame around
/// all of them.
fn together(text: &str, turn: &Turn) -> Option<String> {
    let first = turn.calls.first()?;
    let same = |call: &Call| call.outcome().runs() && call.dialect == first.dialect;
    if !turn.calls.iter().all(same) {
        return None;
    }
    let mut edits = Edits::default();
    let place = first.at.start..closed(text, &turn.segments(text), turn.calls.len() - 1)?;
    edits.replace(place, render(&turn.calls)?);
    Some(edits.apply(text))
}

/// Where a call ends, with the markup that closes it.
fn closed(text: &str, parts: &[(Part, Range<usize>)], index: usize) -> Option<usize> {
    let at = parts.iter().position(|(part, _)| *part == Part::Call(index))?;
    match parts.get(at + 1) {
        Some((Part::Markup, range)) if range.start == parts[at].1.end => {
            Some(range.start + text.get(range.clone())?.trim_end().len())
        }
        _ => Some(parts[at].1.end),
    }
}

fn render(calls: &[Call]) -> Option<String> {
    let row = dialects().iter().find(|row| row.name() == calls[0].dialect)?;
    let written: Option<Vec<Written<'_>>> = calls
        .iter()
        .map(|call| {
            let id = call.id.as_deref().unwrap_or_default();
            Some(Written { name: &call.name, arguments: call.arguments()?, id })
        })
        .collect();
    row.render(&written?)
}

/// The marks of a text that are neither words nor calls.
fn markup(turn: &Turn, text: &str) -> String {
    let parts = turn.segments(text).into_iter().filter(|(part, _)| *part == Part::Markup);
    parts.flat_map(|(_, range)| text[range].split_whitespace()).collect()
}

/// What a text is to say when it is written anew.
struct Meant<'t> {
    turn: &'t Turn,
    markup: String,
}

impl Meant<'_> {
    /// Whether that is what is read: the same words, the same calls with nothing left to mend, and no other marks.
    fn is_read_from(&self, text: &str, read: &Turn) -> bool {
        let same = |(meant, read): (&Call, &Call)| {
            let fits = if meant.outcome().runs() {
                let value = |call: &Call| call.arguments().map(toolmend::compact_json);
                read.outcome() == Outcome::Clean && value(meant) == value(read)
            } else {
                meant.outcome() == read.outcome()
            };
            fits && meant.name == read.name
        };
        let words = |one: &str, other: &str| one.split_whitespace().eq(other.split_whitespace());
        let meant = self.turn;
        meant.calls.len() == read.calls.len()
            && words(&meant.content, &read.content)
            && words(&meant.reasoning, &read.reasoning)
            && meant.calls.iter().zip(&read.calls).all(same)
            && self.markup == markup(read, text)
    }
}
