//! Maps a turn back to the output that it was read from.
//!
//! It finds the parts by comparing text, and never reads the output again.

use std::ops::Range;

use crate::text_parts::first_part;
use crate::turn::Turn;

/// What a part of a model's output is. See [`Turn::segments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text for the user.
    Content,
    /// The model's reasoning.
    Reasoning,
    /// The call with this number, counted from zero.
    Call(usize),
    /// Markers and white space that are neither.
    Markup,
}

impl Turn {
    /// The parts of the output that the turn was read from, in their order. Together they are the whole output.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, Part, TurnOptions};
    /// let output = "<think>Why?</think>Because.";
    /// let turn = Mender::new(&serde_json::json!([])).unwrap().turn(output, &TurnOptions::new(), Finish::Stop);
    /// let parts: Vec<_> = turn.segments(output).into_iter().map(|(part, at)| (part, &output[at])).collect();
    /// assert_eq!(parts[1], (Part::Reasoning, "Why?"));
    /// assert_eq!(parts[3], (Part::Content, "Because."));
    /// ```
    ///
    /// A turn knows the positions of its calls. Content and reasoning are in the output in their order, so one pass
    /// finds them again. Everything else is markup.
    pub fn segments(&self, output: &str) -> Vec<(Part, Range<usize>)> {
        let mut parts = Vec::new();
        let mut walk = Walk { content: &self.content, reasoning: &self.reasoning };
        let mut at = 0;
        for (index, call) in self.calls.iter().enumerate() {
            walk.between(output, at..call.at.start, &mut parts);
            push(&mut parts, Part::Call(index), call.at.clone());
            at = call.at.end.max(at);
        }
        walk.between(output, at..output.len(), &mut parts);
        parts
    }
}

/// Content and reasoning that were not found yet.
struct Walk<'t> {
    content: &'t str,
    reasoning: &'t str,
}

impl Walk<'_> {
    fn between(&mut self, input: &str, range: Range<usize>, parts: &mut Vec<(Part, Range<usize>)>) {
        let mut at = range.start;
        while let Some(rest) = input.get(at..range.end).filter(|rest| !rest.is_empty()) {
            let (content, reasoning) = (common(rest, self.content), common(rest, self.reasoning));
            let length = if content >= reasoning && content > 0 {
                self.content = &self.content[content..];
                push(parts, Part::Content, at..at + content);
                content
            } else if reasoning > 0 {
                self.reasoning = &self.reasoning[reasoning..];
                push(parts, Part::Reasoning, at..at + reasoning);
                reasoning
            } else {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                push(parts, Part::Markup, at..at + length);
                length
            };
            at += length;
        }
    }
}

/// The length of the common beginning of two texts, in whole characters.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    first_part(one, same).len()
}

fn push(parts: &mut Vec<(Part, Range<usize>)>, part: Part, range: Range<usize>) {
    match parts.last_mut() {
        _ if range.is_empty() => {}
        Some((last, known)) if *last == part && known.end == range.start => known.end = range.end,
        _ => parts.push((part, range)),
    }
}
