//! Calls behind a marker that the text only shows.
//!
//! A marker is evidence for a call, and prose before it is none against it: models announce their calls. A call inside a
//! sentence, or with words between it and its own closing marker, is text, and so is a call of an undeclared tool that is
//! not a block of its own.

use super::Stream;
use super::messages_in_sentences::is_half_closer;
use super::refusing_words;
use super::text_before::{Before, continues_sentence, is_before_markup, is_quoted, is_unspaced};
use crate::dialect::block::{Block, Frames, Reader};
use crate::dialect::call_message;
use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::RawCall;
use crate::dialect::token::{self, TextKind};
use crate::syntax::Finish;
use crate::text_parts::first_part;
use crate::turn::Delivery;

/// How far away the closing marker of a call with words in it may be.
const REACH: usize = 512;

impl Stream {
    /// Leaves calls and the markers that close them as text.
    pub(super) fn show_calls(&mut self, at: usize, block: &Block, done: bool) -> bool {
        if let Step::Got(end) = self.calls_end(block, done) {
            return self.show_text(end.max(at + 1));
        }
        self.hold_and_wait(at)
    }

    /// The position after the markers that close calls. They stay visible if their partners do.
    // Case: dialects/use_mcp_tool/in-a-sentence
    // Case: dialects/deepseek_v3/in-inline-code
    fn frame_end(&self, from: usize, mut fence: bool, done: bool) -> Step<usize> {
        const FENCE: &str = "```";
        let mut at = from;
        loop {
            let rest = self.buffer[at..].trim_start();
            if fence && rest.starts_with(FENCE) {
                fence = false;
                at = self.buffer.len() - rest.len() + FENCE.len();
                continue;
            }
            if fence && !done && FENCE.starts_with(rest) {
                return Step::More;
            }
            let next = self.buffer.len() - rest.len();
            let input = Input::new(&self.buffer, done, self.custom.table());
            match input.markup(next) {
                Step::More => return Step::More,
                Step::Got(markup) if markup.begins_message() || markup.separates_messages() => {
                    match call_message::section_end(input, next) {
                        Step::Got(end) => at = end,
                        Step::More => return Step::More,
                        Step::No => match self.begins_call(next, done) {
                            Step::No if markup.closes() => at = next + markup.len(),
                            Step::More => return Step::More,
                            _ => return Step::Got(at),
                        },
                    }
                }
                Step::Got(markup) if markup.closes() || markup.closes_part() => at = next + markup.len(),
                // A token that ends a turn belongs to the calls if the text goes on after it.
                // Case: dialects/hyperclova/in-a-sentence
                Step::Got(markup) if markup.is_noise() => {
                    match self.text_goes_on(next + markup.len(), done) {
                        Step::Got(()) => at = next + markup.len(),
                        Step::More => return Step::More,
                        Step::No => return Step::Got(at),
                    }
                }
                _ if rest.is_empty() && !done => return Step::More,
                _ => return Step::Got(at),
            }
        }
    }

