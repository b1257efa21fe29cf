//! The content of a string: what must be escaped, and what a backslash meant.
//!
//! A backslash that starts no JSON escape shows that the model was not escaping, but not everywhere: real outputs have
//! paths and patterns next to proper `\n`. So the decision is made for each run of path characters. Where the string ends
//! was decided before, in `string_end`.

use std::ops::Range;

use super::literal::backslashes::{self, Backslashes};
use super::literal::depth;
use super::literal::escapes::{self, Escape};
use super::reader::Reader;
use super::string_end::StringContent;
use super::token::{self, Quote};
use crate::json::strict;
use crate::json::text::{escape_byte, escape_into, string_from_bytes};
use crate::repair::RepairKind;
use toolmend_json::scan::{BLOCK, Block, VECTOR, copy_run, find_special};

/// With more raw quotes than this, the content is rewritten in one edit.
const MANY: usize = 16;

/// What the backslashes of a string with an invalid escape are used for.
#[derive(Debug, Default)]
struct EscapeUse {
    /// `\n`, `\r` and `\t` that are escapes for certain, and what only someone who escapes writes.
    proofs: usize,
    /// Those that could as well be the start of a name in a path.
    in_paths: usize,
    /// `\n` where the path before it may be complete, and a new line may start.
    line_breaks: usize,
    /// Whether one of these follows a drive.
    after_drive: bool,
    /// Invalid escapes in paths that start a name.
    names: usize,
    /// Other invalid escapes in what looks like paths: `\d`, `\*`.
    classes: usize,
}

