//! Single slips: every text that differs from the given one by one mark and is JSON.
//!
//! A model that loses, doubles, mistypes or swaps one bracket, quote, comma, colon or backslash leaves a text that another
//! slip may explain as well. Whether it does is not a matter of taste, because the corrections can be counted. A text that
//! is JSON up to some byte can only have slipped at or before that byte, and from each token before it the rest of the
//! text shows in a few steps whether a correction works. So this search is complete: if the text is one slip away from what
//! the model meant, what it meant is among the corrections. One value among them is an answer, two are a refusal, and a
//! reading of the tolerant reader that differs from them has a rival.
//!
//! The search never reads values and never decides; it returns corrections. Work is bounded by fuel that is linear in the
//! text, and a search that runs out of it says so.

mod correction;
mod machine;
mod shifted_escapes;

use self::correction::Correction;
pub(crate) use self::correction::Likelihood;
pub(super) use self::machine::is_glued;
use self::machine::{Expect, MARKS, Machine, Mark, Recogniser, Step};
use super::contested_reading::nests;
use super::literal::depth;
use super::surrounding_text;
use crate::repair::RepairKind;

/// Steps that a search may take for each byte of the text, and in addition.
const STEPS_PER_BYTE: usize = 4;
const STEPS: usize = 1 << 13;
/// So many tokens are looked at for marks that changed places with text.
const TOKENS_TO_SWAP: usize = 4;
/// More corrections than this settle nothing.
const MAX_CORRECTIONS: usize = 48;

/// The corrections of one text.
#[derive(Debug, Default)]
pub(crate) struct Slips {
    pub(crate) corrections: Vec<Correction>,
    /// Whether there may be more corrections than these.
    pub(crate) incomplete: bool,
}

/// Finds every single correction that makes the value at `start` JSON.
// Case: syntax/missing-closing-quote
pub(crate) fn find_corrections(text: &str, start: usize) -> Slips {
    let fuel = text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS);
    let blanks = usize::from(text.contains("\": "));
    let mut search = Search { recogniser: Recogniser::new(text, fuel), blanks, corrections: Vec::new() };
    search.recogniser.learn_keys(start);
    let tokens = search.read_tokens(start);
    // Where the text ends too early, if it does: at its end, before the marker at its end, or in a string without an end.
    // Case: syntax/cut-before-a-marker
    let end = surrounding_text::last_residue(text)
        .filter(|&end| text[..end].ends_with([',', ':', '{', '[']))
        .unwrap_or(text.trim_end().len());
    let early_end = tokens.last().and_then(|token| match token.start {
        start if token.is_open => Some(start),
        start => (start >= end).then_some(end),
    });
    for (index, token) in tokens.iter().enumerate() {
        search.correct_mark(token);
        search.correct_string(token, index.checked_sub(1).map(|last| tokens[last]));
        if token.is_last {
            search.correct_other_character(token);
            search.swap_with_text(&tokens);
            search.unescape_rest(token);
        } else {
            search.correct_number(token);
        }
        if search.is_over() {
            break;
        }
    }
    let incomplete = search.is_over();
    let mut corrections = search.corrections;
    for correction in &mut corrections {
        // What removes a level of escaping from a whole text does not complete it.
        let completes = correction.edit.kind != RepairKind::OverEscapingRemoved;
        correction.completes = completes && early_end.is_some_and(|end| correction.edit.end >= end);
    }
    Slips { corrections, incomplete }
}

/// A token, and the state before it.
#[derive(Debug, Clone, Copy)]
struct Token {
    before: Machine,
    start: usize,
    end: usize,
    /// Whether the text stops being JSON here.
    is_last: bool,
    /// Whether it is a string that the text ends in.
    is_open: bool,
}

