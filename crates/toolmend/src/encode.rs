//! The JSON form of verdicts, calls, turns, events and repairs, defined once for every consumer.
//!
//! This module writes what the library has decided. It never judges, repairs or reads anything. The names of enum
//! variants are not here but next to the enums; see [`wire_names`](crate::wire_names).
//!
//! The fields of the plain form are those of the batch protocol, which is stable: a field may be added, but none is
//! renamed, moved or removed.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::json::strict::{self, MAX_DEPTH};
use crate::json::text::compact_json;
use crate::repair::Repair;
use crate::turn::{Call, Event, Source, Turn};
use crate::verdict::{Refusal, Verdict, Violation};

/// How verdicts, calls, turns, events and repairs are serialised.
///
/// Each of these types implements [`Serialize`] with the default encoding, which is the one of the batch protocol:
/// arguments are embedded as JSON, with every number and string spelt as the model wrote it. An `Encoding` of your own
/// adds what only the caller knows, or writes the detailed form.
///
/// Embedded JSON needs `serde_json` as the serialiser. For any other format take [`Encoding::detailed`].
///
/// ```
/// use toolmend::Encoding;
///
/// let verdict = toolmend::fix("{price: 1.50}");
/// assert_eq!(
///     serde_json::to_string(&verdict)?,
///     r#"{"outcome":"mended","value":{"price":1.50},"repairs":[{"kind":"key_quoted","path":"/price","at":[1,6]}]}"#,
/// );
///
/// let encoding = Encoding::new().value_field("result").without_positions();
/// assert_eq!(
///     serde_json::to_string(&encoding.encode(&verdict))?,
///     r#"{"outcome":"mended","result":{"price":1.50},"repairs":[{"kind":"key_quoted","path":"/price"}]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Encoding<'a> {
    value_field: Option<&'a str>,
    called: Option<&'a str>,
    input: Option<&'a str>,
    notes: &'a [String],
    with_positions: bool,
    is_detailed: bool,
}

impl Default for Encoding<'_> {
    fn default() -> Self {
        Encoding {
            value_field: None,
            called: None,
            input: None,
            notes: &[],
            with_positions: true,
            is_detailed: false,
        }
    }
}