impl Reader<'_> {
    /// Repairs a quoted string whose faults are not known yet.
    pub(super) fn repair_string(
        &mut self,
        quote: Quote,
        open: Range<usize>,
        body: Range<usize>,
        close: usize,
    ) {
        let invalid = self.has_invalid_escape(body.clone(), quote);
        let seen = StringContent { faults: true, has_invalid_escape: invalid, ..StringContent::default() };
        self.repair_string_with(quote, open, body, close, seen);
    }

    /// Repairs the content of a string whose faults are not known yet.
    pub(super) fn repair_body(&mut self, quote: Quote, body: Range<usize>) {
        let invalid = self.has_invalid_escape(body.clone(), quote);
        let seen = StringContent { faults: true, has_invalid_escape: invalid, ..StringContent::default() };
        self.repair_string_body(quote, body, seen);
    }

    /// Repairs the quotes and the content of a string, of which a scan knows the faults.
    pub(super) fn repair_string_with(
        &mut self,
        quote: Quote,
        open: Range<usize>,
        body: Range<usize>,
        close: usize,
        seen: StringContent,
    ) {
        if let Some(kind) = quote.repair() {
            self.edit(open, "\"", kind);
        }
        if seen.faults || quote == Quote::Backtick {
            self.spend_fuel(body.len());
            self.repair_string_body(quote, body.clone(), seen);
        }
        if let Some(kind) = quote.repair().filter(|_| close > 0) {
            self.edit(body.end..body.end + close, "\"", kind);
        }
    }

    /// Repairs the content of a string.
    // Case: syntax/raw-newlines
    // Case: syntax/over-escaped-quotes
    fn repair_string_body(&mut self, quote: Quote, body: Range<usize>, seen: StringContent) {
        let over_escaped = seen.quotes_after_backslashes > 0
            && seen.quotes_after_backslashes == seen.raw_quotes
            && seen.escaped_quotes == 0;
        let dirty = seen.has_invalid_escape;
        if seen.raw_quotes > 0
            && quote == Quote::Double
            && !over_escaped
            && (depth::escaping_may_stop(self.text.bytes(body.clone()))
                || depth::nests_escaped_quotes(self.text.bytes(body.clone())))
        {
            self.contest(body.start);
        }
        // If the quotes are escaped once too often, so are the line breaks.
        // Case: syntax/all-escaped-once-too-often
        if over_escaped && depth::escapes_only_twice(self.text.bytes(body.clone())) {
            self.contest(body.start);
        }
        let many = seen.raw_quotes > MANY && quote == Quote::Double;
        if many && !dirty && !over_escaped && self.escape_raw_quotes(body.clone()) {
            return;
        }
        let backslashes = self.judge_backslashes(quote, body.clone(), dirty);
        if seen.raw_quotes > 0
            && quote == Quote::Double
            && backslashes::may_be_raw(self.text.bytes(body.clone()), dirty)
        {
            self.contest(body.start);
        }
        let mut at = body.start;
        let has_raw_paths =
            dirty && backslashes != Backslashes::Text && self.has_raw_paths(quote, body.clone());
        // The path-like run around the current byte.
        let mut run = PathRun::empty(at);
        while at < body.end {
            at = self.text.find_special(at, body.end);
            if at >= body.end {
                break;
            }
            let byte = self.text.byte_at(at);
            match byte {
                b'"' => {
                    let kind = match quote {
                        Quote::Double => RepairKind::InnerQuoteEscaped,
                        other => other.repair().unwrap_or(RepairKind::InnerQuoteEscaped),
                    };
                    if seen.doubled == Some(at) {
                        self.edit(at..at + 1, "", RepairKind::DoubledQuoteRemoved);
                    } else if over_escaped && self.text.ends_with(at, b"\\") {
                        // Quotes of Hebrew abbreviations are not counted, and have no backslash.
                        // Case: syntax/over-escaped-beside-hebrew
                        self.edit(at - 1..at, "", RepairKind::OverEscapedQuoteFixed);
                    } else {
                        self.edit(at..at, "\\", kind);
                    }
                    at += 1;
                }
                b'\\' if backslashes == Backslashes::Text => {
                    self.edit(at..at, "\\", RepairKind::InvalidEscapeFixed);
                    at += 1;
                }
                b'\\'
                    if backslashes == Backslashes::EscapesAndContinuations
                        && self.is_line_break(at + 1, body.end) =>
                {
                    let len = 2 + usize::from(self.text.byte_at(at + 1) == b'\r');
                    self.edit(at..at + len, "", RepairKind::InvalidEscapeFixed);
                    at += len;
                }
                b'\\' => {
                    if has_raw_paths && at >= run.end {
                        run = self.find_path_run(quote, at, &body, run.end);
                    }
                    at = self.repair_backslash(quote, at, body.end, dirty, run.is_path && at < run.end);
                }
                control => {
                    // Text in UTF-16 has a NUL after every letter.
                    // Case: syntax/nul-in-a-string
                    if control == 0 {
                        self.contest(at);
                    }
                    self.edit(at..at + 1, escape_byte(control), RepairKind::ControlCharacterEscaped);
                    at += 1;
                }
            }
        }
    }

    /// What the backslashes of a string are. Contests the string if that cannot be told.
    fn judge_backslashes(&mut self, quote: Quote, body: Range<usize>, dirty: bool) -> Backslashes {
        if quote.is_raw() {
            return Backslashes::Text;
        }
        if !dirty && !quote.has_foreign_escapes() {
            return Backslashes::Escapes;
        }
        self.spend_fuel(body.len());
        let start = body.start;
        let content = self.text.bytes(body);
        // A template with a hole is an expression.
        // Case: syntax/template-with-hole
        let holes = quote == Quote::Backtick
            && memchr::memmem::find_iter(content, b"${").any(|at| !content[..at].ends_with(b"\\"));
        let judged = backslashes::judge(content, quote);
        if holes || judged == Backslashes::Contested && !self.is_name_of_call(content) {
            self.contest(start);
        }
        judged
    }

    /// Whether this string names a call: a word under `name` where nothing is declared. Whoever looks the tool up knows names with
    /// escapes.
    // Case: dialects/hermes_json/markdown-name
    fn is_name_of_call(&self, content: &[u8]) -> bool {
        let [frame] = &self.stack[..] else { return false };
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\\".contains(byte);
        self.text.bytes(frame.key.0..frame.key.1) == b"name"
            && !self.guide.declares(frame.position)
            && content.iter().all(is_word)
    }

    /// Escapes the quotes of a string that has many of them and nothing else to repair, in one edit from the first to the
    /// last. False if there is something else to repair.
    fn escape_raw_quotes(&mut self, body: Range<usize>) -> bool {
        let start = body.start;
        let bytes = self.text.bytes(body);
        let mut at = 0;
        let first = loop {
            at = find_special(bytes, at);
            match bytes.get(at) {
                Some(b'"') => break at,
                // The letter after it is known to be part of the escape.
                Some(b'\\') => at += 2,
                Some(_) => return false,
                None => return true,
            }
        };
        let Some((with, length)) = with_escaped_quotes(&bytes[first..]) else { return false };
        let first = start + first;
        self.edit(first..first + length, string_from_bytes(with), RepairKind::InnerQuoteEscaped);
        true
    }

    /// Whether the backslashes of paths in this string are text, including those that look like escapes. Contests the string
    /// if both is possible: one literal has either escapes or paths as they are.
    // Case: syntax/windows-path
    // Case: syntax/escapes-beside-an-invalid-one
    // Case: syntax/path-beside-line-breaks
    fn has_raw_paths(&mut self, quote: Quote, body: Range<usize>) -> bool {
        let mut seen = EscapeUse::default();
        let mut run = PathRun::empty(body.start);
        let content = self.text.bytes(body.clone());
        let mut at = 0;
        while let Some(offset) = memchr::memchr(b'\\', &content[at..]) {
            at += offset;
            let place = body.start + at;
            if place >= run.end {
                run = self.find_path_run(quote, place, &body, run.end);
            }
            let path = run.start - body.start..run.end - body.start;
            let next = content.get(at + 1).copied();
            let goes_on = content.get(at + 2).is_some_and(|&byte| token::is_word(byte));
            match next {
                // The path of a server starts with two.
                Some(b'\\' | b'"') => seen.proofs += usize::from(at > path.start || !run.is_path),
                Some(b'n') if run.is_path && goes_on && ends_path(content, path.start..at) => {
                    seen.line_breaks += 1;
                    seen.after_drive |= holds_drive(&content[path.start..=at]);
                }
                Some(b'n' | b'r' | b't') if run.is_path && goes_on => {
                    seen.in_paths += 1;
                    seen.after_drive |= holds_drive(&content[path.start..=at]);
                }
                Some(b'n' | b'r' | b't') => seen.proofs += 1,
                Some(b'b' | b'f' | b'u' | b'/' | b'\'') | None => {}
                Some(letter) if run.is_path => {
                    let is_name = goes_on && token::is_word(letter);
                    seen.names += usize::from(is_name);
                    seen.classes += usize::from(!is_name);
                }
                Some(_) => {}
            }
            at = (at + if next == Some(b'\\') { 2 } else { 1 }).min(content.len());
        }
        // Where lines end in `\n`, they do so after a path as well.
        let in_paths = seen.in_paths + if seen.proofs == 0 { seen.line_breaks } else { 0 };
        let contested = match (in_paths, seen.proofs) {
            (0, _) => return false,
            (_, 0) => seen.classes > 0 && !seen.after_drive,
            _ => seen.names > 0 || seen.after_drive,
        };
        if contested {
            self.contest(body.start);
        }
        seen.proofs == 0
    }

    /// Repairs one backslash; returns where to go on.
    // Case: syntax/regex-escapes
    // Case: syntax/escaped-apostrophe
    fn repair_backslash(&mut self, quote: Quote, at: usize, end: usize, dirty: bool, in_path: bool) -> usize {
        let next = self.text.byte(at + 1).copied().filter(|_| at + 1 < end);
        match next {
            Some(b'\\' | b'"') => at + 2,
            // `'it'\''s'` is how a shell writes an apostrophe between apostrophes.
            // Case: syntax/shell-apostrophe
            Some(b'\'') if quote.escaped_closer() != Some(b'\'') && self.is_shell_apostrophe(at, end) => {
                self.double_backslash(at)
            }
            Some(letter) if quote.escaped_closer() == Some(letter) => {
                self.edit(at..at + 1, "", quote.repair().unwrap_or(RepairKind::EscapedApostropheFixed));
                at + 2
            }
            // If no backslash is escaped, this one is text too; and without it `'it\'s'` in code would end early.
            // Case: syntax/apostrophe-escaped-in-code
            Some(b'\'') if !dirty && !self.in_apostrophes(at) => {
                self.edit(at..at + 1, "", RepairKind::EscapedApostropheFixed);
                at + 2
            }
            Some(b'n' | b'r' | b't' | b'/') if !in_path => at + 2,
            Some(b'b' | b'f') if !in_path && !dirty => at + 2,
            Some(b'u') if !in_path && self.text.has_hex4(at + 2) => at + 6,
            // `“say \“hi\””`: the marks were replaced with their backslashes before them.
            // Case: syntax/escaped-curly-quotes
            _ if quote.is_typographic()
                && matches!(self.text.punctuation_at(at + 1), Some((token::Punctuation::Quote(_), _))) =>
            {
                self.contest(at);
                self.double_backslash(at)
            }
            _ if quote.has_foreign_escapes() && !in_path => match self.text.escape_at(at, end) {
                (Escape::Char(ch), len) => {
                    let mut decoded = String::new();
                    escape_into(&mut decoded, ch.encode_utf8(&mut [0; 4]));
                    self.edit(at..at + len, decoded, RepairKind::InvalidEscapeFixed);
                    at + len
                }
                _ => self.double_backslash(at),
            },
            _ => self.double_backslash(at),
        }
    }

    /// Whether the escaped apostrophe at `at` is between two plain ones.
    fn is_shell_apostrophe(&self, at: usize, end: usize) -> bool {
        self.text.ends_with(at, b"'")
            && !self.text.ends_with(at, b"\\'")
            && at + 2 < end
            && self.text.byte(at + 2) == Some(&b'\'')
    }

    /// Whether a line break is at `at`, before `end`.
    fn is_line_break(&self, at: usize, end: usize) -> bool {
        matches!(self.text.window(at, 2.min(end - at)), [b'\n', ..] | [b'\r', b'\n'])
    }

    /// Whether the backslash at `at` is between two plain apostrophes that delimit a string in a line of code.
    fn in_apostrophes(&self, at: usize) -> bool {
        const LINE: usize = 160;
        let is_word =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let breaks = |byte: u8, next: Option<&u8>| byte == b'\n' || byte == b'\\' && next == Some(&b'n');
        let text = self.text;
        let plain = |quote: usize| text.byte_at(quote) == b'\'' && text.byte_at(quote - 1) != b'\\';
        let back = (at.saturating_sub(LINE).max(1)..at).rev();
        let mut back = back.take_while(|&place| !breaks(text.byte_at(place), text.byte(place + 1)));
        let opens = back.find(|&place| plain(place) && !is_word(text.byte(place - 1)));
        let ahead = (at + 2..text.len().min(at + LINE))
            .take_while(|&place| !breaks(text.byte_at(place), text.byte(place + 1)))
            .find(|&place| plain(place));
        let closes = ahead.is_some_and(|place| !is_word(text.byte(place + 1)));
        opens.is_some_and(|place| text.byte(place + 1) != Some(&b' ')) && closes
    }

    /// Doubles a backslash that is text; returns where to go on.
    fn double_backslash(&mut self, at: usize) -> usize {
        self.edit(at..at, "\\", RepairKind::InvalidEscapeFixed);
        // The next byte is looked at again, unless it is part of the pair that was meant.
        match self.text.byte(at + 1) {
            Some(0x20..0x80) if self.text.byte_at(at + 1) != b'"' => at + 2,
            _ => at + 1,
        }
    }

    /// Whether a backslash in `body` starts something that is not a JSON escape (an escaped closer does not count).
    fn has_invalid_escape(&self, body: Range<usize>, quote: Quote) -> bool {
        let bytes = self.text.bytes(body);
        let mut at = 0;
        while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
            at += offset;
            if quote.has_foreign_escapes() {
                match escapes::escape_at(bytes, at, bytes.len()) {
                    (Escape::Text, _) => return true,
                    (_, len) => at = (at + len).min(bytes.len()),
                }
                continue;
            }
            match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'\'') => at += 2,
                Some(b'u') if strict::parse_hex4(bytes, at + 2).is_some() => at += 6,
                Some(&letter) if quote.escaped_closer() == Some(letter) => at += 2,
                _ => return true,
            }
        }
        false
    }

    /// The run of path characters around the backslash at `at`, not before `from`. It is a path whose backslashes were never
    /// escaped if it starts with a drive, a server or a name, and has no doubled backslash after its start.
    // Case: syntax/windows-path
    fn find_path_run(&self, quote: Quote, at: usize, body: &Range<usize>, from: usize) -> PathRun {
        let is_path = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'-' | b'.' | b'\\' | b':' | b'~' | b'$')
                || byte >= 0x80
        };
        let is_path_at = |at: &usize| is_path(self.text.byte_at(*at));
        let start = (from..at).rev().find(|at| !is_path_at(at)).map_or(from, |at| at + 1);
        let end = (at..body.end).find(|at| !is_path_at(at)).unwrap_or(body.end);
        let run = self.text.bytes(start..end);
        let lead = run.iter().take_while(|&&byte| byte == b'\\').count();
        let server = lead == 2 && start == body.start;
        let inner = &run[lead..];
        let doubled = memchr::memmem::find(inner, b"\\\\").is_some();
        let invalid = self.has_invalid_escape(start..end, quote);
        // `as f:\n` is code, `C:\new` is a drive.
        let lettered = |letter: &u8| letter.is_ascii_uppercase() || letter.is_ascii_lowercase() && invalid;
        let drive = matches!(run, [letter, b':', b'\\', ..] if lettered(letter));
        let named = lead == 0 && inner.first().is_some_and(u8::is_ascii_alphanumeric) && invalid;
        PathRun { start, end, is_path: !doubled && (drive || named || server) }
    }
}

