//! Calls in the output of a model, as text of any dialect.
//!
//! Mended calls are written back in their own dialect, and then the text is read again. It must say the same:
//! the same prose, the same calls, no other markup. Otherwise the text stays unchanged, and its calls are reported as
//! unwritten.

use std::ops::Range;

use toolmend::{Call, CallToRender, Finish, Outcome, Part, Turn, TurnOptions, dialects};
use toolmend_json::{Document, Edits, ValueRef};

use crate::judge::{CallSite, RowMender};

/// Why a call stays unchanged although it could be mended.
const NOT_READ_BACK: &str = "mended, but its dialect has no notation that is read back as the same call";

/// Mends the calls in an output.
pub(super) fn mend_output(
    row: &mut RowMender<'_, '_>,
    view: ValueRef<'_>,
    finish: Finish,
    pointer: &dyn Fn() -> String,
) {
    let Some(text) = view.text() else { return };
    let tools = row.worker.declared_tools(&row.declarations);
    let options = TurnOptions::new().model(row.model.as_ref());
    let read = |text: &str| tools.read_output(&[text.to_owned()], &options, finish);
    let turn = read(&text);
    for call in &turn.calls {
        row.worker.counter.count_verdict(&row.model, &call.name, &call.verdict);
        if !call.outcome().runs() {
            row.report_refusal(&pointer(), &call.name, &call.verdict, &call.raw);
        }
    }
    let mended = |call: &&Call| call.outcome() == Outcome::Mended;
    if turn.calls.iter().any(|call| mended(&call)) {
        let intended = IntendedTurn { turn: &turn, markup: collect_markup(&turn, &text) };
        let candidates =
            [rewrite_each_call(&text, &turn), rewrite_all_calls(&text, &turn)].into_iter().flatten();
        match candidates.into_iter().find(|written| intended.is_same_as(written, &read(written))) {
            Some(written) => row.edits.replace_quoted(view.span(), &written),
            None => {
                for call in turn.calls.iter().filter(mended) {
                    row.report_unwritten(&pointer(), &call.name, NOT_READ_BACK, &call.raw);
                }
            }
        }
    }
}

/// Mends an output that is a single call, as JSON with a name and arguments.
pub(super) fn mend_single_call(
    row: &mut RowMender<'_, '_>,
    view: ValueRef<'_>,
    pointer: &dyn Fn() -> String,
) {
    let Some(text) = view.text() else { return };
    let outer = toolmend::fix(&text);
    let Some(json) = outer.json() else {
        row.worker.counter.count_verdict(&row.model, "", &outer);
        return row.report_refusal(&pointer(), "", &outer, &text);
    };
    let Some(doc) = Document::parse(&json) else { return };
    let Some(name) = doc.root().get("name") else {
        return mend_output(row, view, Finish::Unknown, pointer);
    };
    let arguments = doc.root().get("arguments").or_else(|| doc.root().get("parameters"));
    let call = CallSite { name: Some(name), arguments, as_value: false, finish: Finish::Unknown };
    // The positions of this call are positions in its own text, so its edits are taken out of those of the row.
    let before = row.edits.begin_part(0);
    let refused = row.worker.rejects.len();
    let inner = row.mend_call(&call, pointer);
    let mut edits = row.edits.split_off(before);
    if inner == Outcome::Clean && outer.outcome() == Outcome::Mended {
        row.worker.counter.recount_clean(&row.model, &name.text().unwrap_or_default(), &outer);
    }
    let changed = !edits.is_empty() || outer.outcome() == Outcome::Mended;
    if changed && row.worker.rejects.len() == refused {
        row.edits.replace_quoted(view.span(), &edits.apply(json));
    }
}

/// Writes each mended call again, where it was.
fn rewrite_each_call(text: &str, turn: &Turn) -> Option<String> {
    let parts = turn.segments(text);
    let mut edits = Edits::default();
    for (index, call) in turn.calls.iter().enumerate().filter(|(_, call)| call.outcome() == Outcome::Mended) {
        let span = call.at.start..end_of_call(text, &parts, index)?;
        edits.replace(span, render_calls(std::slice::from_ref(call))?);
    }
    Some(edits.apply(text))
}

/// Writes all calls again, from the start of the first to the end of the last. Most dialects have one frame around all calls.
fn rewrite_all_calls(text: &str, turn: &Turn) -> Option<String> {
    let first = turn.calls.first()?;
    let same = |call: &Call| call.outcome().runs() && call.dialect == first.dialect;
    if !turn.calls.iter().all(same) {
        return None;
    }
    let mut edits = Edits::default();
    let span = first.at.start..end_of_call(text, &turn.segments(text), turn.calls.len() - 1)?;
    edits.replace(span, render_calls(&turn.calls)?);
    Some(edits.apply(text))
}

/// Returns where a call ends, including the markup that closes it.
fn end_of_call(text: &str, parts: &[(Part, Range<usize>)], index: usize) -> Option<usize> {
    let at = parts.iter().position(|(part, _)| *part == Part::Call(index))?;
    match parts.get(at + 1) {
        Some((Part::Markup, range)) if range.start == parts[at].1.end => {
            Some(range.start + text.get(range.clone())?.trim_end().len())
        }
        _ => Some(parts[at].1.end),
    }
}

/// Writes calls in the dialect of the first one.
fn render_calls(calls: &[Call]) -> Option<String> {
    let row = dialects().iter().find(|row| row.name() == calls[0].dialect)?;
    let written: Option<Vec<CallToRender<'_>>> = calls
        .iter()
        .map(|call| {
            let id = call.id.as_deref().unwrap_or_default();
            Some(CallToRender { name: &call.name, arguments: call.arguments()?, id })
        })
        .collect();
    row.render(&written?)
}

/// Collects the markup of a text: everything that is neither prose nor a call.
fn collect_markup(turn: &Turn, text: &str) -> String {
    let parts = turn.segments(text).into_iter().filter(|(part, _)| *part == Part::Markup);
    parts.flat_map(|(_, range)| text[range].split_whitespace()).collect()
}

/// What a text must say after it is written again.
struct IntendedTurn<'t> {
    turn: &'t Turn,
    markup: String,
}

impl IntendedTurn<'_> {
    /// Whether the new text was read as intended: the same prose, the same calls with nothing left to mend, and the same
    /// markup.
    fn is_same_as(&self, text: &str, read: &Turn) -> bool {
        let same_call = |(intended, read): (&Call, &Call)| {
            let same_value = if intended.outcome().runs() {
                let value = |call: &Call| call.arguments().map(toolmend::compact_json);
                read.outcome() == Outcome::Clean && value(intended) == value(read)
            } else {
                intended.outcome() == read.outcome()
            };
            same_value && intended.name == read.name
        };
        let same_prose = |one: &str, other: &str| one.split_whitespace().eq(other.split_whitespace());
        let intended = self.turn;
        intended.calls.len() == read.calls.len()
            && same_prose(&intended.content, &read.content)
            && same_prose(&intended.reasoning, &read.reasoning)
            && intended.calls.iter().zip(&read.calls).all(same_call)
            && self.markup == collect_markup(read, text)
    }
}
