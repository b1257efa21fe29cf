//! Names before their arguments.

use super::{Block, CallHead, MAX_NAME, Progress, Reader, split_header};
use crate::dialect::gemma::{self, MissedEnd};
use crate::dialect::input::Step;
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::python::{self, Surroundings};
use crate::dialect::raw_call::{Ending, RawArguments, RawCall};
use crate::dialect::table::Form;
use crate::dialect::token::{Markup, Role, Word};
use crate::verdict::Reason;

/// The text before a body, and where it stands.
#[derive(Debug, Clone, Copy)]
struct HeadText<'t> {
    /// The text, without what separates it from its neighbours.
    text: &'t str,
    /// Where the reader began to look for it.
    at: usize,
    /// Where the reader goes on.
    after: usize,
}

impl Reader<'_, '_> {
    /// Reads a name, and whatever contains the arguments.
    pub(super) fn read_header(&mut self, at: usize, head: &mut CallHead) -> Progress {
        let rest = self.input.rest(at);
        let lead = self.input.custom.lead(&self.frames.markers);
        if !lead.is_empty() && head.name.is_empty() && !head.lead_read {
            if rest.starts_with(lead) {
                head.lead_read = true;
                return Progress::At(at + lead.len());
            }
            if !self.input.done && lead.starts_with(rest) {
                return Progress::More;
            }
        }
        match self.read_optional_lead(at, head) {
            Progress::No => {}
            other => return other,
        }
        if rest.starts_with("call:")
            || (!self.input.done && "call:".starts_with(rest))
            || self.frames.is_gemma()
        {
            match gemma::read_call(
                self.input,
                at,
                self.input.custom.row_of(&self.frames.markers, Form::Gemma),
            ) {
                Step::Got(call) => return self.end_gemma_call(call),
                Step::More => return Progress::More,
                Step::No if rest.starts_with("call:") => return Progress::No,
                Step::No => {}
            }
        }
        if rest.starts_with("functools[") {
            self.frames.brackets += 1;
            self.note_marker("functools[");
            return Progress::At(at + "functools[".len());
        }
        let around = Surroundings { listed: self.frames.brackets > 0, ..Surroundings::default() };
        let program = python::read_head(self.input, at).and_then(|_| {
            let row = self.input.custom.row_of(&self.frames.markers, Form::Python);
            python::read_call_within(self.input, at, row, around)
        });
        match program {
            Step::Got(call) if head.name.is_empty() => {
                let call = RawCall { at: self.start..call.at.end, ..call };
                return Progress::Got(Block::one(call));
            }
            // One family writes the name first, and a fixed word in the program.
            // Case: dialects/glm4_legacy/chatglm3
            Step::Got(call) if call.name == "tool_call" => {
                let call = RawCall { name: head.name.clone(), at: self.start..call.at.end, ..call };
                return Progress::Got(Block::one(call));
            }
            Step::More => return Progress::More,
            _ => {}
        }
        if !head.name.is_empty() && !head.id_next {
            return Progress::No;
        }
        let length = rest.find(['\n', '<', '{', '[', '`', '>', '"', '✿']).unwrap_or(rest.len());
        if length == rest.len() && !self.input.done {
            // If the first of several words is not a tool, this is text, however it continues.
            let first = rest.split_whitespace().next().unwrap_or("");
            let words = first.len() < rest.trim_end().len() && !head.id_next && !self.judge.has_tool(first);
            return if length > MAX_NAME || words { Progress::No } else { Progress::More };
        }
        let text = rest[..length].trim().trim_end_matches([':', ',']).trim();
        let text = text.strip_suffix("\\n").unwrap_or(text).trim_end();
        let after = at + length;
        if text.is_empty() || length > MAX_NAME {
            return Progress::No;
        }
        if head.id_next {
            head.id = Some(text.to_owned());
            head.id_next = false;
            return Progress::At(after);
        }
        self.read_named(HeadText { text, at, after }, head)
    }

