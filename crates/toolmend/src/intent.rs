//! What makes text a call: the ladder of evidence, and what the request says about it.
//!
//! A call needs evidence. The rungs of the ladder are the kinds of evidence there are, the strongest first, and the
//! [table](LADDER) says what each of them needs. What does not reach its rung is text, byte for byte. This module only
//! holds the table; `stream` and `dialect` ask it.

use serde::Deserialize;
use serde_json::Value;

use crate::repair::Tier;
use crate::wire_names::wire_names;

/// The weakest evidence that makes text a call.
///
/// A form that the prompt asked for, or that `tool_choice` requires, is a call at every setting but under
/// [`ToolChoice::None`].
///
/// ```
/// use toolmend::{Calls, Finish, Mender, TurnOptions};
/// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
/// let text = r#"{"name": "get_time", "arguments": {}}"#;
/// let calls = |lowest| mender.turn(text, &TurnOptions::new().calls(lowest), Finish::Stop).calls.len();
/// assert_eq!((calls(Calls::Named), calls(Calls::Marked)), (1, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Calls {
    /// Only calls after a marker that means a call and nothing else.
    Marked,
    /// Also text that has exactly the shape of a call of a declared tool.
    Named,
    /// Also an output that is nothing but the arguments of exactly one tool.
    #[default]
    Nameless,
}

wire_names!(
    Calls, "evidence for calls",
    Marked => "marked",
    Named => "named",
    Nameless => "nameless",
);

impl Calls {
    /// Returns one line that says what counts, for help texts.
    ///
    /// ```
    /// assert_eq!(toolmend::Calls::Marked.summary(), "Only calls after a marker");
    /// ```
    pub const fn summary(self) -> &'static str {
        match self {
            Calls::Marked => "Only calls after a marker",
            Calls::Named => "Also text with the shape of a call of a declared tool",
            Calls::Nameless => "Also an output that is only the arguments of exactly one tool",
        }
    }
}

/// Which calls the request allows.
///
/// ```
/// use serde_json::json;
/// use toolmend::ToolChoice;
/// assert_eq!(ToolChoice::from_value(&json!("none")), Some(ToolChoice::None));
/// let named = json!({"type": "function", "function": {"name": "search"}});
/// assert_eq!(ToolChoice::from_value(&named), Some(ToolChoice::Tool("search".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No calls. All text stays text.
    None,
    /// At least one call.
    Required,
    /// A call of this tool.
    Tool(String),
}

impl ToolChoice {
    /// Reads the field `tool_choice` of a request, as Chat Completions, Responses and Anthropic write it.
    ///
    /// ```
    /// use toolmend::ToolChoice;
    /// let anthropic = serde_json::json!({"type": "any"});
    /// assert_eq!(ToolChoice::from_value(&anthropic), Some(ToolChoice::Required));
    /// assert_eq!(ToolChoice::from_value(&serde_json::json!(7)), None);
    /// ```
    pub fn from_value(value: &Value) -> Option<Self> {
        let word = match value {
            Value::Null => return Some(ToolChoice::Auto),
            Value::String(word) => word.as_str(),
            Value::Object(fields) => {
                let name = |object: &Value| object.get("name")?.as_str().map(str::to_owned);
                if let Some(name) = value.get("function").and_then(name).or_else(|| name(value)) {
                    return Some(ToolChoice::Tool(name));
                }
                fields.get("mode").or_else(|| fields.get("type"))?.as_str()?
            }
            _ => return None,
        };
        match word {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" | "any" => Some(ToolChoice::Required),
            _ => None,
        }
    }
}

/// A kind of evidence that text is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A marker that means a call and nothing else.
    Marked,
    /// The form that the prompt asked for, or any form if the request demands a call.
    AskedFor,
    /// The shape of a call of a declared tool.
    Named,
    /// The arguments of a tool without its name.
    Nameless,
}

/// What a rung of the ladder needs, and what it is good for.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the columns of a table")]
pub(crate) struct Rung {
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "it names the row, for readers and for the test of the order")
    )]
    pub(crate) evidence: Evidence,
    /// The setting from which it counts.
    pub(crate) counts_from: Calls,
    /// It counts with words after it, and in a fence with words after that.
    pub(crate) among_words: bool,
    /// It counts with words before it.
    pub(crate) after_words: bool,
    /// It counts if the request asks for an answer in JSON.
    pub(crate) beside_structured_answer: bool,
    /// It counts for tools that destroy or send something.
    pub(crate) for_destructive_tools: bool,
    /// The highest tier of repairs that it may need.
    pub(crate) repairs: Tier,
    /// A call that cannot run is reported. Otherwise it is text.
    pub(crate) is_reported: bool,
}

/// The ladder, the strongest evidence first.
#[rustfmt::skip]
pub(crate) const LADDER: [Rung; 4] = [
    Rung { evidence: Evidence::Marked,   counts_from: Calls::Marked,   among_words: true,  after_words: true,  beside_structured_answer: true,  for_destructive_tools: true,  repairs: Tier::Assumed,  is_reported: true },
    Rung { evidence: Evidence::AskedFor, counts_from: Calls::Marked,   among_words: true,  after_words: true,  beside_structured_answer: false, for_destructive_tools: true,  repairs: Tier::Assumed,  is_reported: true },
    Rung { evidence: Evidence::Named,    counts_from: Calls::Named,    among_words: false, after_words: true,  beside_structured_answer: false, for_destructive_tools: true,  repairs: Tier::Guided,   is_reported: false },
    Rung { evidence: Evidence::Nameless, counts_from: Calls::Nameless, among_words: false, after_words: false, beside_structured_answer: false, for_destructive_tools: false, repairs: Tier::Lossless, is_reported: false },
];

