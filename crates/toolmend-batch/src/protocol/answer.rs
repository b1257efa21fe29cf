//! What became of one input, as a line of JSON: the answer of `batch`, and of `fix --format json`.
//!
//! Values pass as the text that they are: a number or a string is never read and written again.

use serde::de::IgnoredAny;
use toolmend::{Call, Repair, Turn, Verdict};

/// What a record asked for, as far as the answer shows it.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The name that the value has in the answer.
    pub field: &'static str,
    /// The tool as it was asked for.
    pub tool: Option<&'a str>,
    /// The text that came in.
    pub input: &'a str,
    /// Whether the input was text, so that places in it mean something to the caller.
    pub is_text: bool,
}

/// A JSON object under construction, on one line.
#[derive(Debug)]
pub struct Answer {
    out: Vec<u8>,
    /// What is wrong with the line, where it is no record.
    error: Option<String>,
}

impl Answer {
    /// An answer to the record with this id, given as JSON text.
    pub fn to_record(id: Option<&str>) -> Self {
        let mut answer = Answer { out: b"{\"id\":".to_vec(), error: None };
        answer.push_json(id.unwrap_or("null"));
        answer
    }

    /// An answer to the file of this name.
    pub fn to_file(name: &str) -> Self {
        let mut answer = Answer { out: b"{\"file\":".to_vec(), error: None };
        answer.push_string(name);
        answer
    }

    /// The answer to a line that cannot be worked on.
    pub fn error(id: Option<&str>, message: &str) -> Self {
        Answer { error: Some(message.to_owned()), ..Answer::to_record(id).string("error", message) }
    }

    /// What is wrong with the line, where it is no record.
    pub fn error_text(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// What became of a JSON text or of a call's arguments.
    #[must_use]
    pub fn verdict(self, verdict: &Verdict<'_>, notes: &[String], asked: &Asked<'_>) -> Self {
        let tool = verdict.tool().or(asked.tool);
        let mut answer = self.string("outcome", verdict.outcome().name()).tool(tool);
        if let Some(json) = verdict.json() {
            answer = answer.value_or_raw(asked.field, json);
        } else if verdict.outcome().runs() {
            answer = answer.calls(verdict, tool);
        }
        answer = answer.repairs(verdict.repairs(), asked.is_text);
        if !verdict.outcome().runs() {
            answer = answer.refusal(verdict, asked.input);
        }
        let notes: Vec<_> = verdict.notes().iter().chain(notes).cloned().collect();
        answer.strings("notes", &notes)
    }

    /// A model's whole output, taken apart.
    #[must_use]
    pub fn turn(self, turn: &Turn, notes: &[String]) -> Self {
        let mut answer = self.string("outcome", turn.outcome().name()).string("content", &turn.content);
        if !turn.reasoning.is_empty() {
            answer = answer.string("reasoning", &turn.reasoning);
        }
        answer.name("calls");
        answer.list(&turn.calls, Answer::push_call);
        let notes: Vec<_> = turn.notes.iter().chain(notes).cloned().collect();
        answer.strings("notes", &notes)
    }

    fn push_call(&mut self, call: &Call) {
        let mut inner = Answer { out: std::mem::take(&mut self.out), error: None };
        inner.out.extend_from_slice(b"{\"name\":");
        inner.push_string(&call.name);
        if let Some(id) = &call.id {
            inner = inner.string("id", id);
        }
        if let Some(json) = call.arguments() {
            inner = inner.value_or_raw("arguments", json);
        }
        let verdict = &call.verdict;
        inner = inner
            .string("outcome", verdict.outcome().name())
            .string("source", call.source.name())
            .string("dialect", call.dialect)
            .repairs(verdict.repairs(), true);
        if !verdict.outcome().runs() {
            inner = inner.refusal(verdict, &call.raw);
        }
        inner = inner.strings("notes", verdict.notes());
        inner.out.push(b'}');
        self.out = inner.out;
    }

    fn tool(self, tool: Option<&str>) -> Self {
        match tool {
            Some(tool) => self.string("tool", tool),
            None => self,
        }
    }

    fn string(mut self, name: &str, text: &str) -> Self {
        self.name(name);
        self.push_string(text);
        self
    }

    fn strings(mut self, name: &str, texts: &[String]) -> Self {
        if !texts.is_empty() {
            self.name(name);
            self.list(texts, |answer, text| answer.push_string(text));
        }
        self
    }

    /// JSON text as the value that it is.
    fn json(mut self, name: &str, json: &str) -> Self {
        self.name(name);
        self.push_json(json);
        self
    }

    /// The finished line, with its end.
    pub fn into_line(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"}\n");
        self.out
    }