    /// Whether text follows this position, and neither markup nor the end.
    fn text_goes_on(&self, at: usize, done: bool) -> Step<()> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let next = input.skip_whitespace(at);
        if next >= input.text.len() {
            return if done { Step::No } else { Step::More };
        }
        match input.markup(next) {
            Step::Got(_) => Step::No,
            Step::More => Step::More,
            Step::No => Step::Got(()),
        }
    }

    /// The position after these calls, those that follow them directly, and the markers that close them. What is said about
    /// one of them is said about all.
    // Case: dialects/hostile/two-marked-and-negated
    pub(super) fn calls_end(&self, block: &Block, done: bool) -> Step<usize> {
        const MOST: usize = 1000;
        let (mut end, mut frames) = (block.end, block.frames.clone());
        for _ in 0..MOST {
            match self.frame_end(end, frames.fence, done) {
                Step::Got(closed) => end = closed,
                other => return other,
            }
            let input = Input::new(&self.buffer, done, self.custom.table());
            let mut at = input.skip_whitespace(end);
            while matches!(input.byte(at), Some(b',' | b';'))
                || frames.brackets > 0 && input.byte(at) == Some(b']')
            {
                if input.byte(at) == Some(b']') {
                    frames.brackets -= 1;
                    end = at + 1;
                }
                at = input.skip_whitespace(at + 1);
            }
            if at >= input.text.len() {
                return if done { Step::Got(end) } else { Step::More };
            }
            // A marker opens frames of its own. Without one, the next call is inside those that are open.
            match input.markup(at) {
                Step::Got(markup) if markup.begins_message() || markup.separates_messages() => {
                    match self.read_message(input, at) {
                        Step::Got(next) if !next.calls.is_empty() && next.end > end => {
                            (end, frames) = (next.end, next.frames);
                            continue;
                        }
                        Step::More => return Step::More,
                        _ => return self.frame_end(end, frames.fence, done),
                    }
                }
                Step::Got(markup) if markup.opens() => frames = Frames::default(),
                Step::More => return Step::More,
                _ if end > block.end && frames.brackets == 0 => {
                    return self.frame_end(end, frames.fence, done);
                }
                _ => match frames.begins_bare_call(input, at) {
                    Step::More => return Step::More,
                    Step::No if !input.rest(at).starts_with(['{', '[', '✿']) => {
                        return self.frame_end(end, frames.fence, done);
                    }
                    _ => {}
                },
            }
            let (judge, stopped) = (&self.judge, self.has_stopped());
            let mut reader = Reader { input, judge, frames: frames.clone(), start: at, name: None, stopped };
            match reader.read(at) {
                Step::Got(next) if !next.calls.is_empty() && next.end > end => {
                    (end, frames) = (next.end, next.frames);
                }
                Step::More => return Step::More,
                _ => return self.frame_end(end, frames.fence, done),
            }
        }
        Step::Got(end)
    }

    /// Leaves everything up to this position as text.
    pub(super) fn show_text(&mut self, end: usize) -> bool {
        self.line_start = self.begins_line(end);
        self.scanned = end;
        true
    }

    /// Whether calls behind a marker are only shown: they are part of a sentence, or words come between them and their
    /// closing marker, or their tool is not declared and they are not a block of their own.
    // Case: dialects/hostile/call-in-a-sentence
    pub(super) fn shows_call(&self, at: usize, block: &Block, done: bool) -> Step<()> {
        if self.text_kind != TextKind::Content || block.calls.is_empty() {
            return Step::No;
        }
        if self.is_after_shown_call(at) {
            return Step::Got(());
        }
        match self.shows_undeclared_call(at, block, done) {
            Step::No => {}
            other => return other,
        }
        if self.is_asked_at(at) {
            return Step::No;
        }
        if self.may_be_in_sentence(at) {
            match self.sentence_continues(at, block, done) {
                Step::No => {}
                other => return other,
            }
        }
        // With live delivery the call may have been sent.
        if self.delivery == Delivery::Live { Step::No } else { self.is_taken_back_inside(block, done) }
    }

    /// Whether a call in the same line is text. Then all of them are.
    // Case: dialects/hostile/shown-in-the-same-line
    fn is_after_shown_call(&self, at: usize) -> bool {
        let line = self.line_before(at);
        let closes_call = |(at, _): (usize, &str)| matches!(token::read(&line[at..], true, self.custom.table()), Step::Got(markup) if markup.closes_calls());
        line.match_indices(['<', '[']).any(closes_call)
    }

    /// Whether a call at this position may turn out to be part of a sentence.
    pub(super) fn may_be_in_sentence(&self, at: usize) -> bool {
        let line = self.line_before(at);
        // A quote around the whole line is a habit of some servers.
        match is_before_markup(&line) {
            Before::Sentence => line.trim() != "\"",
            // Case: dialects/hostile/call-in-a-sentence-without-blanks
            Before::Glued => true,
            Before::Nothing | Before::Item | Before::Other => false,
        }
    }

    /// Whether the sentence around calls continues after the markers that close them, with a mark or with at least two
    /// words.
    pub(super) fn sentence_continues(&self, at: usize, block: &Block, done: bool) -> Step<()> {
        let Step::Got(end) = self.calls_end(block, done) else { return Step::More };
        // If the output was truncated here, the words that show it may be missing.
        let rest = &self.buffer[end..];
        // After a call that runs, it is one more. A colon announces it, unless the output was certainly truncated.
        // Case: dialects/gemma4/words-between-calls
        if done && self.running_calls == 0 && self.may_be_cut_after(at, end) {
            return Step::Got(());
        }
        let is_word = |first: char| first.is_alphabetic() && !first.is_uppercase();
        if rest.starts_with(is_unspaced) {
            return Step::Got(());
        }
        match continues_sentence(rest, done, is_word) {
            Step::Got(()) => {}
            other => return other,
        }
        let words = rest.trim_start_matches(' ');
        if words.len() == rest.len() || !words.starts_with(is_word) {
            return Step::Got(());
        }
        let near = first_part(words, REACH);
        let after = near.trim_start_matches(|ch: char| ch.is_alphanumeric() || "'’-_".contains(ch));
        let next = after.trim_start_matches(' ');
        match next.chars().next() {
            None if done || near.len() < words.len() => Step::No,
            None => Step::More,
            Some(next) if next.is_alphanumeric() || ",.;:!?".contains(next) => Step::Got(()),
            Some(_) => Step::No,
        }
    }

    /// Whether the output may have been truncated right after the calls that begin at `at` and end at `end`.
    fn may_be_cut_after(&self, at: usize, end: usize) -> bool {
        let rest = &self.buffer[end..];
        let is_announced = || self.line_before(at).trim_end().ends_with([':', '：']);
        let is_short = || {
            // Only the first words are looked at. Every call of a long output is asked about.
            let line = rest.trim_start_matches(|ch: char| ch.is_whitespace() && ch != '\n');
            let after_word = line.trim_start_matches(|ch: char| !ch.is_whitespace());
            let is_last_word =
                after_word.trim_start_matches(|ch: char| ch.is_whitespace() && ch != '\n').is_empty();
            is_last_word
                || is_half_closer(rest)
                || rest.trim_start().is_empty() && (self.finish == Finish::Length || self.ends_in_part(end))
        };
        match self.finish {
            Finish::Length => is_short(),
            Finish::Unknown => !is_announced() && is_short(),
            Finish::Stop => false,
        }
    }

    /// Whether words between a call and the marker that closes it take it back.
    fn is_taken_back_inside(&self, block: &Block, done: bool) -> Step<()> {
        let custom = self.custom.table();
        let is_closed = |mark: &String| custom.is_closed(mark);
        if !block.frames.markers.iter().any(is_closed) || block.frames.brackets > 0 || block.frames.fence {
            return Step::No;
        }
        let start = self.buffer.len() - self.buffer[block.end..].trim_start().len();
        let mut at = start;
        while let Some(offset) = self.buffer[at..].find(['<', '[']) {
            at += offset;
            if at > start + REACH {
                return Step::No;
            }
            match token::read(&self.buffer[at..], done, custom) {
                Step::Got(markup) if markup.closes_calls() => {
                    return if takes_back(&self.buffer[start..at]) { Step::Got(()) } else { Step::No };
                }
                Step::Got(_) => return Step::No,
                Step::More => return Step::More,
                Step::No => at += 1,
            }
        }
        // Words without a closing marker are text after the call.
        let is_short = self.buffer.len() <= start + REACH;
        if done || !is_short || !self.begins_words(start) { Step::No } else { Step::More }
    }

    /// Whether words begin here, and not another call. Nothing is known if nothing has arrived.
    fn begins_words(&self, at: usize) -> bool {
        self.buffer[at..].chars().next().is_none_or(|first| !"{}[]`,;\\".contains(first))
    }

    /// Whether the words before this position say that what follows is an example, or speak against it.
    // Case: dialects/hostile/marked-example
    // Case: dialects/hostile/marked-and-negated
    pub(super) fn is_labelled_example(&self, at: usize) -> bool {
        if self.text_kind != TextKind::Content {
            return false;
        }
        let before = self.text_before(at);
        let is_label = || is_example_label(before.trim_end().lines().next_back().unwrap_or_default());
        if self.is_asked_at(at) {
            refusing_words::forbids(&before)
        } else {
            is_label() || refusing_words::speaks_against(&before)
        }
    }

    /// Whether the tool of a call is not declared, and the call is not a block of its own or has a placeholder for a
    /// name.
    // Case: dialects/hostile/undeclared-in-a-sentence
    // Case: dialects/hostile/placeholder-name
    fn shows_undeclared_call(&self, at: usize, block: &Block, done: bool) -> Step<()> {
        let undeclared = |call: &&RawCall| !self.mender.knows_tool(&call.name);
        let mut unknown = block.calls.iter().filter(undeclared).peekable();
        if unknown.peek().is_none() {
            return Step::No;
        }
        let has_tools = self.mender.has_named_tools();
        if unknown.any(|call| is_placeholder(&call.name, has_tools)) {
            return Step::Got(());
        }
        if !has_tools {
            return Step::No;
        }
        if is_quoted(&self.line_before(at)) {
            return Step::Got(());
        }
        // If the output was truncated in a sentence, its words may be missing.
        let is_truncated = done && self.finish != Finish::Stop;
        if is_truncated && is_before_markup(&self.line_before(at)) == Before::Sentence {
            return Step::Got(());
        }
        self.words_follow(block.end, done)
    }

    /// Whether words follow in the same line, after the markers that close calls.
    fn words_follow(&self, from: usize, done: bool) -> Step<()> {
        let mut at = from;
        loop {
            let rest = self.buffer[at..].trim_start_matches([' ', '\t', '\r']);
            at = self.buffer.len() - rest.len();
            match rest.chars().next() {
                None => return if done { Step::No } else { Step::More },
                Some('\n') => {
                    // The markers that close a call may be on lines of their own.
                    let next = rest.trim_start();
                    match token::read(next, done, self.custom.table()) {
                        Step::Got(markup) if markup.closes_calls() => {
                            at = self.buffer.len() - next.len() + markup.len();
                        }
                        Step::More => return Step::More,
                        _ if next.is_empty() && !done => return Step::More,
                        _ => return Step::No,
                    }
                }
                Some(_) => match token::read(rest, done, self.custom.table()) {
                    Step::Got(markup) if markup.closes() => at += markup.len(),
                    Step::Got(_) => return Step::No,
                    Step::More => return Step::More,
                    Step::No if rest.starts_with(['{', '[', ']', '}', '`']) => return Step::No,
                    Step::No => return Step::Got(()),
                },
            }
        }
    }
}

