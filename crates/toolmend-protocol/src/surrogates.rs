//! Characters whose two halves arrive in two frames.
//!
//! Servers that cut a stream by tokens may cut a character beyond the basic plane in two: one frame ends in `\ud83d`, the next
//! begins with `\ude00`. Neither half is text, so nothing that reads frame by frame could keep it. The first half moves into the
//! next frame of the same text, where both are a character again.

use std::collections::HashMap;
use std::fmt::Write as _;

use memchr::memmem;
use toolmend_json::strict::parse_hex4;

use crate::frame::Frame;
use crate::json::{Kind, ValueRef};

/// The members that say which text a frame continues.
const TEXT_KEYS: [&str; 5] = ["index", "output_index", "content_index", "summary_index", "item_id"];
/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;
/// How many halves wait at the same time. A stream has a handful of texts.
const MAX_HALVES: usize = 64;

/// Joins the halves of characters in one stream.
///
/// ```
/// use toolmend_protocol::{Frame, Framing, SurrogateJoiner};
///
/// let mut joiner = SurrogateJoiner::default();
/// let mut join = |data: &str| {
///     let joined = joiner.join(Frame::new(Framing::Lines, None, data));
///     String::from_utf8(joined.data.unwrap().to_vec()).unwrap()
/// };
/// assert_eq!(join(r#"{"text":"a\ud83d"}"#), r#"{"text":"a"}"#);
/// assert_eq!(join(r#"{"text":"\ude00 b"}"#), r#"{"text":"\ud83d\ude00 b"}"#);
/// ```
#[derive(Debug, Default)]
pub struct SurrogateJoiner {
    /// The first halves that wait for the second, by the text that they end.
    halves: HashMap<String, String>,
}

/// A new spelling of a string in a frame.
struct Edit {
    start: usize,
    end: usize,
    literal: String,
}

impl SurrogateJoiner {
    /// Returns the frame without a half at the end of its texts, and with the halves that waited for it. Most frames have
    /// neither and stay as they are.
    pub fn join(&mut self, frame: Frame) -> Frame {
        let Some(data) = &frame.data else { return frame };
        if self.halves.is_empty() && !has_surrogate(data) {
            return frame;
        }
        let Some(doc) = frame.doc() else { return frame };
        let mut edits = self.edits(doc.root());
        if edits.is_empty() {
            return frame;
        }
        edits.sort_by_key(|edit| edit.start);
        let source = String::from_utf8_lossy(data);
        let mut text = String::with_capacity(source.len() + ESCAPE);
        let mut at = 0;
        for edit in edits {
            text.push_str(&source[at..edit.start]);
            text.push_str(&edit.literal);
            at = edit.end;
        }
        text.push_str(&source[at..]);
        frame.with_data(&text)
    }

    /// Returns the strings of a frame that change.
    fn edits(&mut self, root: ValueRef<'_>) -> Vec<Edit> {
        let kind = root.get("type").map(ValueRef::raw).unwrap_or_default();
        let mut edits = Vec::new();
        let mut open = vec![(root, kind.to_owned())];
        while let Some((value, path)) = open.pop() {
            match value.kind() {
                Kind::Object => {
                    let mut path = path;
                    for key in TEXT_KEYS {
                        if let Some(value) = value.get(key) {
                            let _ = write!(path, " {key}={}", value.raw());
                        }
                    }
                    open.extend(value.items().map(|item| (item, format!("{path}/{}", item.key()))));
                }
                // Elements are told apart by their numbers, or else by their positions.
                Kind::Array => open.extend(value.items().enumerate().map(|(at, item)| {
                    let at = if item.get("index").is_some() { 0 } else { at };
                    (item, format!("{path}/{at}"))
                })),
                Kind::String => edits.extend(self.edit(value, path)),
                _ => {}
            }
        }
        edits
    }

    fn edit(&mut self, value: ValueRef<'_>, path: String) -> Option<Edit> {
        let inner = value.raw().strip_prefix('"')?.strip_suffix('"')?;
        let before = self.halves.remove(&path);
        let joined = format!("{}{inner}", before.as_deref().unwrap_or_default());
        let end = first_half_at_end(&joined).filter(|_| self.halves.len() < MAX_HALVES);
        let kept = end.unwrap_or(joined.len());
        if kept < joined.len() {
            self.halves.insert(path, joined[kept..].to_owned());
        } else if before.is_none() {
            return None;
        }
        let span = value.span();
        Some(Edit { start: span.start, end: span.end, literal: format!("\"{}\"", &joined[..kept]) })
    }
}

/// Whether a text has an escape of half a character.
fn has_surrogate(text: &[u8]) -> bool {
    memmem::find_iter(text, b"\\u").any(|at| {
        matches!(text.get(at + 2..at + 4), Some([b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']))
    })
}

/// Returns where the first half of a character begins, if the inside of a string ends in one.
fn first_half_at_end(inner: &str) -> Option<usize> {
    let at = inner.len().checked_sub(ESCAPE)?;
    let bytes = inner.as_bytes();
    let is_half = bytes[at..].starts_with(b"\\u")
        && parse_hex4(bytes, at + 2).is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
    // A backslash that is escaped itself begins no escape.
    let backslashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    (is_half && backslashes % 2 == 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Framing;

    #[track_caller]
    fn check(frames: &[&str], expected: &[&str]) {
        let mut joiner = SurrogateJoiner::default();
        let all = frames.iter().map(|data| joiner.join(Frame::new(Framing::Sse, None, data)).data.unwrap());
        assert_eq!(all.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn halves_meet_in_the_next_frame_of_their_text() {
        check(
            &[
                r#"{"choices":[{"index":0,"delta":{"content":"\ud83d"}},{"index":1,"delta":{"content":"b"}}]}"#,
                r#"{"choices":[{"index":1,"delta":{"content":"c"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"\uDE00"}}]}"#,
            ],
            &[
                r#"{"choices":[{"index":0,"delta":{"content":""}},{"index":1,"delta":{"content":"b"}}]}"#,
                r#"{"choices":[{"index":1,"delta":{"content":"c"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"\ud83d\uDE00"}}]}"#,
            ],
        );
        check(
            &[
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"\ud83d"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\ude00\"}"}}"#,
            ],
            &[
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\""}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\ud83d\ude00\"}"}}"#,
            ],
        );
    }

    #[test]
    fn everything_else_stays() {
        for same in [
            &[r#"{"text":"\ud83d\ude00"}"#, r#"{"text":"\ude00"}"#][..],
            &[r#"{"text":"a\\ud83d"}"#, r#"{"text":"\ude00"}"#],
            &[r#"{"text":"\ud83d b"}"#, r#"{"text": "x" }"#],
        ] {
            check(same, same);
        }
        // A half that never meets the other is not lost.
        check(&[r#"{"text":"\ud83d"}"#, r#"{"text":"b"}"#], &[r#"{"text":""}"#, r#"{"text":"\ud83db"}"#]);
    }
}
