//! Arguments that may be sent while the model still writes them.
//!
//! Sent bytes cannot be taken back, so a piece is sent only if the final arguments are certain to begin with it: strings of
//! declared fields that accept any string, one after the other, as long as they are strict JSON. A quote ends such a string
//! only if the next declared field follows. At the first doubt everything waits for the judgement.

use std::collections::BTreeSet;

use serde_json::Value;
use toolmend::Tool;

/// The longest gap between two strings, in bytes. It is searched again with every piece.
const MAX_GAP: usize = 256;
/// How many bytes are compared to recognise arguments that begin again.
const PREFIX_LENGTH: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a string: at the opening bracket, or at the quote that may end the last string.
    Between,
    /// In a string.
    Inside,
    /// Nothing more is certain.
    Doubt,
}

/// The arguments of one call while they are written.
#[derive(Debug)]
pub(crate) struct LiveArguments {
    /// Fields that accept any string and have not appeared yet.
    fields: BTreeSet<String>,
    text: String,
    /// Everything before this position is certain.
    certain: usize,
    /// Everything before this position was sent; `None` if not even the name was.
    sent: Option<usize>,
    state: State,
}

/// Whether the next plain field begins.
enum FieldStart {
    /// Its string begins at this position.
    Found(usize),
    Absent,
    /// More text is needed.
    Unknown,
}

impl LiveArguments {
    /// Returns the state for a call of this tool. If it has no plain string fields, everything waits.
    pub(crate) fn new(tool: Option<&Tool>) -> Self {
        let schema = tool.and_then(Tool::schema).map(toolmend::Schema::source);
        let properties = schema.and_then(|schema| schema["properties"].as_object());
        let is_plain = |schema: &Value| {
            let keywords = schema.as_object().into_iter().flatten();
            schema["type"] == "string"
                && keywords
                    .into_iter()
                    .all(|(name, _)| matches!(name.as_str(), "type" | "description" | "title"))
        };
        let fields = properties
            .into_iter()
            .flatten()
            .filter(|(_, schema)| is_plain(schema))
            .map(|(name, _)| name.clone());
        LiveArguments {
            fields: fields.collect(),
            text: String::new(),
            certain: 0,
            sent: None,
            state: State::Between,
        }
    }