/// Words that take a call back, inside its own markers.
const TAKING_BACK: &[&str] = &[
    "not",
    "never",
    "no",
    "wrong",
    "incorrect",
    "invalid",
    "don't",
    "cancel",
    "cancelled",
    "ignore",
    "skip",
    "example",
    "不要",
    "错误",
];

/// Whether these words take a call back. A value or another call has other marks.
fn takes_back(words: &str) -> bool {
    let words = words.to_lowercase().replace('’', "'");
    !words.starts_with(['{', '[', '}', ']', '"', '`', ','])
        && words.split(|ch: char| !ch.is_alphanumeric() && ch != '\'').any(|word| TAKING_BACK.contains(&word))
}

/// Lines that only announce an example, without marks and case.
const EXAMPLE_LABELS: &[&str] = &[
    "example",
    "examples",
    "for example",
    "for instance",
    "e.g",
    "an example",
    "example call",
    "example tool call",
    "example usage",
    "sample call",
    "here is an example",
    "here's an example",
    "beispiel",
    "ejemplo",
    "exemple",
    "esempio",
    "exemplo",
    "例如",
    "示例",
    "例子",
];

fn is_example_label(line: &str) -> bool {
    let Some(label) = line.trim_end_matches(['*', '_', ' ']).strip_suffix([':', '：']) else { return false };
    let marks = |ch: char| ch.is_whitespace() || "*_#-.,".contains(ch);
    let label = label.trim_matches(marks).to_lowercase();
    EXAMPLE_LABELS.contains(&label.as_str())
}