/// Characters of a string that may be a path.
#[derive(Debug, Clone, Copy)]
struct PathRun {
    start: usize,
    end: usize,
    /// Whether it is one, written without escapes.
    is_path: bool,
}

impl PathRun {
    const fn empty(at: usize) -> Self {
        PathRun { start: at, end: at, is_path: false }
    }
}

/// Whether the `\n` after this part of the text may end a line: a name with an extension is before it, or a word that no path
/// goes on with is after it.
fn ends_path(content: &[u8], path: Range<usize>) -> bool {
    let after = &content[path.end + 2..];
    let word =
        after.iter().take(64).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let opens_line = !after.first().is_some_and(u8::is_ascii_lowercase)
        || matches!(after.get(word), Some(b' ' | b'=' | b'(' | b':' | b'%'));
    let name = &content[path];
    let name = &name[memchr::memrchr(b'\\', name).map_or(0, |slash| slash + 1)..];
    let extension = memchr::memrchr(b'.', name).map_or(0, |dot| name.len() - dot - 1);
    opens_line || (1..=4).contains(&extension)
}

/// Whether a drive is in this text: `C:\`. The letter before it may be that of an escape.
fn holds_drive(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b":\\").any(|colon| {
        let (letter, before) = match &text[..colon] {
            [] => return false,
            [before @ .., letter] => (letter, before),
        };
        let starts = match before {
            [.., b'\\', b'n' | b'r' | b't'] | [] => true,
            [.., last] => !last.is_ascii_alphanumeric(),
        };
        letter.is_ascii_alphabetic() && starts
    })
}