    /// The policy `off` passes anything: what is no JSON then goes back as a string.
    fn value_or_raw(self, field: &str, json: &str) -> Self {
        if is_json(json) { self.json(field, json) } else { self.string("raw", json) }
    }

    /// Several different calls came out of one text.
    fn calls(mut self, verdict: &Verdict<'_>, tool: Option<&str>) -> Self {
        self.name("calls");
        self.list(verdict.values(), |answer, value| {
            answer.out.push(b'{');
            if let Some(tool) = tool {
                answer.out.extend_from_slice(b"\"name\":");
                answer.push_string(tool);
                answer.out.push(b',');
            }
            answer.out.extend_from_slice(b"\"arguments\":");
            answer.push_json(value);
            answer.out.extend_from_slice(b",\"outcome\":");
            answer.push_string(verdict.outcome().name());
            answer.out.push(b'}');
        });
        self
    }

    fn repairs(mut self, repairs: &[Repair], with_places: bool) -> Self {
        self.name("repairs");
        self.list(repairs, |answer, repair| {
            answer.out.extend_from_slice(b"{\"kind\":");
            answer.push_string(repair.kind.name());
            answer.out.extend_from_slice(b",\"path\":");
            answer.push_string(&repair.path);
            if let Some(at) = repair.at.as_ref().filter(|_| with_places) {
                answer.out.extend_from_slice(format!(",\"at\":[{},{}]", at.start, at.end).as_bytes());
            }
            answer.out.push(b'}');
        });
        self
    }

    /// Why it does not run, and everything that is needed to go on from here.
    fn refusal(self, verdict: &Verdict<'_>, input: &str) -> Self {
        let mut answer = self;
        if let Some(reason) = verdict.reason() {
            answer = answer.string("reason", reason.name());
        }
        answer = answer.values("values", verdict.values());
        let mut feedback = verdict.feedback();
        if let Some(refusal) = verdict.refusal() {
            answer = answer.values("readings", &refusal.readings);
            if let Some(cut) = &refusal.cut {
                answer = answer.string("cut", cut);
            }
            if let Some(partial) = &refusal.partial {
                answer.name("partial");
                answer.push_value(partial);
            }
            feedback = feedback.or_else(|| Some(&*refusal.message).filter(|message| !message.is_empty()));
        }
        if let Some(feedback) = feedback {
            answer = answer.string("feedback", feedback);
        }
        answer.string("raw", input)
    }

    fn values(mut self, name: &str, values: &[String]) -> Self {
        if !values.is_empty() {
            self.name(name);
            self.list(values, |answer, value| answer.push_value(value));
        }
        self
    }

    fn name(&mut self, name: &str) {
        self.out.push(b',');
        self.push_string(name);
        self.out.push(b':');
    }

    fn list<T>(&mut self, items: &[T], mut push: impl FnMut(&mut Self, &T)) {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            push(self, item);
        }
        self.out.push(b']');
    }

    /// A value that a refusal shows: the line must stay JSON whatever it is.
    fn push_value(&mut self, text: &str) {
        if is_json(text) { self.push_json(text) } else { self.push_string(text) }
    }

    fn push_json(&mut self, json: &str) {
        self.out.extend_from_slice(toolmend::compact_json(json).as_bytes());
    }

    fn push_string(&mut self, text: &str) {
        // A string always has a JSON form, and a vector takes every write.
        let _ = serde_json::to_writer(&mut self.out, text);
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_pass_as_they_are_spelled() {
        let text = "{ \"a\" : 1.10,\n \"b\": 123456789012345678901234567890, \"c\": \"\\u00e9\\/\" }";
        let asked = Asked { field: "value", tool: None, input: text, is_text: true };
        let line = Answer::to_record(Some("\"x\"")).verdict(&toolmend::fix(text), &[], &asked).into_line();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"id\":\"x\",\"outcome\":\"clean\",\"value\":{\"a\":1.10,\"b\":123456789012345678901234567890,\"c\":\"\\u00e9\\/\"},\"repairs\":[]}\n"
        );
    }

    #[test]
    fn an_error_is_a_line_too() {
        let line = Answer::error(None, "a \"b\"").into_line();
        assert_eq!(line, b"{\"id\":null,\"error\":\"a \\\"b\\\"\"}\n");
    }
}
