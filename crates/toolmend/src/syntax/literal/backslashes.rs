//! Whether the backslashes of a literal are escapes or text.
//!
//! A model that writes `\alpha \to \beta` escaped nothing, so `\t` is no tab there. A model that writes `\d+` in a line that
//! ends in `\n` escaped, and lost one backslash. Each hypothesis has to explain the whole literal. If both do, with different
//! values, or if each explains only a part, the literal is contested.

use super::escapes::{Escape, escape_at};
use crate::json::strict;
use crate::syntax::token::Quote;

/// What the backslashes of a literal are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Backslashes {
    /// Escapes; those that are none lost their own backslash.
    Escapes,
    /// The same, and a backslash at the end of a line says that the line goes on.
    EscapesAndContinuations,
    /// Text, all of them.
    Text,
    /// Either.
    Contested,
}

/// What was counted in a literal.
#[derive(Debug, Default)]
struct Counts {
    /// Backslashes that start no escape.
    unknown: usize,
    /// Those of them that start a word of two letters or more.
    unknown_words: usize,
    /// `\n`, `\r` and `\t` that spell a command of LaTeX with what follows.
    commands: usize,
    /// The same for `\b` and `\f`, which are never meant as control characters.
    harmless_commands: usize,
    /// Other `\n`, `\r`, `\t` and further escapes.
    escapes: usize,
    /// Escaped backslashes and delimiters: only someone who escapes writes them.
    proofs: usize,
    /// Escaped backslashes that no word follows.
    lone_pairs: usize,
    continuations: usize,
    /// Continuations directly after a `\n`.
    continuations_after_break: usize,
    /// Continuations directly after a letter or a mark. In a shell a blank comes first.
    continuations_after_word: usize,
    control_escapes: usize,
    /// `\/`, which patterns need and JSON has no use for.
    slashes: usize,
    named: usize,
    /// `\u` with four digits.
    code_points: usize,
    /// `\x` with two digits, and `\u{`: the same in other languages.
    foreign_code_points: usize,
}

/// Decides what the backslashes of this literal are.
// Case: syntax/latex-raw
// Case: syntax/latex-or-line-breaks
// Case: syntax/code-in-triple-quotes
pub(in crate::syntax) fn judge(body: &[u8], quote: Quote) -> Backslashes {
    let counts = count(body, quote);
    if counts.named > 0 || counts.control_escapes > 0 && counts.unknown == 0 {
        return Backslashes::Contested;
    }
    // `\u0041 or \x41`: escapes as a topic.
    let topic = counts.code_points > 0 && counts.foreign_code_points > 0 && counts.proofs == 0;
    if topic || is_server_path(body, quote) {
        return Backslashes::Contested;
    }
    // `\d+\/\w`: a pattern as it is, or one that lost some backslashes.
    // Case: syntax/slash-in-a-pattern
    if counts.unknown > 0 && counts.slashes > 0 && counts.proofs == 0 && counts.escapes == 0 {
        return Backslashes::Contested;
    }
    let latex = counts.unknown_words > 0;
    if !quote.has_foreign_escapes()
        && (counts.continuations_after_word > 0
            || counts.unknown > 0 && (escapes_only_openers(body) || !latex && has_needless_escapes(body)))
    {
        return Backslashes::Contested;
    }
    if latex && counts.commands > 0 {
        let escaped = counts.proofs + counts.escapes > 0;
        return if escaped { Backslashes::Contested } else { Backslashes::Text };
    }
    // `a \\ b` ends a line in LaTeX, and is a single backslash for someone who escapes.
    if latex && counts.harmless_commands > 0 && counts.lone_pairs > 0 {
        return Backslashes::Contested;
    }
    // Between apostrophes, no language has line breaks as they are.
    // Case: syntax/program-between-apostrophes
    let has_raw = || {
        if quote.spans_lines() {
            memchr::memchr2(b'\n', b'"', body).is_some()
        } else {
            memchr::memchr_iter(b'\n', body).any(|at| !body[..at].ends_with(b"\\"))
        }
    };
    if quote.has_foreign_escapes() && counts.proofs == 0 && has_raw() {
        // Line breaks or quotes as they are beside a `\n`: program text, or a literal of a language that has both.
        if counts.escapes > 0 || counts.continuations > 0 {
            return if counts.unknown > 0 { Backslashes::Text } else { Backslashes::Contested };
        }
    }
    if quote.has_foreign_escapes() && is_drive_before_escape(body) && counts.unknown == 0 {
        return Backslashes::Contested;
    }
    match (counts.continuations, counts.continuations_after_break) {
        (0, _) => Backslashes::Escapes,
        _ if quote.has_foreign_escapes() => Backslashes::EscapesAndContinuations,
        (_, 0) => Backslashes::Escapes,
        (all, after_break) if all == after_break => Backslashes::EscapesAndContinuations,
        _ => Backslashes::Contested,
    }
}