    /// Skips the fixed words that a built-in row has before the name, if a declared tool is named after them.
    // Case: dialects/step_audio2/single
    fn read_optional_lead(&mut self, at: usize, head: &CallHead) -> Progress {
        let Some((lead, mark)) =
            self.input.custom.optional_lead(&self.frames.markers).filter(|_| head.name.is_empty())
        else {
            return Progress::No;
        };
        let rest = self.input.rest(at);
        let Some(name) = rest.strip_prefix(lead).map(str::trim_start) else {
            return if !self.input.done && lead.starts_with(rest) { Progress::More } else { Progress::No };
        };
        match name.find(['\n', '{', '<']) {
            None if !self.input.done && name.len() <= MAX_NAME => Progress::More,
            Some(length) if self.judge.has_tool(name[..length].trim()) => {
                self.note_marker(mark);
                Progress::At(at + lead.len())
            }
            // The output ends before or inside the name.
            None if name.is_empty() || self.judge.may_begin_tool_name(name) => Progress::At(at + lead.len()),
            _ => Progress::No,
        }
    }

    /// Ends a call in Gemma's notation. No byte before the marker that closes it is anything else.
    fn end_gemma_call(&self, call: RawCall) -> Progress {
        let call = RawCall { at: self.start..call.at.end, ..call };
        if call.ending != Ending::Complete || !self.frames.is_gemma() || self.input.stable_only {
            return Progress::Got(Block::one(call));
        }
        match gemma::misses_its_end(self.input, call.at.end) {
            Step::Got(MissedEnd::Unknown) if !self.stopped => {
                let end = self.input.text.len();
                Progress::Got(Block::one(RawCall { at: self.start..end, ending: Ending::Cut, ..call }))
            }
            Step::Got(missed) => {
                let end = match missed {
                    MissedEnd::Marker(end) => end,
                    MissedEnd::Unknown => self.input.text.len(),
                };
                let why = "a value without delimiters contains a brace, so its end is not known";
                let arguments = RawArguments::Refused(Reason::Ambiguous, why);
                Progress::Got(Block::one(RawCall { arguments, at: self.start..end, ..call }))
            }
            Step::More => Progress::More,
            Step::No => Progress::Got(Block::one(call)),
        }
    }

    /// Reads the text before a body: a name, a name with attributes, or a shorthand.
    fn read_named(&mut self, written: HeadText<'_>, head: &mut CallHead) -> Progress {
        let HeadText { text, after, .. } = written;
        // One family writes the kind of the call before its name.
        if text == "function" {
            match self.part_follows(after) {
                Step::Got(()) => return Progress::At(after),
                Step::More => return Progress::More,
                Step::No => {}
            }
        }
        // `to=functions.f json`, as in the header of a message.
        // Case: dialects/hermes_json/recipient-in-frame
        if let Some(recipient) = text.strip_prefix("to=") {
            let name = recipient.strip_suffix(" json").unwrap_or(recipient).trim_end();
            let name = name.strip_prefix("functions.").unwrap_or(name);
            if self.judge.has_tool(name) {
                head.damaged = true;
                name.clone_into(&mut head.name);
                return Progress::At(after);
            }
        }
        if text.contains(char::is_whitespace) {
            return self.read_attributes(written, head);
        }
        match self.input.byte(after) {
            // `shell>ls -la`
            Some(b'>') if self.judge.has_tool(text) => return self.read_shorthand(text, after, head),
            // `Tools/shell>{…}`: the last part of a path names the tool.
            // Case: dialects/glm47/path-before-name
            Some(b'>') if self.input.rest(after).starts_with(">{") && self.ends_in_tool(text) => {
                text.rsplit('/').next().unwrap_or(text).clone_into(&mut head.name);
                head.damaged = true;
                return Progress::At(after + 1);
            }
            Some(b'>' | b'"') => return Progress::No,
            _ => {}
        }
        // A counter in place of the name: only the arguments show which tool is meant.
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !self.judge.has_tool(text) {
            return self.read_counted(text, after, head);
        }
        let (name, id) = split_header(text, |name| self.judge.has_tool(name));
        // Words before a list of calls do not name a tool.
        if self.input.byte(after) == Some(b'[') && !self.judge.has_tool(&name) {
            match self.input.markup(after) {
                Step::Got(_) => {}
                Step::More => return Progress::More,
                Step::No => return Progress::At(after),
            }
        }
        head.name = name;
        if head.id.is_none() {
            head.id = id;
        }
        if after >= self.input.text.len() && !self.stands_alone(&head.name) {
            return Progress::No;
        }
        if after >= self.input.text.len() {
            // A name at the very end may be half a name.
            // Case: dialects/glm47/truncated-name
            let call =
                self.build_call(head, RawArguments::Fields(Vec::new()), after, Ending::Cut, Form::Named);
            return Progress::Got(Block::one(call));
        }
        Progress::At(after)
    }

