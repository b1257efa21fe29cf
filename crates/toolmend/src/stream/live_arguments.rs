//! Live delivery: the beginning of a call's arguments is sent before the call ends.
//!
//! Only what no further text can change is sent: the first arguments of a declared tool, as long as they are strings.
//! This *stable* beginning depends on the text of the call alone and only grows with it, so the pieces of a stream
//! decide when it is sent and nothing else. An open string continues without reading the call again. At the end, the
//! final arguments must begin with what was sent; otherwise the call is refused.

use super::stable_prefix;
use super::{CallContext, Stream};
use crate::dialect::block::Block;
use crate::dialect::custom::CustomTable;
use crate::dialect::escaped_words;
use crate::dialect::input::Step;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::token::{self, TextKind};
use crate::dialect::untyped_values;
use crate::intent::Evidence;
use crate::json::text;
use crate::schema::guide::{Guide, Types};
use crate::turn::{Call, Delivery, Event};
use crate::verdict::Reason;

/// What was sent of the call that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveCall {
    /// The beginning of the arguments.
    sent: String,
    started: bool,
    /// The string that is open, so that it can continue without reading the call again.
    open_string: Option<OpenString>,
}

/// A position in the output, inside a string that has not ended.
#[derive(Debug, Clone, Copy)]
struct OpenString {
    at: usize,
    kind: Notation,
}

/// How the string is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Between tags, without escapes.
    Tagged,
    /// As a JSON string.
    Json,
}

/// The stable beginning of a call's arguments, and where its open string continues.
struct StableArguments {
    text: String,
    /// Where that beginning ends in the buffer.
    end: usize,
    open_string: Option<OpenString>,
}

impl Stream {
    /// Sends the stable arguments of the call at this position, which has not ended.
    pub(super) fn send_stable_arguments(&mut self, at: usize) {
        self.find_shown_call(at);
        if !self.delivers_live() {
            return;
        }
        // One word before the call is reported with it, or as text before it.
        if self.is_lone_word(at) || self.may_be_in_sentence(at) {
            return;
        }
        let Some(call) = self.stable_call(at) else { return };
        let Some(stable) = self.stable_arguments(&call) else { return };
        self.live.open_string = stable.open_string;
        self.send_arguments(&call, stable.text);
    }

    /// Continues the open string.
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

    pub(super) fn delivers_live(&self) -> bool {
        self.delivery == Delivery::Live && self.text_kind == TextKind::Content && self.held.is_none()
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

    /// The stable arguments of a call: its first arguments, as long as they are strings. The tool must be declared by
    /// exactly this name, and the keys must be declared for strings alone.
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
        // A key that occurs twice keeps its first value.
        let again = |key: &str| fields.iter().any(|field| field.key == key);
        let open = call
            .open
            .as_ref()
            .filter(|open| run == fields.len() && is_string(guide, &open.key) && !again(&open.key));
        let Some(open) = open else {
            // The quote of the last string is sent with what follows it.
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
        let sent = inner.trim_end_matches(['\n', '\r']);
        text::escape_into(&mut out, sent);
        let end = open.at + value.len() - inner.len() + sent.len();
        // Before the first character, it is not known whether a line break belongs to the value.
        let place =
            (!sent.is_empty()).then_some(OpenString { at: self.offset + end, kind: Notation::Tagged });
        Some(StableArguments { text: out, end, open_string: place })
    }

    /// Sends the most that could have been sent of the call that was read at this position, so that pieces do not
    /// matter.
    pub(super) fn send_all_stable_arguments(&mut self, at: usize, end: usize) {
        if !self.delivers_live() {
            return;
        }
        let Some(mut call) = self.stable_call_up_to(at, end) else { return };
        call.at.end = call.at.end.min(end);
        if let Some(stable) = self.stable_arguments(&call) {
            self.send_arguments(&call, stable.text);
        }
        self.live.open_string = None;
    }

    /// Refuses a call that was read in this context.
    pub(super) fn refuse_begun_call_in(&mut self, at: usize, context: CallContext) -> bool {
        self.context = context;
        self.refuse_begun_call(at)
    }

    /// Refuses a call whose first arguments may have been sent and which then continues as something else.
    pub(super) fn refuse_begun_call(&mut self, at: usize) -> bool {
        if self.text_kind != TextKind::Content || self.is_lone_word(at) {
            return false;
        }
        let Some(call) = self.stable_call(at) else { return false };
        let Some(end) = self.stable_arguments(&call).map(|stable| stable.end) else { return false };
        let arguments = RawArguments::Refused(
            Reason::Syntax,
            "expected more arguments or the end of the call after the first arguments, found other text",
        );
        let call = RawCall { arguments, at: at..end, ending: Ending::Complete, open: None, ..call };
        self.accept_block(at, Block::one(call), Evidence::Marked);
        true
    }

    /// The arguments that are still to be sent, if the final arguments begin with what was sent.
    pub(super) fn take_unsent_arguments<'c>(&mut self, call: &'c Call) -> Option<&'c str> {
        let live = std::mem::take(&mut self.live);
        call.arguments().and_then(|json| json.strip_prefix(live.sent.as_str()))
    }

    pub(super) fn has_started(&self) -> bool {
        self.live.started
    }
}

