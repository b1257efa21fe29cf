//! Live delivery: strings flow while what was told is certain to begin the final arguments.
//!
//! What can be told is a function of the text of the call alone: it only grows with the text, and it stops for good at the
//! first thing that more text could change. So pieces decide when it is told, and nothing else. It is compared with the
//! final arguments in the end, whether it was told early or not.

use super::stable_prefix;
use super::{CallContext, Stream};
use crate::dialect::block::Block;
use crate::dialect::custom::CustomTable;
use crate::dialect::input::Step;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::token::{self, TextKind};
use crate::dialect::untyped_values;
use crate::json::text;
use crate::schema::guide::{Guide, Types};
use crate::turn::{Call, Delivery, Event, Source};
use crate::verdict::Reason;

/// What was told of the call that is being read.
#[derive(Debug, Default)]
pub(super) struct LiveCall {
    /// The beginning of the arguments.
    sent: String,
    started: bool,
    /// The string that is open, so that it can go on without reading the call again.
    open_string: Option<OpenString>,
}

/// A place in the output, inside a string that has not ended.
#[derive(Debug, Clone, Copy)]
struct OpenString {
    at: usize,
    kind: Notation,
}

/// How the string is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Between tags, as it is.
    Tagged,
    /// As a JSON string.
    Json,
}

/// What can be told of a call, and where its open string goes on.
struct StableArguments {
    text: String,
    /// How far that goes in the buffer.
    end: usize,
    open_string: Option<OpenString>,
}

impl Stream {
    /// Tells what is certain of the call at this place, which has not ended.
    pub(super) fn send_stable_arguments(&mut self, at: usize) {
        if !self.delivers_live() {
            return;
        }
        // One word in front of the call is told with it, or as text before it.
        if self.is_lone_word(at) {
            return;
        }
        let Some(call) = self.stable_call(at) else { return };
        let Some(certain) = self.stable_arguments(&call) else { return };
        self.live.open_string = certain.open_string;
        self.send_arguments(&call, certain.text);
    }

    /// Goes on with the string that is open.
    pub(super) fn continue_open_string(&mut self) {
        let Some(place) = self.live.open_string.filter(|_| self.delivers_live()) else { return };
        let Some(from) = place.at.checked_sub(self.offset).filter(|&from| from <= self.buffer.len()) else {
            return;
        };
        let rest = &self.buffer[from..];
        let mut delta = String::new();
        let length = match place.kind {
            Notation::Tagged => {
                let value = &rest[..untagged_length(rest, self.custom.table())];
                text::escape_into(&mut delta, value);
                value.len()
            }
            Notation::Json => {
                let length = stable_prefix::string_length(rest);
                delta.push_str(&rest[..length]);
                length
            }
        };
        self.live.open_string = Some(OpenString { at: place.at + length, ..place });
        if !delta.is_empty() {
            self.live.sent.push_str(&delta);
            self.events.push(Event::ArgumentsDelta { index: self.calls, text: delta });
        }
    }

    fn delivers_live(&self) -> bool {
        // What was shown may be made now, and then it is not told again.
        self.delivery == Delivery::Live && self.text_kind == TextKind::Content && self.shown.is_empty()
    }

    fn send_arguments(&mut self, call: &RawCall, text: String) {
        if !text.starts_with(&self.live.sent) || text.len() == self.live.sent.len() {
            return;
        }
        let (index, name, id) = (self.calls, call.name.clone(), call.id.clone());
        if !self.live.started {
            self.live.started = true;
            self.events.push(Event::CallStart { index, name, id });
        }
        let delta = text[self.live.sent.len()..].to_owned();
        self.events.push(Event::ArgumentsDelta { index, text: delta });
        self.live.sent = text;
    }

    /// The most that can be told of a call before it ends: its first arguments, as long as they are strings, up to the end of
    /// the last of them. A declared tool by its own name, declared keys, and strings that stay strings.
    fn stable_arguments(&self, call: &RawCall) -> Option<StableArguments> {
        let guide = self.mender.tool(&call.name)?.schema()?.guide();
        match &call.arguments {
            RawArguments::Fields(_) => self.stable_tagged_arguments(call, guide),
            RawArguments::Text(range) => {
                let written = self.buffer.get(range.clone())?;
                let flow = stable_prefix::of_object(written, |key| is_string(guide, key))?;
                let place = flow.open.then(|| OpenString {
                    at: self.offset + range.start + flow.length,
                    kind: Notation::Json,
                });
                let end = range.start + flow.length;
                Some(StableArguments { text: written[..flow.length].to_owned(), end, open_string: place })
            }
            RawArguments::Decoded(..) | RawArguments::Refused(..) => None,
        }
    }

