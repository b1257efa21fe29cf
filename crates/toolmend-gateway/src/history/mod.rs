//! Earlier turns in requests, made fit for servers that read them again.
//!
//! One bad call must not end a conversation: many servers parse the calls of the history and refuse the whole
//! request for one that is broken, or for a call without a result.

mod chat;
mod messages;
mod ollama;
mod responses;

use std::borrow::Cow;

use serde::de::IgnoredAny;
use toolmend::{Finish, Source, TurnOptions};

use crate::config::Config;
use crate::proxy::notes::Notes;
use crate::surface::Surface;
use crate::surface::ollama::Form;
use crate::tools::Compiled;
use crate::wire::doc::{Doc, Kind, View, array, quote};

/// What stands in for the result of a call that has none.
const NO_RESULT: &str = "There is no result: the call was not run.";
/// What stands before a result whose call is gone.
const LOST_CALL: &str = "The result of an earlier tool call:\n";
/// The member that keeps arguments of which nobody can make an object.
const UNREADABLE: &str = "unreadable_arguments";

/// Everything that history is mended by.
pub(crate) struct Fixer<'a> {
    tools: &'a Compiled,
    notes: &'a Notes,
    has_notes: bool,
    /// Whether the model's template takes ids of nine letters and digits only.
    short_ids: bool,
}

/// Mends a request. None where it stays as it is.
pub(crate) fn mend(
    surface: Surface,
    doc: &Doc,
    tools: &Compiled,
    notes: &Notes,
    config: &Config,
) -> Option<String> {
    let root = doc.root();
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if !surface.knows_tools() && root.get("tools").is_some() {
        changes.push(("tools", None));
    }
    if config.contract_hints
        && surface.knows_tools()
        && let Some(list) = root.some("tools").and_then(hinted)
    {
        changes.push(("tools", Some(list)));
    }
    if config.repair_history {
        let model = root.get_text("model").unwrap_or_default().to_ascii_lowercase();
        let short_ids =
            ["mistral", "mixtral", "devstral", "magistral"].iter().any(|name| model.contains(name));
        let fixer = Fixer { tools, notes, has_notes: !notes.is_empty(), short_ids };
        let (member, mended) = match surface {
            Surface::Chat => ("messages", root.get("messages").and_then(|list| chat::mend(list, &fixer))),
            Surface::Messages => {
                ("messages", root.get("messages").and_then(|list| messages::mend(list, &fixer)))
            }
            Surface::Ollama(Form::Chat) => {
                ("messages", root.get("messages").and_then(|list| ollama::mend(list, &fixer)))
            }
            Surface::Responses => {
                // What a server remembers by itself is not in the request.
                let alone =
                    root.some("previous_response_id").is_none() && root.some("conversation").is_none();
                ("input", root.get("input").and_then(|list| responses::mend(list, &fixer, alone)))
            }
            Surface::Completions | Surface::Ollama(Form::Generate) => ("prompt", None),
        };
        if mended.is_some() {
            changes.push((member, mended));
        }
    }
    (!changes.is_empty()).then(|| root.with(&changes))
}