struct Search<'t> {
    recogniser: Recogniser<'t>,
    /// How many blanks are before a value of this text.
    blanks: usize,
    corrections: Vec<Correction>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.recogniser.out_of_fuel() || self.corrections.len() >= MAX_CORRECTIONS
    }

    /// The tokens up to the one that may not come where it is. None if the text needs no correction.
    fn read_tokens(&mut self, start: usize) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut machine = Machine::at(start);
        loop {
            match self.recogniser.step(machine) {
                Step::Token(start, next) => {
                    tokens.push(Token {
                        before: machine,
                        start,
                        end: next.pos,
                        is_last: false,
                        is_open: false,
                    });
                    machine = next;
                }
                Step::Accepted => return Vec::new(),
                Step::Dead(start) => {
                    let quote = self.quote_at(start);
                    let end = quote.and_then(|quote| self.recogniser.string_end(quote, start + 1));
                    let is_open = quote.is_some() && end.is_none();
                    let end = end.unwrap_or(if is_open { self.bytes().len() } else { start + 1 });
                    tokens.push(Token { before: machine, start, end, is_last: true, is_open });
                    return tokens;
                }
            }
            if self.recogniser.out_of_fuel() {
                return Vec::new();
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        self.recogniser.bytes
    }

    fn byte(&self, at: usize) -> u8 {
        self.recogniser.bytes.get(at).copied().unwrap_or(0)
    }

    fn quote_at(&self, at: usize) -> Option<u8> {
        Some(self.byte(at)).filter(|byte| matches!(byte, b'"' | b'\''))
    }

    /// Adds a correction if the text is JSON from this state on.
    fn try_from(&mut self, machine: Option<Machine>, correction: impl FnOnce() -> Option<Correction>) {
        if let Some(machine) = machine
            && !self.is_over()
            && self.recogniser.run(machine).is_none()
        {
            self.corrections.extend(correction());
        }
    }

    /// Tries a string whose content starts at `body`, in the state `before` it.
    fn try_string(
        &mut self,
        before: Machine,
        quote: u8,
        body: usize,
        correction: impl FnOnce() -> Option<Correction>,
    ) {
        if let Some(next) = before.after_string()
            && let Some(end) = self.recogniser.string_end(quote, body)
        {
            let content = &self.recogniser.text[body..end - 1];
            let correction = || correction().map(|correction| correction.leaving(content));
            self.try_from(Some(next.moved_to(end)), correction);
        }
    }

    /// Marks that are missing before a token, and marks that are superfluous or mistyped.
    // Case: syntax/missing-commas
    // Case: syntax/doubled-colon
    // Case: syntax/mark-for-mark
    fn correct_mark(&mut self, token: &Token) {
        let (before, at) = (token.before, token.start);
        let at_end = at >= self.bytes().len();
        // `400.⏎283`: the point may be the comma.
        // Case: syntax/point-for-comma
        let ends_in_point = before.pos > 0 && self.byte(before.pos - 1) == b'.';
        // `"key"":value"` and `}5` have their mark, in the wrong place.
        // Case: syntax/odd-text-in-every-correction
        let rest = &self.recogniser.text[at..];
        let odd = at == before.pos && (is_glued(self.bytes(), at) || rest.starts_with("\"\""))
            || rest.starts_with("\":")
            || self.is_sign_after_number(before.pos, at);
        for mark in MARKS {
            let place = if mark.opens() { at } else { before.pos };
            let range = if ends_in_point && mark == Mark::Comma { place - 1..place } else { place..place };
            self.try_from(before.after_mark(mark).map(|next| next.moved_to(at)), || {
                Some(if range.is_empty() {
                    Correction::add(place, mark).odd_if(odd && matches!(mark, Mark::Comma | Mark::Colon))
                } else {
                    Correction::replace(range, None, mark)
                })
            });
        }
        if at_end {
            return;
        }
        if self.quote_at(at).is_none() {
            self.add_opening_quote(before, at);
        }
        let Some(mark) = Mark::of(self.byte(at)) else { return };
        // A mark is superfluous if it is written twice, or if it may not come where it is.
        // Case: syntax/extra-closers
        let next = self.recogniser.after_trivia(at + 1);
        let is_doubled =
            self.byte(next) == self.byte(at) || before.pos > 0 && self.byte(before.pos - 1) == self.byte(at);
        if is_doubled || token.is_last {
            // Case: syntax/hole-in-an-array
            let is_hole = mark == Mark::Comma && before.in_array() && is_hole(self.bytes(), at);
            self.try_from(Some(before.moved_to(at + 1)), || {
                Some(Correction::drop_mark(at, mark).odd_if(is_hole))
            });
        }
        self.replace_character(before, at, 1, Some(mark));
        self.swap_mark_with_next(before, at, mark);
    }

    /// `1-3`: a range or a difference, not two numbers.
    // Case: syntax/range-in-an-array
    fn is_sign_after_number(&self, end: usize, at: usize) -> bool {
        matches!(self.byte(at), b'-' | b'+') && end > 0 && self.byte(end - 1).is_ascii_digit()
    }

    /// A quote that is missing before the text at `at`. Blanks before it are text if there are more than elsewhere.
    // Case: syntax/blanks-before-a-lost-quote
    fn add_opening_quote(&mut self, before: Machine, at: usize) {
        self.try_string(before, b'"', at, || Some(Correction::add_quote(at, "\"")));
        let usual = self.blanks;
        let blanks = &self.recogniser.text[before.pos..at];
        if blanks.len() > usual && blanks.bytes().all(|byte| byte == b' ') {
            let place = before.pos + usual;
            self.try_string(before, b'"', place, || Some(Correction::add_quote(place, "\"")));
        }
    }

    /// A character that should be a mark or a quote.
    fn replace_character(&mut self, before: Machine, at: usize, len: usize, mark: Option<Mark>) {
        for with in MARKS {
            if Some(with) != mark {
                // Two rows would become one.
                // Case: syntax/border-between-rows
                let odd = with == Mark::Comma
                    && (mark == Some(Mark::CloseArray) && before.in_row()
                        || mark.is_some_and(Mark::opens) && begins_again(self.recogniser.text, at));
                self.try_from(before.after_mark(with).map(|next| next.moved_to(at + len)), || {
                    Some(Correction::replace(at..at + len, mark, with).odd_if(odd))
                });
            }
        }
        if self.byte(at) != b'"' {
            // The quote may as well be missing before a bracket, which is text then.
            // Case: syntax/bracket-or-opening-quote
            let is_bracket = mark.is_some_and(|mark| mark.closes() || mark.opens());
            self.try_string(before, b'"', at + len, || {
                Some(Correction::replace_by_quote(at..at + len, "\"").taking_bracket_if(is_bracket))
            });
        }
    }

    /// A mark that changed places with the character after it.
    // Case: syntax/swapped-marks
    fn swap_mark_with_next(&mut self, before: Machine, at: usize, mark: Mark) {
        let text = self.recogniser.text;
        let swap = || Correction::swap(text, at);
        let next = self.byte(at + 1);
        if let Some(other) = Mark::of(next) {
            let after = before.after_mark(other).and_then(|machine| machine.after_mark(mark));
            self.try_from(after.map(|machine| machine.moved_to(at + 2)), swap);
        } else if next == b'"' {
            self.try_string(before, b'"', at + 2, || swap().map(|swap| swap.odd_if(true)));
        } else if next.is_ascii_digit() {
            // A comma before a closing bracket would be a second slip.
            // Case: syntax/hole-in-an-array
            let odd = mark == Mark::Comma && Mark::of(self.byte(at + 2)).is_some_and(Mark::closes);
            let after = before.after_scalar().and_then(|machine| machine.after_mark(mark));
            self.try_from(after.map(|machine| machine.moved_to(at + 2)), || {
                swap().map(|swap| swap.odd_if(odd))
            });
        }
    }

    /// A mark that changed places with a character of the text beside it, near the position where the text stops being
    /// JSON: `"n"1:20` for `"n":120`, `[10,0 20]` for `[100, 20]`.
    // Case: syntax/mark-swapped-with-text
    fn swap_with_text(&mut self, tokens: &[Token]) {
        let text = self.recogniser.text;
        let near = &tokens[tokens.len().saturating_sub(TOKENS_TO_SWAP)..];
        let (Some(first), Some(last)) = (near.first(), near.last()) else { return };
        for token in near {
            for at in [token.start.saturating_sub(1), token.start] {
                let mut characters = text.get(at..).unwrap_or_default().chars();
                let (Some(left), Some(right)) = (characters.next(), characters.next()) else { continue };
                let is_mark = |ch: char| u8::try_from(ch).ok().and_then(Mark::of).is_some();
                let is_text = |ch: char| ch.is_alphanumeric() || matches!(ch, '-' | '.');
                let swaps = is_mark(left) && is_text(right)
                    || is_text(left) && is_mark(right)
                    || right == '"'
                        && (left.is_ascii_digit() || token.before.expect == Expect::Key && is_text(left));
                if at < first.start || at > last.start || !swaps {
                    continue;
                }
                let Some(swap) = Correction::swap(text, at) else { continue };
                // `4,5}` is a number in another notation, and no comma belongs before the bracket.
                // Case: syntax/decimal-comma
                let rest = text[swap.edit.end..].trim_start();
                if left == ',' && rest.starts_with(['}', ']']) {
                    continue;
                }
                let from = first.before.pos;
                let edited = [&text[from..at], &swap.edit.with, &text[swap.edit.end..]].concat();
                // A digit after a bracket may have come from anywhere.
                // Case: syntax/digit-after-the-last-bracket
                let odd = matches!(left, '}' | ']');
                self.try_other_text(&edited, first.before.moved_to(0), || Some(swap.odd_if(odd)));
            }
        }
    }

    /// A mark that slipped behind the last digit of a number: `[12,]` for `[1,2]`.
    // Case: syntax/comma-between-digits-or-after
    fn correct_number(&mut self, token: &Token) {
        let digits = token.end - token.start;
        let Some(mark) = Mark::of(self.byte(token.end)).filter(|_| digits > 1) else { return };
        if !self.byte(token.end - 1).is_ascii_digit() || !self.byte(token.end - 2).is_ascii_digit() {
            return;
        }
        let text = self.recogniser.text;
        let after = token.before.after_scalar().and_then(|machine| machine.after_mark(mark));
        let after = after.and_then(Machine::after_scalar);
        self.try_from(after.map(|machine| machine.moved_to(token.end + 1)), || {
            Correction::swap(text, token.end - 1)
        });
    }

    /// Quotes that are missing, superfluous, mistyped, swapped, or escaped the wrong way, in and around a string.
    fn correct_string(&mut self, token: &Token, last: Option<Token>) {
        let Some(quote) = self.quote_at(token.start) else { return };
        let (before, start) = (token.before, token.start);
        let text = self.recogniser.text;
        // Only one of two quotes that touch can be superfluous: dropping another one would drop text.
        // Case: syntax/doubled-closing-quote
        if self.byte(start + 1) == quote || start > 0 && self.byte(start - 1) == quote {
            self.try_from(Some(before.moved_to(start + 1)), || Some(Correction::drop_quote(start)));
        }
        for mark in MARKS {
            self.try_from(before.after_mark(mark).map(|next| next.moved_to(start + 1)), || {
                Some(Correction::replace(start..start + 1, None, mark))
            });
        }
        // Case: syntax/apostrophe-for-quote
        if quote == b'\'' {
            let range = start..start + 1;
            self.try_string(before, b'"', range.end, || Some(Correction::replace_by_quote(range, "\"")));
        }
        if let Some(mark) = Mark::of(self.byte(start + 1))
            && let Some(next) = before.after_mark(mark)
        {
            self.try_string(next, quote, start + 2, || Correction::swap(text, start));
        }
        if let Some(last) = last {
            self.drop_repeated_string(token, &last);
        }
        if !token.is_open {
            self.take_closing_quote_for_text(token, quote);
            self.swap_closing_quote(token);
        }
        self.close_string_early(token, quote);
    }

    /// `"5" pipe"`: the quote lost its backslash.
    // Case: syntax/doubled-closing-quote
    fn take_closing_quote_for_text(&mut self, token: &Token, quote: u8) {
        let text = self.recogniser.text;
        if let Some(next) = token.before.after_string()
            && let Some(end) = self.recogniser.string_end(quote, token.end)
        {
            if self.recogniser.run(next.moved_to(end)).is_some() || self.is_over() {
                return;
            }
            let content = &text[token.start + 1..end - 1];
            let quote_at = token.end - 1;
            // Escapes after a quote that is not escaped may be text like the quote.
            let stops = depth::escaping_may_stop(content.as_bytes());
            let escape = Correction::escape_quote(quote_at).odd_if(stops);
            // Of three quotes none is odd.
            // Case: syntax/third-quote-raw
            let is_third = text[..quote_at].ends_with("\\\"\\\"");
            self.corrections.push(if is_third { escape } else { escape.leaving(content) });
            let without = |range: std::ops::Range<usize>| {
                [&text[token.start + 1..range.start], &text[range.end..end - 1]].concat()
            };
            // `2\\"`: the quote may also have one backslash too many.
            // Case: syntax/backslash-too-many
            if text[..quote_at].ends_with("\\\\") {
                let content = without(quote_at - 1..quote_at);
                self.corrections.push(Correction::unescape_quote(quote_at - 1).leaving(&content));
            }
            // `\""`: it may also be the escaped quote beside it, written twice.
            // Case: syntax/inner-quote-twice
            if text[..quote_at].ends_with("\\\"") || text[quote_at + 1..].starts_with("\\\"") {
                let content = without(quote_at..quote_at + 1);
                self.corrections.push(Correction::drop_quote(quote_at).leaving(&content));
            }
        }
    }

    /// `"key""key": 1`: the same token twice.
    // Case: syntax/key-written-twice
    fn drop_repeated_string(&mut self, token: &Token, last: &Token) {
        let text = self.recogniser.text;
        if token.is_last && !token.is_open && text[token.start..token.end] == text[last.start..last.end] {
            let range = last.end..token.end;
            self.try_from(Some(token.before.moved_to(token.end)), || {
                Some(Correction::drop_repeated_token(range))
            });
        }
    }

    /// A closing quote that changed places with a character beside it.
    fn swap_closing_quote(&mut self, token: &Token) {
        let text = self.recogniser.text;
        let Some(after) = token.before.after_string() else { return };
        let end = token.end;
        if end - token.start > 2
            && let Some(mark) = Mark::of(self.byte(end - 2))
        {
            let next = after.after_mark(mark).map(|machine| machine.moved_to(end));
            // A comma beside the quote may belong on either side, whatever the text is like.
            // Case: syntax/comma-inside-the-quote
            let content = if mark == Mark::Comma { "" } else { &text[token.start + 1..end - 2] };
            self.try_from(next, || Correction::swap(text, end - 2).map(|swap| swap.leaving(content)));
        }
        let next = text[end..].chars().next().unwrap_or('\0');
        if !next.is_whitespace() && !matches!(next, '\0' | '"' | '\'' | '\\') {
            // Texts rarely end in a mark, unless it is what pairs their brackets.
            // Case: syntax/closer-outside-the-quote
            let content = &text[token.start + 1..end - 1];
            let odd = Mark::of(self.byte(end)).is_some() && !is_odd_text(content);
            self.try_from(Some(after.moved_to(end + next.len_utf8())), || {
                let swap = Correction::swap(text, end - 1)?;
                Some(swap.odd_if(odd).leaving(&format!("{content}{next}")))
            });
        }
    }

    /// A string that should have ended before something that can follow a string.
    // Case: syntax/missing-closing-quote
    // Case: syntax/escaped-delimiter
    fn close_string_early(&mut self, token: &Token, quote: u8) {
        let Some(after) = token.before.after_string() else { return };
        let body = token.start + 1;
        let limit = if token.is_open { token.end } else { token.end - 1 };
        let with = if quote == b'"' { "\"" } else { "'" };
        let mut at = body;
        while let Some(next) = self.next_separator(at, limit) {
            at = next + 1;
            let text = self.recogniser.text;
            let end = body + text[body..next].trim_ascii_end().len();
            let after = after.moved_to(next);
            self.close_string_and_bracket(token, after, with);
            if self.recogniser.run(after).is_some() {
                if self.is_over() {
                    return;
                }
                continue;
            }
            let content = &text[body..end];
            let mistyped = mistyped_quote(content);
            let is_foreign = mistyped.is_some_and(|mistyped| mistyped.is_foreign(content));
            // `"key:" value"`: the quote after the colon may be the key's own.
            // Case: syntax/key-quote-after-colon
            let blank = text[next..].starts_with(":\" ");
            let ends_in_mark = matches!(content.as_bytes().last(), Some(b',' | b':' | b';'));
            let is_key = token.before.expect == Expect::Key;
            let odd = blank || is_key && ends_in_mark || is_foreign;
            let add = |at| Correction::add_quote(at, with).odd_if(odd).leaving(content);
            self.corrections.push(add(end));
            // A line break is never the end of a string. A blank is not written before a comma, so it may be text.
            // Case: syntax/blank-before-a-lost-quote
            if end < next && !text[end..next].contains('\n') {
                self.corrections.push(add(next));
            }
            if let Some(mistyped) = mistyped {
                let replace = Correction::replace_by_quote(end - mistyped.len..end, with);
                // A quote that is added keeps every character of the text.
                // Case: syntax/bracket-or-closing-quote
                let is_text = !is_foreign && mistyped.is_text(content);
                let left = &content[..content.len() - mistyped.len];
                let replace = replace.odd_if(is_text).leaving(left);
                self.corrections.push(replace.taking_bracket_if(mistyped.is_closer()));
            }
            // `x\"n,`: the quote slipped in front of the letter of an escape.
            if content.ends_with("\\\"n") || content.ends_with("\\\"t") {
                self.corrections.extend(Correction::swap(text, end - 2));
            }
            if let Some(left) = content.strip_suffix("\\\"").filter(|_| quote == b'"') {
                self.corrections.push(Correction::unescape_delimiter(end - 2).leaving(left));
            }
        }
    }

    /// `"x, {…`: the quote and the closing bracket after it are missing, which models often write as one token.
    // Case: syntax/quote-and-closer-lost
    fn close_string_and_bracket(&mut self, token: &Token, after: Machine, quote: &'static str) {
        if token.is_open || quote != "\"" {
            return;
        }
        let text = self.recogniser.text;
        let body = token.start + 1;
        for (mark, with) in [(Mark::CloseObject, "\"}"), (Mark::CloseArray, "\"]")] {
            let end = body + text[body..after.pos].trim_ascii_end().len();
            self.try_from(after.after_mark(mark), || {
                Some(Correction::add_quote(end, with).of_two_marks().leaving(&text[body..end]))
            });
        }
    }

    /// The next byte in `at..limit` that can follow a string.
    fn next_separator(&mut self, at: usize, limit: usize) -> Option<usize> {
        let found = self.bytes()[at..limit].iter().position(|byte| matches!(byte, b',' | b':' | b'}' | b']'));
        self.recogniser.pay(found.unwrap_or(limit - at));
        found.map(|offset| at + offset)
    }

    /// A character that is no token at all: a mistyped or superfluous mark, or the backslash of an escaped delimiter.
    // Case: syntax/semicolon-for-comma
    // Case: syntax/escaped-delimiter
    fn correct_other_character(&mut self, token: &Token) {
        let (before, at) = (token.before, token.start);
        let Some(ch) = self.recogniser.text.get(at..).and_then(|rest| rest.chars().next()) else { return };
        if Mark::of(self.byte(at)).is_some() || self.quote_at(at).is_some() {
            return;
        }
        let text = self.recogniser.text;
        if ch == '\\' && self.byte(at + 1) == b'"' {
            self.try_string(before, b'"', at + 2, || Some(Correction::unescape_delimiter(at)));
            // `\"\begin`: the quote may have slipped between two backslashes.
            // Case: syntax/quote-between-backslashes
            if self.byte(at + 2) == b'\\' {
                self.try_string(before, b'"', at + 2, || Correction::swap(text, at));
            }
        } else if ch == '.'
            && at > 0
            && self.byte(at - 1).is_ascii_digit()
            && self.byte(at + 1).is_ascii_digit()
        {
            // `1.2.5`: either point may be the comma.
            // Case: syntax/two-points-in-a-number
        } else if is_mistyped_mark(ch) {
            self.try_from(Some(before.moved_to(at + 1)), || Some(Correction::drop_character(at)));
            self.replace_character(before, at, 1, None);
        } else if !ch.is_ascii() && mistyped_quote(&text[at..at + ch.len_utf8()]).is_some() {
            self.replace_character(before, at, ch.len_utf8(), None);
        }
        // `{x"yz": 1}`: the opening quote slipped behind the first letter.
        // Case: syntax/quote-after-the-first-letter
        let next = at + ch.len_utf8();
        if self.byte(next) == b'"' && ch != '\\' {
            // `[a", b"]`: all opening quotes may be missing.
            let end = self.recogniser.string_end(b'"', next + 1).unwrap_or(next + 1);
            // Before a value, a letter may be the prefix of a Python literal.
            // Case: syntax/prefix-or-first-letter
            let is_prefix = before.expect != Expect::Key && matches!(ch, 'r' | 'b' | 'u' | 'f');
            let odd = is_prefix || ch.is_alphanumeric() && text[next..end].contains(',');
            self.try_string(before, b'"', next + 1, || {
                Correction::swap(text, at).map(|swap| swap.odd_if(odd))
            });
        }
    }
}