/// Whether brackets pair up only without the backslashes before the opening ones: `print\("x")`. Patterns and LaTeX escape both
/// or none of them. `\(.name)` and `\(name)` are holes in strings of other languages.
// Case: syntax/escaped-opening-bracket
fn escapes_only_openers(body: &[u8]) -> bool {
    [(b'(', b')'), (b'[', b']'), (b'{', b'}')].iter().any(|&(open, close)| {
        let (mut escaped, mut plain) = (0i32, 0i32);
        for (at, &byte) in body.iter().enumerate().filter(|&(_, &byte)| byte == open || byte == close) {
            let slashes = body[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            let is_hole = byte == b'(' && {
                let word = word_at(body, at + 1).len();
                matches!(body.get(at + 1), Some(b'.')) || word > 0 && body.get(at + 1 + word) == Some(&b')')
            };
            let step = if byte == open { 1 } else { -1 };
            if slashes == 1 && !is_hole {
                escaped += step;
            } else if slashes != 1 {
                plain += step;
            }
        }
        escaped > 0 && plain == -escaped
    })
}

/// Whether a backslash is before a mark that only Markdown escapes, or has a blank between it and its letter: `snake\_case`,
/// `\# Title`, `\*\*`, `\ n`.
// Case: syntax/markdown-escapes-in-one-value
fn has_needless_escapes(body: &[u8]) -> bool {
    let is_word = |at: Option<usize>| at.and_then(|at| body.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    memchr::memchr_iter(b'\\', body).any(|at| {
        let before = &body[..at];
        let starts_line = before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\\n");
        match body.get(at + 1..).unwrap_or_default() {
            [b'_', ..] => is_word(at.checked_sub(1)) && is_word(Some(at + 2)),
            [b'#', b' ' | b'#' | b'\\', ..] => starts_line,
            [b'*', b'\\', b'*', ..] => !before.ends_with(b"\\"),
            [b' ', b'n' | b't', rest @ ..] => !rest.first().is_some_and(u8::is_ascii_lowercase),
            _ => false,
        }
    })
}

/// Whether a string in JSON quotes, with quotes and line breaks that are not escaped, has escapes such as `\n` and nothing
/// that shows that any of its text was escaped. Then these may be text as well: `printf("done\n");`.
// Case: syntax/program-as-it-is
pub(in crate::syntax) fn may_be_raw(body: &[u8], dirty: bool) -> bool {
    if holds_path_or_character(body) && count(body, Quote::Double).proofs == 0 {
        return true;
    }
    if memchr::memchr(b'\\', body).is_none() || memchr::memchr(b'\n', body).is_none() {
        return false;
    }
    let counts = count(body, Quote::Double);
    counts.proofs == 0 && counts.escapes > 0 && (dirty || memchr::memmem::find(body, b"\\n\"").is_some())
}

/// Whether an escape is all there is between two quotes, as in `tr ',' '\n'`, or follows a drive, as in `"C:\temp"`.
// Case: syntax/character-between-quotes
fn holds_path_or_character(body: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', body).any(|at| {
        let is_escape = matches!(body.get(at + 1), Some(b'n' | b't' | b'r'));
        let quote = at.checked_sub(1).map(|before| body[before]);
        let is_character = matches!(quote, Some(b'"' | b'\'')) && quote == body.get(at + 2).copied();
        let is_drive = at > 1 && quote == Some(b':') && body[at - 2].is_ascii_uppercase();
        is_escape && (is_character || is_drive)
    })
}