/// The tools with contract hints in their descriptions; everything else stays as it was written.
fn hinted(list: View<'_>) -> Option<String> {
    let told = toolmend::with_contract_hints(&list.value()?);
    let mut changed = false;
    let tools: Vec<String> = list
        .items()
        .enumerate()
        .map(|(at, tool)| {
            let function = tool.some("function");
            let place = if function.is_some() { &told[at]["function"] } else { &told[at] };
            let holder = function.unwrap_or(tool);
            let new = place["description"].as_str();
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

/// What a surface calls the parts of a result.
struct ResultNames {
    id: &'static str,
    content: &'static str,
    /// The type of a piece of text in it.
    part: &'static str,
}

impl Fixer<'_> {
    /// Arguments that a server can parse. None where they can stay.
    fn arguments(&self, tool: &str, text: &str) -> Option<String> {
        if is_object(text) {
            return None;
        }
        if text.trim().is_empty() {
            return Some("{}".to_owned());
        }
        let verdict = self.tools.mender.mend(tool, text);
        if let Some(json) = verdict.json().filter(|json| is_object(json)) {
            return Some(json.to_owned());
        }
        // The schema may refuse what is only history by now.
        let verdict = toolmend::fix(text);
        let json = verdict.json().filter(|json| is_object(json));
        Some(json.map_or_else(|| format!(r#"{{"{UNREADABLE}":{}}}"#, quote(text)), str::to_owned))
    }

    /// Arguments that travel as a text. None where they can stay.
    fn argument_text(&self, tool: &str, arguments: Option<View<'_>>) -> Option<String> {
        let Some(view) = arguments else { return Some("{}".to_owned()) };
        match view.kind() {
            Kind::String => view.text().and_then(|text| self.arguments(tool, &text)),
            Kind::Object => Some(view.raw().to_owned()),
            _ => self.arguments(tool, view.raw()),
        }
    }

    /// Arguments that travel as an object. None where they can stay.
    fn argument_object(&self, tool: &str, arguments: Option<View<'_>>) -> Option<String> {
        let Some(view) = arguments else { return Some("{}".to_owned()) };
        let text = match view.kind() {
            Kind::Object => return None,
            _ => view.text().unwrap_or_else(|| view.raw().into()),
        };
        Some(self.arguments(tool, &text).unwrap_or_else(|| text.into_owned()))
    }

    /// The result of a call: its id as the server takes it, and its notes in front. None where it can stay.
    fn result(&self, item: View<'_>, id: &str, names: &ResultNames) -> Option<String> {
        let mut changes = Vec::new();
        if let Some(new) = self.id(id) {
            changes.push((names.id, Some(quote(&new))));
        }
        if let (Some(note), Some(content)) = (self.note(id), item.get(names.content))
            && let Some(content) = noted(content, &note, names.part)
        {
            changes.push((names.content, Some(content)));
        }
        (!changes.is_empty()).then(|| item.with(&changes))
    }

    /// A text of an assistant without the calls that it leaked, as JSON. None where it can stay.
    fn text(&self, holder: View<'_>, name: &str) -> Option<String> {
        let text = self.leaked(&holder.get_text(name)?)?;
        Some(quote(if text.is_empty() { NO_RESULT } else { &text }))
    }

    /// An id that the server takes. None where it can stay.
    fn id(&self, id: &str) -> Option<String> {
        let plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let word =
            |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let fits = if self.short_ids { id.len() == 9 && plain(id) } else { id.len() <= 64 && word(id) };
        (!fits).then(|| short_id(id))
    }

    /// Text of an assistant without calls that it leaked. None where it can stay.
    fn leaked(&self, text: &str) -> Option<String> {
        const MARKERS: [&str; 6] = ["<tool_call", "<function", "[TOOL_CALLS]", "<|", "<\u{ff5c}", "<invoke"];
        if !self.tools.any || !MARKERS.iter().any(|marker| text.contains(marker)) {
            return None;
        }
        let turn = self.tools.mender.turn(text, &TurnOptions::new(), Finish::Stop);
        turn.calls.iter().any(|call| call.source == Source::Explicit).then(|| turn.content.trim().to_owned())
    }

    /// The notes for a result.
    fn note(&self, id: &str) -> Option<String> {
        self.has_notes.then(|| self.notes.of(id)).flatten()
    }
}

/// Nine letters and digits that depend on the id alone, so that a call and its result still meet.
pub(crate) fn short_id(id: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // FNV-1a, because the same id must become the same in every process.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let digit = |_| {
        let digit = DIGITS[usize::try_from(hash % 36).unwrap_or(0)];
        hash /= 36;
        char::from(digit)
    };
    (0..9).map(digit).collect()
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Every item, mended or as it came, and whether any was mended.
fn each<'d>(
    items: impl Iterator<Item = View<'d>>,
    mut mend: impl FnMut(View<'d>) -> Option<String>,
) -> (Vec<Cow<'d, str>>, bool) {
    let mut changed = false;
    let all = items.map(|item| {
        let mended = mend(item);
        changed |= mended.is_some();
        kept(mended, item)
    });
    (all.collect(), changed)
}

/// An item as it was mended, or as it came. Histories are long, and most of them stay as they are, so that is lent.
fn kept(mended: Option<String>, item: View<'_>) -> Cow<'_, str> {
    mended.map_or_else(|| Cow::Borrowed(item.raw()), Cow::Owned)
}

/// The words of a result whose call is gone, as JSON.
fn lost(content: Option<View<'_>>) -> String {
    let text = content.and_then(View::text);
    let text = text.unwrap_or_else(|| content.map(View::raw).unwrap_or_default().into());
    quote(&format!("{LOST_CALL}{text}"))
}

/// A result with notes in front: of a text, or of a list of parts.
fn noted(content: View<'_>, note: &str, part: &str) -> Option<String> {
    if let Some(text) = content.text() {
        // The client may send back what it got.
        return (!text.starts_with(note)).then(|| quote(&format!("{note}\n{text}")));
    }
    let first = format!(r#"{{"type":"{part}","text":{}}}"#, quote(note));
    content
        .is_array()
        .then(|| array([first].into_iter().chain(content.items().map(|item| item.raw().to_owned()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicyName;
    use crate::tools::ToolCache;
    use bytes::Bytes;

    #[test]
    fn ids_are_mapped_the_same_way_every_time() {
        let tools = ToolCache::default().get(&Bytes::new(), PolicyName::Balanced);
        let notes = Notes::default();
        let fixer = |short_ids| Fixer { tools: &tools, notes: &notes, has_notes: false, short_ids };
        assert_eq!(fixer(false).id("call_1"), None);
        assert_eq!(fixer(false).id("functions.f:0"), Some(short_id("functions.f:0")));
        assert_eq!(fixer(true).id("abcdef123"), None);
        assert_eq!(fixer(true).id("call_1").map(|id| id.len()), Some(9));
        assert_ne!(short_id("a"), short_id("b"));
    }

    #[test]
    fn hints_change_descriptions_only() {
        let doc = Doc::parse(&Bytes::from_static(br#"[{"type":"function","function":{"parameters":{"z":1.50,"a":2},"name":"bash","description":"Runs."}},{"name":"x","input_schema":{}}]"#)).unwrap();
        let told = hinted(doc.root()).unwrap();
        assert!(told.starts_with(r#"[{"type":"function","function":{"parameters":{"z":1.50,"a":2},"name":"bash","description":"Runs. "#), "{told}");
        assert!(told.ends_with(r#"},{"name":"x","input_schema":{}}]"#), "{told}");
    }
}