/// Whether an element may be missing beside the comma at `at`, which has no value before it or after it. Two commas without
/// a blank between them are one that is written twice, and so are two commas on lines of their own.
pub(super) fn is_hole(bytes: &[u8], at: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied();
    let touches = byte(at.checked_sub(1)) == Some(b',') || byte(Some(at + 1)) == Some(b',');
    let line = bytes[..at].iter().rev().take(64).find(|byte| !matches!(byte, b' ' | b'\t'));
    let alone = line == Some(&b'\n') && matches!(byte(Some(at + 1)), Some(b'\n' | b'\r'));
    !touches && !alone
}

/// The longest start of a container that is looked for after it.
const MAX_START: usize = 256;

/// `[10, 200[10, 200, 3000]`: whether what follows the bracket at `at` is what came after the last one like it, so that the
/// model began again.
// Case: syntax/array-begun-again
fn begins_again(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let nearby = &bytes[at.saturating_sub(MAX_START)..at];
    let Some(length) = nearby.iter().rev().position(|byte| *byte == bytes[at]) else { return false };
    let start = bytes[at - length..at].trim_ascii();
    !start.is_empty() && bytes[at + 1..].trim_ascii_start().starts_with(start)
}

/// Whether a character is easily typed for a mark. Signs such as `+` are not: `1 + 1` is an expression.
// Case: syntax/sum-in-an-array
const fn is_mistyped_mark(ch: char) -> bool {
    matches!(ch, ';' | '.' | '=' | '`' | '(' | ')')
}

