//! Arguments that may be sent while the model still writes them.
//!
//! What is sent cannot be taken back, so only what is certain to begin the final arguments flows: strings of declared
//! fields that take any string, one after the other, as long as they are strict JSON. A quote ends such a string only
//! where the next declared field follows. At the first doubt everything waits for the judgement.

use std::collections::BTreeSet;

use serde_json::Value;
use toolmend::Tool;

/// The longest stretch between two strings that is looked at again and again.
const LONGEST_GAP: usize = 256;
/// How much of a beginning is compared to tell arguments that begin again.
const BEGINNING: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a string: at the opening bracket, or at the quote that may end the last string.
    Between,
    Inside,
    Doubt,
}

/// The arguments of one call while they are written.
#[derive(Debug)]
pub(crate) struct Live {
    /// Fields that take any string and were not seen yet.
    fields: BTreeSet<String>,
    text: String,
    /// Everything before is certain.
    safe: usize,
    /// Everything before was sent; none where not even the name was.
    sent: Option<usize>,
    state: State,
}

enum Match {
    /// The next string begins here.
    Yes(usize),
    No,
    More,
}

impl Live {
    /// For calls of this tool. Without fields that could flow everything waits.
    pub(crate) fn new(tool: Option<&Tool>) -> Self {
        let schema = tool.and_then(Tool::schema).map(toolmend::Schema::source);
        let properties = schema.and_then(|schema| schema["properties"].as_object());
        let plain = |schema: &Value| {
            let told = schema.as_object().into_iter().flatten();
            schema["type"] == "string"
                && told.into_iter().all(|(name, _)| matches!(name.as_str(), "type" | "description" | "title"))
        };
        let fields = properties
            .into_iter()
            .flatten()
            .filter(|(_, schema)| plain(schema))
            .map(|(name, _)| name.clone());
        Live { fields: fields.collect(), text: String::new(), safe: 0, sent: None, state: State::Between }
    }

    /// Adds a piece. Whether it may be sent: everything so far is certain.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        let flows = self.read(piece) || self.text.is_empty();
        if flows {
            self.sent = Some(self.text.len());
        }
        flows
    }

    fn read(&mut self, piece: &str) -> bool {
        // Some servers send the whole arguments again in every piece.
        let beginning = self.text.get(..BEGINNING.min(self.text.len())).unwrap_or_default();
        if beginning.len() > 1 && piece.starts_with(beginning) {
            self.state = State::Doubt;
        }
        self.text.push_str(piece);
        loop {
            match self.state {
                State::Doubt => return false,
                State::Inside => {
                    if !self.inside() {
                        return self.state == State::Inside && self.safe == self.text.len();
                    }
                }
                State::Between => match self.between() {
                    Match::Yes(end) => {
                        self.safe = end;
                        self.state = State::Inside;
                    }
                    Match::No => self.state = State::Doubt,
                    Match::More => {
                        if self.text.len() - self.safe > LONGEST_GAP {
                            self.state = State::Doubt;
                        }
                        return false;
                    }
                },
            }
        }
    }

    /// What was sent of the arguments, if the call was begun at all.
    pub(crate) fn sent(&self) -> Option<&str> {
        self.sent.map(|sent| &self.text[..sent])
    }

    /// Reads on in a string. Whether it may be over.
    fn inside(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.safe) {
            match byte {
                b'"' => {
                    self.state = State::Between;
                    return true;
                }
                b'\\' => match bytes.get(self.safe + 1) {
                    None => return false,
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.safe += 2,
                    Some(b'u') => match bytes.get(self.safe + 2..self.safe + 6) {
                        None => return false,
                        // Half of a pair would need the other half.
                        Some(hex)
                            if hex.iter().all(u8::is_ascii_hexdigit) && !matches!(hex[0], b'd' | b'D') =>
                        {
                            self.safe += 6;
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
                _ => self.safe += 1,
            }
        }
        false
    }

    /// Whether the next plain field begins here: `{ "field": "` at first, `", "field": "` later.
    fn between(&mut self) -> Match {
        let rest = &self.text[self.safe..];
        let first = self.safe == 0;
        let openers: &[&str] = if first { &["{"] } else { &["\"", ","] };
        let white = |text: &str| text.len() - text.trim_start().len();
        let mut at = if first { white(rest) } else { 0 };
        for token in openers {
            at += white(&rest[at..]);
            match rest[at..].strip_prefix(token) {
                Some(_) => at += token.len(),
                None if rest[at..].is_empty() => return Match::More,
                None => return Match::No,
            }
        }
        at += white(&rest[at..]);
        let Some(key) = rest[at..].strip_prefix('"') else {
            return if rest[at..].is_empty() { Match::More } else { Match::No };
        };
        let Some(end) = key.find('"') else { return Match::More };
        let key = &key[..end];
        at += end + 2;
        for token in [":", "\""] {
            at += white(&rest[at..]);
            match rest[at..].strip_prefix(token) {
                Some(_) => at += token.len(),
                None if rest[at..].is_empty() => return Match::More,
                None => return Match::No,
            }
        }
        let key = key.to_owned();
        if self.fields.remove(&key) { Match::Yes(self.safe + at) } else { Match::No }
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
        let mut live = Live::new(Some(&tool));
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            live.push(&piece.iter().collect::<String>());
        }
        live.text[..live.safe].to_owned()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        for size in [1, 2, 5, 1000] {
            assert_eq!(sent(text, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn strings_of_plain_fields_flow() {
        check(r#"{"path": "a.txt", "content": "one\ntwo"}"#, r#"{"path": "a.txt", "content": "one\ntwo"#);
        check(r#"{"content": "caf\u00e9", "path": "a"#, r#"{"content": "caf\u00e9", "path": "a"#);
    }

    #[test]
    fn doubt_holds_everything() {
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
    fn snapshots_do_not_flow_twice() {
        let tool = Tool::new("t", &json!({"type": "object", "properties": {"content": {"type": "string"}}}))
            .unwrap();
        let mut live = Live::new(Some(&tool));
        assert!(live.push(r#"{"content": "one"#));
        assert!(!live.push(r#"{"content": "one two"#));
        assert_eq!(live.sent(), Some(r#"{"content": "one"#));
    }
}
