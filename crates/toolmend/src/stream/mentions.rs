//! Markup that the text only talks about: in inline code, in a quotation, in the middle of a sentence.
//!
//! Such markup is text, and so is a call of an undeclared tool in a sentence or with a placeholder for its name. What
//! comes before the markup is known; for what comes after it the machine waits, but never longer than to the next word.

use super::markup_action::MarkupAction;
use super::recent_text;
use super::{Mode, Stream};
use crate::dialect::block::Block;
use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::RawCall;
use crate::dialect::token::{self, TextKind};
use crate::syntax::Finish;

impl Stream {
    /// Whether the text only mentions this markup.
    // Case: dialects/hostile/tokens-in-a-sentence
    // Case: dialects/hostile/call-in-inline-code
    pub(super) fn is_mentioned(&self, action: &MarkupAction, at: usize, len: usize, done: bool) -> Step<()> {
        if self.text_kind != TextKind::Content || matches!(action, MarkupAction::Text) {
            return Step::No;
        }
        let line = self.line_before(at);
        if is_quoted(&line) && !self.is_asked() {
            return Step::Got(());
        }
        match action {
            // What follows the marker belongs to the call.
            MarkupAction::Block => Step::No,
            MarkupAction::Drop(_) if is_before_markup(&line) == Before::Nothing => {
                continues_sentence(&self.buffer[at + len..], done, char::is_lowercase)
            }
            _ => self.is_in_sentence(&line, at + len, done),
        }
    }

    /// Whether a marker that begins no call is part of a sentence.
    pub(super) fn is_mentioned_opener(&self, at: usize, done: bool) -> Step<()> {
        let Step::Got(markup) = Input::new(&self.buffer, done, self.custom.table()).markup(at) else {
            return Step::No;
        };
        if self.text_kind != TextKind::Content {
            return Step::No;
        }
        self.is_in_sentence(&self.line_before(at), at + markup.len(), done)
    }

    fn is_in_sentence(&self, line: &str, after: usize, done: bool) -> Step<()> {
        match is_before_markup(line) {
            Before::Sentence => continues_sentence(&self.buffer[after..], done, char::is_alphanumeric),
            Before::Nothing | Before::Other => Step::No,
        }
    }

    /// Whether calls behind a marker are only shown: their tool is not declared, and they are not a block of their own
    /// or have a placeholder for a name.
    // Case: dialects/hostile/undeclared-in-a-sentence
    // Case: dialects/hostile/placeholder-name
    pub(super) fn shows_undeclared_call(&self, at: usize, block: &Block, done: bool) -> Step<()> {
        let undeclared = |call: &&RawCall| !self.mender.knows_tool(&call.name);
        let mut unknown = block.calls.iter().filter(undeclared).peekable();
        if unknown.peek().is_none() || self.text_kind != TextKind::Content {
            return Step::No;
        }
        let has_tools = self.mender.has_named_tools();
        if unknown.any(|call| is_placeholder(&call.name, has_tools)) {
            return Step::Got(());
        }
        if !has_tools {
            return Step::No;
        }
        // If the output was truncated in a sentence, its words may be missing.
        let is_truncated = done && self.finish != Finish::Stop;
        if is_truncated && is_before_markup(&self.line_before(at)) == Before::Sentence {
            return Step::Got(());
        }
        self.words_follow(block.end, done)
    }

    /// Whether the line before this position says that what follows is an example, and nothing else.
    // Case: dialects/hostile/marked-example
    pub(super) fn is_labelled_example(&self, at: usize) -> bool {
        if self.text_kind != TextKind::Content || self.is_asked() {
            return false;
        }
        let near = self.buffer.ceil_char_boundary(at.saturating_sub(recent_text::ENOUGH)).min(at);
        let before = format!("{}{}{}", self.recent.text(), self.space, &self.buffer[near..at]);
        is_example_label(before.trim_end().lines().next_back().unwrap_or_default())
    }

    /// Leaves a whole block as text.
    pub(super) fn skip_block(&mut self, block: &Block) -> bool {
        self.scanned = block.end;
        self.line_start = false;
        true
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

    /// The text before a position in its line, as far as it matters.
    fn line_before(&self, at: usize) -> String {
        let near = self.buffer.ceil_char_boundary(at.saturating_sub(recent_text::ENOUGH));
        let here = &self.buffer[near.min(at)..at];
        if let Some((_, line)) = here.rsplit_once('\n') {
            return line.to_owned();
        }
        // After something that is not text, the line begins anew.
        if self.skip_space || here.len() >= recent_text::ENOUGH || !matches!(self.mode, Mode::Text) {
            return here.to_owned();
        }
        let joined = format!("{}{}{here}", self.recent.text(), self.space);
        let from = joined.ceil_char_boundary(joined.len().saturating_sub(recent_text::ENOUGH));
        let joined = &joined[from..];
        joined.rsplit_once('\n').map_or(joined, |(_, line)| line).to_owned()
    }
}

/// What comes before markup in its line.
#[derive(PartialEq, Eq)]
enum Before {
    Nothing,
    /// Words that go on, or an opening quote.
    Sentence,
    /// A sentence that ended, or text without a blank before the markup.
    Other,
}

fn is_before_markup(line: &str) -> Before {
    let words = line.trim_end();
    let Some(last) = words.chars().next_back() else { return Before::Nothing };
    if matches!(last, '"' | '\'' | '“' | '‘' | '«' | '(' | '`') {
        return Before::Sentence;
    }
    if words.len() == line.len() || ".!?。！？…".contains(last) {
        return Before::Other;
    }
    if words.contains(char::is_alphabetic) { Before::Sentence } else { Before::Other }
}

/// Whether a sentence continues after markup: with a mark, or with a blank and a word that begins like this.
fn continues_sentence(rest: &str, done: bool, begins_word: impl Fn(char) -> bool) -> Step<()> {
    let more = if done { Step::No } else { Step::More };
    let Some(next) = rest.chars().next() else { return more };
    if ".,;:!?)`'\"’”»".contains(next) {
        return Step::Got(());
    }
    if next != ' ' {
        return Step::No;
    }
    match rest.trim_start_matches(' ').chars().next() {
        None => more,
        Some(first) if begins_word(first) || "`'\"“(".contains(first) => Step::Got(()),
        Some(_) => Step::No,
    }
}

/// Whether the end of this line is inside inline code, a quotation or the cell of a table.
fn is_quoted(line: &str) -> bool {
    let start = line.trim_start();
    if start.starts_with("> ") || start.starts_with("| ") {
        return true;
    }
    // Inline code ends with as many backticks as it began with. Three at the start of a line are a fence.
    let mut open = None;
    let mut rest = start;
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        match open {
            None => open = Some(ticks),
            Some(opened) if opened == ticks => open = None,
            Some(_) => {}
        }
        rest = &rest[at + ticks..];
    }
    open.is_some_and(|ticks| ticks < 3)
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
    fn inline_code_is_known_by_its_backticks() {
        for line in ["Use `", "a `b` and `c ", "``x` ", "> ", "| f | "] {
            assert!(is_quoted(line), "{line}");
        }
        for line in ["", "Use `a` ", "```xml ", "a > b ", "`` ` `` "] {
            assert!(!is_quoted(line), "{line}");
        }
    }

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