/// A character at the end of a string's content that may be its closing quote, mistyped.
#[derive(Debug, Clone, Copy)]
struct MistypedQuote {
    ch: char,
    len: usize,
}

fn mistyped_quote(content: &str) -> Option<MistypedQuote> {
    let ch = content.chars().next_back()?;
    let quote = matches!(ch, '\'' | '`' | '´' | '‘' | '’' | '“' | '”' | '«' | '»');
    let mark = matches!(ch, ',' | ';' | ':' | '{' | '}' | '[' | ']' | '(' | ')');
    let len = ch.len_utf8();
    let escaped = content[..content.len() - len].ends_with('\\');
    ((quote || mark) && !escaped).then_some(MistypedQuote { ch, len })
}

impl MistypedQuote {
    /// Whether it is a quote that has no partner in the content, so that it can hardly be text.
    fn is_foreign(self, content: &str) -> bool {
        let is_word = |ch: Option<char>| ch.is_some_and(char::is_alphanumeric);
        match self.ch {
            // An apostrophe between two letters is part of a word.
            '\'' | '`' | '’' => {
                let mut count = 0;
                let mut last = None;
                let mut chars = content.chars().peekable();
                while let Some(ch) = chars.next() {
                    let inside_word = is_word(last) && is_word(chars.peek().copied());
                    count += usize::from(ch == self.ch && !inside_word);
                    last = Some(ch);
                }
                count % 2 == 1
            }
            '´' | '‘' | '“' | '«' => true,
            '”' => content.matches('“').count() < content.matches('”').count(),
            '»' => content.matches('«').count() < content.matches('»').count(),
            _ => false,
        }
    }