/// The text up to its last quote, with a backslash before every quote that has none, and how long it was before. `None` if
/// there is a control byte in it.
fn with_escaped_quotes(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let quotes = memchr::memchr_iter(b'"', text).count();
    // A block of nothing but quotes needs room, even at the end of the text.
    let mut out = vec![0; text.len() + quotes + ROOM];
    // How much was read and written, and both after the last quote.
    let (mut from, mut to, mut last) = (0, 0, (0, 0));
    // A block at a time, with the vector after it, which is copied along and overwritten.
    while let (Some(step), Some(room)) = (text[from..].first_chunk(), out[to..].first_chunk_mut()) {
        let escaped = escape_block(step, room)?;
        if let Some((read, written)) = escaped.quote {
            last = (from + read + 1, to + written + 1);
        }
        (from, to) = (from + escaped.read, to + escaped.written);
    }
    let mut escaped = false;
    for (place, &byte) in text.iter().enumerate().skip(from) {
        if byte < 0x20 {
            return None;
        }
        if byte == b'"' && !escaped {
            out[to] = b'\\';
            to += 1;
            last = (place + 1, to + 1);
        }
        escaped = !escaped && byte == b'\\';
        out[to] = byte;
        to += 1;
    }
    out.truncate(last.1);
    Some((out, last.0))
}

