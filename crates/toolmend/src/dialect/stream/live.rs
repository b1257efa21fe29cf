//! Live delivery: strings flow while what was told is certain to begin the final arguments.
//!
//! Only arguments in tags of their own flow: their closing tags are the only thing that can end them, so everything before
//! the next tag is theirs. JSON is told when it is complete, because a quote further on can change what came before.

use super::Stream;
use crate::dialect::block::{Area, Reader};
use crate::dialect::raw::{Input, RawArguments, RawCall, Step};
use crate::dialect::token::{self, Lane};
use crate::dialect::typed;
use crate::guide::Types;
use crate::json::text;
use crate::turn::{Call, Delivery, Event};

/// What was told of the call that is being read.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The beginning of the arguments.
    sent: String,
    started: bool,
    /// Nothing more is told before the call is complete.
    stuck: bool,
}

impl Stream {
    /// Tells what is certain of the call that the buffer begins with.
    pub(super) fn flow(&mut self) {
        if self.delivery != Delivery::Live || self.lane != Lane::Content || self.live.stuck {
            return;
        }
        // The call as it would be if the output ended here: what has no end yet is not in it.
        let input = Input::new(&self.buffer, true);
        let mut reader = Reader {
            input,
            judge: &self.mender,
            area: Area::default(),
            start: 0,
            name: None,
            stopped: false,
        };
        let Step::Got(block) = reader.read(0) else { return };
        let [call] = block.calls.as_slice() else { return };
        if call.open.is_none() || call.damaged {
            return;
        }
        if let Some(text) = self.certain(call) {
            self.tell_text(call, text);
        }
    }

    pub(super) fn tell_text(&mut self, call: &RawCall, text: String) {
        if !text.starts_with(&self.live.sent) {
            self.live.stuck = true;
            return;
        }
        if text.len() == self.live.sent.len() {
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

    /// The most that can have been told of a call while it was read: its first arguments, as long as they are strings, up to
    /// the end of the last of them. A declared tool by its own name, declared keys, and strings that stay strings.
    fn certain(&self, call: &RawCall) -> Option<String> {
        let RawArguments::Fields(fields) = &call.arguments else { return None };
        let guide = self.mender.tool(&call.name)?.schema()?.guide();
        let is_string = |key: &str| {
            let declared = guide.properties(guide.root()).find(|(name, ..)| *name == key);
            declared.is_some_and(|(_, place, _)| guide.types(place) == Types::STRING)
        };
        let run = fields.iter().take_while(|field| is_string(&field.key)).count();
        // A key that stands twice keeps its first value.
        let again = |key: &str| fields.iter().any(|field| field.key == key);
        let open = call.open.as_ref().filter(|(key, _)| run == fields.len() && is_string(key) && !again(key));
        let (before, key, value) = if let Some((key, from)) = open {
            let value = self.buffer.get(*from..)?;
            (&fields[..run], key, &value[..certain_length(value)])
        } else {
            let last = fields[..run].last()?;
            (&fields[..run - 1], &last.key, self.buffer.get(last.at.clone())?)
        };
        let mut out = typed::object(before, guide);
        out.pop();
        if !before.is_empty() {
            out.push_str(", ");
        }
        text::quote_into(&mut out, key);
        out.push_str(": \"");
        let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
        text::escape_into(&mut out, value.trim_end_matches(['\n', '\r']));
        Some(out)
    }

    /// What could have been told of a call that does not run, so that pieces do not matter.
    pub(super) fn utmost(&self, call: &RawCall) -> Option<String> {
        let flows = self.lane == Lane::Content && !self.live.stuck;
        if flows { self.certain(call) } else { None }
    }

    /// Whether what was told of a call begins its final arguments, and what is still to be told.
    pub(super) fn rest_of<'c>(&mut self, call: &'c Call) -> Option<&'c str> {
        let told = std::mem::take(&mut self.live);
        call.arguments().and_then(|json| json.strip_prefix(told.sent.as_str()))
    }

    pub(super) fn has_started(&self) -> bool {
        self.live.started
    }
}

/// How much of a value cannot be markup.
fn certain_length(value: &str) -> usize {
    // A section of characters is taken off as a whole.
    const SECTION: &str = "<![CDATA[";
    let start = value.trim_start();
    if start.starts_with(SECTION) || SECTION.starts_with(start) {
        return 0;
    }
    let mut at = 0;
    while let Some(offset) = value[at..].find('<') {
        let mark = at + offset;
        if token::read(&value[mark..], false) != Step::No {
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

    fn told(pieces: &[&str], finish: Finish) -> (Vec<String>, Vec<Event>) {
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
        let (early, _) = told(
            &[
                "<tool_call>\n<function=save>\n<parameter=path>\na.txt\n</parameter>\n",
                "<parameter=text>\nfirst line\n",
                "second <b>line</b>",
                "\n</parameter>\n</function>\n</tool_call>",
            ],
            Finish::Stop,
        );
        assert_eq!(early[1], r#"{"path": "a.txt", "text": "first line"#);
        assert_eq!(early[2], r"\nsecond <b>line</b>");
        assert_eq!(early.concat(), r#"{"path": "a.txt", "text": "first line\nsecond <b>line</b>"}"#);
    }

    #[test]
    fn a_call_that_was_cut_off_never_ends() {
        let (early, rest) = told(&["<tool_call>\n<function=save>\n<parameter=path>\na.t"], Finish::Length);
        assert_eq!(early.concat(), r#"{"path": "a.t"#);
        assert!(matches!(rest.as_slice(), [Event::CallCut { .. }]), "{rest:?}");
    }

    #[test]
    fn what_the_schema_may_change_does_not_flow() {
        let (early, _) =
            told(&["<tool_call>\n<function=save>\n<parameter=mode>\n4", "2\n</parameter>\n"], Finish::Length);
        assert_eq!(early.concat(), "");
    }
}