    fn is_closer(self) -> bool {
        matches!(self.ch, '}' | ']' | ')')
    }

    /// Whether it belongs to the content: a quote or a bracket with a partner, or a mark that texts end with.
    fn is_text(self, content: &str) -> bool {
        let pairs = |open: char, close: char| content.matches(open).count() == content.matches(close).count();
        match self.ch {
            ')' | '(' => pairs('(', ')'),
            ']' | '[' => pairs('[', ']'),
            '}' | '{' => pairs('{', '}'),
            ',' | ':' | ';' => false,
            '\'' | '`' => self.closes_only_pair(content),
            _ => true,
        }
    }

    /// Whether the content has exactly two of these quotes, and they are around some text.
    // Case: syntax/apostrophe-for-closing-quote
    fn closes_only_pair(self, content: &str) -> bool {
        let mut places = content.match_indices(self.ch).map(|(at, _)| at);
        let (Some(open), Some(close), None) = (places.next(), places.next(), places.next()) else {
            return false;
        };
        let inner = &content[open + self.len..close];
        let opens = !content[..open].ends_with(char::is_alphanumeric);
        let blank_ends = [" ", "\\n", "\\t", "\n"].iter().any(|blank| inner.ends_with(blank));
        opens && !blank_ends && !inner.starts_with(' ')
    }
}

