//! Earlier turns in requests, repaired so that servers can parse them again.
//!
//! Each protocol walks through its own messages; this module decides about the calls, ids and texts in them.

use std::cell::RefCell;
use std::collections::HashMap;

use toolmend::{Finish, Source, TurnOptions};
use toolmend_json::{ValueRef, array, quote};
use toolmend_protocol::{Document, HistoryMender, Protocol};

use super::assembly::is_object;
use super::notes::CallNotes;
use super::stub::{EarlierRefusals, read_stub, show_unreadable, tool_of_name};
use super::tools::CompiledTools;
use crate::config::Config;
use crate::upstream::IdForm;

/// Decides about the calls and results of one request's history.
struct HistoryRepair<'a> {
    tools: &'a CompiledTools,
    notes: &'a CallNotes,
    has_notes: bool,
    /// The notes about calls that were seen, by their ids.
    found_notes: RefCell<HashMap<String, String>>,
    /// The ids that the server accepts, if it has rejected others.
    ids: Option<IdForm>,
    /// Calls that were refused, as far as they were found.
    refusals: RefCell<EarlierRefusals>,
}

/// A request whose earlier turns were read.
#[derive(Debug, Default)]
pub(crate) struct MendedRequest {
    /// The new text. `None`: the request stays as it is.
    pub(crate) text: Option<String>,
    /// Calls that were refused in its earlier turns.
    pub(crate) refusals: EarlierRefusals,
}

/// Mends a request.
pub(crate) fn mend_request(
    protocol: Protocol,
    doc: &Document,
    tools: &CompiledTools,
    notes: &CallNotes,
    config: &Config,
    ids: Option<IdForm>,
) -> MendedRequest {
    let root = doc.root();
    let mut refusals = EarlierRefusals::default();
    let declares_tools = protocol.features().declares_tools;
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if !declares_tools && root.get("tools").is_some() {
        changes.push(("tools", None));
    }
    if config.contract_hints
        && declares_tools
        && let Some(list) = root.get_non_null("tools").and_then(add_contract_hints)
    {
        changes.push(("tools", Some(list)));
    }
    if config.repair_history {
        let repair = HistoryRepair {
            tools,
            notes,
            has_notes: !notes.is_empty(),
            found_notes: RefCell::default(),
            ids,
            refusals: RefCell::default(),
        };
        if let Some((member, mended)) = protocol.repair_history(root, &repair) {
            changes.push((member, Some(mended)));
        }
        refusals = repair.refusals.into_inner();
    }
    MendedRequest { text: (!changes.is_empty()).then(|| root.with(&changes)), refusals }
}

/// Adds contract hints to the descriptions of tools; everything else stays as it was written.
fn add_contract_hints(list: ValueRef<'_>) -> Option<String> {
    let hinted = toolmend::with_contract_hints(&list.value()?);
    let mut changed = false;
    let tools: Vec<String> = list
        .items()
        .enumerate()
        .map(|(at, tool)| {
            let function = tool.get_non_null("function");
            let new = if function.is_some() { &hinted[at]["function"] } else { &hinted[at] };
            let new = new["description"].as_str();
            let holder = function.unwrap_or(tool);
            if !holder.is_object() || new.is_none() || holder.get_text("description").as_deref() == new {
                return tool.raw().to_owned();
            }
            changed = true;
            let holder = holder.with(&[("description", new.map(quote))]);
            if function.is_some() { tool.with(&[("function", Some(holder))]) } else { holder }
        })
        .collect();
    changed.then(|| array(tools))
}

impl HistoryRepair<'_> {
    fn tool_of_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        tool_of_name(name, |name| self.tools.mender.tool(name).is_some())
    }
}