impl<'a> Encoding<'a> {
    /// The encoding of the batch protocol.
    ///
    /// ```
    /// let verdict = toolmend::fix("[1, 2]");
    /// let json = serde_json::to_value(toolmend::Encoding::new().encode(&verdict))?;
    /// assert_eq!(json, serde_json::json!({"outcome": "clean", "value": [1, 2], "repairs": []}));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoding with everything that is known: repairs with their layer, tier and summary, refusals with their
    /// message and violations, calls with their position and text, the whole verdict on an answer. JSON values are written as strings of JSON text, so
    /// that a reader can parse them when it needs them.
    ///
    /// ```
    /// let verdict = toolmend::fix("{a: 1}");
    /// let json = serde_json::to_value(toolmend::Encoding::detailed().encode(&verdict))?;
    /// assert_eq!(json["value"], r#"{"a": 1}"#);
    /// assert_eq!(json["repairs"][0]["tier"], "lossless");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn detailed() -> Self {
        Encoding { is_detailed: true, ..Self::default() }
    }

    /// Sets the name of the field with the JSON to run with. Without it, that is `arguments` for a call of a tool and
    /// `value` for plain JSON.
    ///
    /// ```
    /// let encoding = toolmend::Encoding::new().value_field("json");
    /// let json = serde_json::to_value(encoding.encode(&toolmend::fix("[]")))?;
    /// assert_eq!(json["json"], serde_json::json!([]));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn value_field(mut self, name: &'a str) -> Self {
        self.value_field = Some(name);
        self
    }

    /// Sets the tool that is written if the call resolved to none: the name that the model used.
    ///
    /// ```
    /// let mender = toolmend::Mender::new(&serde_json::json!(["list_dir"])).unwrap();
    /// let encoding = toolmend::Encoding::new().called_tool(Some("remove"));
    /// let json = serde_json::to_value(encoding.encode(&mender.mend("remove", "{}")))?;
    /// assert_eq!((&json["tool"], &json["reason"]), (&"remove".into(), &"unknown_tool".into()));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn called_tool(mut self, name: Option<&'a str>) -> Self {
        self.called = name;
        self
    }

    /// Sets the input that is written as `raw` if the verdict does not run. Without it, that is the text that the
    /// verdict refused, which can be a part of what the caller had.
    ///
    /// ```
    /// let encoding = toolmend::Encoding::new().input("the whole line");
    /// let json = serde_json::to_value(encoding.encode(&toolmend::fix("nothing")))?;
    /// assert_eq!(json["raw"], "the whole line");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn input(mut self, input: &'a str) -> Self {
        self.input = Some(input);
        self
    }

    /// Adds notes after those of the verdict or turn.
    ///
    /// ```
    /// let notes = ["the schema is broken".to_owned()];
    /// let encoding = toolmend::Encoding::new().notes(&notes);
    /// let json = serde_json::to_value(encoding.encode(&toolmend::fix("{}")))?;
    /// assert_eq!(json["notes"][0], "the schema is broken");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn notes(mut self, notes: &'a [String]) -> Self {
        self.notes = notes;
        self
    }

    /// Leaves out the positions of repairs. They mean nothing to a caller whose arguments were a parsed value.
    ///
    /// ```
    /// let encoding = toolmend::Encoding::new().without_positions();
    /// let json = serde_json::to_value(encoding.encode(&toolmend::fix("[1,]")))?;
    /// assert_eq!(json["repairs"][0].get("at"), None);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn without_positions(mut self) -> Self {
        self.with_positions = false;
        self
    }

    /// Returns a value that serialises `item` with this encoding. `item` is a [`Verdict`], [`Call`], [`Turn`],
    /// [`Event`], [`Repair`] or [`Refusal`].
    ///
    /// ```
    /// let verdict = toolmend::fix("[1, 2]");
    /// let encoded = toolmend::Encoding::detailed().encode(&verdict);
    /// assert_eq!(serde_json::to_string(&encoded)?, r#"{"outcome":"clean","value":"[1, 2]","repairs":[]}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn encode<T>(self, item: &'a T) -> Encoded<'a, T> {
        Encoded { encoding: self, item }
    }

    fn list<T>(self, items: &'a [T]) -> List<'a, T> {
        List { encoding: self, items }
    }

    fn json(self, text: &'a str) -> Json<'a> {
        Json { text, as_text: self.is_detailed }
    }

    /// Writes the JSON to run with. The preset `off` passes text that is not JSON: it is written as the string `raw`.
    fn write_value<M: SerializeMap>(self, map: &mut M, field: &str, json: &str) -> Result<(), M::Error> {
        if self.is_detailed {
            return map.serialize_entry(field, json);
        }
        match embed_json(json) {
            Some(value) => map.serialize_entry(field, &value),
            None => map.serialize_entry("raw", json),
        }
    }

    /// Writes why something does not run, and what is needed to go on from there.
    fn write_refusal<M: SerializeMap>(
        self,
        map: &mut M,
        refusal: &Refusal,
        values: &[String],
    ) -> Result<(), M::Error> {
        if let Some(reason) = refusal.reason {
            map.serialize_entry("reason", &reason)?;
        }
        for (name, texts) in [("values", values), ("readings", &refusal.readings)] {
            if !texts.is_empty() {
                let texts: Vec<_> = texts.iter().map(|text| self.json(text)).collect();
                map.serialize_entry(name, &texts)?;
            }
        }
        if let Some(cut) = &refusal.cut {
            map.serialize_entry("cut", cut)?;
        }
        if let Some(partial) = &refusal.partial {
            map.serialize_entry("partial", &self.json(partial))?;
        }
        let message = Some(&refusal.message).filter(|message| !message.is_empty());
        if self.is_detailed {
            if let Some(message) = message {
                map.serialize_entry("message", message)?;
            }
            if !refusal.violations.is_empty() {
                map.serialize_entry("violations", &refusal.violations)?;
            }
        }
        if let Some(feedback) = refusal.feedback.as_ref().or(message) {
            map.serialize_entry("feedback", feedback)?;
        }
        Ok(())
    }

    fn write_notes<M: SerializeMap>(self, map: &mut M, notes: &[String]) -> Result<(), M::Error> {
        if notes.is_empty() && self.notes.is_empty() {
            return Ok(());
        }
        let notes: Vec<&String> = notes.iter().chain(self.notes).collect();
        map.serialize_entry("notes", &notes)
    }
}

/// An item with the way in which it is serialised; see [`Encoding::encode`].
///
/// ```
/// let verdict = toolmend::fix("[1,]");
/// let encoded = toolmend::Encoding::new().encode(&verdict.repairs()[0]);
/// assert_eq!(serde_json::to_string(&encoded)?, r#"{"kind":"trailing_comma_removed","path":"","at":[2,3]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Encoded<'a, T> {
    encoding: Encoding<'a>,
    item: &'a T,
}