/// Whether the quotes or the brackets of a text do not pair up. In texts that people write they mostly do; after a digit a
/// quote means inches, and between Hebrew letters it marks an abbreviation. The first quote of a text opens.
// Case: syntax/inch-or-doubled-quote
pub(crate) fn is_odd_text(content: &str) -> bool {
    let bytes = content.as_bytes();
    let mut quotes = 0;
    let mut has_inches = false;
    let mut closes_first = false;
    for at in memchr::memchr_iter(b'"', bytes) {
        let before = bytes[..at].strip_suffix(b"\\").unwrap_or(&bytes[..at]);
        let last = before.last().copied().unwrap_or(b' ');
        if is_abbreviation(before, &bytes[at + 1..]) {
            continue;
        }
        if quotes == 0 {
            let is_word = last.is_ascii_alphabetic() || last >= 0x80;
            closes_first = is_word && matches!(bytes.get(at + 1), Some(b',' | b':' | b'}' | b']'));
        }
        quotes += 1;
        has_inches |= last.is_ascii_digit();
    }
    closes_first || quotes % 2 == 1 && !has_inches || !nests(bytes)
}

/// Whether a quote between these texts is between two Hebrew letters.
fn is_abbreviation(before: &[u8], after: &[u8]) -> bool {
    matches!(before, [.., 0xD7, 0x90..=0xAA]) && matches!(after, [0xD7, 0x90..=0xAA, ..])
}
