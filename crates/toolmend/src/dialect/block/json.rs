//! Bodies of JSON: an object that says which tool is meant, or the arguments of a tool that is known.

use super::{Block, CallHead, MAX_TRIES, Progress, Reader};
use crate::dialect::envelope::{self, EnvelopeCall};
use crate::dialect::input::Step;
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::raw_call::{Ending, RawArguments, RawCall};
use crate::dialect::table::{Form, ID_AFTER_ARGUMENTS, NAME_IS_KEY, NAME_REPEATED, Recognition, recognised};
use crate::dialect::token;
use crate::json::strict;
use crate::verdict::Reason;

/// What stands after arguments.
enum AfterArguments {
    /// Markup, the end, or words that have nothing to do with the call.
    Nothing,
    /// Something else in front of the closer, which stands here.
    Junk(usize),
    /// Text that goes on where the arguments seem to end.
    Text,
    More,
}

impl Reader<'_, '_> {
    /// JSON whose object says which tool is meant.
    pub(super) fn read_envelope(&mut self, at: usize) -> Progress {
        let keyed = NAME_IS_KEY.contains_any(&self.frames.markers);
        let named = |name: &str| self.judge.has_tool(name);
        if self.input.stable_only {
            return self.read_stable_envelope(at, keyed);
        }
        match json_extent::measure(self.input.text, at) {
            Extent::Whole(end) => {
                let json = &self.input.text[at..end];
                match envelope::read(json, at, keyed, &named) {
                    // A name that no tool has, and nothing else, may be an argument of that name.
                    envelope::Reading::Calls(calls, _)
                        if matches!(calls.as_slice(), [only] if only.bare && !named(&only.name))
                            && self.judge.tool_with_keys(json).is_some() =>
                    {
                        return self.read_nameless(at, end);
                    }
                    envelope::Reading::Calls(calls, content) => {
                        let block = self.block_of_envelope(calls, end, false, Ending::Complete);
                        return Progress::Got(Block { content, ..block });
                    }
                    envelope::Reading::Declaration(name) => {
                        let why = "this declares a tool and does not call it";
                        return self.refuse(name, end, Reason::Syntax, why);
                    }
                    envelope::Reading::Ambiguous(name) => {
                        let why = "the call has two names that disagree";
                        return self.refuse(name, end, Reason::Ambiguous, why);
                    }
                    envelope::Reading::Other => {}
                }
                // What is strict says what it says: nothing else is read into it.
                if strict::check(json, strict::MAX_DEPTH).is_ok() {
                    return self.read_nameless(at, end);
                }
                if let Some(block) = self.read_broken_envelope(at, end, keyed, true) {
                    return Progress::Got(block);
                }
                self.read_up_to_closer(at, at, keyed)
            }
            Extent::Open if !self.input.done => Progress::More,
            // Everything up to the end makes sense, and no marker in it counts.
            Extent::Open => self.read_up_to_closer(at, self.input.text.len(), keyed),
            Extent::Broken(broken) => self.read_up_to_closer(at, broken, keyed),
        }
    }

    /// The arguments that an object has begun. One family writes the id of a call after them, and ids are told first.
    fn read_stable_envelope(&self, at: usize, keyed: bool) -> Progress {
        let late = ID_AFTER_ARGUMENTS.contains_any(&self.frames.markers);
        let head = envelope::read_head(self.input.rest(at), keyed).filter(|_| !late);
        match head.and_then(|head| Some((head.arguments? + at, head))) {
            // What a message says to the user stands before its list of calls.
            Some((from, _)) if self.input.text[at..from].contains('[') => Progress::More,
            Some((from, head)) => {
                let end = self.input.text.len();
                let head = CallHead { name: head.name, id: head.id, ..CallHead::default() };
                let call =
                    self.build_call(&head, RawArguments::Text(from..end), end, Ending::Cut, Form::Json);
                Progress::Got(Block::one(call))
            }
            None => Progress::More,
        }
    }

    /// What stands after a marker of calls and is none goes back; elsewhere it is text.
    fn refuse(&self, name: String, end: usize, reason: Reason, why: &'static str) -> Progress {
        if self.frames.markers.is_empty() || self.frames.markers.iter().any(|seen| seen == "<tools>") {
            return Progress::No;
        }
        let head = CallHead { name, ..CallHead::default() };
        let call =
            self.build_call(&head, RawArguments::Refused(reason, why), end, Ending::Complete, Form::Json);
        Progress::Got(Block::one(call))
    }

    /// Strict JSON without a name: the keys may tell the tool.
    pub(super) fn read_nameless(&self, at: usize, end: usize) -> Progress {
        match self.judge.tool_with_keys(&self.input.text[at..end]) {
            Some(name) => {
                let head = CallHead { name, damaged: true, ..CallHead::default() };
                Progress::Got(Block::one(self.call_of_arguments_alone(&head, at, end)))
            }
            None => Progress::No,
        }
    }