/// Names that stand for a name, without `_`, `-` and case.
const PLACEHOLDERS: &[&str] = &[
    "name",
    "functionname",
    "funcname",
    "toolname",
    "function",
    "tool",
    "func",
    "fn",
    "myfunction",
    "mytool",
    "yourfunction",
    "yourtool",
    "yourfunctionname",
    "yourtoolname",
    "examplefunction",
    "exampletool",
    "somefunction",
    "sometool",
    "nameoffunction",
    "nameoftool",
    "nameofthetool",
    "nameofthefunction",
    "functionnamehere",
    "toolnamehere",
    "methodname",
];

/// Whether a name only stands for a name. If no tools are declared, an ordinary word may be one.
fn is_placeholder(name: &str, has_tools: bool) -> bool {
    let name = name.trim();
    let marked = name.starts_with(['$', '<', '{', '%', '[']) || name.starts_with("...") || name == "…";
    let folded: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    let shouted = name.len() > 2 && !name.contains(char::is_lowercase) && folded.ends_with("name");
    marked || shouted || has_tools && PLACEHOLDERS.contains(&folded.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_announces_an_example() {
        for line in ["Example:", "**Example:**", "For example:", "### Example:", "示例："] {
            assert!(is_example_label(line), "{line}");
        }
        for line in ["Example", "Let me look at the example:", "I will create an example file:", ""] {
            assert!(!is_example_label(line), "{line}");
        }
    }

    #[test]
    fn placeholders_are_no_names() {
        for name in ["NAME", "$FUNCTION_NAME", "<name>", "{tool}", "...", "TOOL_NAME"] {
            assert!(is_placeholder(name, false), "{name}");
        }
        assert!(is_placeholder("function_name", true) && !is_placeholder("function_name", false));
        for name in ["search", "rename", "GET", "tools"] {
            assert!(!is_placeholder(name, true), "{name}");
        }
    }
}