impl Evidence {
    /// The row of the ladder.
    pub(crate) fn rung(self) -> &'static Rung {
        &LADDER[self as usize]
    }
}

/// What the request says about calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RequestContext {
    pub(crate) choice: ToolChoice,
    /// The answer is to be JSON.
    pub(crate) structured_answer: bool,
    /// At most one call may be made.
    pub(crate) single_call: bool,
}

impl RequestContext {
    /// Whether the request demands a call.
    pub(crate) fn demands_call(&self) -> bool {
        matches!(self.choice, ToolChoice::Required | ToolChoice::Tool(_))
    }

    /// Whether this evidence counts under the request, with this setting.
    pub(crate) fn admits(&self, evidence: Evidence, lowest: Calls) -> bool {
        let rung = evidence.rung();
        self.choice != ToolChoice::None
            && rung.counts_from <= lowest
            && (!self.structured_answer || rung.beside_structured_answer)
    }
}

/// Whether `response_format` asks for JSON.
pub(crate) fn asks_for_json(format: &Value) -> bool {
    #[derive(Deserialize)]
    struct Format {
        r#type: String,
    }
    let kind = match format {
        Value::String(kind) => Some(kind.clone()),
        _ => Format::deserialize(format).ok().map(|format| format.r#type),
    };
    matches!(kind.as_deref(), Some("json_object" | "json_schema" | "json"))
}

/// Verbs of tools that destroy, send or pay. What they do cannot be undone.
const DESTRUCTIVE_VERBS: &[&str] = &[
    "delete",
    "remove",
    "rm",
    "rmdir",
    "del",
    "erase",
    "wipe",
    "purge",
    "destroy",
    "drop",
    "truncate",
    "clear",
    "kill",
    "terminate",
    "shutdown",
    "reboot",
    "overwrite",
    "reset",
    "revoke",
    "uninstall",
    "cancel",
    "send",
    "email",
    "post",
    "publish",
    "pay",
    "buy",
    "purchase",
    "transfer",
    "withdraw",
    "refund",
    "charge",
    "submit",
    "deploy",
    "execute",
    "exec",
    "run",
    "write",
    "move",
    "rename",
];

/// Whether a word of this name says that the tool destroys, sends or pays.
///
/// Words are told apart by `_`, `-`, `.` and capitals: `deleteFile` has the word `delete`, `undeleted` has not.
pub(crate) fn has_destructive_verb(name: &str) -> bool {
    let mut word = String::new();
    let mut was_lower = false;
    for ch in name.chars().chain(['_']) {
        if !ch.is_alphanumeric() || ch.is_uppercase() && was_lower {
            if DESTRUCTIVE_VERBS.contains(&word.as_str()) {
                return true;
            }
            word.clear();
        }
        was_lower = ch.is_lowercase() || ch.is_numeric();
        if ch.is_alphanumeric() {
            word.extend(ch.to_lowercase());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_table_is_in_the_order_of_the_rungs() {
        for (index, rung) in LADDER.iter().enumerate() {
            assert_eq!(rung.evidence as usize, index);
        }
        assert!(LADDER.is_sorted_by(|a, b| a.counts_from <= b.counts_from && a.repairs >= b.repairs));
    }

    #[test]
    fn tool_choices_are_read_as_every_surface_writes_them() {
        for (value, choice) in [
            (json!(null), Some(ToolChoice::Auto)),
            (json!("auto"), Some(ToolChoice::Auto)),
            (json!("required"), Some(ToolChoice::Required)),
            (json!({"type": "none"}), Some(ToolChoice::None)),
            (json!({"type": "tool", "name": "f"}), Some(ToolChoice::Tool("f".into()))),
            (json!({"type": "function", "name": "f"}), Some(ToolChoice::Tool("f".into()))),
            (json!({"type": "allowed_tools", "mode": "auto", "tools": []}), Some(ToolChoice::Auto)),
            (json!("sometimes"), None),
            (json!(["f"]), None),
        ] {
            assert_eq!(ToolChoice::from_value(&value), choice, "{value}");
        }
    }

    #[test]
    fn answers_in_json_are_told_from_text() {
        for (format, json) in [
            (json!({"type": "json_object"}), true),
            (json!({"type": "json_schema", "json_schema": {}}), true),
            (json!({"type": "text"}), false),
            (json!(null), false),
        ] {
            assert_eq!(asks_for_json(&format), json, "{format}");
        }
    }

    #[test]
    fn verbs_are_whole_words() {
        for name in ["delete_file", "deleteFile", "fs.rm", "send-email", "SendEmail", "mailer_send"] {
            assert!(has_destructive_verb(name), "{name}");
        }
        for name in ["undeleted", "get_weather", "postcode", "prune2", "runtime_info", "confirmed"] {
            assert!(!has_destructive_verb(name), "{name}");
        }
    }
}
