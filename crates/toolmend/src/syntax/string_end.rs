//! Where a string ends. This is where it is decided that an inner quote is text.
//!
//! A quote ends a string only before what can follow the value (`lookahead` rates that). An end that is not certain is
//! remembered as a choice: when the reading after it dies, the scan goes on from there and the quote is text.
//!
//! A string in which a quote was taken for text is *dirty*, and gets no favours: after a later quote, comments, prose and
//! missing closers are text too, and the end of the document is no evidence. That keeps a truncated file from being
//! completed. This module never edits the content of a string; see `string_escapes`.

use super::inner_quotes::WatchedInitials;
use super::literal::Expression;
use super::literal::escapes::Escape;
use super::lookahead::EndEvidence;
use super::paid_text::PaidText;
use super::reader::Reader;
use super::reading::Step;
use super::token::{self, Punctuation, Quote};
use crate::repair::RepairKind;

/// What a scan saw in a string so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StringContent {
    /// Quotes taken for text.
    pub(super) raw_quotes: usize,
    /// Those of them that follow an even number of backslashes.
    pub(super) quotes_after_backslashes: usize,
    /// Quotes with a proper escape.
    pub(super) escaped_quotes: usize,
    /// Whether something in it needs an edit.
    pub(super) faults: bool,
    /// Whether a backslash starts no escape that JSON, or a string in this quote, has.
    pub(super) has_invalid_escape: bool,
    /// Text that could be members or elements outside the string.
    pub(super) swallowed: SwallowedText,
    /// A superfluous quote beside the string's own.
    pub(super) doubled: Option<usize>,
    /// What is directly beside the quotes taken for text.
    pub(super) quote_neighbours: QuoteNeighbours,
}

/// What is directly beside a quote that was taken for text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuoteNeighbours {
    /// A comma, in an array.
    pub(super) comma: bool,
    /// An escaped quote.
    pub(super) escaped_quote: bool,
}

/// Text in a string that looks like what separates strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum SwallowedText {
    #[default]
    Nothing,
    /// Inside brackets that the string opens itself, as in code and documents.
    Bracketed,
    /// Outside such brackets.
    Plain,
}

/// A string that is being read.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    pub(super) quote: Quote,
    /// The opening quote.
    pub(super) open: (usize, usize),
    /// Where the scan goes on.
    pub(super) at: usize,
    pub(super) seen: StringContent,
    /// Brackets opened minus brackets closed up to `counted_to`, for a string that starts like a document.
    balance: i32,
    counted_to: usize,
    starts_like_document: bool,
    /// Brackets of any kind that are open at `counted_to`.
    pub(super) depth: u32,
    /// A bracket was closed that the string had not opened.
    pub(super) overclosed: bool,
    /// Ends that the schema speaks against; they are tried last.
    weak: [(usize, StringContent); MAX_WEAK],
    weak_len: usize,
    /// Whether no better end exists, so that the weak ones are taken in turn.
    takes_weak_ends: bool,
    /// What shows at a glance that a quote is text.
    watched: Option<WatchedInitials>,
}

const MAX_WEAK: usize = 4;

/// A possible end of a string: the position and length of its closing quote (0 if the quote is missing).
#[derive(Debug, Clone, Copy)]
struct End {
    at: usize,
    len: usize,
    certain: bool,
    /// Whether the schema speaks for it.
    strong: bool,
    /// What the string holds if it ends here.
    seen: StringContent,
    /// Whether it is the last of several literals.
    joined: bool,
}

