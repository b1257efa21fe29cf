//! Actions on a screen, as one family of models writes them: `click(point='<point>200 300</point>')`.
//!
//! The verbs are not tools. If the declared tool for such actions has another name, the verb is its argument `action`,
//! and the places on the screen are lists of numbers. This module maps a call of a verb to a call of that tool.

use super::input::{Input, Step};
use super::python;
use super::raw_call::{Field, RawArguments, RawCall, RawValue};
use super::table::{Recognition, recognised};
use super::tagged::ToolLookup;

/// The tool that takes actions on a screen.
const TOOL: &str = "computer";

const VERBS: &[&str] = &[
    "click",
    "left_double",
    "right_single",
    "drag",
    "hotkey",
    "type",
    "scroll",
    "wait",
    "finished",
    "call_user",
    "long_press",
    "open_app",
    "press_home",
    "press_back",
];

/// Whether this is a verb and the tool for it is declared. A tool that has the name of the verb comes first.
pub(super) fn is_action<T: ToolLookup + ?Sized>(name: &str, known: &T) -> bool {
    VERBS.contains(&name) && known.has_tool(TOOL) && !known.has_tool(name)
}

/// Reads the action at `at` as a call of the tool that takes it.
// Case: dialects/react/screen-action
pub(super) fn read(input: Input<'_>, at: usize) -> Step<RawCall> {
    python::read_call(input, at, recognised(Recognition::ActionLines)).map(mapped)
}

fn mapped(call: RawCall) -> RawCall {
    let RawArguments::Fields(written) = &call.arguments else { return call };
    let verb = RawValue::String(call.name.clone());
    let mut fields = vec![Field { key: "action".to_owned(), value: verb, at: call.at.start..call.at.start }];
    for field in written {
        let text = field.value.text();
        let (key, value) = match (field.key.as_str(), coordinates(text)) {
            ("start_box" | "start_point", Some(place)) if call.name == "drag" => ("start_point", place),
            ("end_box" | "end_point", Some(place)) => ("end_point", place),
            ("start_box" | "point", Some(place)) => ("point", place),
            // The keys of a combination are separated by blanks.
            ("key", _) if call.name == "hotkey" => {
                let keys: Vec<&str> = text.split_whitespace().collect();
                ("key", RawValue::String(keys.join("+")))
            }
            (key, _) => (key, field.value.clone()),
        };
        fields.push(Field { key: key.to_owned(), value, at: field.at.clone() });
    }
    RawCall { name: TOOL.to_owned(), arguments: RawArguments::Fields(fields), ..call }
}

/// The numbers of a place: `<point>200 300</point>`, `(200,300)`, `<|box_start|>(200,300)<|box_end|>`. Nothing else is one.
fn coordinates(text: &str) -> Option<RawValue> {
    let mut inner = text.trim();
    for (open, close) in [
        ("<|box_start|>", "<|box_end|>"),
        ("<point>", "</point>"),
        ("<bbox>", "</bbox>"),
        ("(", ")"),
        ("[", "]"),
    ] {
        inner = inner.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).unwrap_or(inner).trim();
    }
    let numbers: Vec<&str> =
        inner.split(|ch: char| ch.is_whitespace() || ch == ',').filter(|part| !part.is_empty()).collect();
    let is_number =
        |part: &&str| part.len() < 12 && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_place = matches!(numbers.len(), 2 | 4) && numbers.iter().all(is_number);
    is_place.then(|| RawValue::Json(format!("[{}]", numbers.join(", "))))
}