    fn ends_in_tool(&self, path: &str) -> bool {
        path.rsplit_once('/').is_some_and(|(_, name)| self.judge.has_tool(name))
    }

    /// Reads the arguments after a counter, and finds the tool that takes them.
    pub(super) fn read_counted(&mut self, id: &str, after: usize, head: &mut CallHead) -> Progress {
        let mut at = self.skip_gap(after);
        match self.input.markup(at) {
            Step::Got(Markup::Token { role: Role::Part(_), len, .. }) => at = self.skip_gap(at + len),
            Step::More => return Progress::More,
            _ => {}
        }
        if at >= self.input.text.len() && !self.input.done {
            return Progress::More;
        }
        if self.input.byte(at) != Some(b'{') {
            return Progress::No;
        }
        match json_extent::measure(self.input.text, at) {
            Extent::Whole(end) => {
                head.name = self.judge.tool_with_keys(&self.input.text[at..end]).unwrap_or_default();
                head.id = Some(id.to_owned());
                head.damaged = true;
                let call =
                    self.build_call(head, RawArguments::Text(at..end), end, Ending::Complete, Form::Named);
                Progress::Got(Block::one(call))
            }
            _ if self.input.done => Progress::No,
            _ => Progress::More,
        }
    }

    pub(super) fn part_follows(&self, at: usize) -> Step<()> {
        let at = self.skip_gap(at);
        match self.input.markup(at) {
            Step::Got(Markup::Token { role: Role::Part(_), .. }) => Step::Got(()),
            Step::More => Step::More,
            _ if at >= self.input.text.len() && !self.input.done => Step::More,
            _ => Step::No,
        }
    }

    /// Reads `f a="x" b="y"`. Other words are not a call.
    fn read_attributes(&mut self, written: HeadText<'_>, head: &mut CallHead) -> Progress {
        let HeadText { text, at, after } = written;
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // The opening tag of the key was lost: `name key</arg_key>`.
        match self.input.markup(after) {
            Step::Got(Markup::Tag(tag, Word::Key)) if tag.close && self.judge.has_tool(name) => {
                text.clone_into(&mut head.name);
                return Progress::At(after);
            }
            Step::More => return Progress::More,
            _ => {}
        }
        // `f {json}`
        if self.judge.has_tool(name) && rest.trim().is_empty() {
            name.clone_into(&mut head.name);
            return Progress::At(after);
        }
        if !self.judge.has_tool(name) || !rest.contains('=') {
            return Progress::No;
        }
        // Quotes ended the header early. The attributes reach to the closing tag.
        let from = at + self.input.rest(at).find(rest.trim_start()).unwrap_or(0);
        name.clone_into(&mut head.name);
        head.damaged = true;
        self.read_until_closer(from, head)
    }

    /// Takes the text up to the closing marker of the frame as the arguments.
    pub(super) fn read_until_closer(&mut self, from: usize, head: &CallHead) -> Progress {
        let mut at = from;
        while let Some(offset) = self.input.rest(at).find('<') {
            let tag_at = at + offset;
            match self.input.markup(tag_at) {
                Step::More => return Progress::More,
                Step::Got(markup) if markup.closes() => {
                    let text = self.input.text[from..tag_at].trim_end();
                    let text = text.strip_suffix("/>").or_else(|| text.strip_suffix('/')).unwrap_or(text);
                    let range = from..from + text.trim_end().len();
                    let call = self.build_call(
                        head,
                        RawArguments::Text(range),
                        tag_at,
                        Ending::Complete,
                        Form::Attributes,
                    );
                    return Progress::Got(Block::one(call));
                }
                _ => at = tag_at + 1,
            }
        }
        if self.input.done { Progress::No } else { Progress::More }
    }

    pub(super) fn read_shorthand(&mut self, name: &str, after: usize, head: &mut CallHead) -> Progress {
        name.clone_into(&mut head.name);
        head.damaged = true;
        let body = self.skip_gap(after + 1);
        self.read_until_closer(body, head)
    }
}