impl Reader<'_> {
    /// Reads the string value whose opening quote is at `at`.
    pub(super) fn read_string(&mut self, quote: Quote, at: usize, len: usize) -> Step {
        let body = at + len;
        if let Some(step) = self.read_plain_string(quote, at..body) {
            return step;
        }
        let lead = self.text.skip_whitespace(body);
        self.continue_string(Scan {
            quote,
            open: (at, body),
            at: body,
            seen: StringContent::default(),
            balance: 0,
            counted_to: body,
            starts_like_document: matches!(self.text.byte(lead), Some(b'{' | b'[')),
            depth: 0,
            overclosed: false,
            weak: [(0, StringContent::default()); MAX_WEAK],
            weak_len: 0,
            takes_weak_ends: false,
            watched: self.watch_initials(quote),
        })
    }

    /// A shortcut for most strings: nothing to escape, and the first quote ends it beyond doubt. The full scan gives the
    /// same answer.
    fn read_plain_string(&mut self, quote: Quote, open: std::ops::Range<usize>) -> Option<Step> {
        if !matches!(quote, Quote::Double | Quote::Single) {
            return None;
        }
        let body = open.end;
        let end = match quote {
            Quote::Double => self.text.find_special(body, self.text.len()),
            _ => self.text.plain_run(quote, body),
        };
        let len = self.text.closer_at(quote, end);
        let separated = matches!(self.text.byte(end + len), Some(b',' | b'}' | b']' | b' ' | b'\n'));
        if len == 0
            || !separated
            || self.fuel.is_empty()
            || self.end_evidence_at(end + len, false) < EndEvidence::Fair
        {
            return None;
        }
        self.repair_string_with(quote, open, body..end, len, StringContent::default());
        self.state.last_string = (body, end);
        Some(self.finish_value(end + len))
    }

    /// Takes the next possible end of the string.
    pub(super) fn continue_string(&mut self, mut scan: Scan) -> Step {
        let found = if scan.takes_weak_ends { None } else { self.find_next_end(&mut scan) };
        let end = match found {
            Some(end) => end,
            None if scan.weak_len > 0 => {
                let (at, seen) = scan.weak[0];
                scan.weak.copy_within(1.., 0);
                scan.weak_len -= 1;
                scan.takes_weak_ends = true;
                let len = self.text.closer_at(scan.quote, at);
                End { at, len, certain: false, strong: false, seen, joined: false }
            }
            None => return Step::Cut,
        };
        if end.joined {
            return self.read_joined(&scan);
        }
        let (quote, open) = (scan.quote, scan.open.0..scan.open.1);
        let resume = (!end.certain || scan.weak_len > 0) && !(scan.takes_weak_ends && scan.weak_len == 0);
        if resume {
            let mut later = scan.clone();
            if !later.takes_weak_ends && end.len > 0 {
                later.at = end.at;
                self.take_for_text(&mut later, end.len);
            }
            self.remember_choice(later);
        }
        let mut seen = end.seen;
        self.state.guesses += seen.raw_quotes;
        self.evidence.raw_quotes += seen.raw_quotes;
        self.state.raw_strings += usize::from(seen.raw_quotes > 0);
        // Only a declared key settles it: every reading reaches the end of the text.
        let settled =
            end.strong && self.stack.last().is_some_and(|frame| self.guide.declares(frame.position));
        if seen.raw_quotes > 0 && !settled {
            let doubts = self.count_doubts(quote, open.end..end.at, seen);
            self.state.doubt += doubts;
        }
        let body = open.end..end.at;
        let body_range = body.clone();
        match quote {
            Quote::Single => self.contest_mixed_quotes(body.clone()),
            Quote::Backtick => self.contest_backticks(body.clone()),
            _ => {}
        }
        if seen.raw_quotes > 0 {
            let nested = if seen.swallowed == SwallowedText::Bracketed && scan.at == end.at {
                // Usually everything up to here was counted already, so no byte is counted twice.
                self.count_brackets(&mut scan);
                scan.depth == 0 && !scan.overclosed
            } else {
                seen.swallowed != SwallowedText::Bracketed || self.nests(body.clone())
            };
            self.contest_inner_quotes(quote, body.clone(), nested, &mut seen);
            if seen.doubled.is_none() {
                self.contest_swallowed_structure(quote, body.clone(), seen.raw_quotes);
            }
        }
        if end.len == 0 {
            self.contest_unclosed(quote, body.clone());
            // `"-" * 40`: the one quote in it may be its own, and what follows an expression.
            // Case: syntax/expression-after-string
            if seen.raw_quotes % 2 == 1 {
                self.contest(body.start);
            }
            let trimmed = self.text.trim_end(body);
            self.repair_unclosed_string(quote, open, trimmed, seen);
        } else {
            self.repair_string_with(quote, open, body, end.len, seen);
        }
        if seen.faults && quote == Quote::Double {
            self.contest_siblings_in_text(body_range.clone());
        }
        self.contest_last_line_break(body_range.clone(), end.at + end.len);
        self.state.last_string = (scan.open.1, end.at);
        self.finish_value(end.at + end.len)
    }

    /// The next position where the string can end.
    fn find_next_end(&mut self, scan: &mut Scan) -> Option<End> {
        let text = self.text;
        let double = matches!(scan.quote, Quote::Double | Quote::TripleDouble);
        let mut specials = text.specials();
        loop {
            scan.at = if double { specials.next(scan.at) } else { text.plain_run(scan.quote, scan.at) };
            let Some(&byte) = text.byte(scan.at) else { return self.end_at_eof(scan) };
            match byte {
                b'\\' => self.step_over_escape(scan),
                0..0x20 => {
                    scan.seen.faults = true;
                    scan.at += 1;
                }
                _ => {
                    let len = text.closer_at(scan.quote, scan.at);
                    if len == 0 {
                        if byte == b'"' {
                            scan.seen.faults = true;
                        }
                        scan.at += 1;
                        continue;
                    }
                    if self.fuel.is_empty() {
                        return None;
                    }
                    if is_gershayim(text, scan.at) {
                        scan.seen.faults = true;
                        scan.at += 1;
                        continue;
                    }
                    if let Some(watched) = scan.watched
                        && scan.seen.raw_quotes > 0
                        && self.step_over_inner_quotes(scan, watched, &mut specials)
                    {
                        continue;
                    }
                    if self.fuel.is_empty() {
                        return None;
                    }
                    if let Some(end) = self.judge_quote(scan, len) {
                        return Some(end);
                    }
                }
            }
        }
    }

    /// Whether the full check finds that the quote at `scan.at` is text and that nothing has to be noted about it.
    pub(super) fn is_text_by_full_check(&mut self, scan: &Scan) -> bool {
        let fuel = self.fuel.left();
        let mut long = scan.clone();
        let text = self.judge_quote(&mut long, 1).is_none();
        self.fuel.restore(fuel);
        let noted = |scan: &Scan| {
            let seen = scan.seen;
            (
                seen.quotes_after_backslashes,
                seen.swallowed,
                seen.quote_neighbours.comma,
                seen.quote_neighbours.escaped_quote,
                scan.weak_len,
            )
        };
        text && long.at == scan.at + 1 && noted(&long) == noted(scan)
    }

    fn step_over_escape(&mut self, scan: &mut Scan) {
        let text = self.text;
        if scan.quote.is_raw() || scan.quote.has_foreign_escapes() {
            scan.seen.faults = true;
            let (escape, len) =
                if scan.quote.is_raw() { (Escape::Text, 1) } else { text.escape_at(scan.at, text.len()) };
            scan.seen.escaped_quotes += usize::from(text.byte(scan.at + 1) == Some(&b'"') && len == 2);
            scan.seen.has_invalid_escape |= escape == Escape::Text;
            scan.at += len;
            return;
        }
        match text.byte(scan.at + 1) {
            Some(b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => scan.at += 2,
            Some(b'"') => {
                scan.seen.escaped_quotes += 1;
                scan.at += 2;
            }
            Some(b'u') if text.has_hex4(scan.at + 2) => scan.at += 6,
            Some(&letter) if letter == b'\'' || scan.quote.escaped_closer() == Some(letter) => {
                scan.seen.faults = true;
                scan.at += 2;
            }
            Some(0x20..0x80) => {
                scan.seen.faults = true;
                scan.seen.has_invalid_escape = true;
                scan.at += 2;
            }
            _ => {
                scan.seen.faults = true;
                scan.seen.has_invalid_escape = true;
                scan.at += 1;
            }
        }
    }

    /// Decides about the closing quote at `scan.at`: an end, a weak end to remember, the start of the next key, or text.
    // Case: syntax/inner-quotes
    // Case: syntax/inner-quotes-json
    // Case: syntax/undeclared-key-in-apostrophes
    fn judge_quote(&mut self, scan: &mut Scan, len: usize) -> Option<End> {
        let at = scan.at;
        let text = self.text;
        let dirty = scan.seen.raw_quotes > 0;
        if !dirty && let Some(step) = self.judge_expression(scan, at + len) {
            match step {
                Expression::Joined { at, len } => {
                    let seen = scan.seen;
                    return Some(End { at, len, certain: true, strong: true, seen, joined: true });
                }
                Expression::Unreadable => scan.seen.swallowed = SwallowedText::Plain,
            }
        }
        let inside_word = matches!(scan.quote, Quote::Single | Quote::CurlySingle)
            && at > 0
            && text.byte_at(at - 1).is_ascii_alphanumeric()
            && text.byte(at + len).is_some_and(u8::is_ascii_alphanumeric);
        if !inside_word && self.can_be_structural(scan, at, len) {
            let member = dirty && self.stack.last().is_some_and(|frame| frame.kind.is_object());
            let plain_text = member && scan.quote == Quote::Double && self.goes_on_as_text(at + len);
            let ends = if plain_text { EndEvidence::No } else { self.end_evidence_at(at + len, dirty) };
            let ends = if ends == EndEvidence::Weak && self.is_chain_of_members(at + len, dirty) {
                EndEvidence::Strong
            } else {
                ends
            };
            match ends {
                EndEvidence::Strong => {
                    return Some(End {
                        at,
                        len,
                        certain: !dirty,
                        strong: true,
                        seen: scan.seen,
                        joined: false,
                    });
                }
                EndEvidence::Fair
                    if !(dirty && scan.starts_like_document && self.has_open_brackets(scan)) =>
                {
                    return Some(End {
                        at,
                        len,
                        certain: !dirty,
                        strong: false,
                        seen: scan.seen,
                        joined: false,
                    });
                }
                EndEvidence::Weak if scan.weak_len < MAX_WEAK => {
                    scan.weak[scan.weak_len] = (at, scan.seen);
                    scan.weak_len += 1;
                }
                _ => {}
            }
            // `"New York, "next": …`: this quote opens the next key, so the string lost its own.
            // Case: syntax/missing-closing-quote
            if let Some(end) = self.find_end_before_next_key(scan, at) {
                let seen = scan.seen;
                self.take_for_text(scan, len);
                return Some(End { at: end, len: 0, certain: false, strong: true, seen, joined: false });
            }
        }
        self.take_for_text(scan, len);
        None
    }

    /// Whether the bytes around a quote leave any doubt that it is text. Most quotes in code and markup are directly before
    /// something that never follows a value.
    // Case: syntax/inner-quotes-html
    fn can_be_structural(&self, scan: &Scan, at: usize, len: usize) -> bool {
        let before = if at > scan.open.1 { self.text.byte_at(at - 1) } else { b' ' };
        let opens_key = matches!(before, b',' | b' ' | b'\n' | b'\r' | b'\t' | b'/');
        match self.text.byte(at + len) {
            Some(
                b'A'..=b'Z'
                | b'a'..=b'z'
                | b'0'..=b'9'
                | b'_'
                | b'.'
                | b';'
                | b'>'
                | b'('
                | b'='
                | b'+'
                | b'?'
                | b'!',
            ) => opens_key,
            _ => true,
        }
    }

    /// Where the string ends if the quote at `at` opens the next key.
    fn find_end_before_next_key(&mut self, scan: &Scan, at: usize) -> Option<usize> {
        let last = self.text.last_visible(scan.open.1..at);
        // Only after a comma, or a comment after one, can the quote belong to a key.
        if !last.is_some_and(|byte| matches!(byte, b',' | b'/') || byte >= 0x80) {
            return None;
        }
        let frame = *self.stack.last()?;
        let start = scan.open.1;
        let mut before = self.text.trim_end(start..at);
        if before >= start + 2
            && self.text.ends_with(before, b"*/")
            && let Some(comment) = self.last_comment_start(start..before - 2)
        {
            before = self.text.trim_end(start..comment);
        }
        let comma = before.checked_sub(1).filter(|&comma| comma >= start)?;
        if self.text.byte_at(comma) != b',' {
            return None;
        }
        // A quote before the comma is the string's own.
        let body = self.text.trim_end(start..comma);
        let last = (start..body).rev().find(|&at| self.text.is_char_boundary(at));
        if last.is_some_and(|last| self.text.closer_at(scan.quote, last) > 0) {
            return None;
        }
        if scan.seen.raw_quotes > 0 && scan.quote == Quote::Double && !frame.kind.is_object() {
            return None;
        }
        let next = if frame.kind.is_object() {
            self.find_key_ahead(at, &frame)
                .filter(|key| key.quoted)
                .map_or(EndEvidence::No, |key| key.evidence)
        } else {
            // The next element: its quote must close before the next separator.
            let ends_line = self.text.bytes(before..at).contains(&b'\n');
            if ends_line || scan.seen.raw_quotes == 0 && self.is_closed_element(scan.quote, at) {
                EndEvidence::Fair
            } else {
                EndEvidence::No
            }
        };
        (next >= EndEvidence::Fair).then_some(comma)
    }

    /// Whether the quote at `at` opens an element that a quote closes before a comma or bracket.
    fn is_closed_element(&mut self, quote: Quote, at: usize) -> bool {
        let start = at + self.text.closer_at(quote, at);
        let limit = self.text.len().min(start + 256);
        let Some(close) = (start..limit).find(|&at| self.text.closer_at(quote, at) > 0) else {
            return false;
        };
        let after = self.after_trivia(close + self.text.closer_at(quote, close));
        close > start
            && matches!(
                self.text.punctuation_at(after),
                Some((Punctuation::Comma | Punctuation::CloseArray, _))
            )
    }

    /// Whether brackets are open in a string that starts like a document.
    fn has_open_brackets(&mut self, scan: &mut Scan) -> bool {
        self.count_brackets(scan);
        scan.balance != 0
    }

    /// Counts the brackets of a string up to where the scan is.
    pub(super) fn count_brackets(&mut self, scan: &mut Scan) {
        for &byte in self.text.bytes(scan.counted_to..scan.at) {
            match byte {
                b'{' | b'[' => {
                    scan.balance += 1;
                    scan.depth += 1;
                }
                b'}' | b']' => {
                    scan.balance -= 1;
                    scan.overclosed |= scan.depth == 0;
                    scan.depth = scan.depth.saturating_sub(1);
                }
                b'(' => scan.depth += 1,
                b')' => {
                    scan.overclosed |= scan.depth == 0;
                    scan.depth = scan.depth.saturating_sub(1);
                }
                _ => {}
            }
        }
        self.spend_fuel(scan.at - scan.counted_to);
        scan.counted_to = scan.at;
    }

    /// The end of a string in which the text ends. It was truncated, unless all that follows the string is there and only
    /// its quote is missing: the closers at the very end are not the string's own.
    // Case: syntax/cut-in-string
    // Case: syntax/missing-last-quote
    fn end_at_eof(&mut self, scan: &mut Scan) -> Option<End> {
        scan.at = self.text.len();
        if scan.takes_weak_ends || scan.seen.raw_quotes > 0 && scan.weak_len == 0 && self.stack.is_empty() {
            return None;
        }
        if self.finish == crate::syntax::Finish::Length || self.stack.is_empty() {
            return None;
        }
        let body = self.text.rest(scan.open.1);
        let mut end = body.len();
        // Remove the closers from the end, outermost first; what is left must have none of its own open. Fewer backticks
        // than a fence has are text.
        // Case: syntax/cut-in-string-after-backtick
        let mut rest = body.trim_end();
        if rest.ends_with("```") {
            rest = rest.trim_end_matches('`');
        }
        for frame in &self.stack {
            let closer = token::ascii_spelling(frame.kind.closer());
            rest = rest.trim_end().strip_suffix(closer)?;
            end = rest.len();
        }
        let value = rest.trim_end();
        // Escapes and line breaks belong to long texts, which are what gets truncated. `\u` escapes do not.
        let escapes = memchr::memchr_iter(b'\\', value.as_bytes());
        let lines = value.contains('\n')
            || escapes.map(|at| at + 1).any(|at| value.as_bytes().get(at) != Some(&b'u'));
        let balanced = ["{}", "[]", "()"].iter().all(|pair| {
            let (open, close) = (pair.as_bytes()[0], pair.as_bytes()[1]);
            let count = |byte| value.bytes().filter(|&b| b == byte).count();
            count(open) == count(close)
        });
        if lines
            || !balanced
            || value.is_empty()
            || value.ends_with([',', ':', '\\'])
            || scan.seen.raw_quotes > 0
        {
            return None;
        }
        scan.takes_weak_ends = true;
        Some(End {
            at: scan.open.1 + end,
            len: 0,
            certain: false,
            strong: false,
            seen: scan.seen,
            joined: false,
        })
    }

    /// How much speaks against a string in which quotes were taken for text: brackets or quotes that do not pair up.
    fn count_doubts(&mut self, quote: Quote, body: std::ops::Range<usize>, seen: StringContent) -> u32 {
        let odd = quote == Quote::Double && (seen.raw_quotes + seen.escaped_quotes) % 2 == 1;
        u32::from(self.is_unbalanced(body)) + u32::from(odd)
    }

    /// Whether the brackets in this range do not pair up.
    pub(super) fn is_unbalanced(&mut self, body: std::ops::Range<usize>) -> bool {
        self.spend_fuel(body.len());
        let mut balance = [0i32; 3];
        for &byte in self.text.bytes(body) {
            match byte {
                b'(' => balance[0] += 1,
                b')' => balance[0] -= 1,
                b'[' => balance[1] += 1,
                b']' => balance[1] -= 1,
                b'{' => balance[2] += 1,
                b'}' => balance[2] -= 1,
                _ => {}
            }
        }
        balance != [0; 3]
    }

    /// Repairs a string that has no closing quote and ends at `end`.
    fn repair_unclosed_string(
        &mut self,
        quote: Quote,
        open: std::ops::Range<usize>,
        end: usize,
        seen: StringContent,
    ) {
        let start = open.end;
        let seen = StringContent { faults: true, ..seen };
        self.repair_string_with(quote, open, start..end, 0, seen);
        self.edit(end..end, "\"", RepairKind::MissingQuoteAdded);
    }
}

/// Whether the quote is between two Hebrew letters. There it is a letter of an abbreviation (`צה"ל`): Hebrew keyboards
/// have no other key for it.
// Case: syntax/quotes-in-hebrew-words
pub(super) fn is_gershayim(text: PaidText<'_>, at: usize) -> bool {
    let letter =
        |lead: Option<&u8>, letter: Option<&u8>| matches!((lead, letter), (Some(0xD7), Some(0x90..=0xAA)));
    at >= 2
        && text.byte(at - 2) == Some(&0xD7)
        && text.byte(at) == Some(&b'"')
        && letter(text.byte(at - 2), text.byte(at - 1))
        && letter(text.byte(at + 1), text.byte(at + 2))
}
