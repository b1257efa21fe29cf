//! JSON bodies: an object that names its tool, or the arguments of a known tool.
//!
//! This module decides where such a body ends when its quotes or brackets are broken. It asks the judge whether a text
//! can be mended, and never mends it.

use super::{Block, CallHead, Frames, MAX_TRIES, Progress, Reader};
use crate::dialect::beside_arguments::{self, After};
use crate::dialect::custom::ShapedCall;
use crate::dialect::envelope::{self, EnvelopeCall, KnownTools};
use crate::dialect::input::Step;
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::raw_call::{Ending, RawArguments, RawCall};
use crate::dialect::table::{Form, ID_AFTER_ARGUMENTS, NAME_IS_KEY, NAME_REPEATED, Recognition, recognised};
use crate::dialect::token;
use crate::json::strict;
use crate::verdict::Reason;

/// What a look at a marker costs, in bytes that could be looked at meanwhile.
const LOOK: usize = 32;
/// The same if there is none.
const GLANCE: usize = 6;

/// What follows arguments.
enum AfterArguments {
    /// Markup, the end, or words that have nothing to do with the call.
    Nothing,
    /// Other text, before a closing marker at this position.
    Junk(usize),
    /// Text directly after the arguments, which may have ended elsewhere.
    Text,
    More,
}

/// An envelope that is not strict.
pub(super) struct BrokenEnvelope {
    head: CallHead,
    arguments: RawArguments,
    /// Where the envelope ends, if another call follows it.
    next: Option<usize>,
}

impl Reader<'_, '_> {
    /// Reads JSON that names its tool.
    pub(super) fn read_envelope(&mut self, at: usize) -> Progress {
        let keyed = NAME_IS_KEY.contains_any(&self.frames.markers);
        let named = |name: &str| self.judge.has_tool(name);
        let declares = |tool: &str, key: &str| self.judge.declares_key(tool, key);
        if self.input.stable_only {
            return self.read_stable_envelope(at, keyed);
        }
        match json_extent::measure(self.input.text, at) {
            Extent::Whole(end) => {
                match self.goes_on(end) {
                    Step::Got(()) => return self.read_up_to_closer(at, end, keyed),
                    Step::More => return Progress::More,
                    Step::No => {}
                }
                let json = &self.input.text[at..end];
                if let Some(block) = self.read_shaped(at, end) {
                    return Progress::Got(block);
                }
                match envelope::read(json, at, keyed, KnownTools { named: &named, declares: &declares }) {
                    // A name that no tool has, and nothing else, may be an argument called `name`.
                    envelope::Reading::Calls(calls, _)
                        if matches!(calls.as_slice(), [only] if only.bare && !named(&only.name))
                            && self.judge.tool_with_keys(json).is_some() =>
                    {
                        return self.read_nameless(at, end);
                    }
                    // Without a marker it must be a call and nothing else.
                    envelope::Reading::Calls(calls, _)
                        if self.frames.markers.is_empty() && calls.iter().any(|call| call.foreign) =>
                    {
                        return Progress::No;
                    }
                    envelope::Reading::Calls(calls, content) => {
                        if let [call] = &calls[..]
                            && let Some(found) = self.read_code_element(call, end)
                        {
                            return found;
                        }
                        let block = self.block_of_envelope(calls, end, false, Ending::Complete);
                        return Progress::Got(Block { content, ..block });
                    }
                    envelope::Reading::Declaration(name) => {
                        let why = "expected a call, found the declaration of a tool";
                        return self.refuse(name, end, Reason::Syntax, why);
                    }
                    envelope::Reading::Ambiguous(name) => {
                        let why = "the call has two different names, or two different sets of arguments";
                        return self.refuse(name, end, Reason::Ambiguous, why);
                    }
                    envelope::Reading::Other => {}
                }
                // Strict JSON means what it says, so no name is searched in it.
                if strict::check(json, strict::MAX_DEPTH).is_ok() {
                    return self.read_nameless(at, end);
                }
                if let Some(block) = self.read_broken_envelope(at, end, keyed, true) {
                    return Progress::Got(block);
                }
                self.read_up_to_closer(at, at, keyed)
            }
            Extent::Open if !self.input.done => Progress::More,
            // The quotes make sense up to the end, so no marker counts.
            Extent::Open => self.read_up_to_closer(at, self.input.text.len(), keyed),
            Extent::Broken(broken) => self.read_up_to_closer(at, broken, keyed),
        }
    }