    fn stable_tagged_arguments(&self, call: &RawCall, guide: &Guide) -> Option<StableArguments> {
        let RawArguments::Fields(fields) = &call.arguments else { return None };
        let flows =
            |field: &&Field| is_string(guide, &field.key) && !matches!(field.value, RawValue::Json(_));
        let run = fields.iter().take_while(flows).count();
        let mut out = untyped_values::write_object(&fields[..run], guide);
        out.pop();
        // A key that stands twice keeps its first value.
        let again = |key: &str| fields.iter().any(|field| field.key == key);
        let open = call
            .open
            .as_ref()
            .filter(|open| run == fields.len() && is_string(guide, &open.key) && !again(&open.key));
        let Some(open) = open else {
            // The quote of the last string is told with what follows it.
            out.pop();
            let end = fields[..run].last()?.at.end;
            return Some(StableArguments { text: out, end, open_string: None });
        };
        let value = self.buffer.get(open.at..call.at.end)?;
        let value = &value[..certain_length(value, self.custom.table())];
        if run > 0 {
            out.push_str(", ");
        }
        text::quote_into(&mut out, &open.key);
        out.push_str(": \"");
        let inner = if open.verbatim {
            value
        } else {
            value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value)
        };
        let told = inner.trim_end_matches(['\n', '\r']);
        text::escape_into(&mut out, told);
        let end = open.at + value.len() - inner.len() + told.len();
        // Without a first character nobody knows whether a line break is the value's own.
        let place =
            (!told.is_empty()).then_some(OpenString { at: self.offset + end, kind: Notation::Tagged });
        Some(StableArguments { text: out, end, open_string: place })
    }

    /// Tells the most that could have been told of the call that was read at this place, so that pieces do not matter.
    pub(super) fn send_all_stable_arguments(&mut self, at: usize, end: usize) {
        if !self.delivers_live() {
            return;
        }
        let Some(mut call) = self.stable_call_up_to(at, end) else { return };
        call.at.end = call.at.end.min(end);
        if let Some(certain) = self.stable_arguments(&call) {
            self.send_arguments(&call, certain.text);
        }
        self.live.open_string = None;
    }

    /// The same, for a call that was read this way.
    pub(super) fn refuse_begun_call_in(&mut self, at: usize, context: CallContext) -> bool {
        self.context = context;
        self.refuse_begun_call(at)
    }

    /// A call that has begun, with arguments that may have been told, and goes on as no call: it goes back.
    pub(super) fn refuse_begun_call(&mut self, at: usize) -> bool {
        if self.text_kind != TextKind::Content || self.is_lone_word(at) {
            return false;
        }
        let Some(call) = self.stable_call(at) else { return false };
        let Some(end) = self.stable_arguments(&call).map(|certain| certain.end) else { return false };
        let arguments =
            RawArguments::Refused(Reason::Syntax, "what follows the first arguments belongs to no call");
        let call = RawCall { arguments, at: at..end, ending: Ending::Complete, open: None, ..call };
        self.accept_block(at, Block::one(call), Source::Explicit);
        true
    }

    /// Whether what was told of a call begins its final arguments, and what is still to be told.
    pub(super) fn take_unsent_arguments<'c>(&mut self, call: &'c Call) -> Option<&'c str> {
        let told = std::mem::take(&mut self.live);
        call.arguments().and_then(|json| json.strip_prefix(told.sent.as_str()))
    }

    pub(super) fn has_started(&self) -> bool {
        self.live.started
    }
}

/// Whether the tool declares this key, and for strings alone.
fn is_string(guide: &Guide, key: &str) -> bool {
    let declared = guide.properties(guide.root()).find(|(name, ..)| *name == key);
    declared.is_some_and(|(_, place, _)| guide.types(place) == Types::STRING)
}

/// How much of a value cannot be markup.
fn certain_length(value: &str, custom: &CustomTable) -> usize {
    // A section of characters is taken off as a whole.
    const SECTION: &str = "<![CDATA[";
    let start = value.trim_start();
    if start.starts_with(SECTION) || SECTION.starts_with(start) {
        return 0;
    }
    unmarked_length(value, custom)
}

