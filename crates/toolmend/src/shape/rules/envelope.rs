//! Wrappers around the arguments.

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;
use crate::schema::fault::Wants;
use crate::schema::guide::fold;
use crate::shape::mismatch::{Change, Expectation, RefusalCause, SchemaMismatch, TypeMismatch};

use super::{embedded_json, member_edits, wrapper};

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
/// Keys that accompany them, folded.
const LABELS: [&str; 9] =
    ["name", "tool", "toolname", "function", "functionname", "type", "id", "callid", "toolcallid"];
/// The labels that hold the tool's name.
const NAMES: [&str; 5] = ["name", "tool", "toolname", "function", "functionname"];

/// Whether models put the arguments under this key.
pub(crate) fn holds_arguments(key: &str) -> bool {
    ENVELOPES.contains(&fold(key).as_str())
}

/// Whether models put this key beside the arguments.
pub(crate) fn is_label(key: &str) -> bool {
    LABELS.contains(&fold(key).as_str())
}

/// Whether models put the tool's name under this key.
pub(crate) fn holds_name(key: &str) -> bool {
    NAMES.contains(&fold(key).as_str())
}

/// What `type` says beside the name of a tool.
const CALL_TYPES: [&str; 5] = ["function", "tooluse", "toolcall", "functioncall", "tool"];

/// `{"arguments": {..}}`, `{"<tool>": {..}}`, `{"name": "<tool>", "arguments": ".."}` and `[{..}]` to what they hold.
pub(super) fn remove_envelope(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let shape_is_wrong = matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_) | Wants::Type { .. });
    if mismatch.id != 0 || !shape_is_wrong {
        return None;
    }
    let inner = match mismatch.kind() {
        Kind::Object => find_arguments(mismatch)?,
        Kind::Array => {
            let only = mismatch.only_child()?;
            (mismatch.tree.nodes[only].kind == Kind::Object).then_some(only)?
        }
        _ => return None,
    };
    let outer = &mismatch.node().span;
    let span = &mismatch.tree.nodes[inner].span;
    let kind = RepairKind::EnvelopeRemoved;
    let Some(content) = mismatch.tree.string(inner) else {
        return Some(Change::new(vec![
            Edit::new(outer.start..span.start, "", kind),
            Edit::new(span.end..outer.end, "", kind),
        ]));
    };
    let embedded = embedded_json::read_container(&content, mismatch.context.policy)?;
    let edit = Edit::new(outer.clone(), embedded.text, kind);
    Some(Change { within: embedded.layers, ..Change::new(vec![edit]) })
}

/// The member that holds the arguments, if all others are labels.
fn find_arguments(mismatch: &SchemaMismatch<'_>) -> Option<usize> {
    let root = mismatch.guide().root();
    let tool = mismatch.context.tool.map(fold);
    let mut inner = None;
    for child in mismatch.tree.children(0) {
        let key = mismatch.tree.key(child)?;
        let folded = fold(&key);
        let declared = mismatch.declares(root, &key);
        let text = mismatch.tree.string(child);
        let holds = match &text {
            Some(text) => embedded_json::looks_like_container(text),
            None => matches!(mismatch.tree.nodes[child].kind, Kind::Object | Kind::Array),
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
            // The name of another tool, or a declared field: this is not an envelope around our arguments.
            if !(names_tool || (tool.is_none() && !declared)) {
                return None;
            }
        } else if !LABELS.contains(&&*folded) || declared || holds {
            return None;
        }
    }
    inner
}

/// `{"tool": "<tool>", ..}`: the tool's own name, and what else models write beside it, is no argument.
// Case: shape/tool-name-beside-arguments, shape/name-of-another-tool
pub(super) fn drop_tool_label(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::NoKey(_) = mismatch.fault.wants else { return None };
    let tool = mismatch.context.tool.map(fold).filter(|_| mismatch.id == 0)?;
    let tree = mismatch.tree;
    let says = |member: usize, is_said: &dyn Fn(&str) -> bool| {
        tree.string(member).is_some_and(|text| is_said(&fold(&text)))
    };
    let mut names_tool = false;
    let mut labels = Vec::new();
    for member in tree.children(0) {
        let key = tree.key(member)?;
        if mismatch.declares(mismatch.guide().root(), &key) {
            continue;
        }
        let is_name = NAMES.contains(&fold(&key).as_str()) && says(member, &|text| text == tool);
        let is_type = fold(&key) == "type" && says(member, &|text| CALL_TYPES.contains(&text));
        let is_id = matches!(fold(&key).as_str(), "id" | "callid" | "toolcallid") && says(member, &|_| true);
        if is_name || is_type || is_id {
            names_tool |= is_name;
            labels.push(member);
        }
    }
    let kind = RepairKind::ToolLabelDropped;
    names_tool.then(|| Change::new(member_edits::remove_members(tree, 0, &labels, kind)))
}

/// `{"type": "object", "properties": {..}}`: the schema, filled in. Each property is the value itself, or has it under
/// `value`.
// Case: shape/schema-filled-in, shape/schema-with-values
pub(super) fn unwrap_schema_echo(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let shape_is_wrong = matches!(mismatch.fault.wants, Wants::Key(_) | Wants::NoKey(_));
    if mismatch.id != 0 || mismatch.kind() != Kind::Object || !shape_is_wrong {
        return None;
    }
    let (tree, root) = (mismatch.tree, mismatch.guide().root());
    let mut properties = None;
    for member in tree.children(0) {
        let key = tree.key(member)?;
        let is_object = tree.nodes[member].kind == Kind::Object;
        match &*key {
            _ if mismatch.declares(root, &key) => return None,
            "properties" if is_object => properties = Some(member),
            "type" if tree.string(member).as_deref() == Some("object") => {}
            "required" | "additionalProperties" | "description" | "title" | "$schema" | "name" => {}
            _ => return None,
        }
    }
    let properties = properties?;
    let values: Vec<Option<(usize, bool)>> =
        tree.children(properties).map(|member| wrapper::wrapped_value(tree, member)).collect();
    if values.iter().flatten().all(|(_, is_typed)| !is_typed) && values.contains(&None) {
        return Some(wrapper::replace_by_inner(mismatch, properties, RepairKind::EnvelopeRemoved));
    }
    let mut members = Vec::new();
    for (member, value) in tree.children(properties).zip(values) {
        members.push(format!("{}: {}", quote(&tree.key(member)?), tree.source(value?.0)));
    }
    Some(mismatch.replace(format!("{{{}}}", members.join(", ")), RepairKind::EnvelopeRemoved))
}

/// The same around the fields of a struct. The Rust type does not say which tool it belongs to.
pub(super) fn remove_envelope_around_struct(mismatch: &TypeMismatch<'_>) -> Option<Change> {
    let Expectation::Struct(fields) = mismatch.expected else { return None };
    let about_fields =
        matches!(mismatch.cause, RefusalCause::MissingField(_) | RefusalCause::UnknownField(_));
    if mismatch.id != 0 || !about_fields {
        return None;
    }
    let mut wrapped = None;
    for member in mismatch.tree.children(mismatch.id) {
        let key = mismatch.tree.key(member)?;
        let can_hold = matches!(mismatch.tree.nodes[member].kind, Kind::Object | Kind::String);
        let is_envelope = holds_arguments(&key) && can_hold && wrapped.is_none();
        if fields.contains(&&*key) || !(is_envelope || is_label(&key)) {
            return None;
        }
        if is_envelope {
            wrapped = Some(member);
        }
    }
    let source = mismatch.tree.source(wrapped?).to_owned();
    Some(mismatch.replace(source, RepairKind::EnvelopeRemoved))
}
