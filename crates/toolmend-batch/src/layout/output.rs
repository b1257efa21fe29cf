//! A model's output inside a row: calls that are mended are written back the way their model writes them.

use toolmend::{Call, Finish, Outcome, Turn, TurnOptions, Written, dialects};
use toolmend_places::{Doc, Edits, View, quote};

use crate::desk::{self, Row};

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
        row.desk.tally.count(&row.model, &call.name, &call.verdict);
        if !call.outcome().runs() {
            row.refuse(&place(), &call.name, &call.verdict, &call.raw);
        }
    }
    let mended = |call: &&Call| call.outcome() == Outcome::Mended;
    if turn.calls.iter().any(|call| mended(&call)) {
        let written = [alone(&text, &turn), together(&text, &turn)].into_iter().flatten();
        match written.into_iter().find(|written| proved(&turn, &read(written))) {
            Some(written) => row.edits.replace(view.span(), quote(&written)),
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
        row.desk.tally.count(&row.model, "", &outer);
        return row.refuse(&place(), "", &outer, &text);
    };
    let Some(doc) = Doc::parse(&json) else { return };
    let Some(name) = doc.root().get("name") else {
        return mend(row, view, Finish::Unknown, place);
    };
    let arguments = doc.root().get("arguments").or_else(|| doc.root().get("parameters"));
    let call = desk::Written { name: Some(name), arguments, as_value: false, finish: Finish::Unknown };
    // The places of this call are places in its own text: its edits are not those of the row.
    let mut edits = Edits::default();
    std::mem::swap(row.edits, &mut edits);
    let refused = row.desk.rejects.len();
    let inner = row.call(&call, place);
    std::mem::swap(row.edits, &mut edits);
    if inner == Outcome::Clean && outer.outcome() == Outcome::Mended {
        row.desk.tally.recount(&row.model, &name.text().unwrap_or_default(), &outer);
    }
    let changed = !edits.is_empty() || outer.outcome() == Outcome::Mended;
    if changed && row.desk.rejects.len() == refused {
        row.edits.replace(view.span(), quote(&edits.apply(json)));
    }
}

/// The text with every mended call written anew in its own place.
fn alone(text: &str, turn: &Turn) -> Option<String> {
    let mut edits = Edits::default();
    for call in turn.calls.iter().filter(|call| call.outcome() == Outcome::Mended) {
        edits.replace(call.at.clone(), render(std::slice::from_ref(call))?);
    }
    Some(edits.apply(text))
}

/// The text with all calls written anew in the place from the first to the last: most dialects have one frame around
/// all of them.
fn together(text: &str, turn: &Turn) -> Option<String> {
    let (first, last) = (turn.calls.first()?, turn.calls.last()?);
    let same = |call: &Call| call.outcome().runs() && call.dialect == first.dialect;
    if !turn.calls.iter().all(same) {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(first.at.start..last.at.end, render(&turn.calls)?);
    Some(edits.apply(text))
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

/// Whether what was written is read as what was meant: the same words, the same calls, nothing left to mend.
fn proved(meant: &Turn, read: &Turn) -> bool {
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
    meant.calls.len() == read.calls.len()
        && words(&meant.content, &read.content)
        && words(&meant.reasoning, &read.reasoning)
        && meant.calls.iter().zip(&read.calls).all(same)
}