/// The most bytes that a block can become, and the vector after it.
const ROOM: usize = 2 * BLOCK + VECTOR;

/// The result for a block: how much was read and written, and both before its last quote.
struct EscapedBlock {
    read: usize,
    written: usize,
    quote: Option<(usize, usize)>,
}

/// Copies a block, with a backslash before every quote that has none, up to an escape that goes beyond it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the body of one loop")]
fn escape_block(step: &[u8; BLOCK + VECTOR], room: &mut [u8; ROOM]) -> Option<EscapedBlock> {
    let (_, block) = Block::at(step, 0).filter(|(_, block)| block.controls == 0)?;
    let mut beyond = false;
    let mut quotes = block.quotes & !block.escaped(&mut beyond);
    let read = BLOCK - usize::from(beyond);
    let (mut from, mut to) = (0, 0);
    while quotes != 0 {
        let place = quotes.trailing_zeros() as usize;
        quotes &= quotes - 1;
        copy_run(step, from, room, to, place - from);
        to += place - from;
        // No byte becomes more than two.
        room[to & (2 * BLOCK - 1)] = b'\\';
        to += 1;
        // The quote itself is copied with what follows it.
        from = place;
    }
    copy_run(step, from, room, to, read - from);
    let quote = (to > from).then_some((from, to));
    Some(EscapedBlock { read, written: to + read - from, quote })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_escaped_wherever_they_stand() {
        for unit in ["\"", "a\"", "say \"hi\", ", "\\n\"", "\\\\\"", "\\\"", "\\\\", "é\\\\\\\"\""] {
            for before in 0..70 {
                for count in [1, 2, 9, 40] {
                    let text = format!("\"{}{}", "x".repeat(before), unit.repeat(count));
                    let mut slow = String::new();
                    let mut escaped = false;
                    let mut end = 0;
                    for (at, ch) in text.char_indices() {
                        if ch == '"' && !escaped {
                            slow.push('\\');
                            end = at + 1;
                        }
                        slow.push(ch);
                        escaped = !escaped && ch == '\\';
                    }
                    let (out, length) = with_escaped_quotes(text.as_bytes()).unwrap();
                    assert_eq!(length, end, "{text}");
                    assert_eq!(string_from_bytes(out) + &text[end..], slow);
                }
            }
        }
        assert_eq!(with_escaped_quotes(b"\"a\n"), None);
    }
}
