//! What the text before a call without a marker says about it.
//!
//! Such a call runs only as a block of its own. A statement in a program, a line of a log or of a transcript, a list of
//! tools, and what the words before it call an example or refuse to do are text.

use super::Stream;
use super::asking_first::asks_first;
use super::recent_text;
use super::refusing_words;
use crate::dialect::block::Block;
use crate::text_parts::last_part;

/// Words that announce something to look at, in lower case.
const SHOWING: &[&str] = &[
    "example",
    "for instance",
    "e.g.",
    "例如",
    "示例",
    "such as",
    "sample",
    "would look",
    "looks like",
    "like this",
    "the format",
    "beispiel",
    "ejemplo",
    "exemple",
    "esempio",
    "exemplo",
];

/// Words that speak against a call without a marker, in lower case.
const REFUSING: &[&str] = &[
    "never",
    "not run",
    "not execut",
    "not call",
    "not do",
    "not to ",
    "don't",
    "can't do",
    "cannot do",
    "won't",
    "refuse",
    "would have",
    "yourself",
    "instead of",
    "would be",
    "would then",
    "would write",
    "if you confirm",
    "do you want me to",
    "you want me to run",
    "wrong:",
    "draft",
    "tools are",
    "tools:",
    "functions are",
    "functions:",
    "available tool",
    "documentation",
    "readme",
    "the log",
    "transcript",
    "traceback",
    "earlier i",
    "user wrote",
    "user said",
    "system prompt",
    "不要",
    "请勿",
    "不会",
    "nicht",
    "no ejecut",
    "ne pas",
];

/// First words of lines of a program, before which or in whose block a statement stands.
const CODE_WORDS: &[&str] = &[
    "for ",
    "while ",
    "if ",
    "elif ",
    "else:",
    "def ",
    "class ",
    "with ",
    "try:",
    "except",
    "finally:",
    "async ",
    "match ",
    "case ",
    "import ",
    "from ",
    "return",
    "raise ",
    "await ",
    "@",
    "#",
    "//",
    ">>> ",
    "$ ",
    "File \"",
    "Traceback",
    "const ",
    "let ",
    "var ",
    "function ",
];

/// First words of the lines of other speakers.
const SPEAKERS: &[&str] = &["User:", "Human:", "Tool:", "System:", "**User:**", "**Human:**"];

impl Stream {
    /// Whether the text before a call without a marker shows that it is not a block of its own.
    // Case: dialects/hostile/statement-in-a-program
    // Case: dialects/hostile/tools-in-a-list
    pub(super) fn is_announced_as_text(&self, at: usize) -> bool {
        let text = self.text_before(at);
        let (before, line) = text.rsplit_once('\n').unwrap_or(("", &text));
        if before.trim().is_empty() {
            return false;
        }
        // One blank is no indentation.
        let is_indented = (line.len() > 1 || line == "\t") && line.trim().is_empty();
        let previous = before.rsplit('\n').next().unwrap_or_default();
        let is_transcript = before.lines().any(|line| SPEAKERS.iter().any(|word| line.starts_with(word)));
        is_indented
            || is_of_program(previous)
            || is_of_log(previous)
            || is_transcript
            || speaks_against(before)
            || refusing_words::speaks_against(before)
    }

    /// Whether something in these calls only stands for a value.
    // Case: dialects/hostile/placeholder-in-a-list
    pub(super) fn has_placeholders(&self, block: &Block) -> bool {
        block.calls.iter().any(|call| has_placeholder(&self.buffer[call.at.clone()]))
    }

    /// Whether the words before this position announce an example.
    pub(super) fn announces_example(&self, at: usize) -> bool {
        // Only the last words count, so only they are copied. A letter may be longer in lower case.
        let near = last_part(&self.buffer[..at], 2 * recent_text::ENOUGH);
        let before = format!("{}{near}", self.recent.text()).to_lowercase();
        let paragraph = last_paragraph(last_part(&before, recent_text::ENOUGH));
        SHOWING.iter().any(|word| paragraph.contains(word))
    }
}

fn last_paragraph(text: &str) -> &str {
    let text = text.trim_end();
    text.rsplit("\n\n").next().unwrap_or(text)
}

fn speaks_against(before: &str) -> bool {
    let words = last_paragraph(before).to_lowercase().replace('’', "'");
    SHOWING.iter().chain(REFUSING).any(|word| words.contains(word)) || asks_first(&words)
}

/// Whether a line belongs to a program.
fn is_of_program(line: &str) -> bool {
    let start = line.trim();
    let assigns = start.split_once(" = ").is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|ch| ch.is_alphanumeric() || "_.[]'\", ".contains(ch))
    });
    CODE_WORDS.iter().any(|word| start.starts_with(word))
        && !start.ends_with(['.', '!', '?'])
        && (start.ends_with([':', '{', ')', ';', '"', ',']) || !start.contains(' ') || is_certain(start))
        || assigns
        || start.ends_with(['{', ';'])
}

/// Whether these first words are never those of a sentence.
fn is_certain(line: &str) -> bool {
    ["import ", "@", "#", "//", ">>> ", "$ ", "File \"", "Traceback", "const ", "var "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// Whether a line begins with a time or a level, as those of logs do.
fn is_of_log(line: &str) -> bool {
    let start = line.trim_start_matches([' ', '[', '(']);
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let is_time = matches!((digits, start.as_bytes().get(digits)), (2 | 4, Some(b':' | b'-' | b'/')));
    is_time || ["INFO", "DEBUG", "WARN", "ERROR"].iter().any(|level| start.starts_with(level))
}

/// Whether something in a call only stands for a value.
fn has_placeholder(call: &str) -> bool {
    ["\"...\"", "'...'", "\"…\"", "'…'", "(...)", "{...}", "=...", ": ..."]
        .iter()
        .any(|mark| call.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_programs_and_logs_are_no_announcements() {
        for line in [
            "for p in ps:",
            "x = f(1)",
            "import os",
            "  File \"a.py\", line 3, in <module>",
            "if (a) {",
            "# next",
        ] {
            assert!(is_of_program(line), "{line}");
        }
        for line in
            ["For the weather I ask:", "If so, I call it now.", "Let me look:", "let me see", "with pleasure"]
        {
            assert!(!is_of_program(line), "{line}");
        }
        assert!(is_of_log("[10:00] output begins") && is_of_log("2026-01-02 a") && is_of_log("ERROR x"));
        assert!(!is_of_log("10 files") && !is_of_log("Now:"));
    }
}