    /// Adds a piece. Returns whether it may be sent, because everything so far is certain.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        let may_send = self.is_certain_after(piece) || self.text.is_empty();
        if may_send {
            self.sent = Some(self.text.len());
        }
        may_send
    }

    fn is_certain_after(&mut self, piece: &str) -> bool {
        // Some servers repeat all arguments in every piece.
        let prefix = self.text.get(..PREFIX_LENGTH.min(self.text.len())).unwrap_or_default();
        if prefix.len() > 1 && piece.starts_with(prefix) {
            self.state = State::Doubt;
        }
        self.text.push_str(piece);
        loop {
            match self.state {
                State::Doubt => return false,
                State::Inside => {
                    if !self.read_string() {
                        return self.state == State::Inside && self.certain == self.text.len();
                    }
                }
                State::Between => match self.find_field_start() {
                    FieldStart::Found(end) => {
                        self.certain = end;
                        self.state = State::Inside;
                    }
                    FieldStart::Absent => self.state = State::Doubt,
                    FieldStart::Unknown => {
                        if self.text.len() - self.certain > MAX_GAP {
                            self.state = State::Doubt;
                        }
                        return false;
                    }
                },
            }
        }
    }

    /// Returns the arguments that were sent, if the call was started at all.
    pub(crate) fn sent(&self) -> Option<&str> {
        self.sent.map(|sent| &self.text[..sent])
    }

    /// Continues to read a string. Returns whether it may be over.
    fn read_string(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.certain) {
            match byte {
                b'"' => {
                    self.state = State::Between;
                    return true;
                }
                b'\\' => match bytes.get(self.certain + 1) {
                    None => return false,
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.certain += 2,
                    Some(b'u') => match bytes.get(self.certain + 2..self.certain + 6) {
                        None => return false,
                        // Half of a surrogate pair needs the other half.
                        Some(hex)
                            if hex.iter().all(u8::is_ascii_hexdigit) && !matches!(hex[0], b'd' | b'D') =>
                        {
                            self.certain += 6;
                        }
                        Some(_) => {
                            self.state = State::Doubt;
                            return false;
                        }
                    },
                    Some(_) => {
                        self.state = State::Doubt;
                        return false;
                    }
                },
                0..0x20 => {
                    self.state = State::Doubt;
                    return false;
                }
                _ => self.certain += 1,
            }
        }
        false
    }

    /// Looks for the start of the next plain field: `{ "field": "` at first, `", "field": "` later.
    fn find_field_start(&mut self) -> FieldStart {
        let rest = &self.text[self.certain..];
        let first = self.certain == 0;
        let openers: &[&str] = if first { &["{"] } else { &["\"", ","] };
        let white_space = |text: &str| text.len() - text.trim_start().len();
        let mut at = if first { white_space(rest) } else { 0 };
        for token in openers {
            at += white_space(&rest[at..]);
            match rest[at..].strip_prefix(token) {
                Some(_) => at += token.len(),
                None if rest[at..].is_empty() => return FieldStart::Unknown,
                None => return FieldStart::Absent,
            }
        }
        at += white_space(&rest[at..]);
        let Some(key) = rest[at..].strip_prefix('"') else {
            return if rest[at..].is_empty() { FieldStart::Unknown } else { FieldStart::Absent };
        };
        let Some(end) = key.find('"') else { return FieldStart::Unknown };
        let key = &key[..end];
        at += end + 2;
        for token in [":", "\""] {
            at += white_space(&rest[at..]);
            match rest[at..].strip_prefix(token) {
                Some(_) => at += token.len(),
                None if rest[at..].is_empty() => return FieldStart::Unknown,
                None => return FieldStart::Absent,
            }
        }
        let key = key.to_owned();
        if self.fields.remove(&key) { FieldStart::Found(self.certain + at) } else { FieldStart::Absent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(text: &str, size: usize) -> String {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"},
            "mode": {"type": "string", "enum": ["a"]}, "size": {"type": "integer"}}});
        let tool = Tool::new("write", &schema).unwrap();
        let mut live = LiveArguments::new(Some(&tool));
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            live.push(&piece.iter().collect::<String>());
        }
        live.text[..live.certain].to_owned()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        for size in [1, 2, 5, 1000] {
            assert_eq!(sent(text, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn strings_of_plain_fields_are_sent() {
        check(r#"{"path": "a.txt", "content": "one\ntwo"}"#, r#"{"path": "a.txt", "content": "one\ntwo"#);
        check(r#"{"content": "caf\u00e9", "path": "a"#, r#"{"content": "caf\u00e9", "path": "a"#);
    }

    #[test]
    fn nothing_is_sent_after_a_doubt() {
        check(r#"{'path': "a"}"#, "");
        check(r#""{\"path\": \"a\"}""#, "");
        check(r#"{"size": 5, "path": "a"}"#, "");
        check(r#"{"path": "a", "mode": "b"}"#, r#"{"path": "a"#);
        check(r#"{"path": "a", "size": 1, "content": "x"}"#, r#"{"path": "a"#);
        check("{\"path\": \"a\", \"content\": \"x\ny\"}", r#"{"path": "a", "content": "x"#);
        check(r#"{"content": "say "hi", now"}"#, r#"{"content": "say "#);
        check(r#"{"content": "a", "b": "c", "path": "d"}"#, r#"{"content": "a"#);
        check(r#"{"content": "a\d"}"#, r#"{"content": "a"#);
        check(r#"{"path": "a", "path": "b"}"#, r#"{"path": "a"#);
    }

    #[test]
    fn snapshots_are_not_sent_twice() {
        let tool = Tool::new("t", &json!({"type": "object", "properties": {"content": {"type": "string"}}}))
            .unwrap();
        let mut live = LiveArguments::new(Some(&tool));
        assert!(live.push(r#"{"content": "one"#));
        assert!(!live.push(r#"{"content": "one two"#));
        assert_eq!(live.sent(), Some(r#"{"content": "one"#));
    }
}