impl HistoryMender for HistoryRepair<'_> {
    fn mend_arguments(&self, tool: &str, text: &str) -> Option<String> {
        let tool = self.tool_of_name(tool).unwrap_or(tool);
        if let Some(written) = read_stub(text) {
            // One client writes stubs by itself, for arguments that were never seen here.
            let verdict = self.tools.mender.mend(tool, &written);
            if let Some(json) = verdict.json().filter(|json| is_object(json)) {
                return Some(json.to_owned());
            }
            let shown = show_unreadable(&written);
            self.refusals.borrow_mut().add(tool, written);
            return (shown != text).then_some(shown);
        }
        if is_object(text) {
            return None;
        }
        if !text.trim().is_empty() {
            let verdict = self.tools.mender.mend(tool, text);
            if let Some(json) = verdict.json().filter(|json| is_object(json)) {
                return Some(json.to_owned());
            }
        }
        // The schema may refuse arguments that are only history by now.
        Some(repair_arguments(text.to_owned()))
    }

    fn restore_name(&self, name: &str) -> Option<String> {
        self.tool_of_name(name).map(str::to_owned)
    }

    fn replace_id(&self, id: &str) -> Option<String> {
        self.ids?.replace(id)
    }

    fn strip_leaked_calls(&self, text: &str) -> Option<String> {
        // Most texts hold no call, and scanning all of them would cost more than everything else.
        const MARKERS: [&str; 6] = ["<tool_call", "<function", "[TOOL_CALLS]", "<|", "<\u{ff5c}", "<invoke"];
        if !self.tools.has_tools || !MARKERS.iter().any(|marker| text.contains(marker)) {
            return None;
        }
        let turn = self.tools.mender.turn(text, &TurnOptions::new(), Finish::Stop);
        turn.calls.iter().any(|call| call.source == Source::Explicit).then(|| turn.content.trim().to_owned())
    }

    fn see_call(&self, id: &str, name: &str, arguments: &dyn Fn() -> String) {
        if !self.has_notes || !self.notes.knows(id) {
            return;
        }
        let mut found = self.found_notes.borrow_mut();
        match self.notes.get(id, name, &arguments()) {
            Some(notes) => found.insert(id.to_owned(), notes),
            // Another call has had the same id before.
            None => found.remove(id),
        };
    }

    fn notes_for(&self, id: &str) -> Option<String> {
        self.found_notes.borrow().get(id).cloned()
    }
}

/// Writes a request again with ids that its server accepts. `None` if all of them are.
pub(crate) fn replace_ids(protocol: Protocol, doc: &Document, ids: IdForm) -> Option<String> {
    let (member, list) = protocol.repair_history(doc.root(), &IdReplacement(ids))?;
    Some(doc.root().with(&[(member, Some(list))]))
}

/// Replaces ids and nothing else.
struct IdReplacement(IdForm);

impl HistoryMender for IdReplacement {
    fn mend_arguments(&self, _tool: &str, _text: &str) -> Option<String> {
        None
    }

    fn replace_id(&self, id: &str) -> Option<String> {
        self.0.replace(id)
    }

    fn strip_leaked_calls(&self, _text: &str) -> Option<String> {
        None
    }

    fn see_call(&self, _id: &str, _name: &str, _arguments: &dyn Fn() -> String) {}

    fn notes_for(&self, _id: &str) -> Option<String> {
        None
    }
}

/// Returns arguments that are a JSON object, whatever they were.
pub(crate) fn repair_arguments(text: String) -> String {
    if is_object(&text) {
        return text;
    }
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    let fixed = toolmend::fix(&text).json().filter(|json| is_object(json)).map(str::to_owned);
    fixed.unwrap_or_else(|| show_unreadable(&text))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn hints_change_only_descriptions() {
        let doc = Document::parse(&Bytes::from_static(br#"[{"type":"function","function":{"parameters":{"z":1.50,"a":2},"name":"bash","description":"Runs."}},{"name":"x","input_schema":{}}]"#)).unwrap();
        let hinted = add_contract_hints(doc.root()).unwrap();
        assert!(hinted.starts_with(r#"[{"type":"function","function":{"parameters":{"z":1.50,"a":2},"name":"bash","description":"Runs. "#), "{hinted}");
        assert!(hinted.ends_with(r#"},{"name":"x","input_schema":{}}]"#), "{hinted}");
    }
}