/// Whether the tool declares this key for strings alone.
pub(super) fn is_string(guide: &Guide, key: &str) -> bool {
    let declared = guide.properties(guide.root()).find(|(name, ..)| *name == key);
    declared.is_some_and(|(_, place, _)| guide.types(place) == Types::STRING)
}

/// How much of a value cannot be markup.
pub(super) fn certain_length(value: &str, custom: &CustomTable) -> usize {
    // A CDATA section is removed as a whole.
    const SECTION: &str = "<![CDATA[";
    let start = value.trim_start();
    if start.starts_with(SECTION) || SECTION.starts_with(start) {
        return 0;
    }
    unmarked_length(value, custom)
}

/// The same inside a value, without line breaks that may come before the closing tag.
fn untagged_length(value: &str, custom: &CustomTable) -> usize {
    value[..unmarked_length(value, custom)].trim_end_matches(['\n', '\r']).len()
}

fn unmarked_length(value: &str, custom: &CustomTable) -> usize {
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'<', &value.as_bytes()[at..]) {
        let mark = at + offset;
        let is_escaped = value[mark + 1..].starts_with(escaped_words::MARK);
        if is_escaped || token::read(&value[mark..], false, custom) != Step::No {
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
    fn strings_in_tags_are_sent_while_they_are_written() {
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
    fn json_strings_are_sent_as_they_are_written() {
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
    fn large_strings_are_sent_without_pauses() {
        for open in [
            "<tool_call>\n{\"name\": \"save\", \"arguments\": {\"path\": \"a",
            "<tool_call>\n<function=save>\n<parameter=path>\n",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.save:0<|tool_call_argument_begin|>{\"path\": \"",
            "<|channel|>commentary to=functions.save <|constrain|>json<|message|>{\"path\": \"",
        ] {
            let mut pieces = vec![open];
            pieces.extend(std::iter::repeat_n("0123456789abcdef", 5000));
            let (early, _) = deliver(&pieces, Finish::Length);
            let silent = early[1..].iter().filter(|sent| sent.len() != 16).count();
            assert!(silent <= 1, "{open}: {silent} pieces were not sent immediately");
        }
    }

    #[test]
    fn a_truncated_call_never_ends() {
        let (early, rest) = deliver(&["<tool_call>\n<function=save>\n<parameter=path>\na.t"], Finish::Length);
        assert_eq!(early.concat(), r#"{"path": "a.t"#);
        assert!(matches!(rest.as_slice(), [Event::CallCut { .. }]), "{rest:?}");
    }

    #[test]
    fn values_that_the_schema_may_change_are_not_sent_early() {
        let (early, _) = deliver(
            &["<tool_call>\n<function=save>\n<parameter=mode>\n4", "2\n</parameter>\n"],
            Finish::Length,
        );
        assert_eq!(early.concat(), "");
    }
}
