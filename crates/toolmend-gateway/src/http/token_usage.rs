//! The tokens that an answer says it took, read while it passes by.
//!
//! The answer is never kept: a small machine follows the nesting of its JSON and remembers only the members that lead to a
//! count. It gives the same result for any split of the bytes.

/// How many members on the way to a value are remembered: `response`, `usage` and the count itself.
const MAX_DEPTH: usize = 3;
/// The longest key that matters, in bytes.
const MAX_KEY: usize = 32;

/// The tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TokenUsage {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// Which part of the usage a count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Input,
    CacheRead,
    CacheWrite,
    Output,
}

/// The members that hold a count, by their paths. All surfaces together; none contradicts another.
const COUNTS: [(&[&str], Count); 12] = [
    (&["usage", "prompt_tokens"], Count::Input),
    (&["usage", "completion_tokens"], Count::Output),
    (&["usage", "input_tokens"], Count::Input),
    (&["usage", "cache_read_input_tokens"], Count::CacheRead),
    (&["usage", "cache_creation_input_tokens"], Count::CacheWrite),
    (&["usage", "output_tokens"], Count::Output),
    (&["message", "usage", "input_tokens"], Count::Input),
    (&["message", "usage", "cache_read_input_tokens"], Count::CacheRead),
    (&["message", "usage", "cache_creation_input_tokens"], Count::CacheWrite),
    (&["response", "usage", "input_tokens"], Count::Input),
    (&["response", "usage", "output_tokens"], Count::Output),
    (&["prompt_eval_count"], Count::Input),
];
/// The count of an answer in lines, whose name is the end of another.
const EVAL_COUNT: (&[&str], Count) = (&["eval_count"], Count::Output);

/// Reads the usage in an answer that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct UsageReader {
    /// Whether the answer is a stream, in which every line stands for itself.
    is_stream: bool,
    depth: usize,
    /// The keys on the way to the current value.
    path: [Key; MAX_DEPTH],
    place: Place,
    /// The string that is being read or was read last.
    text: Key,
    number: Option<u64>,
    /// The largest value of each count so far: servers that count while they stream repeat them.
    counts: Option<[u64; 4]>,
    bytes: u64,
    lines: u64,
    line_has_value: bool,
}

/// Where the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Outside,
    String,
    /// After a backslash in a string.
    Escape,
}

/// A key, if it is short enough to matter.
#[derive(Debug, Clone, Copy, Default)]
struct Key {
    bytes: [u8; MAX_KEY],
    length: usize,
}

impl Key {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
        }
        // A key that is too long matches nothing, and stays too long.
        self.length = self.length.saturating_add(1);
    }

    fn is(&self, name: &str) -> bool {
        self.bytes.get(..self.length) == Some(name.as_bytes())
    }
}

impl UsageReader {
    /// Returns a reader for a stream or for a whole answer.
    pub(crate) fn new(is_stream: bool) -> Self {
        UsageReader { is_stream, ..UsageReader::default() }
    }