    fn call_of_arguments_alone(&self, head: &CallHead, at: usize, end: usize) -> RawCall {
        let call = self.build_call(head, RawArguments::Text(at..end), end, Ending::Complete, Form::Json);
        if self.frames.markers.is_empty() {
            RawCall { dialect: recognised(Recognition::ArgumentsAlone), ..call }
        } else {
            call
        }
    }

    /// `ending` is that of the last call: the ones before it are complete.
    pub(super) fn block_of_envelope(
        &self,
        calls: Vec<EnvelopeCall>,
        end: usize,
        damaged: bool,
        ending: Ending,
    ) -> Block {
        let last = calls.len().saturating_sub(1);
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| {
                let head = CallHead {
                    name: call.name,
                    id: call.id,
                    damaged: damaged || call.flat,
                    ..CallHead::default()
                };
                let ending = if index == last { ending } else { Ending::Complete };
                let raw = self.build_call(&head, call.arguments, end, ending, Form::Json);
                // Each of several has a place of its own; what is around them belongs to the first and the last.
                let start = if index == 0 { self.start } else { call.at.start };
                let end = if index == last { end } else { call.at.end };
                RawCall { at: start..end, ..raw }
            })
            .collect();
        Block { calls, end, ..Block::default() }
    }

    /// An object that is not strict, up to `end`: its head tells the tool, and the tool's schema reads the rest.
    ///
    /// Where neither a bracket nor a marker ends it, only the end of the output does: then it may have been cut off.
    pub(super) fn read_broken_envelope(
        &self,
        at: usize,
        end: usize,
        keyed: bool,
        ended: bool,
    ) -> Option<Block> {
        let json = &self.input.text[at..end];
        let ending = |or| if ended { Ending::Complete } else { or };
        if let Some((head, range)) = self.read_broken_head(at, end, keyed) {
            let text = &self.input.text[range.clone()];
            let object = text.starts_with(['{', '"', '[']) || self.judge.has_tool(&head.name);
            if object && self.judge.can_mend(&head.name, text) {
                let ending = ending(Ending::Unclosed);
                let call = self.build_call(&head, RawArguments::Text(range), end, ending, Form::Json);
                return Some(Block::one(call));
            }
        }
        let fixed = self.judge.read_as_json(json)?;
        let named = |name: &str| self.judge.has_tool(name);
        match envelope::read(&fixed, 0, keyed, &named) {
            // A name alone in a text that is broken may be half of anything.
            envelope::Reading::Calls(calls, _) if calls.iter().all(|call| !call.bare) => {
                let calls =
                    calls.into_iter().map(|call| envelope::lift_out_of_string(call, &fixed, &(at..end)));
                Some(self.block_of_envelope(calls.collect(), end, true, ending(Ending::Unclosed)))
            }
            envelope::Reading::Other if ended => {
                let head = CallHead {
                    name: self.judge.tool_with_keys(&fixed)?,
                    damaged: true,
                    ..CallHead::default()
                };
                let mends = self.judge.can_mend(&head.name, json);
                mends.then(|| Block::one(self.call_of_arguments_alone(&head, at, end)))
            }
            _ => None,
        }
    }

    pub(super) fn read_broken_head(
        &self,
        at: usize,
        end: usize,
        keyed: bool,
    ) -> Option<(CallHead, std::ops::Range<usize>)> {
        let json = &self.input.text[at..end];
        let found = envelope::read_head(json, keyed)?;
        let from = at + found.arguments?;
        let text = self.input.text[from..end].trim_end();
        let until = match json_extent::measure(text, 0) {
            // After anything else than the envelope, the brackets may be those of a text that goes on.
            Extent::Whole(length)
                if text.starts_with(['{', '['])
                    && (text.len() == length || text[length..].trim_start().starts_with(['}', ',', ']'])) =>
            {
                from + length
            }
            // The last brace belongs to the envelope.
            _ => match text
                .strip_suffix('}')
                .map(str::trim_end)
                .filter(|inner| inner.ends_with(['}', '"', '\'']))
            {
                Some(inner) => from + inner.len(),
                None => from + text.len(),
            },
        };
        let head = CallHead { name: found.name, id: found.id, damaged: true, ..CallHead::default() };
        Some((head, from..until))
    }

    /// Tries the closers after a broken object, nearest first.
    pub(super) fn read_up_to_closer(&mut self, at: usize, trusted: usize, keyed: bool) -> Progress {
        let length = self.input.text.len();
        match self.try_closers(at, trusted, |end| self.read_broken_envelope(at, end, keyed, end < length)) {
            Step::Got(Ok(block)) => Progress::Got(block),
            Step::More => Progress::More,
            Step::No => Progress::No,
            // Nothing can be mended, but the call is to be told of.
            Step::Got(Err(limit)) => match self.read_broken_head(at, limit, keyed) {
                Some((head, range)) => {
                    let end = limit;
                    let call =
                        self.build_call(&head, RawArguments::Text(range), end, Ending::Open, Form::Json);
                    Progress::Got(Block::one(call))
                }
                None => match envelope::read_head(&self.input.text[at..limit], keyed) {
                    Some(found) => {
                        let head = CallHead { name: found.name, id: found.id, ..CallHead::default() };
                        let end = limit;
                        let call = self.build_call(
                            &head,
                            RawArguments::Fields(Vec::new()),
                            end,
                            Ending::Cut,
                            Form::Json,
                        );
                        Progress::Got(Block::one(call))
                    }
                    None => Progress::No,
                },
            },
        }
    }

    /// The first end, at a marker or at the end of the output, that `attempt` can make sense of; else how far the call
    /// goes at most.
    ///
    /// Up to `trusted` the quotes make sense, so markers there stand in strings; after it a closer with another call or
    /// nothing after it is the end of this one. Where such a closer stands in what looks like a string, nobody knows which
    /// of the two it is, and the call takes everything with it.
    pub(super) fn try_closers<T>(
        &self,
        from: usize,
        trusted: usize,
        attempt: impl Fn(usize) -> Option<T>,
    ) -> Step<Result<T, usize>> {
        let mut at = from;
        let mut tries = 0;
        let mut doubt = false;
        // All markup before the end stands in strings: it is text, unless the model had finished and so lost a quote.
        if trusted >= self.input.text.len() && self.input.done && !self.stopped {
            let end = self.input.text.len();
            return Step::Got(attempt(end).ok_or(end));
        }
        let bytes = self.input.text.as_bytes();
        while let Some(offset) = memchr::memchr3(b'<', b'[', b'`', &bytes[at..]) {
            let mark = at + offset;
            at = mark + 1;
            let rest = self.input.rest(mark);
            let len = if self.frames.fence && rest.starts_with("```") {
                3
            } else {
                match token::read(rest, self.input.done, self.input.custom) {
                    Step::More => return Step::More,
                    Step::Got(markup) if markup.closes() => markup.len(),
                    Step::Got(markup) if markup.opens() => 0,
                    _ => continue,
                }
            };
            if doubt || tries >= MAX_TRIES {
                break;
            }
            if let Some(found) = attempt(mark) {
                return Step::Got(Ok(found));
            }
            tries += 1;
            if len == 0 {
                continue;
            }
            match self.is_hard_end(mark + len) {
                Step::Got(()) if mark < trusted => doubt = true,
                Step::Got(()) => return Step::Got(Err(mark)),
                Step::More => return Step::More,
                Step::No => {}
            }
        }
        if !self.input.done {
            return Step::More;
        }
        let end = self.input.text.len();
        Step::Got(if doubt { Err(end) } else { attempt(end).ok_or(end) })
    }

    /// Whether only markup or nothing stands after a closer.
    pub(super) fn is_hard_end(&self, after: usize) -> Step<()> {
        let next = self.skip_gap(after);
        if next >= self.input.text.len() {
            return if self.input.done { Step::Got(()) } else { Step::More };
        }
        match self.input.markup(next) {
            Step::Got(markup) if markup.closes() || markup.opens() => Step::Got(()),
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    /// The arguments of a call whose name is known, as JSON.
    pub(super) fn read_arguments(&mut self, at: usize, head: &CallHead) -> Progress {
        let found = |end: usize, ending: Ending| {
            let call = self.build_call(head, RawArguments::Text(at..end), end, ending, Form::Named);
            Progress::Got(Block::one(call))
        };
        if self.input.stable_only {
            return found(self.input.text.len(), Ending::Cut);
        }
        let mut trusted = at;
        match json_extent::measure(self.input.text, at) {
            Extent::Whole(end) => {
                let json = &self.input.text[at..end];
                let strict = strict::check(json, strict::MAX_DEPTH).is_ok();
                match self.classify_after(end) {
                    AfterArguments::More => return Progress::More,
                    // What stands before the closer belongs to the arguments, and is judged with them.
                    AfterArguments::Junk(closer) if strict => {
                        let end = at + self.input.text[at..closer].trim_end().len();
                        return found(end, Ending::Complete);
                    }
                    // Without strict quotes the brackets may be those of a text that goes on.
                    AfterArguments::Text | AfterArguments::Junk(_) if !strict => {}
                    AfterArguments::Nothing if !json.ends_with('}') => {}
                    _ if strict || self.judge.can_mend(&head.name, json) => {
                        return self
                            .unwrap_envelope(at, end, head)
                            .unwrap_or_else(|| found(end, Ending::Complete));
                    }
                    _ => {}
                }
            }
            Extent::Open if !self.input.done => return Progress::More,
            Extent::Open => trusted = self.input.text.len(),
            Extent::Broken(broken) => trusted = broken,
        }
        let text = |end: usize| self.input.text[at..end].trim_end();
        match self.try_closers(at, trusted, |end| {
            self.judge.can_mend(&head.name, text(end)).then_some(at + text(end).len())
        }) {
            // Without a marker after it, only the end of the output ends it: it may have been cut off.
            Step::Got(Ok(end)) if !self.input.rest(end).trim_start().is_empty() => {
                found(end, Ending::Complete)
            }
            Step::Got(Ok(end) | Err(end)) => found(end, Ending::Open),
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    /// What stands after arguments whose brackets are closed.
    fn classify_after(&self, end: usize) -> AfterArguments {
        const REACH: usize = 2048;
        let next = self.skip_gap(end);
        let rest = self.input.rest(next);
        if rest.is_empty() {
            return if self.input.done { AfterArguments::Nothing } else { AfterArguments::More };
        }
        let fence = |rest: &str| self.frames.fence && rest.starts_with("```");
        match self.input.markup(next) {
            Step::More => return AfterArguments::More,
            Step::Got(_) => return AfterArguments::Nothing,
            Step::No if rest.starts_with(',') || fence(rest) => return AfterArguments::Nothing,
            Step::No => {}
        }
        let closed =
            self.frames.fence || self.frames.markers.iter().any(|seen| self.input.custom.is_closed(seen));
        let mut at = next;
        while closed && at < next + REACH {
            let Some(offset) = self.input.rest(at).find(['<', '[', '`']) else {
                let more = !self.input.done && rest.len() < REACH;
                return if more { AfterArguments::More } else { AfterArguments::Text };
            };
            at += offset;
            if at >= next + REACH {
                return AfterArguments::Text;
            }
            if fence(self.input.rest(at)) {
                return AfterArguments::Junk(at);
            }
            match self.input.markup(at) {
                Step::More => return AfterArguments::More,
                Step::Got(markup) if markup.closes() => return AfterArguments::Junk(at),
                Step::Got(markup) if markup.opens() => break,
                _ => at += 1,
            }
        }
        // Words on a line of their own, or after a blank, follow a call.
        let apart = next > end;
        if apart { AfterArguments::Nothing } else { AfterArguments::Text }
    }

    /// An envelope where only the arguments were expected, as one family writes it.
    pub(super) fn unwrap_envelope(&self, at: usize, end: usize, head: &CallHead) -> Option<Progress> {
        if self.name.is_none() && !NAME_REPEATED.contains_any(&self.frames.markers) {
            return None;
        }
        let named = |name: &str| name == head.name || self.judge.has_tool(name);
        match envelope::read(&self.input.text[at..end], at, false, &named) {
            envelope::Reading::Calls(calls, _)
                if calls.len() == 1 && !calls[0].flat && !calls[0].bare && named(&calls[0].name) =>
            {
                Some(Progress::Got(self.block_of_envelope(calls, end, false, Ending::Complete)))
            }
            _ => None,
        }
    }

    /// Arguments that are announced and are no object.
    pub(super) fn read_plain_arguments(&mut self, at: usize, head: &CallHead) -> Progress {
        match self.try_closers(at, at, Some) {
            Step::Got(Ok(end) | Err(end)) => {
                let range = at..at + self.input.text[at..end].trim_end().len();
                let ending = if end < self.input.text.len() { Ending::Complete } else { Ending::Open };
                let call = self.build_call(head, RawArguments::Text(range), end, ending, Form::Named);
                Progress::Got(Block::one(call))
            }
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    /// A call in a JSON string.
    pub(super) fn read_encoded(&mut self, at: usize) -> Progress {
        let rest = self.input.rest(at);
        let Ok(end) = strict::check_string(rest.as_bytes(), 0) else {
            return if self.input.done { Progress::No } else { Progress::More };
        };
        let Some(inner) = envelope::decode_string(&rest[..end]) else { return Progress::No };
        let named = |name: &str| self.judge.has_tool(name);
        match envelope::read(&inner, 0, false, &named) {
            envelope::Reading::Calls(calls, _) => {
                let place = at..at + end;
                let calls = calls.into_iter().map(|call| envelope::lift_out_of_string(call, &inner, &place));
                Progress::Got(self.block_of_envelope(calls.collect(), at + end, true, Ending::Complete))
            }
            _ => Progress::No,
        }
    }
}