/// Whether the text starts with a drive and a backslash that would be an escape: `C:\temp`.
fn is_drive_before_escape(body: &[u8]) -> bool {
    matches!(body, [letter, b':', b'\\', b'n' | b't' | b'r' | b'b' | b'f', ..] if letter.is_ascii_alphabetic())
}

/// Whether the text is a path of a server, `\\nas\share`, of which the first two backslashes may be one that is escaped.
// Case: syntax/server-path
fn is_server_path(body: &[u8], quote: Quote) -> bool {
    let Some(rest) = body.strip_prefix(b"\\\\".as_slice()) else { return false };
    let name = |text: &[u8]| {
        text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.$".contains(byte)).count()
    };
    let server = name(rest);
    let share = rest.get(server + 1..).map_or(0, name);
    let plain = memchr::memmem::find(rest, b"\\\\").is_none();
    server > 1 && share > 1 && rest[server] == b'\\' && plain && !quote.is_raw()
}

fn count(body: &[u8], quote: Quote) -> Counts {
    let foreign = quote.has_foreign_escapes();
    let mut counts = Counts::default();
    let mut at = 0;
    let mut after_break = usize::MAX;
    while let Some(offset) = memchr::memchr(b'\\', &body[at..]) {
        at += offset;
        let word = word_at(body, at + 1);
        let escape = if foreign { escape_at(body, at, body.len()) } else { json_escape(body, at) };
        match escape {
            (Escape::Json, len) => {
                match body[at + 1] {
                    b'\\' => {
                        counts.proofs += 1;
                        let led = body.get(at + 2).is_some_and(u8::is_ascii_alphabetic);
                        counts.lone_pairs += usize::from(!led);
                    }
                    // Over several lines it is not needed, so it may be part of program text.
                    b'"' if !quote.spans_lines() => counts.proofs += 1,
                    b'u' => {
                        counts.code_points += 1;
                        counts.escapes += 1;
                    }
                    b'n' | b'r' | b't' if is_command(word) => counts.commands += 1,
                    b'b' | b'f' if is_command(word) => counts.harmless_commands += 1,
                    b'/' => counts.slashes += 1,
                    _ => counts.escapes += 1,
                }
                if body[at + 1] == b'n' {
                    after_break = at + 2;
                }
                at += len;
            }
            (Escape::Char(ch), len) => {
                if Some(ch) == quote.escaped_closer().map(char::from) || ch == '$' {
                    counts.proofs += 1;
                } else if ch == '/' {
                    counts.slashes += 1;
                } else if ch != '\'' && ch != '`' {
                    counts.escapes += 1;
                }
                at += len;
            }
            (Escape::Continuation, len) => {
                counts.continuations += 1;
                counts.continuations_after_break += usize::from(after_break == at);
                let follows_blank = at.checked_sub(1).is_none_or(|before| body[before].is_ascii_whitespace());
                counts.continuations_after_word += usize::from(after_break != at && !follows_blank);
                at += len;
            }
            (Escape::Control(_), len) => {
                counts.control_escapes += 1;
                at += len;
            }
            (Escape::Named, len) => {
                counts.named += 1;
                at += len;
            }
            (Escape::Text, _) => {
                counts.unknown += 1;
                let foreign_code = matches!(body.get(at + 1), Some(b'x' | b'u'))
                    && matches!(escape_at(body, at, body.len()), (Escape::Char(_), _));
                counts.foreign_code_points += usize::from(!foreign && foreign_code);
                counts.unknown_words += usize::from(word.len() > 1);
                at += 1;
            }
        }
        at = at.min(body.len());
    }
    counts
}