/// The same, inside a value, and without line breaks that may stand before the closing tag.
fn untagged_length(value: &str, custom: &CustomTable) -> usize {
    value[..unmarked_length(value, custom)].trim_end_matches(['\n', '\r']).len()
}

fn unmarked_length(value: &str, custom: &CustomTable) -> usize {
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'<', &value.as_bytes()[at..]) {
        let mark = at + offset;
        if token::read(&value[mark..], false, custom) != Step::No {
            return mark;
        }
        at = mark + 1;
    }
    value.len()
}

#[cfg(test)]
mod tests {
    use crate::{Delivery, Event, Finish, Mender, TurnOptions};
    use serde_json::json;

    fn deliver(pieces: &[&str], finish: Finish) -> (Vec<String>, Vec<Event>) {
        let mender = Mender::new(&json!([{"name": "save", "parameters": {"type": "object", "properties": {
            "path": {"type": "string"}, "text": {"type": "string"}, "mode": {"type": "integer"},
        }, "required": ["path", "text"]}}]))
        .unwrap();
        let mut stream = mender.stream(&TurnOptions::new().delivery(Delivery::Live));
        let early: Vec<String> = pieces
            .iter()
            .map(|piece| {
                let deltas = stream.push(piece).into_iter().filter_map(|event| match event {
                    Event::ArgumentsDelta { text, .. } => Some(text),
                    _ => None,
                });
                deltas.collect()
            })
            .collect();
        (early, stream.finish(finish))
    }

    #[test]
    fn strings_flow_while_they_are_written() {
        let (early, _) = deliver(
            &[
                "<tool_call>\n<function=save>\n<parameter=path>\na.txt\n</parameter>\n",
                "<parameter=text>\nfirst line\n",
                "second <b>line</b>",
                "\n</parameter>\n</function>\n</tool_call>",
            ],
            Finish::Stop,
        );
        assert_eq!(early[0], r#"{"path": "a.txt"#);
        assert_eq!(early[1], r#"", "text": "first line"#);
        assert_eq!(early[2], r"\nsecond <b>line</b>");
        assert_eq!(early.concat(), r#"{"path": "a.txt", "text": "first line\nsecond <b>line</b>"}"#);
    }

    #[test]
    fn strings_of_json_flow_as_they_are_written() {
        let (early, _) = deliver(
            &[
                "<tool_call>\n{\"name\": \"save\", \"arguments\": {\"path\": \"a",
                ".txt\",  \"text\": \"first\\",
                "nsecond \\\"b\\\" ",
                "third\"}}\n</tool_call>",
            ],
            Finish::Stop,
        );
        assert_eq!(early[0], r#"{"path": "a"#);
        assert_eq!(early[1], r#".txt",  "text": "first"#);
        assert_eq!(early[2], r#"\nsecond \"b\" "#);
        assert_eq!(early.concat(), r#"{"path": "a.txt",  "text": "first\nsecond \"b\" third"}"#);
    }

    #[test]
    fn large_strings_flow_without_pauses() {
        for open in [
            "<tool_call>\n{\"name\": \"save\", \"arguments\": {\"path\": \"a",
            "<tool_call>\n<function=save>\n<parameter=path>\n",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.save:0<|tool_call_argument_begin|>{\"path\": \"",
            "<|channel|>commentary to=functions.save <|constrain|>json<|message|>{\"path\": \"",
        ] {
            let mut pieces = vec![open];
            pieces.extend(std::iter::repeat_n("0123456789abcdef", 5000));
            let (early, _) = deliver(&pieces, Finish::Length);
            let silent = early[1..].iter().filter(|told| told.len() != 16).count();
            assert!(silent <= 1, "{open}: {silent} pieces were not told at once");
        }
    }

    #[test]
    fn a_call_that_was_cut_off_never_ends() {
        let (early, rest) = deliver(&["<tool_call>\n<function=save>\n<parameter=path>\na.t"], Finish::Length);
        assert_eq!(early.concat(), r#"{"path": "a.t"#);
        assert!(matches!(rest.as_slice(), [Event::CallCut { .. }]), "{rest:?}");
    }

    #[test]
    fn what_the_schema_may_change_does_not_flow() {
        let (early, _) = deliver(
            &["<tool_call>\n<function=save>\n<parameter=mode>\n4", "2\n</parameter>\n"],
            Finish::Length,
        );
        assert_eq!(early.concat(), "");
    }
}