    /// Whether an object that ends here goes on after all. Without a frame around it, it is not a call then.
    fn goes_on(&self, end: usize) -> Step<()> {
        let Frames { markers, brackets, fence, .. } = &self.frames;
        if markers.is_empty() && *brackets == 0 && !fence {
            return Step::No;
        }
        beside_arguments::goes_on(self.input.rest(end), self.input.done)
    }

    /// Reads an object whose keys are those of a custom row.
    fn read_shaped(&self, at: usize, end: usize) -> Option<Block> {
        let shape = self.input.custom.json_shape(&self.frames.markers)?;
        let json = &self.input.text[at..end];
        if let Some(found) = shape.find(json) {
            let place = at + found.arguments.start..at + found.arguments.end;
            return Some(self.block_of_shaped(found, RawArguments::Text(place), end, false));
        }
        let fixed = self.judge.read_as_json(json)?;
        let found = shape.find(&fixed)?;
        let arguments = RawArguments::Decoded(fixed[found.arguments.clone()].to_owned(), at..end);
        Some(self.block_of_shaped(found, arguments, end, true))
    }

    fn block_of_shaped(
        &self,
        found: ShapedCall,
        arguments: RawArguments,
        end: usize,
        damaged: bool,
    ) -> Block {
        let head = CallHead { name: found.name, id: found.id, damaged, ..CallHead::default() };
        Block::one(self.build_call(&head, arguments, end, Ending::Complete, Form::Json))
    }

