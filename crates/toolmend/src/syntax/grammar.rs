//! The rules between values: brackets, commas, colons and keys, and which of them may be missing or superfluous.
//!
//! Each method is one state of the reader and returns the next [`Step`]. Where a string ends is not decided here but in
//! `string_end`; whether a decision holds is asked of `lookahead`.

use super::lookahead::EndEvidence;
use super::reader::Reader;
use super::reading::{Frame, FrameKind, Next, Step};
use super::token::{self, Punctuation, Quote};
use crate::repair::RepairKind;
use crate::schema::guide::{KeyFit, Types};
use crate::syntax::Finish;

/// Longer keys are not looked for: what looks like one is text.
const MAX_KEY: usize = 512;

/// What was expected if brackets are nested too deep.
// Case: syntax/too-deep
pub(super) const TOO_DEEP: &str = "fewer nested brackets";

impl Reader<'_> {
    /// Reads a value.
    pub(super) fn read_value(&mut self) -> Step {
        self.skip_trivia();
        let at = self.state.pos;
        if at >= self.text.len() {
            return Step::Cut;
        }
        if let Some(step) = self.close_array_before_key(at) {
            return step;
        }
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        match self.text.punctuation_at(at) {
            Some((Punctuation::OpenObject, len)) => self.open_frame(FrameKind::Object, at, len),
            Some((Punctuation::OpenArray, len)) => self.open_frame(FrameKind::Array, at, len),
            Some((Punctuation::OpenParen, len)) if !self.stack.is_empty() => {
                self.open_frame(FrameKind::Tuple, at, len)
            }
            // A fence for quotes: its first line and its last line break may be text or not.
            // Case: syntax/fence-as-value
            Some((Punctuation::Quote(Quote::Backtick), _)) if self.text.starts_with(at, b"```") => {
                Step::Dead("a string", at)
            }
            Some((Punctuation::Quote(quote), len)) => self.read_string(quote, at, len),
            Some((
                mark @ (Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen),
                len,
            )) if in_array => self.read_closer(mark, len, at),
            Some((Punctuation::Comma, len)) if in_array => {
                self.edit(at..at + len, "", RepairKind::ExtraCommaRemoved);
                self.state.pos = at + len;
                Step::Go(Next::Value)
            }
            Some((
                Punctuation::CloseObject
                | Punctuation::CloseArray
                | Punctuation::CloseParen
                | Punctuation::Comma
                | Punctuation::Colon,
                _,
            )) => Step::Dead("a value", at),
            _ => match self.text.prefix_len(at) {
                0 => self.read_unquoted_value(at),
                prefix => self.read_prefixed_string(at, prefix),
            },
        }
    }

    /// Enters the bracket at `at`.
    // Case: syntax/full-width
    fn open_frame(&mut self, kind: FrameKind, at: usize, len: usize) -> Step {
        if self.stack.len() >= self.depth_limit {
            return Step::Dead(TOO_DEEP, at);
        }
        // An object that begins like the outermost one is nested, or the model started over. That matters only if brackets are
        // not closed in the end.
        // Case: syntax/restart-after-a-key
        if kind == FrameKind::Object && !self.stack.is_empty() && self.is_restart_at(at) {
            self.evidence.keys_of_outer_object += 1;
        }
        match kind {
            FrameKind::Tuple => self.edit(at..at + len, "[", RepairKind::CallSyntaxRead),
            FrameKind::Object if len > 1 => {
                self.edit(at..at + len, "{", RepairKind::FullwidthPunctuationReplaced);
            }
            FrameKind::Array if len > 1 => {
                self.edit(at..at + len, "[", RepairKind::FullwidthPunctuationReplaced);
            }
            _ => {}
        }
        self.state.pos = at + len;
        self.push_frame(kind, at + len);
        Step::Go(if kind.is_object() { Next::Key } else { Next::Value })
    }

    /// `[1, 2, "next": …`: the array was not closed before the next member of the object around it.
    // Case: syntax/missing-closer-inside
    fn close_array_before_key(&mut self, at: usize) -> Option<Step> {
        let depth = self.stack.len();
        let (array, object) = (self.stack.last()?, self.stack.get(depth.checked_sub(2)?)?);
        if array.kind != FrameKind::Array || !object.kind.is_object() || array.count == 0 {
            return None;
        }
        let object = *object;
        let end = array.last_end;
        let key = self.find_key_ahead(at, &object)?;
        if !key.quoted || key.evidence < EndEvidence::Fair {
            return None;
        }
        self.contest_closer(end, "]");
        self.contest_doubled_opener();
        self.edit(end..end, "]", RepairKind::MissingCloserAdded);
        self.stack.pop();
        if let Some(frame) = self.stack.last_mut() {
            frame.count += 1;
        }
        Some(Step::Go(Next::Key))
    }

    /// Reads what comes after a value: a comma, a closing bracket, or the next value without its comma.
    // Case: syntax/missing-commas
    pub(super) fn read_after_value(&mut self) -> Step {
        let end = self.state.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Done(end) };
        self.skip_trivia();
        let at = self.state.pos;
        match self.text.punctuation_at(at) {
            _ if at >= self.text.len() => self.finish_at_end_of_text(end),
            Some((Punctuation::Comma, len)) => self.read_comma(at, len),
            Some((
                mark @ (Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen),
                len,
            )) => self.read_closer(mark, len, end),
            Some((Punctuation::Colon | Punctuation::OpenParen, _)) => {
                Step::Dead("a comma or a closing bracket", at)
            }
            _ if frame.kind.is_object() => {
                // A member may follow without its comma.
                match self.find_key_ahead(at, &frame) {
                    Some(_) => {
                        self.add_missing_comma(end);
                        Step::Go(Next::Key)
                    }
                    None => Step::Dead("a comma or a closing bracket", at),
                }
            }
            Some((mark, _)) => {
                // `"a""b"` is one string or two.
                // Case: syntax/two-strings-or-one
                if at == end && matches!(mark, Punctuation::Quote(_)) && self.string_before(end).is_some() {
                    self.contest(at);
                }
                // `"a\n" "b\n"`: pieces of one text, or elements that lost their comma.
                // Case: syntax/adjacent-literals-in-array
                if matches!(mark, Punctuation::Quote(_))
                    && self.string_before(end).is_some_and(|body| {
                        frame.kind == FrameKind::Tuple
                            || self.text.str(body.clone()).ends_with("\\n")
                            || self.text.str(body).ends_with(' ')
                    })
                {
                    self.contest(at);
                }
                self.add_missing_comma(end);
                Step::Go(Next::Value)
            }
            None if self.is_scalar_ahead(at) => {
                // `2.}5`: the digit belongs before the bracket.
                // Case: syntax/digit-after-the-last-bracket
                if self.text.is_glued(at) {
                    self.contest(at);
                }
                self.edit(end..end, ",", RepairKind::MissingCommaAdded);
                Step::Go(Next::Value)
            }
            None => Step::Dead("a comma or a closing bracket", at),
        }
    }

    /// Whether the round brackets that close at `at` may be there only to group one scalar. In a document that has other
    /// lists in round brackets they are a list.
    fn may_be_grouped(&self, frame: &Frame, end: usize, at: usize) -> bool {
        let types = self.guide.types(frame.position);
        let is_unclear = types.has(Types::ARRAY) && types != Types::ARRAY;
        let is_scalar = !matches!(self.text.byte(end - 1), Some(b'}' | b']' | b')'));
        if frame.count != 1 || !is_unclear || !is_scalar || self.text.bytes(end..at).contains(&b',') {
            return false;
        }
        self.spend_fuel(self.edits.len());
        let lists =
            self.edits.iter().filter(|edit| edit.kind == RepairKind::CallSyntaxRead && edit.with == "[");
        lists.count() < 2
    }

    /// Adds the comma that is missing after the value that ends at `end`.
    fn add_missing_comma(&mut self, end: usize) {
        // `"text," "key"`: the comma may have slipped into the text. After a number it may be written as a point.
        // Case: syntax/comma-inside-the-quote
        self.contest_comma(end);
        self.edit(end..end, ",", RepairKind::MissingCommaAdded);
    }

    /// Whether a number or literal, in any spelling, starts at `at`.
    fn is_scalar_ahead(&self, at: usize) -> bool {
        let word = self.text.str(at..self.text.word_end(at));
        super::number::is_scalar(word)
    }

    /// Reads a comma. One separates; further ones, and one before a closing bracket, are removed.
    // Case: syntax/trailing-commas
    // Case: syntax/doubled-comma
    fn read_comma(&mut self, at: usize, len: usize) -> Step {
        let first = self.edits.len();
        let mut hole = None;
        self.state.pos = at + len;
        if len > 1 {
            self.edit(at..at + len, ",", RepairKind::FullwidthPunctuationReplaced);
        }
        loop {
            self.skip_trivia();
            match self.text.punctuation_at(self.state.pos) {
                Some((Punctuation::Comma, more)) => {
                    hole = hole.or(Some(self.state.pos).filter(|&comma| self.text.is_hole(comma)));
                    self.edit(self.state.pos..self.state.pos + more, "", RepairKind::ExtraCommaRemoved);
                    self.state.pos += more;
                }
                Some((
                    mark @ (Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen),
                    close,
                )) => {
                    if len > 1 {
                        self.edits.remove(first);
                    }
                    self.edit(at..at + len, "", RepairKind::TrailingCommaRemoved);
                    return self.read_closer(mark, close, at);
                }
                _ if self.state.pos >= self.text.len() => return Step::Cut,
                _ => break,
            }
        }
        if self.stack.last().is_some_and(|frame| frame.kind.is_object()) {
            return Step::Go(Next::Key);
        }
        // An element may be missing between two commas, and the later ones must not move up.
        // Case: syntax/hole-in-an-array
        if let Some(hole) = hole {
            self.contest(hole);
        }
        Step::Go(Next::Value)
    }

    /// Reads the closing bracket at the current position; `end` is where the last value ended, before any comma.
    fn read_closer(&mut self, mark: Punctuation, len: usize, end: usize) -> Step {
        let at = self.state.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Done(end) };
        if frame.kind.closer() == mark {
            match frame.kind {
                FrameKind::Call => self.edit(at..at + len, "}", RepairKind::CallSyntaxRead),
                FrameKind::Tuple => {
                    // `(3)` is a number in brackets, and a list to who writes lists in round ones.
                    // Case: syntax/one-value-in-round-brackets
                    if self.may_be_grouped(&frame, end, at) {
                        self.contest(at);
                    }
                    self.edit(at..at + len, "]", RepairKind::CallSyntaxRead);
                }
                _ if len > 1 => {
                    self.edit(
                        at..at + len,
                        token::ascii_spelling(mark),
                        RepairKind::FullwidthPunctuationReplaced,
                    );
                }
                _ => {}
            }
            return self.pop_frame(at + len);
        }
        if mark == Punctuation::CloseParen {
            return Step::Dead("a comma or a closing bracket", at);
        }
        // The closer is of the wrong kind. Either closers are missing before it, or it was written for the right one, or
        // it is superfluous. What follows decides, and the first of these wins a draw.
        // Case: syntax/wrong-closer
        // Case: syntax/extra-closers
        let depth = self.stack.len();
        let outer = self.stack.iter().rposition(|frame| frame.kind.closer() == mark);
        let close_outer =
            outer.map_or(EndEvidence::No, |outer| self.end_evidence_within(at + len, outer, false));
        let close_this = self.end_evidence_within(at + len, depth - 1, false);
        let drop =
            if frame.count > 0 { self.end_evidence_within(at + len, depth, false) } else { EndEvidence::No };
        if let Some(outer) = outer
            .filter(|_| close_outer >= close_this && close_outer >= drop && close_outer > EndEvidence::No)
        {
            let mut step = Step::Go(Next::AfterValue);
            while self.stack.len() > outer + 1 {
                let closer = self.stack.last().map_or("]", |frame| frame.kind.json_closer());
                self.contest_closer(end, closer);
                self.contest_doubled_opener();
                // A bracket that was opened without a comma and holds nothing may be a mistyped closer.
                // Case: syntax/opener-for-closer
                let comma_missing =
                    self.edits.last().is_some_and(|edit| edit.kind == RepairKind::MissingCommaAdded);
                if comma_missing && self.stack.last().is_some_and(|frame| frame.count == 0) {
                    self.contest(end);
                }
                self.edit(end..end, closer, RepairKind::MissingCloserAdded);
                step = self.pop_frame(end);
            }
            debug_assert!(step == Step::Go(Next::AfterValue));
            self.state.pos = at;
            return self.read_closer(mark, len, end);
        }
        if close_this >= drop && close_this > EndEvidence::No {
            // The last byte of truncated text proves nothing: it may be text of the string before it.
            // Case: syntax/cut-after-wrong-closer
            if self.finish == Finish::Length && self.text.rest(at + len).trim_end().is_empty() {
                return Step::Cut;
            }
            let closer = frame.kind.json_closer();
            self.edit(at..at + len, closer, RepairKind::CloserReplaced);
            return self.pop_frame(at + len);
        }
        if drop > EndEvidence::No {
            self.contest_lost_opener(&frame, mark);
            self.edit(at..at + len, "", RepairKind::ExtraCloserRemoved);
            self.state.pos = at + len;
            return Step::Go(Next::AfterValue);
        }
        Step::Dead("another closing bracket", at)
    }

    /// Completes a text that ends after a complete value, with brackets open; or reports it as truncated.
    // Case: syntax/missing-closers-at-end
    fn finish_at_end_of_text(&mut self, end: usize) -> Step {
        // A comment that runs to the end of the text may have swallowed closers.
        if self.text.rest(end).contains(['}', ']', '"']) {
            return Step::Dead("the end of the value", end);
        }
        let complete = self.finish != Finish::Length
            && self.stack.iter().all(|frame| self.count_missing_required(frame) == 0);
        // A quote at the very end may be text of a truncated string. It is believed only if nothing else in the document or
        // in the string shows that quotes are not escaped here.
        let doubtful = self.evidence.half_keys > 0
            || self.string_before(end).is_some_and(|body| {
                self.evidence.raw_quotes > 0 || self.is_unbalanced(body.clone()) || self.opens_quotation(body)
            });
        // A list whose end is lost together with the brackets around it may have had more elements.
        // Case: syntax/cut-after-list-element
        let in_list = self.stack.iter().any(|frame| !frame.kind.is_object());
        if !complete || doubtful || in_list && self.stack.len() > 1 {
            return Step::Cut;
        }
        if self.evidence.keys_of_outer_object > 0 {
            return Step::Dead("the end of the inner object", end);
        }
        loop {
            let Some(frame) = self.stack.last() else { return Step::Done(self.text.len()) };
            let (closer, kind) = match frame.kind {
                FrameKind::Implicit => ("}", RepairKind::MissingOpenerAdded),
                FrameKind::Call => return Step::Cut,
                kind if kind.is_object() => ("}", RepairKind::MissingCloserAdded),
                _ => ("]", RepairKind::MissingCloserAdded),
            };
            self.contest_closer(end, closer);
            self.edit(end..end, closer, kind);
            if let Step::Done(_) = self.pop_frame(end) {
                return Step::Done(self.text.len());
            }
        }
    }

    /// Whether the quote after this string may open a quotation in it: `return "`, `class="`. Quotes that close follow a word.
    // Case: syntax/cut-after-an-opening-quote
    fn opens_quotation(&self, body: std::ops::Range<usize>) -> bool {
        !body.is_empty()
            && matches!(self.text.byte_at(body.end - 1), b' ' | b'\t' | b'=' | b'(' | b'[' | b'{' | b'+')
    }

    /// Reads a key, or the end of the object.
    // Case: syntax/doubled-braces
    pub(super) fn read_key(&mut self) -> Step {
        self.skip_trivia();
        let at = self.state.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", at) };
        match self.text.punctuation_at(at) {
            _ if at >= self.text.len() => {
                if frame.kind == FrameKind::Implicit && frame.count > 0 {
                    self.finish_at_end_of_text(frame.last_end)
                } else {
                    Step::Cut
                }
            }
            Some((
                mark @ (Punctuation::CloseObject | Punctuation::CloseArray | Punctuation::CloseParen),
                len,
            )) => self.read_closer(mark, len, at),
            Some((Punctuation::Comma, len)) => {
                self.edit(at..at + len, "", RepairKind::ExtraCommaRemoved);
                self.state.pos = at + len;
                Step::Go(Next::Key)
            }
            Some((Punctuation::OpenObject, len))
                if frame.count == 0 && frame.last_end == at && self.stack.len() == 1 =>
            {
                self.edit(at..at + len, "", RepairKind::ExtraOpenerRemoved);
                self.state.pos = at + len;
                if let Some(frame) = self.stack.last_mut() {
                    frame.last_end = at + len;
                }
                Step::Go(Next::Key)
            }
            Some((Punctuation::Quote(quote), len)) => match self.close_object_before_outer_key(at, &frame) {
                Some(step) => step,
                None => self.read_quoted_key(quote, at, len),
            },
            Some(_) => Step::Dead("a key", at),
            None => match (self.text.prefix_len(at), self.close_object_before_outer_key(at, &frame)) {
                (_, Some(step)) => step,
                (0, None) => self.read_bare_key(at),
                (prefix, None) => self.read_prefixed_key(at, prefix),
            },
        }
    }

    /// Reads `u'key'`, as Python 2 writes keys.
    // Case: syntax/python-two
    fn read_prefixed_key(&mut self, at: usize, prefix: usize) -> Step {
        match self.text.punctuation_at(at + prefix) {
            Some((Punctuation::Quote(quote), len)) => {
                // In JSON's quotes it is the first letter of the key, which slipped out.
                // Case: syntax/quote-after-the-first-letter
                if quote == token::Quote::Double {
                    self.contest(at);
                }
                self.edit(at..at + prefix, "", RepairKind::QuotesReplaced);
                self.read_quoted_key(quote, at + prefix, len)
            }
            _ => Step::Dead("a key", at),
        }
    }

    /// `{"a": {"b": 1, "c": …`: a key that this object does not declare and the object around it does. The inner object
    /// was not closed before it.
    // Case: syntax/missing-closer-before-outer-key
    fn close_object_before_outer_key(&mut self, at: usize, frame: &Frame) -> Option<Step> {
        let outer = *self.stack.get(self.stack.len().checked_sub(2)?)?;
        let nested = frame.kind == FrameKind::Object && outer.kind.is_object() && frame.count > 0;
        if !nested || self.find_key_ahead(at, &outer)?.evidence != EndEvidence::Strong {
            return None;
        }
        if !self.guide.declares(frame.position) {
            // Nothing shows where it belongs. That matters only if the inner object turns out not to be closed.
            self.evidence.keys_of_outer_object += 1;
            return None;
        }
        if self.find_key_ahead(at, frame)?.evidence != EndEvidence::Weak
            || self.count_missing_required(frame) > 0
        {
            return None;
        }
        let end = frame.last_end;
        self.contest_closer(end, "}");
        self.edit(end..end, "}", RepairKind::MissingCloserAdded);
        self.pop_frame(end);
        self.state.pos = at;
        Some(Step::Go(Next::Key))
    }

    /// Reads a key in quotes. It ends at the first quote that a colon follows.
    // Case: syntax/doubled-quote
    // Case: syntax/missing-colon
    fn read_quoted_key(&mut self, quote: Quote, open: usize, len: usize) -> Step {
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", open) };
        let mut body = open + len;
        let doubled = self.text.closer_at(quote, body);
        if doubled > 0 && self.text.byte(body + doubled).is_some_and(|&byte| token::is_word(byte)) {
            self.edit(body..body + doubled, "", RepairKind::DoubledQuoteRemoved);
            body += doubled;
        }
        let limit = self.text.len().min(body + MAX_KEY);
        let mut first_close = None;
        let mut at = body;
        while at < limit {
            let close = self.text.closer_at(quote, at);
            if close == 0 {
                at += if self.text.byte_at(at) == b'\\' { 2 } else { 1 };
                continue;
            }
            if !self.spend_fuel(at - body + 16) {
                return Step::Dead("a key and its colon", open);
            }
            let mut after = self.after_trivia(at + close);
            let again = self.text.closer_at(quote, after);
            if again > 0
                && after == at + close
                && self.text.colon_at(self.after_trivia(after + again)).is_some()
            {
                self.edit(after..after + again, "", RepairKind::DoubledQuoteRemoved);
                after = self.after_trivia(after + again);
            }
            let key = body..at;
            // A quote is text in a key only if nothing beside it looks like punctuation between keys.
            if at > body
                && self.text.bytes(body..at).contains(&b'"')
                && quote == Quote::Double
                && has_separators(self.text.bytes(body..at))
            {
                return Step::Dead("a key and its colon", open);
            }
            let fit = self.guide.match_key(frame.position, self.text.str(key.clone()));
            if self.text.colon_at(after).is_some() {
                // A key with a quote in it may be two.
                // Case: syntax/key-started-over
                if at > first_close.unwrap_or(at) {
                    self.contest(open);
                }
                self.contest_key_in_text(quote, key.clone(), frame.last_end);
                return self.finish_quoted_key(quote, open..open + len, key, close, after);
            }
            first_close.get_or_insert(at);
            // `"key: "value"` or `"key:10,`: the closing quote of the key is missing.
            // Case: syntax/missing-key-quote
            if let Some(colon) = self.find_half_quoted_key_end(body, at, &frame) {
                return self.finish_half_quoted_key(quote, open..open + len, body..colon);
            }
            if after >= self.text.len() {
                return Step::Cut;
            }
            let declared = matches!(fit, KeyFit::Declared(_));
            if (declared || fit == KeyFit::Unknown) && self.is_value_ahead(after) {
                return self.finish_quoted_key(quote, open..open + len, key, close, at + close);
            }
            at += close;
        }
        // No quote ends it: `"key: 5}` may have lost its own.
        let end = self.text.word_end(body);
        let declared = self.guide.declares_key(frame.position, self.text.str(body..end));
        let plain =
            end > body && self.guide.match_key(frame.position, self.text.str(body..end)) == KeyFit::Unknown;
        if (declared || plain) && self.text.byte(end) == Some(&b':') && end + 1 < self.text.len() {
            return self.finish_half_quoted_key(quote, open..open + len, body..end);
        }
        // `{""}` has a key without a colon, and nothing is missing at its end.
        // Case: syntax/key-without-colon-or-value
        let first =
            body + self.text.bytes(body..limit).iter().position(|&byte| byte == b'"').unwrap_or_default();
        let only_closers = quote == Quote::Double
            && self.text.rest(first).strip_prefix('"').is_some_and(|rest| {
                rest.starts_with(['}', ']']) && rest.trim_end_matches(['}', ']', ' ', '\n']).is_empty()
            });
        if at >= self.text.len() && !only_closers {
            Step::Cut
        } else {
            Step::Dead("a key and its colon", open)
        }
    }

    /// Completes a key without its closing quote: it ends before its colon.
    fn finish_half_quoted_key(
        &mut self,
        quote: Quote,
        open: std::ops::Range<usize>,
        key: std::ops::Range<usize>,
    ) -> Step {
        if let Some(kind) = quote.repair() {
            self.edit(open, "\"", kind);
        }
        let mut key = key;
        if self.text.str(key.clone()).ends_with('\'') {
            // `"key':` has a closing quote of the wrong kind.
            self.edit(key.end - 1..key.end, "\"", RepairKind::QuotesReplaced);
            key.end -= 1;
            let end = key.end + 1;
            return self.read_colon(key, end);
        }
        self.edit(key.end..key.end, "\"", RepairKind::MissingQuoteAdded);
        // `"key:" value`: the quote after the colon may be the key's own.
        // Case: syntax/key-quote-after-colon
        if matches!(self.text.window(key.end + 1, 2), [b'"', b' ' | b'\n']) {
            self.contest(key.end);
        }
        // What follows may still be the rest of a key, so the end of the text is no evidence from here on.
        self.evidence.half_keys += 1;
        let end = key.end;
        self.read_colon(key, end)
    }

    /// Completes a quoted key: repairs its quotes and its text, then reads its colon. `after` is where the colon is looked
    /// for.
    fn finish_quoted_key(
        &mut self,
        quote: Quote,
        open: std::ops::Range<usize>,
        key: std::ops::Range<usize>,
        close: usize,
        after: usize,
    ) -> Step {
        if quote != Quote::Double || self.text.find_special(key.start, key.end) < key.end {
            self.repair_string(quote, open, key.clone(), close);
        }
        let plain = key.end + close;
        // `read_colon` repairs trivia before the colon; a doubled quote was removed already.
        let from = if self.text.closer_at(quote, plain) > 0 { after } else { plain };
        self.read_colon(key, from)
    }

    /// The colon inside `body..quote` that ends a key whose closing quote is missing.
    fn find_half_quoted_key_end(&self, body: usize, quote: usize, frame: &Frame) -> Option<usize> {
        let colon = body + memchr::memchr(b':', self.text.bytes(body..quote))?;
        let name = self.text.str(body..colon).trim_end_matches('\'');
        let plain = !name.is_empty() && self.text.word_end(body) == body + name.len();
        let known = self.guide.declares_key(frame.position, name);
        (known || (plain && self.guide.match_key(frame.position, name) == KeyFit::Unknown)).then_some(colon)
    }

    /// Whether a value can start here, for a key without a colon.
    pub(super) fn is_value_ahead(&self, at: usize) -> bool {
        match self.text.punctuation_at(at) {
            Some((Punctuation::OpenObject | Punctuation::OpenArray | Punctuation::Quote(_), _)) => true,
            Some(_) => false,
            None => self.is_scalar_ahead(at),
        }
    }

    /// Reads a key without quotes, or without its opening quote.
    // Case: syntax/bare-keys
    fn read_bare_key(&mut self, at: usize) -> Step {
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", at) };
        let mut end = self.text.word_end(at);
        let mut after = self.after_trivia(end);
        if end == at {
            return Step::Dead("a key", at);
        }
        if self.text.str(at..end).starts_with("..") {
            return Step::Dead("a key instead of an ellipsis", at);
        }
        if after >= self.text.len() {
            return Step::Cut;
        }
        let half = matches!(self.text.punctuation_at(after), Some((Punctuation::Quote(_), _)));
        if half && let Some((Punctuation::Quote(quote), len)) = self.text.punctuation_at(after) {
            let colon = self.after_trivia(after + len);
            if after == end && self.text.colon_at(colon).is_some() {
                // `key": …`: only the opening quote is missing.
                self.edit(at..at, "\"", RepairKind::MissingQuoteAdded);
                if let Some(kind) = quote.repair() {
                    self.edit(end..end + len, "\"", kind);
                }
                return self.read_colon(at..end, end + len);
            }
        }
        if self.text.colon_at(after).is_none() {
            // A declared key with spaces in it, or one without its colon.
            let line = memchr::memchr3(b':', b'\n', b'"', self.text.window(at, 64));
            let spaced = line.map(|offset| at + offset).filter(|&colon| self.text.byte_at(colon) == b':');
            match spaced.map(|colon| (colon, self.text.str(at..colon).trim_end())) {
                Some((_, name)) if self.guide.declares_key(frame.position, name) => {
                    end = at + name.len();
                    after = self.after_trivia(end);
                }
                _ => {}
            }
        }
        let name = self.text.str(at..end);
        let declared = self.guide.declares_key(frame.position, name);
        if self.text.colon_at(after).is_none() && !(declared && self.is_value_ahead(after)) {
            return Step::Dead("a colon after the key", after);
        }
        // A line of a log between members has neither a comma nor quotes.
        // Case: syntax/line-of-a-log-between-members
        let lacks_comma = self.edits.last().is_some_and(|edit| edit.kind == RepairKind::MissingCommaAdded);
        if lacks_comma && !declared && self.has_proper_keys() {
            let colon = self.text.colon_at(after).map_or(0, |(len, _)| len);
            let value = self.after_trivia(after + colon);
            if !self.is_value_ahead(value) {
                self.contest(at);
            }
        }
        self.edit(at..at, "\"", RepairKind::KeyQuoted);
        self.edit(end..end, "\"", RepairKind::KeyQuoted);
        self.read_colon(at..end, end)
    }

    /// Reads the colon of a key; it is expected from `after` on.
    // Case: syntax/arrow-and-equals
    fn read_colon(&mut self, key: std::ops::Range<usize>, after: usize) -> Step {
        self.note_key(key);
        self.state.pos = after;
        self.skip_trivia();
        let at = self.state.pos;
        if at >= self.text.len() {
            return Step::Cut;
        }
        let Some((len, plain)) = self.text.colon_at(at) else {
            // `"key""value"`: one of the quotes may be a mistyped colon.
            // Case: syntax/quote-for-colon
            if at == after && matches!(self.text.punctuation_at(at), Some((Punctuation::Quote(_), _))) {
                self.contest(at);
            }
            // Case: syntax/restart-after-a-key
            if self.is_restart_at(at) {
                self.contest(at);
            }
            self.edit(after..after, ":", RepairKind::MissingColonAdded);
            return Step::Go(Next::Value);
        };
        if !plain {
            let wide = self.text.byte_at(at) >= 0x80;
            let in_call = self.stack.last().is_some_and(|frame| frame.kind == FrameKind::Call);
            let kind = match (wide, in_call) {
                (true, _) => RepairKind::FullwidthPunctuationReplaced,
                (_, true) => RepairKind::CallSyntaxRead,
                _ => RepairKind::ColonReplaced,
            };
            // `end="…"` after members that are written as JSON is usually code.
            // Case: syntax/assignment-in-text
            let bare = self.edits.last().is_some_and(|edit| edit.kind == RepairKind::KeyQuoted);
            let assigns = kind == RepairKind::ColonReplaced && self.text.byte_at(at) == b'=';
            if bare && assigns && self.has_proper_keys() {
                self.contest(at);
            }
            self.edit(at..at + len, ":", kind);
        }
        self.state.pos = at + len;
        Step::Go(Next::Value)
    }
}

/// Whether the text contains punctuation that separates keys and values.
fn has_separators(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b',' | b':' | b';' | b'{' | b'}' | b'[' | b']'))
}