impl Serialize for Encoded<'_, Verdict<'_>> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: verdict } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("outcome", &verdict.outcome())?;
        let tool = verdict.tool().or(encoding.called);
        if let Some(tool) = tool {
            map.serialize_entry("tool", tool)?;
        }
        if let Some(json) = verdict.json() {
            let field = encoding.value_field.unwrap_or(if tool.is_some() { "arguments" } else { "value" });
            encoding.write_value(&mut map, field, json)?;
        } else if verdict.outcome().runs() {
            map.serialize_entry("calls", &SeveralCalls { encoding, verdict, tool })?;
        }
        map.serialize_entry("repairs", &encoding.list(verdict.repairs()))?;
        if let Some(refusal) = verdict.refusal() {
            encoding.write_refusal(&mut map, refusal, verdict.values())?;
            if let Some(input) = encoding.input.or(verdict.refused_input()) {
                map.serialize_entry("raw", input)?;
            }
        }
        encoding.write_notes(&mut map, verdict.notes())?;
        map.end()
    }
}

impl Serialize for Encoded<'_, Call> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: call } = *self;
        let verdict = &call.verdict;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &call.name)?;
        if let Some(id) = &call.id {
            map.serialize_entry("id", id)?;
        }
        if let Some(json) = call.arguments() {
            encoding.write_value(&mut map, encoding.value_field.unwrap_or("arguments"), json)?;
        }
        map.serialize_entry("outcome", &verdict.outcome())?;
        map.serialize_entry("source", &call.source)?;
        map.serialize_entry("dialect", call.dialect)?;
        if encoding.is_detailed {
            if let Some(tool) = verdict.tool() {
                map.serialize_entry("tool", tool)?;
            }
            if verdict.outcome().runs() && verdict.json().is_none() {
                let tool = verdict.tool();
                map.serialize_entry("calls", &SeveralCalls { encoding, verdict, tool })?;
            }
            map.serialize_entry("at", &(call.at.start, call.at.end))?;
        }
        map.serialize_entry("repairs", &encoding.list(verdict.repairs()))?;
        if let Some(refusal) = verdict.refusal() {
            encoding.write_refusal(&mut map, refusal, verdict.values())?;
        }
        if encoding.is_detailed || verdict.refusal().is_some() {
            map.serialize_entry("raw", &call.raw)?;
        }
        encoding.write_notes(&mut map, verdict.notes())?;
        map.end()
    }
}