    /// The arguments of an object that has not ended. They are not sent early if the id comes after them, because ids
    /// are sent first.
    fn read_stable_envelope(&self, at: usize, keyed: bool) -> Progress {
        let late = ID_AFTER_ARGUMENTS.contains_any(&self.frames.markers);
        let head = envelope::read_head(self.input.rest(at), keyed).filter(|_| !late);
        match head.and_then(|head| Some((head.arguments? + at, head))) {
            // The content of a message comes before its list of calls.
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

    /// Refuses what follows a marker of calls and is not a call. Without a marker it is text.
    // Case: dialects/hostile/declaration-in-tag
    fn refuse(&self, name: String, end: usize, reason: Reason, why: &'static str) -> Progress {
        if self.frames.markers.is_empty() || self.frames.markers.iter().any(|seen| seen == "<tools>") {
            return Progress::No;
        }
        let head = CallHead { name, ..CallHead::default() };
        let call =
            self.build_call(&head, RawArguments::Refused(reason, why), end, Ending::Complete, Form::Json);
        Progress::Got(Block::one(call))
    }

    /// Reads strict JSON without a name. Its keys may show which tool is meant.
    // Case: dialects/args_only/several-tools
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

    /// `ending` belongs to the last call; the ones before it are complete.
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
                // Each call has its own position. What is around them belongs to the first and the last.
                let start = if index == 0 { self.start } else { call.at.start };
                let end = if index == last { end } else { call.at.end };
                RawCall { at: start..end, ..raw }
            })
            .collect();
        Block { calls, end, ..Block::default() }
    }

    /// Reads an object that is not strict, up to `end`. Its head names the tool, and the tool's schema guides the rest.
    ///
    /// If only the end of the output ends the object, it may be truncated.
    pub(super) fn read_broken_envelope(
        &self,
        at: usize,
        end: usize,
        keyed: bool,
        ended: bool,
    ) -> Option<Block> {
        let json = &self.input.text[at..end];
        let ending = |or| if ended { Ending::Complete } else { or };
        if let Some(BrokenEnvelope { head, arguments: RawArguments::Text(range), next }) =
            self.read_broken_head(at, end, keyed)
        {
            let text = &self.input.text[range.clone()];
            let object = text.starts_with(['{', '"', '[']) || self.judge.has_tool(&head.name);
            if object && self.judge.can_mend(&head.name, text) {
                let ending = if next.is_some() { Ending::Complete } else { ending(Ending::Unclosed) };
                let end = next.unwrap_or(end);
                let call = self.build_call(&head, RawArguments::Text(range), end, ending, Form::Json);
                return Some(Block::one(call));
            }
        }
        let fixed = self.judge.read_as_json(json)?;
        let named = |name: &str| self.judge.has_tool(name);
        let declares = |tool: &str, key: &str| self.judge.declares_key(tool, key);
        match envelope::read(&fixed, 0, keyed, KnownTools { named: &named, declares: &declares }) {
            // A name alone in broken JSON may be half of anything.
            envelope::Reading::Calls(calls, _)
                if calls.iter().all(|call| !call.bare) && self.holds_no_more(json, &calls, &fixed) =>
            {
                let places = self.places_of_calls(at, end, calls.len());
                let calls = calls.into_iter().zip(&places);
                let calls = calls.map(|(call, place)| envelope::lift_out_of_string(call, &fixed, place));
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

    /// Where each call of a broken text is. If the heads of the calls do not tell, each of them is somewhere in the whole.
    fn places_of_calls(&self, at: usize, end: usize, count: usize) -> Vec<std::ops::Range<usize>> {
        let is_tool = |name: &str| self.judge.has_tool(name);
        let heads = beside_arguments::find_calls(&self.input.text[at..end], &is_tool);
        let starts: Vec<usize> = heads.map(|head| at + head).collect();
        if starts.len() != count {
            return vec![at..end; count];
        }
        let ends = starts.iter().skip(1).copied().chain([end]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Whether all calls that begin in a broken text are among those that were read in it after it was mended, and no part
    /// of an envelope became an argument.
    // Case: dialects/wire_json/bracket-lost-between-calls
    fn holds_no_more(&self, broken: &str, calls: &[EnvelopeCall], fixed: &str) -> bool {
        let is_tool = |name: &str| self.judge.has_tool(name);
        let mut known = calls.len();
        for call in calls {
            let arguments = match &call.arguments {
                RawArguments::Text(range) => &fixed[range.clone()],
                RawArguments::Decoded(text, _) => text,
                RawArguments::Fields(_) | RawArguments::Refused(..) => continue,
            };
            let is_argument = |key: &str| self.judge.declares_key(&call.name, key) == Some(true);
            if beside_arguments::hold_part_of_envelope(arguments, is_argument) {
                return false;
            }
            known += beside_arguments::find_calls(arguments, &is_tool).count();
        }
        beside_arguments::find_calls(broken, &is_tool).count() <= known
    }

    /// Reads the name of a call that is not strict, and finds its arguments.
    pub(super) fn read_broken_head(&self, at: usize, end: usize, keyed: bool) -> Option<BrokenEnvelope> {
        let json = &self.input.text[at..end];
        let found = envelope::read_head(json, keyed)?;
        let from = at + found.arguments?;
        let text = self.input.text[from..end].trim_end();
        let head = CallHead { name: found.name, id: found.id, damaged: true, ..CallHead::default() };
        let (until, after) = self.end_of_arguments(text);
        let arguments = &text[..until];
        let is_argument = |key: &str| self.judge.declares_key(&head.name, key) == Some(true);
        let is_doubtful = match after {
            After::Other | After::Quote => true,
            After::Call(_) | After::End { closed: true } => false,
            After::End { closed: false } => beside_arguments::hold_part_of_envelope(arguments, is_argument),
        };
        let next = match after {
            After::Call(next) => Some(from + until + next),
            After::Other | After::Quote | After::End { .. } => None,
        };
        let arguments = if is_doubtful {
            RawArguments::Refused(
                Reason::Ambiguous,
                "a bracket is wrong, so the end of the arguments is not known",
            )
        } else {
            RawArguments::Text(from..from + until)
        };
        Some(BrokenEnvelope { head, arguments, next })
    }

    /// Where arguments end that are followed by the rest of an envelope, and what that rest is.
    fn end_of_arguments(&self, text: &str) -> (usize, After) {
        let is_tool = |name: &str| self.judge.has_tool(name);
        let goes_on = |length: usize| {
            let rest = text[length..].trim_start();
            rest.is_empty() || rest.starts_with(['}', ',', ']'])
        };
        let after = |length: usize| beside_arguments::look_after(&text[length..], &is_tool);
        let found = if text.starts_with('"') {
            // What looks like the end of a string may be a quote inside it, unless the envelope goes on with a bracket.
            let length = strict::check_string(text.as_bytes(), 0).ok();
            let length = length.filter(|&length| text[length..].trim_start().starts_with('}'));
            let found = length.map(|length| (length, after(length)));
            found.filter(|(_, after)| matches!(after, After::Call(_) | After::Other))
        } else if text.starts_with(['{', '['])
            && let Extent::Whole(length) = json_extent::measure(text, 0)
            && goes_on(length)
        {
            // Unless the envelope continues, the brackets may be part of a text.
            Some((length, after(length))).filter(|(_, after)| *after != After::Quote)
        } else {
            None
        };
        if let Some(found) = found {
            return found;
        }
        // The last bracket of the list, and the last brace, belong to what is around the arguments.
        let text =
            if self.frames.brackets > 0 { text.strip_suffix(']').unwrap_or(text).trim_end() } else { text };
        let inner =
            text.strip_suffix('}').map(str::trim_end).filter(|inner| inner.ends_with(['}', '"', '\'']));
        (inner.map_or(text.len(), str::len), After::End { closed: inner.is_some() })
    }

    /// Tries the closing markers after a broken object, nearest first.
    pub(super) fn read_up_to_closer(&mut self, at: usize, trusted: usize, keyed: bool) -> Progress {
        let length = self.input.text.len();
        match self.try_closers(at, trusted, |end| self.read_broken_envelope(at, end, keyed, end < length)) {
            Step::Got(Ok(block)) => Progress::Got(block),
            Step::More => Progress::More,
            Step::No => Progress::No,
            // Nothing can be mended, but the call is still reported.
            Step::Got(Err(limit)) => match self.read_broken_head(at, limit, keyed) {
                Some(BrokenEnvelope { head, arguments, .. }) => {
                    let call = self.build_call(&head, arguments, limit, Ending::Open, Form::Json);
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

    /// Finds the first end, at a marker or at the end of the output, that `attempt` accepts. Otherwise returns the
    /// farthest end of the call.
    ///
    /// Up to `trusted` the quotes make sense, so markers before it are inside strings. After it, a closing marker ends
    /// the call if another call or nothing follows. If such a marker is inside what looks like a string, the end is
    /// ambiguous, and the call takes the rest of the output.
    // Case: dialects/hostile/in-json-own-closer
    pub(super) fn try_closers<T>(
        &self,
        from: usize,
        trusted: usize,
        attempt: impl Fn(usize) -> Option<T>,
    ) -> Step<Result<T, usize>> {
        let mut at = from;
        let mut tries = 0;
        let mut doubt = false;
        // All markup is inside strings. It is text, unless the model stopped by itself and therefore lost a quote.
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
                let markup = token::read(rest, self.input.done, self.input.custom);
                self.judge.pay(if matches!(markup, Step::No) { GLANCE } else { LOOK });
                match markup {
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

    /// Whether only markup, or nothing, follows a closing marker.
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

    /// Reads the arguments of a call whose name is known, as JSON.
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
                let goes_on = self.goes_on(end);
                match self.classify_after(end) {
                    AfterArguments::More => return Progress::More,
                    _ if goes_on == Step::More => return Progress::More,
                    _ if goes_on == Step::Got(()) => trusted = end,
                    // Whatever is before the closing marker belongs to the arguments and is judged with them.
                    // Case: dialects/deepseek_v3/comment-behind-arguments
                    AfterArguments::Junk(closer) if strict => {
                        let end = at + self.input.text[at..closer].trim_end().len();
                        return found(end, Ending::Complete);
                    }
                    // Unless the quotes are strict, the brackets may be part of a text that continues.
                    // Case: dialects/mistral_name_args/quote-that-closes-too-early
                    AfterArguments::Text | AfterArguments::Junk(_) if !strict => {}
                    AfterArguments::Nothing if !json.ends_with('}') => {}
                    _ if strict || self.judge.can_mend(&head.name, json) => {
                        match self.other_arguments(at..end) {
                            Step::Got(second) => {
                                let why = "the call has two different sets of arguments";
                                let refused = RawArguments::Refused(Reason::Ambiguous, why);
                                let call =
                                    self.build_call(head, refused, second, Ending::Complete, Form::Named);
                                return Progress::Got(Block::one(call));
                            }
                            Step::More => return Progress::More,
                            Step::No => {}
                        }
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
            // If only the end of the output ends the arguments, they may be truncated.
            Step::Got(Ok(end)) if !self.input.rest(end).trim_start().is_empty() => {
                found(end, Ending::Complete)
            }
            Step::Got(Ok(end) | Err(end)) => found(end, Ending::Open),
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    /// The end of a second set of arguments that follows directly after the marker of arguments. Without a name before it, it
    /// is no other call.
    // `tests/call_reading.rs` repeats the arguments of every row.
    fn other_arguments(&self, first: std::ops::Range<usize>) -> Step<usize> {
        let next = self.skip_gap(first.end);
        let len = match self.input.markup(next) {
            Step::Got(token::Markup::Token {
                role: token::Role::Part(_) | token::Role::Message | token::Role::Noise,
                len,
                ..
            }) => len,
            Step::More => return Step::More,
            _ => return Step::No,
        };
        let at = self.skip_gap(next + len);
        match self.input.byte(at) {
            None if !self.input.done => return Step::More,
            Some(b'{') => {}
            _ => return Step::No,
        }
        let is_tool = |name: &str| self.judge.has_tool(name);
        match json_extent::measure(self.input.text, at) {
            // The envelope of another call.
            Extent::Whole(end) if envelope::names_tool(&self.input.text[at + 1..end], &is_tool) => Step::No,
            Extent::Whole(end) if self.input.text[at..end] == self.input.text[first] => Step::No,
            Extent::Whole(end) => Step::Got(end),
            _ if !self.input.done => Step::More,
            _ => Step::Got(self.input.text.len()),
        }
    }

    /// Classifies what follows arguments whose brackets are closed.
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
                // The next message begins, so this one has ended.
                // Case: dialects/harmony/half-a-closer
                Step::Got(markup) if markup.closes() || markup.begins_message() => {
                    return AfterArguments::Junk(at);
                }
                Step::Got(markup) if markup.opens() => break,
                _ => at += 1,
            }
        }
        // Words on their own line, or after a blank, do not belong to the call.
        let apart = next > end;
        if apart { AfterArguments::Nothing } else { AfterArguments::Text }
    }

    /// Reads an envelope in the position of arguments, as one family writes it.
    // Case: dialects/inkling/malformed
    pub(super) fn unwrap_envelope(&self, at: usize, end: usize, head: &CallHead) -> Option<Progress> {
        if self.name.is_none() && !NAME_REPEATED.contains_any(&self.frames.markers) {
            return None;
        }
        let named = |name: &str| name == head.name || self.judge.has_tool(name);
        let declares = |tool: &str, key: &str| self.judge.declares_key(tool, key);
        match envelope::read(
            &self.input.text[at..end],
            at,
            false,
            KnownTools { named: &named, declares: &declares },
        ) {
            envelope::Reading::Calls(calls, _)
                if calls.len() == 1 && !calls[0].flat && !calls[0].bare && named(&calls[0].name) =>
            {
                Some(Progress::Got(self.block_of_envelope(calls, end, false, Ending::Complete)))
            }
            _ => None,
        }
    }

    /// Reads arguments that are announced and are not an object.
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

    /// Reads a call in a JSON string.
    pub(super) fn read_encoded(&mut self, at: usize) -> Progress {
        let rest = self.input.rest(at);
        let Ok(end) = strict::check_string(rest.as_bytes(), 0) else {
            return if self.input.done { Progress::No } else { Progress::More };
        };
        let Some(inner) = envelope::decode_string(&rest[..end]) else { return Progress::No };
        let named = |name: &str| self.judge.has_tool(name);
        let declares = |tool: &str, key: &str| self.judge.declares_key(tool, key);
        match envelope::read(&inner, 0, false, KnownTools { named: &named, declares: &declares }) {
            envelope::Reading::Calls(calls, _) => {
                let place = at..at + end;
                let calls = calls.into_iter().map(|call| envelope::lift_out_of_string(call, &inner, &place));
                Progress::Got(self.block_of_envelope(calls.collect(), at + end, true, Ending::Complete))
            }
            _ => Progress::No,
        }
    }
}