    /// Reads the next bytes.
    pub(crate) fn push(&mut self, data: &[u8]) {
        self.bytes = self.bytes.saturating_add(data.len() as u64);
        for byte in data {
            self.push_byte(*byte);
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if byte == b'\n' && self.is_stream {
            // A frame that is not valid JSON must not hide those after it.
            self.end_number();
            self.lines += u64::from(std::mem::take(&mut self.line_has_value));
            (self.depth, self.place) = (0, Place::Outside);
            return;
        }
        if self.place != Place::Outside {
            self.place = match (self.place, byte) {
                (Place::String, b'\\') => Place::Escape,
                (Place::String, b'"') => Place::Outside,
                _ => Place::String,
            };
            if self.place != Place::Outside {
                self.text.push(byte);
            }
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.line_has_value = true;
                if let Some(key) = self.path.get_mut(self.depth - 1) {
                    *key = Key::default();
                }
            }
            b'}' | b']' => {
                self.end_number();
                self.depth = self.depth.saturating_sub(1);
            }
            b'"' if self.depth > 0 => {
                self.place = Place::String;
                self.text = Key::default();
            }
            b':' if self.depth > 0 => {
                if let Some(key) = self.path.get_mut(self.depth - 1) {
                    *key = self.text;
                }
            }
            b'0'..=b'9' if self.depth > 0 => {
                let digit = u64::from(byte - b'0');
                self.number = Some(self.number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            }
            _ => self.end_number(),
        }
    }

    /// Takes a number that was read, if it is a count.
    fn end_number(&mut self) {
        let Some(number) = self.number.take() else { return };
        let Some(path) = self.path.get(..self.depth) else { return };
        let matches =
            |keys: &[&str]| keys.len() == path.len() && keys.iter().zip(path).all(|(name, key)| key.is(name));
        let found = COUNTS.iter().chain([&EVAL_COUNT]).find(|(keys, _)| matches(keys));
        if let Some((_, count)) = found {
            let counts = self.counts.get_or_insert_default();
            counts[*count as usize] = number.max(counts[*count as usize]);
        }
    }

    /// Returns the usage. If the server reported none, it is estimated: an event of a stream is one token, and so are four bytes
    /// of everything else.
    pub(crate) fn usage(&self, request_bytes: u64) -> TokenUsage {
        if let Some([input, read, written, output]) = self.counts {
            return TokenUsage { input: input.saturating_add(read).saturating_add(written), output };
        }
        let output = if self.is_stream { self.lines } else { self.bytes.div_ceil(4) };
        TokenUsage { input: request_bytes.div_ceil(4), output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an answer in every split into two pieces, which must not matter.
    fn read(is_stream: bool, text: &str) -> TokenUsage {
        let mut whole = UsageReader::new(is_stream);
        whole.push(text.as_bytes());
        for at in 0..text.len() {
            let mut split = UsageReader::new(is_stream);
            split.push(&text.as_bytes()[..at]);
            split.push(&text.as_bytes()[at..]);
            assert_eq!(split.usage(8), whole.usage(8), "split at {at}: {text}");
        }
        whole.usage(8)
    }

    #[test]
    fn every_surface_reports_its_usage() {
        for (is_stream, text, input, output) in [
            (
                false,
                r#"{"choices":[{"message":{"content":"{\"usage\":{\"prompt_tokens\":99}}"}}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"details":{"prompt_tokens":50}}}"#,
                3,
                4,
            ),
            (
                true,
                "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\": 3, \"completion_tokens\": 4}}\n\ndata: [DONE]\n\n",
                3,
                4,
            ),
            (
                false,
                r#"{"content":[{"type":"tool_use","input":{"usage":{"input_tokens":99}}}],"usage":{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":2,"output_tokens":4}}"#,
                15,
                4,
            ),
            (
                true,
                "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"usage\":{\"output_tokens\":4}}\n\n",
                3,
                4,
            ),
            (
                true,
                "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"usage\":{\"input_tokens\":9}}],\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}\n\n",
                3,
                4,
            ),
            (
                true,
                "{\"message\":{},\"done\":false}\n{\"done\":true,\"prompt_eval_count\":3,\"eval_count\":4}\n",
                3,
                4,
            ),
            (
                true,
                "data: {\"broken\": \"\n\ndata: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
                3,
                4,
            ),
        ] {
            assert_eq!(read(is_stream, text), TokenUsage { input, output }, "{text}");
        }
    }

    #[test]
    fn what_is_not_reported_is_estimated() {
        assert_eq!(read(false, "{\"a\":\"12345\"}"), TokenUsage { input: 2, output: 4 });
        assert_eq!(
            read(true, ": ping\n\ndata: {}\n\ndata: {}\n\ndata: [DONE]\n\n"),
            TokenUsage { input: 2, output: 3 }
        );
    }
}