impl Serialize for Encoded<'_, Turn> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: turn } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("outcome", &turn.outcome())?;
        map.serialize_entry("content", &turn.content)?;
        if !turn.reasoning.is_empty() {
            map.serialize_entry("reasoning", &turn.reasoning)?;
        }
        map.serialize_entry("calls", &Encoding { notes: &[], ..encoding }.list(&turn.calls))?;
        if !turn.repairs.is_empty() {
            map.serialize_entry("repairs", &encoding.list(&turn.repairs))?;
        }
        if let Some(answer) = &turn.answer {
            map.serialize_entry("content_outcome", &answer.outcome())?;
            map.serialize_entry("content_repairs", &encoding.list(answer.repairs()))?;
            if let Some(reason) = answer.reason() {
                map.serialize_entry("content_reason", &reason)?;
            }
            if let Some(feedback) = answer.feedback() {
                map.serialize_entry("content_feedback", feedback)?;
            }
            if encoding.is_detailed {
                map.serialize_entry("answer", &encoding.encode(answer))?;
            }
        }
        encoding.write_notes(&mut map, &turn.notes)?;
        map.end()
    }
}

impl Serialize for Encoded<'_, Event> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: event } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", event_type(event))?;
        match event {
            Event::Content(text) | Event::Reasoning(text) | Event::Note(text) => {
                map.serialize_entry("text", text)?;
            }
            Event::CallStart { index, name, id } => {
                map.serialize_entry("index", index)?;
                map.serialize_entry("name", name)?;
                if let Some(id) = id {
                    map.serialize_entry("id", id)?;
                }
            }
            Event::Removed(repair) => map.serialize_entry("repair", &encoding.encode(repair))?,
            Event::ArgumentsDelta { index, text } => {
                map.serialize_entry("index", index)?;
                map.serialize_entry("text", text)?;
            }
            Event::Preview { index, name, json } => {
                map.serialize_entry("index", index)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("partial", &encoding.json(json))?;
                map.serialize_entry("incomplete", &true)?;
            }
            Event::CallEnd { index, call }
            | Event::CallCut { index, call }
            | Event::CallRejected { index, call } => {
                map.serialize_entry("index", index)?;
                map.serialize_entry("call", &encoding.encode(&**call))?;
            }
        }
        map.end()
    }
}

/// The name of an event's type in JSON.
fn event_type(event: &Event) -> &'static str {
    match event {
        Event::Content(_) => "content",
        Event::Reasoning(_) => "reasoning",
        Event::CallStart { .. } => "call_start",
        Event::ArgumentsDelta { .. } => "arguments_delta",
        Event::CallEnd { .. } => "call_end",
        Event::CallCut { .. } => "call_cut",
        Event::CallRejected { .. } => "call_rejected",
        Event::Preview { .. } => "preview",
        Event::Removed(_) => "removed",
        Event::Note(_) => "note",
    }
}

impl Serialize for Encoded<'_, Repair> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: repair } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("kind", &repair.kind)?;
        if encoding.is_detailed {
            let row = repair.kind.info();
            map.serialize_entry("layer", &row.layer)?;
            map.serialize_entry("tier", &row.tier)?;
            map.serialize_entry("summary", row.summary)?;
        }
        map.serialize_entry("path", &repair.path)?;
        if let Some(at) = repair.at.as_ref().filter(|_| encoding.with_positions) {
            map.serialize_entry("at", &(at.start, at.end))?;
        }
        map.end()
    }
}

impl Serialize for Encoded<'_, Refusal> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Encoded { encoding, item: refusal } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("outcome", &refusal.outcome())?;
        encoding.write_refusal(&mut map, refusal, &[])?;
        map.end()
    }
}

macro_rules! serialize_with_default_encoding {
    ($($type:ty),+) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                Encoding::default().encode(self).serialize(to)
            }
        })+
    };
}

serialize_with_default_encoding!(Verdict<'_>, Call, Turn, Event, Repair, Refusal);

impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("keyword", &self.keyword)?;
        map.serialize_entry("schema_path", &self.schema_path)?;
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Items that are each serialised with the same encoding.
struct List<'a, T> {
    encoding: Encoding<'a>,
    items: &'a [T],
}