/// What the backslash at `at` starts in JSON.
fn json_escape(body: &[u8], at: usize) -> (Escape, usize) {
    match body.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'n' | b'r' | b't' | b'b' | b'f') => (Escape::Json, 2),
        Some(b'u') if strict::parse_hex4(body, at + 2).is_some() => (Escape::Json, 6),
        Some(b'\'') => (Escape::Char('\''), 2),
        Some(b'\n') => (Escape::Continuation, 2),
        _ => (Escape::Text, 1),
    }
}

/// The letters from `at` on, as many as the longest command has.
fn word_at(body: &[u8], at: usize) -> &[u8] {
    let rest = body.get(at..).unwrap_or_default();
    let len = rest.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    &rest[..len]
}

/// Commands of LaTeX that start like an escape of JSON.
const COMMANDS: &[&str] = &[
    "bar",
    "begin",
    "beta",
    "bf",
    "bibitem",
    "big",
    "bigcap",
    "bigcup",
    "bigg",
    "binom",
    "bm",
    "bmod",
    "boldsymbol",
    "bot",
    "boxed",
    "bullet",
    "flat",
    "footnote",
    "forall",
    "frac",
    "nabla",
    "ne",
    "nearrow",
    "neg",
    "neq",
    "newcommand",
    "newline",
    "newpage",
    "nexists",
    "ni",
    "noindent",
    "nonumber",
    "not",
    "notin",
    "nu",
    "rangle",
    "rceil",
    "ref",
    "renewcommand",
    "rfloor",
    "rho",
    "right",
    "rightarrow",
    "rm",
    "tableofcontents",
    "tag",
    "tan",
    "tanh",
    "tau",
    "text",
    "textbf",
    "textit",
    "textrm",
    "texttt",
    "tfrac",
    "theta",
    "tilde",
    "times",
    "title",
    "to",
    "top",
    "triangle",
];

fn is_command(word: &[u8]) -> bool {
    word.len() > 1 && COMMANDS.iter().any(|command| command.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hypothesis_explains_the_whole_literal() {
        for (body, quote, expected) in [
            (r"\alpha \to \beta \nabla", Quote::Double, Backslashes::Text),
            (r"\alpha \to \beta\n", Quote::Double, Backslashes::Contested),
            (r"\alpha \\to \beta", Quote::Double, Backslashes::Escapes),
            (r"\begin{m} a \\ b \end{m}", Quote::Double, Backslashes::Contested),
            (r"\d+\nfoo", Quote::Double, Backslashes::Escapes),
            ("a\\n\\\nb", Quote::Double, Backslashes::EscapesAndContinuations),
            ("a \\\nb", Quote::Double, Backslashes::Escapes),
            ("a\\n\\\nb \\\nc", Quote::Double, Backslashes::Contested),
            (r"C:\temp", Quote::Single, Backslashes::Contested),
            (r"C:\Users\temp", Quote::Single, Backslashes::Escapes),
            (r"\1", Quote::Single, Backslashes::Contested),
            (r"\(a\)\1", Quote::Single, Backslashes::Escapes),
            (r"\N{DASH}", Quote::Single, Backslashes::Contested),
            (r"/\d+\/\w*/g", Quote::Double, Backslashes::Contested),
            (r"a\/b", Quote::Double, Backslashes::Escapes),
            ("print(\"a\\n\")\n", Quote::TripleDouble, Backslashes::Contested),
            ("re(\"\\d\\n\")\n", Quote::TripleDouble, Backslashes::Text),
            ("a\\\\b\\n\n", Quote::TripleDouble, Backslashes::Escapes),
            (r"a\nb", Quote::TripleDouble, Backslashes::Escapes),
        ] {
            assert_eq!(judge(body.as_bytes(), quote), expected, "{body}");
        }
    }
}
