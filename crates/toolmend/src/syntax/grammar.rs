//! The rules between values: brackets, commas, colons and keys, with what may be missing or too much.

use super::lookahead::Ends;
use super::reader::{Frame, FrameKind, Next, Reader, Step};
use super::token::{self, Mark, Quote};
use crate::repair::RepairKind;
use crate::schema::guide::KeyFit;
use crate::syntax::Finish;

/// Keys longer than this are not looked for: what looks like one is text.
const MAX_KEY: usize = 512;

/// What is expected where brackets are nested too deep.
pub(super) const TOO_DEEP: &str = "fewer nested brackets";

impl Reader<'_> {
    /// A value is expected.
    pub(super) fn value(&mut self) -> Step {
        self.skip();
        let at = self.pos;
        if at >= self.bytes.len() {
            return Step::Cut;
        }
        if let Some(step) = self.key_in_array(at) {
            return step;
        }
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        match token::mark(self.bytes, at) {
            Some((Mark::OpenObject, len)) => self.open(FrameKind::Object, at, len),
            Some((Mark::OpenArray, len)) => self.open(FrameKind::Array, at, len),
            Some((Mark::OpenParen, len)) if !self.stack.is_empty() => self.open(FrameKind::Tuple, at, len),
            Some((Mark::Quote(quote), len)) => self.string(quote, at, len),
            Some((mark @ (Mark::CloseObject | Mark::CloseArray | Mark::CloseParen), len)) if in_array => {
                self.close(mark, len, at)
            }
            Some((Mark::Comma, len)) if in_array => {
                self.edit(at..at + len, "", RepairKind::ExtraCommaRemoved);
                self.pos = at + len;
                Step::Go(Next::Value)
            }
            Some((
                Mark::CloseObject | Mark::CloseArray | Mark::CloseParen | Mark::Comma | Mark::Colon,
                _,
            )) => Step::Dead("a value", at),
            _ => self.bare_value(at),
        }
    }

    fn open(&mut self, kind: FrameKind, at: usize, len: usize) -> Step {
        if self.stack.len() >= self.depth_limit {
            return Step::Dead(TOO_DEEP, at);
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
        self.pos = at + len;
        self.push(kind, at + len);
        Step::Go(if kind.is_object() { Next::Key } else { Next::Value })
    }

    /// `[1, 2, "next": …`: the array was not closed before the next member of the object around it.
    fn key_in_array(&mut self, at: usize) -> Option<Step> {
        let depth = self.stack.len();
        let (array, object) = (self.stack.last()?, self.stack.get(depth.checked_sub(2)?)?);
        if array.kind != FrameKind::Array || !object.kind.is_object() || array.count == 0 {
            return None;
        }
        let object = *object;
        let end = array.last_end;
        let key = self.key_ahead(at, &object)?;
        if !key.quoted || key.ends < Ends::Fair {
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

    /// A value has ended.
    pub(super) fn after(&mut self) -> Step {
        let end = self.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Done(end) };
        self.skip();
        let at = self.pos;
        match token::mark(self.bytes, at) {
            _ if at >= self.bytes.len() => self.ends_open(end),
            Some((Mark::Comma, len)) => self.comma(at, len),
            Some((mark @ (Mark::CloseObject | Mark::CloseArray | Mark::CloseParen), len)) => {
                self.close(mark, len, end)
            }
            Some((Mark::Colon | Mark::OpenParen, _)) => Step::Dead("a comma or a closing bracket", at),
            _ if frame.kind.is_object() => {
                // A member may follow without its comma.
                match self.key_ahead(at, &frame) {
                    Some(_) => {
                        self.comma_missing(end);
                        Step::Go(Next::Key)
                    }
                    None => Step::Dead("a comma or a closing bracket", at),
                }
            }
            Some((mark, _)) => {
                // `"a""b"` is one text or two.
                if at == end && matches!(mark, Mark::Quote(_)) && self.string_before(end).is_some() {
                    self.contest(at);
                }
                self.comma_missing(end);
                Step::Go(Next::Value)
            }
            None if self.scalar_ahead(at) => {
                self.edit(end..end, ",", RepairKind::MissingCommaAdded);
                Step::Go(Next::Value)
            }
            None => Step::Dead("a comma or a closing bracket", at),
        }
    }

    /// A comma is missing behind the value that ends at `end`.
    fn comma_missing(&mut self, end: usize) {
        // `"text," "key"`: the comma may have slipped into the text, or is written as a point behind a number.
        self.contest_comma(end);
        self.edit(end..end, ",", RepairKind::MissingCommaAdded);
    }

    /// A number or literal, in any spelling.
    fn scalar_ahead(&self, at: usize) -> bool {
        let word = &self.text[at..token::word_end(self.bytes, at)];
        super::number::is_scalar(word)
    }

    /// A comma: one separates, more are too many, and before a closer it is one too many.
    fn comma(&mut self, at: usize, len: usize) -> Step {
        let first = self.edits.len();
        self.pos = at + len;
        if len > 1 {
            self.edit(at..at + len, ",", RepairKind::FullwidthPunctuationReplaced);
        }
        loop {
            self.skip();
            match token::mark(self.bytes, self.pos) {
                Some((Mark::Comma, more)) => {
                    self.edit(self.pos..self.pos + more, "", RepairKind::ExtraCommaRemoved);
                    self.pos += more;
                }
                Some((mark @ (Mark::CloseObject | Mark::CloseArray | Mark::CloseParen), close)) => {
                    if len > 1 {
                        self.edits.remove(first);
                    }
                    self.edit(at..at + len, "", RepairKind::TrailingCommaRemoved);
                    return self.close(mark, close, at);
                }
                _ if self.pos >= self.bytes.len() => return Step::Cut,
                _ => break,
            }
        }
        Step::Go(if self.stack.last().is_some_and(|frame| frame.kind.is_object()) {
            Next::Key
        } else {
            Next::Value
        })
    }

    /// A closing bracket at `self.pos`; `end` is where the last value ended, before any comma.
    fn close(&mut self, mark: Mark, len: usize, end: usize) -> Step {
        let at = self.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Done(end) };
        if frame.kind.closer() == mark {
            match frame.kind {
                FrameKind::Call => self.edit(at..at + len, "}", RepairKind::CallSyntaxRead),
                FrameKind::Tuple => self.edit(at..at + len, "]", RepairKind::CallSyntaxRead),
                _ if len > 1 => {
                    self.edit(at..at + len, token::ascii(mark), RepairKind::FullwidthPunctuationReplaced);
                }
                _ => {}
            }
            return self.pop(at + len);
        }
        if mark == Mark::CloseParen {
            return Step::Dead("a comma or a closing bracket", at);
        }
        // The closer is of the wrong kind. Either closers are missing before it, or it stands for the right
        // one, or it is one too many: what follows decides, and the first wins a draw.
        let depth = self.stack.len();
        let outer = self.stack.iter().rposition(|frame| frame.kind.closer() == mark);
        let close_outer = outer.map_or(Ends::No, |outer| self.ends_from(at + len, outer, false));
        let close_this = self.ends_from(at + len, depth - 1, false);
        let drop = if frame.count > 0 { self.ends_from(at + len, depth, false) } else { Ends::No };
        if let Some(outer) =
            outer.filter(|_| close_outer >= close_this && close_outer >= drop && close_outer > Ends::No)
        {
            let mut step = Step::Go(Next::After);
            while self.stack.len() > outer + 1 {
                let closer =
                    if self.stack.last().is_some_and(|frame| frame.kind.is_object()) { "}" } else { "]" };
                self.contest_closer(end, closer);
                self.contest_doubled_opener();
                // What was opened for nothing, and without a comma, may be a closer itself.
                let comma_missing =
                    self.edits.last().is_some_and(|edit| edit.kind == RepairKind::MissingCommaAdded);
                if comma_missing && self.stack.last().is_some_and(|frame| frame.count == 0) {
                    self.contest(end);
                }
                self.edit(end..end, closer, RepairKind::MissingCloserAdded);
                step = self.pop(end);
            }
            debug_assert!(step == Step::Go(Next::After));
            self.pos = at;
            return self.close(mark, len, end);
        }
        if close_this >= drop && close_this > Ends::No {
            // The last byte of a text that was cut off may be anything, also text of the string before it.
            if self.finish == Finish::Length && self.text[at + len..].trim_end().is_empty() {
                return Step::Cut;
            }
            let closer = if frame.kind.is_object() { "}" } else { "]" };
            self.edit(at..at + len, closer, RepairKind::CloserReplaced);
            return self.pop(at + len);
        }
        if drop > Ends::No {
            self.contest_lost_opener(&frame, mark);
            self.edit(at..at + len, "", RepairKind::ExtraCloserRemoved);
            self.pos = at + len;
            return Step::Go(Next::After);
        }
        Step::Dead("another closing bracket", at)
    }

    /// The text ends after a complete value, with brackets open.
    fn ends_open(&mut self, end: usize) -> Step {
        // A comment that runs to the end may have swallowed closers.
        if self.text[end..].contains(['}', ']', '"']) {
            return Step::Dead("the end of the value", end);
        }
        let complete =
            self.finish != Finish::Length && self.stack.iter().all(|frame| self.missing(frame) == 0);
        // A quote at the very end may be text of a string that was cut off: believed only where nothing else in
        // the document or in the string says that quotes are not escaped here.
        let doubtful = self.half_keys > 0
            || self.string_before(end).is_some_and(|body| self.raw_quotes > 0 || self.is_unbalanced(body));
        if !complete || doubtful {
            return Step::Cut;
        }
        if self.homeless > 0 {
            return Step::Dead("the end of the inner object", end);
        }
        loop {
            let Some(frame) = self.stack.last() else { return Step::Done(self.bytes.len()) };
            let (closer, kind) = match frame.kind {
                FrameKind::Implicit => ("}", RepairKind::MissingOpenerAdded),
                FrameKind::Call => return Step::Cut,
                kind if kind.is_object() => ("}", RepairKind::MissingCloserAdded),
                _ => ("]", RepairKind::MissingCloserAdded),
            };
            self.contest_closer(end, closer);
            self.edit(end..end, closer, kind);
            if let Step::Done(_) = self.pop(end) {
                return Step::Done(self.bytes.len());
            }
        }
    }

    /// A key, or the end of the object.
    pub(super) fn key(&mut self) -> Step {
        self.skip();
        let at = self.pos;
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", at) };
        match token::mark(self.bytes, at) {
            _ if at >= self.bytes.len() => {
                if frame.kind == FrameKind::Implicit && frame.count > 0 {
                    self.ends_open(frame.last_end)
                } else {
                    Step::Cut
                }
            }
            Some((mark @ (Mark::CloseObject | Mark::CloseArray | Mark::CloseParen), len)) => {
                self.close(mark, len, at)
            }
            Some((Mark::Comma, len)) => {
                self.edit(at..at + len, "", RepairKind::ExtraCommaRemoved);
                self.pos = at + len;
                Step::Go(Next::Key)
            }
            Some((Mark::OpenObject, len))
                if frame.count == 0 && frame.last_end == at && self.stack.len() == 1 =>
            {
                self.edit(at..at + len, "", RepairKind::ExtraOpenerRemoved);
                self.pos = at + len;
                if let Some(frame) = self.stack.last_mut() {
                    frame.last_end = at + len;
                }
                Step::Go(Next::Key)
            }
            Some((Mark::Quote(quote), len)) => match self.key_of_outer(at, &frame) {
                Some(step) => step,
                None => self.quoted_key(quote, at, len),
            },
            Some(_) => Step::Dead("a key", at),
            None => self.key_of_outer(at, &frame).unwrap_or_else(|| self.bare_key(at)),
        }
    }

    /// `{"a": {"b": 1, "c": …`: a key that this object does not declare, and the object around it does. The
    /// inner object was not closed before it.
    fn key_of_outer(&mut self, at: usize, frame: &Frame) -> Option<Step> {
        let outer = *self.stack.get(self.stack.len().checked_sub(2)?)?;
        let nested = frame.kind == FrameKind::Object && outer.kind.is_object() && frame.count > 0;
        if !nested || self.key_ahead(at, &outer)?.ends != Ends::Strong {
            return None;
        }
        if !self.guide.declares(frame.place) {
            // Nothing says where it belongs; it matters only if the inner object turns out not to be closed.
            self.homeless += 1;
            return None;
        }
        if self.key_ahead(at, frame)?.ends != Ends::Weak || self.missing(frame) > 0 {
            return None;
        }
        let end = frame.last_end;
        self.contest_closer(end, "}");
        self.edit(end..end, "}", RepairKind::MissingCloserAdded);
        self.pop(end);
        self.pos = at;
        Some(Step::Go(Next::Key))
    }

    /// A key in quotes: it ends at the first quote that a colon follows.
    fn quoted_key(&mut self, quote: Quote, open: usize, len: usize) -> Step {
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", open) };
        let mut body = open + len;
        let doubled = quote.closes_at(self.bytes, body);
        if doubled > 0 && self.bytes.get(body + doubled).is_some_and(|&byte| token::is_word(byte)) {
            self.edit(body..body + doubled, "", RepairKind::DoubledQuoteRemoved);
            body += doubled;
        }
        let limit = self.bytes.len().min(body + MAX_KEY);
        let mut at = body;
        while at < limit {
            let close = quote.closes_at(self.bytes, at);
            if close == 0 {
                at += if self.bytes[at] == b'\\' { 2 } else { 1 };
                continue;
            }
            if !self.burn(at - body + 16) {
                return Step::Dead("a key and its colon", open);
            }
            let mut behind = self.look(at + close);
            let again = quote.closes_at(self.bytes, behind);
            if again > 0
                && behind == at + close
                && token::colon(self.bytes, self.look_free(behind + again)).is_some()
            {
                self.edit(behind..behind + again, "", RepairKind::DoubledQuoteRemoved);
                behind = self.look(behind + again);
            }
            let key = body..at;
            // A quote is text in a key only where nothing else there looks like what stands between keys.
            if at > body
                && self.bytes[body..at].contains(&b'"')
                && quote == Quote::Double
                && holds_marks(&self.bytes[body..at])
            {
                return Step::Dead("a key and its colon", open);
            }
            let fit = self.guide.key(frame.place, &self.text[key.clone()]);
            if token::colon(self.bytes, behind).is_some() {
                return self.key_ends(quote, open..open + len, key, close, behind);
            }
            // `"key: "value"` or `"key:10,`: the closing quote of the key is missing.
            if let Some(colon) = self.half_key(body, at, &frame) {
                return self.half_key_ends(quote, open..open + len, body..colon);
            }
            if behind >= self.bytes.len() {
                return Step::Cut;
            }
            let declared = matches!(fit, KeyFit::Declared(_));
            if (declared || fit == KeyFit::Unknown) && self.value_ahead(behind) {
                return self.key_ends(quote, open..open + len, key, close, at + close);
            }
            at += close;
        }
        // No quote ends it: `"key: 5}` may have lost its own.
        let end = token::word_end(self.bytes, body);
        let declared = self.guide.declares_key(frame.place, &self.text[body..end]);
        let plain = end > body && self.guide.key(frame.place, &self.text[body..end]) == KeyFit::Unknown;
        if (declared || plain) && self.bytes.get(end) == Some(&b':') && end + 1 < self.bytes.len() {
            return self.half_key_ends(quote, open..open + len, body..end);
        }
        if at >= self.bytes.len() { Step::Cut } else { Step::Dead("a key and its colon", open) }
    }

    /// A key without its closing quote ends before its colon.
    fn half_key_ends(
        &mut self,
        quote: Quote,
        open: std::ops::Range<usize>,
        key: std::ops::Range<usize>,
    ) -> Step {
        if let Some(kind) = quote.repair() {
            self.edit(open, "\"", kind);
        }
        let mut key = key;
        if self.text[key.clone()].ends_with('\'') {
            // `"key':` has a closing quote, of the wrong kind.
            self.edit(key.end - 1..key.end, "\"", RepairKind::QuotesReplaced);
            key.end -= 1;
            let end = key.end + 1;
            return self.colon(key, end);
        }
        self.edit(key.end..key.end, "\"", RepairKind::MissingQuoteAdded);
        // `"key:" value`: the quote behind the colon may be the key's own.
        if matches!(self.bytes.get(key.end + 1..key.end + 3), Some([b'"', b' ' | b'\n'])) {
            self.contest(key.end);
        }
        // From here on the text may be the rest of a key: its end must be there to be believed.
        self.half_keys += 1;
        let end = key.end;
        self.colon(key, end)
    }

    /// A quoted key is complete: repair its quotes and its text, then its colon.
    /// `behind` is where the colon is looked for.
    fn key_ends(
        &mut self,
        quote: Quote,
        open: std::ops::Range<usize>,
        key: std::ops::Range<usize>,
        close: usize,
        behind: usize,
    ) -> Step {
        if quote != Quote::Double
            || toolmend_json::scan::find_special(&self.bytes[..key.end], key.start) < key.end
        {
            self.emit_string(quote, open, key.clone(), close);
        }
        let plain = key.end + close;
        // Trivia before the colon is repaired on the way to it; a doubled quote is gone already.
        let from = if quote.closes_at(self.bytes, plain) > 0 { behind } else { plain };
        self.colon(key, from)
    }

    /// The colon inside `body..quote` that ends a key whose closing quote is missing.
    fn half_key(&self, body: usize, quote: usize, frame: &Frame) -> Option<usize> {
        let colon = body + memchr::memchr(b':', self.bytes.get(body..quote)?)?;
        let name = self.text[body..colon].trim_end_matches('\'');
        let plain = !name.is_empty() && token::word_end(self.bytes, body) == body + name.len();
        let known = self.guide.declares_key(frame.place, name);
        (known || (plain && self.guide.key(frame.place, name) == KeyFit::Unknown)).then_some(colon)
    }

    /// Whether a value can start here, for a key without a colon.
    pub(super) fn value_ahead(&self, at: usize) -> bool {
        match token::mark(self.bytes, at) {
            Some((Mark::OpenObject | Mark::OpenArray | Mark::Quote(_), _)) => true,
            Some(_) => false,
            None => self.scalar_ahead(at),
        }
    }

    fn bare_key(&mut self, at: usize) -> Step {
        let Some(frame) = self.stack.last().copied() else { return Step::Dead("an object", at) };
        let mut end = token::word_end(self.bytes, at);
        let mut behind = self.look(end);
        if end == at {
            return Step::Dead("a key", at);
        }
        if self.text[at..end].starts_with("..") {
            return Step::Dead("a key instead of an ellipsis", at);
        }
        if behind >= self.bytes.len() {
            return Step::Cut;
        }
        let half = matches!(token::mark(self.bytes, behind), Some((Mark::Quote(_), _)));
        if half && let Some((Mark::Quote(quote), len)) = token::mark(self.bytes, behind) {
            let after = self.look(behind + len);
            if behind == end && token::colon(self.bytes, after).is_some() {
                // `key": …`: only the opening quote is missing.
                self.edit(at..at, "\"", RepairKind::MissingQuoteAdded);
                if let Some(kind) = quote.repair() {
                    self.edit(end..end + len, "\"", kind);
                }
                return self.colon(at..end, end + len);
            }
        }
        if token::colon(self.bytes, behind).is_none() {
            // A declared key with spaces in it, or one without its colon.
            let line = memchr::memchr3(b':', b'\n', b'"', &self.bytes[at..self.bytes.len().min(at + 64)]);
            let spaced = line.map(|offset| at + offset).filter(|&colon| self.bytes[colon] == b':');
            match spaced.map(|colon| (colon, self.text[at..colon].trim_end())) {
                Some((_, name)) if self.guide.declares_key(frame.place, name) => {
                    end = at + name.len();
                    behind = self.look(end);
                }
                _ => {}
            }
        }
        let name = &self.text[at..end];
        let declared = self.guide.declares_key(frame.place, name);
        if token::colon(self.bytes, behind).is_none() && !(declared && self.value_ahead(behind)) {
            return Step::Dead("a colon after the key", behind);
        }
        self.edit(at..at, "\"", RepairKind::KeyQuoted);
        self.edit(end..end, "\"", RepairKind::KeyQuoted);
        self.colon(at..end, end)
    }

    /// The key is read; its colon is expected from `behind` on.
    fn colon(&mut self, key: std::ops::Range<usize>, behind: usize) -> Step {
        self.key_read(key);
        self.pos = behind;
        self.skip();
        let at = self.pos;
        if at >= self.bytes.len() {
            return Step::Cut;
        }
        let Some((len, plain)) = token::colon(self.bytes, at) else {
            // `"key""value"`: one of the quotes may be the colon.
            if at == behind && matches!(token::mark(self.bytes, at), Some((Mark::Quote(_), _))) {
                self.contest(at);
            }
            self.edit(behind..behind, ":", RepairKind::MissingColonAdded);
            return Step::Go(Next::Value);
        };
        if !plain {
            let wide = self.bytes[at] >= 0x80;
            let in_call = self.stack.last().is_some_and(|frame| frame.kind == FrameKind::Call);
            let kind = match (wide, in_call) {
                (true, _) => RepairKind::FullwidthPunctuationReplaced,
                (_, true) => RepairKind::CallSyntaxRead,
                _ => RepairKind::ColonReplaced,
            };
            // `end="…"` behind members that are written as JSON is code, most of the time.
            let bare = self.edits.last().is_some_and(|edit| edit.kind == RepairKind::KeyQuoted);
            let assigns = kind == RepairKind::ColonReplaced && self.bytes[at] == b'=';
            if bare && assigns && self.has_proper_keys() {
                self.contest(at);
            }
            self.edit(at..at + len, ":", kind);
        }
        self.pos = at + len;
        Step::Go(Next::Value)
    }

    /// [`Reader::look`] without paying, for a place that was just paid for.
    fn look_free(&self, at: usize) -> usize {
        let mut end = at;
        while let Some((next, _)) = token::trivia(self.bytes, end, self.comments_end) {
            end = next;
        }
        end
    }
}

/// Whether a text has something in it that stands between keys and values.
fn holds_marks(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b',' | b':' | b';' | b'{' | b'}' | b'[' | b']'))
}