impl<'a, T> Serialize for List<'a, T>
where
    Encoded<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.items.iter().map(|item| self.encoding.encode(item)))
    }
}

/// The calls of a text that held several different values.
struct SeveralCalls<'a> {
    encoding: Encoding<'a>,
    verdict: &'a Verdict<'a>,
    tool: Option<&'a str>,
}

impl Serialize for SeveralCalls<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.verdict.values().len()))?;
        for value in self.verdict.values() {
            list.serialize_element(&OneOfSeveral { several: self, value })?;
        }
        list.end()
    }
}

struct OneOfSeveral<'a> {
    several: &'a SeveralCalls<'a>,
    value: &'a str,
}

impl Serialize for OneOfSeveral<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let SeveralCalls { encoding, verdict, tool } = self.several;
        let mut map = to.serialize_map(None)?;
        if let Some(tool) = tool {
            map.serialize_entry("name", tool)?;
        }
        map.serialize_entry("arguments", &encoding.json(self.value))?;
        map.serialize_entry("outcome", &verdict.outcome())?;
        map.end()
    }
}

/// JSON text as the value that it is. Text that is not JSON is written as a string, so that the document stays valid.
struct Json<'a> {
    text: &'a str,
    as_text: bool,
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match embed_json(self.text).filter(|_| !self.as_text) {
            Some(value) => value.serialize(to),
            None => to.serialize_str(self.text),
        }
    }
}

/// Returns JSON text as a value on one line, every token spelt as it was; `None` if it is not JSON.
fn embed_json(text: &str) -> Option<Box<RawValue>> {
    let compact = compact_json(text);
    // Without its white space, text such as `1 2` could become JSON.
    let is_json = compact.len() == text.len()
        || strict::check(text, MAX_DEPTH).is_ok()
        || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json { RawValue::from_string(compact).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::fix;

    fn to_json(item: &impl Serialize) -> String {
        serde_json::to_string(item).unwrap()
    }

    #[test]
    fn numbers_and_strings_keep_their_spelling() {
        let text = "{ \"a\" : 1.10,\n \"b\": 123456789012345678901234567890, \"c\": \"\\u00e9\\/\" }";
        assert_eq!(
            to_json(&fix(text)),
            "{\"outcome\":\"clean\",\"value\":{\"a\":1.10,\"b\":123456789012345678901234567890,\"c\":\"\\u00e9\\/\"},\"repairs\":[]}"
        );
    }

    #[test]
    fn text_that_is_not_json_becomes_a_string() {
        let options = crate::FixOptions::new().policy(crate::Policy::preset(crate::Preset::Off));
        for text in ["1 2", "{a: 1}", "", "\"open"] {
            let verdict = crate::fix_with(text, &options);
            let expected = serde_json::json!({"outcome": "clean", "raw": text, "repairs": []});
            assert_eq!(serde_json::to_value(&verdict).unwrap(), expected);
        }
    }

    #[test]
    fn a_refusal_says_why_and_shows_the_input() {
        let json = serde_json::to_value(fix("{\"a\": 1, \"b\": \"half")).unwrap();
        assert_eq!(json["outcome"], "truncated");
        assert_eq!(json["cut"], "/b");
        assert_eq!(json["partial"], serde_json::json!({"a": 1}));
        assert_eq!(json["raw"], "{\"a\": 1, \"b\": \"half");
        assert!(json["feedback"].is_string());
    }

    #[test]
    fn events_name_their_type() {
        let events =
            [Event::Content("Hi".to_owned()), Event::CallStart { index: 0, name: "f".to_owned(), id: None }];
        assert_eq!(
            to_json(&events),
            r#"[{"type":"content","text":"Hi"},{"type":"call_start","index":0,"name":"f"}]"#
        );
    }
}
