//! Wrappers around the arguments.

use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::guide::fold;

use super::embedded_json;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, Site};

/// Keys under which models put the arguments, folded.
const ENVELOPES: [&str; 11] = [
    "arguments",
    "parameters",
    "input",
    "args",
    "params",
    "kwargs",
    "toolinput",
    "toolargs",
    "function",
    "functioncall",
    "toolcall",
];
/// Keys that stand beside them, folded.
const LABELS: [&str; 9] =
    ["name", "tool", "toolname", "function", "functionname", "type", "id", "callid", "toolcallid"];
/// The labels that hold the tool's name.
const NAMES: [&str; 5] = ["name", "tool", "toolname", "function", "functionname"];

/// Whether models put the arguments under this key.
pub(crate) fn holds_arguments(key: &str) -> bool {
    ENVELOPES.contains(&fold(key).as_str())
}

/// Whether this key stands beside the arguments.
pub(crate) fn is_label(key: &str) -> bool {
    LABELS.contains(&fold(key).as_str())
}

/// Whether the tool's name stands under this key.
pub(crate) fn holds_name(key: &str) -> bool {
    NAMES.contains(&fold(key).as_str())
}

/// `{"arguments": {..}}`, `{"<tool>": {..}}`, `{"name": "<tool>", "arguments": ".."}` and `[{..}]` to what they
/// hold.
pub(in crate::shape) fn envelope_removed(site: &Site<'_>) -> Option<Change> {
    let shape_is_wrong = matches!(site.fault.wants, Wants::Key(_) | Wants::NoKey(_) | Wants::Type { .. });
    if site.id != 0 || !shape_is_wrong {
        return None;
    }
    let inner = match site.kind() {
        Kind::Object => letter(site)?,
        Kind::Array => {
            let mut children = site.tree.children(0);
            let only = children.next().filter(|_| children.next().is_none())?;
            (site.tree.nodes[only].kind == Kind::Object).then_some(only)?
        }
        _ => return None,
    };
    let outer = &site.node().span;
    let span = &site.tree.nodes[inner].span;
    let kind = RepairKind::EnvelopeRemoved;
    let Some(content) = site.tree.string(inner) else {
        return Some(Change::new(vec![
            Edit::new(outer.start..span.start, "", kind),
            Edit::new(span.end..outer.end, "", kind),
        ]));
    };
    let embedded = embedded_json::read(&content, site.ground.policy)?;
    let edit = Edit::new(outer.clone(), embedded.text, kind);
    Some(Change { within: embedded.layers, ..Change::new(vec![edit]) })
}

/// The member that holds the arguments, where all others are labels.
fn letter(site: &Site<'_>) -> Option<usize> {
    let root = site.guide().root();
    let tool = site.ground.tool.map(fold);
    let mut inner = None;
    for child in site.tree.children(0) {
        let key = site.tree.key(child)?;
        let folded = fold(&key);
        let declared = site.declares(root, &key);
        let text = site.tree.string(child);
        let holds = match &text {
            Some(text) => embedded_json::looks_like_container(text),
            None => site.tree.nodes[child].kind == Kind::Object,
        };
        let is_envelope = ENVELOPES.contains(&&*folded) || Some(&folded) == tool.as_ref();
        let names_tool = match (&text, &tool) {
            (Some(text), Some(tool)) => fold(text) == *tool,
            _ => false,
        };
        if is_envelope && holds && !declared {
            if inner.replace(child).is_some() {
                return None;
            }
        } else if NAMES.contains(&&*folded) && text.is_some() {
            // Another tool's name, or a declared field: then this is no envelope of ours.
            if !(names_tool || (tool.is_none() && !declared)) {
                return None;
            }
        } else if !LABELS.contains(&&*folded) || declared || holds {
            return None;
        }
    }
    inner
}
