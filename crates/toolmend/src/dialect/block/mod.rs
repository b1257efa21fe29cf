//! From an opening marker to the calls after it.
//!
//! Wrappers, brackets and fences are framing. What is inside them decides how it is read: a JSON object (`json`,
//! `envelope`), a name and JSON (`named`), tags (`tagged`), Python (`python`) or Gemma's notation (`gemma`). A model
//! that borrows another family's wrapper, or loses its own, is therefore still understood.
//!
//! The reader never decides whether a call runs. It hands a raw call to the mender.

mod code;
mod json;
mod named;

use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::table::{self, CODE_TOKENS, CORNER_BRACKETS, Form, GEMMA_MARKERS, PAIR_MARKERS};
use crate::dialect::tagged::{self, CallHeader, ToolLookup};
use crate::dialect::token::{self, Header, Markup, NextPart, Role, Word};
use crate::dialect::{arrow_hash, attribute_list, begun_again, corner_brackets, gemma, plain_body, python};
use crate::syntax::is_well_known_tool;
use crate::verdict::Reason;

/// How many closing markers are tried for a body with broken quotes.
const MAX_TRIES: usize = 12;
/// What elements that are named after a tool may begin with.
pub(super) const TOOL_PREFIX: &str = "tool_";
/// A longer header is text.
const MAX_NAME: usize = 200;
/// What it costs to read the next piece before a body, in bytes that could be looked at meanwhile.
const STEP: usize = 40;
/// The arguments of a call whose tag says two things.
const TWICE: RawArguments =
    RawArguments::Refused(Reason::Ambiguous, "an attribute is there twice, with different values");

/// What readers ask while they read a body.
pub(crate) trait CallJudge: ToolLookup {
    /// Whether this text can be mended into arguments of the tool.
    fn can_mend(&self, tool: &str, arguments: &str) -> bool;
    /// The text as strict JSON, if it has one reading without a schema.
    fn read_as_json(&self, text: &str) -> Option<String>;
    /// The tool that these arguments belong to, judged by their keys alone.
    fn tool_with_keys(&self, arguments: &str) -> Option<String>;
    /// The declared tool that runs code, and its argument for the code.
    fn interpreter(&self) -> Option<(String, String)>;
    /// Whether any tools are declared.
    fn has_tools(&self) -> bool;
    /// Whether any declared tool has an argument of this name.
    fn is_argument_key(&self, key: &str) -> bool;
    /// Whether the name of a declared tool can begin like this.
    fn may_begin_tool_name(&self, text: &str) -> bool;
}

/// The frames around a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    /// The markers that were read, in the spelling of the table.
    pub(crate) markers: Vec<String>,
    /// The number of open brackets of a list of calls.
    pub(crate) brackets: usize,
    /// Whether a code fence is open.
    pub(crate) fence: bool,
    /// A marker closed the calls, so what follows without a marker of its own is not one of them.
    pub(crate) closed: bool,
}

impl Frames {
    /// Whether a marker of Gemma's notation is open.
    pub(crate) fn is_gemma(&self) -> bool {
        GEMMA_MARKERS.contains_any(&self.markers)
    }

    /// Whether the next call of these frames begins here, with the word that their notation has for it.
    pub(crate) fn begins_with_word(&self, input: Input<'_>, at: usize) -> Step<()> {
        let rest = input.rest(at);
        if !self.is_gemma() {
            Step::No
        } else if rest.starts_with(gemma::WORD) {
            Step::Got(())
        } else if !input.done && gemma::WORD.starts_with(rest) {
            Step::More
        } else {
            Step::No
        }
    }

    /// Whether the next call of these frames begins here with its name, and without a bracket around it.
    pub(crate) fn begins_bare_call(&self, input: Input<'_>, at: usize) -> Step<()> {
        match self.begins_with_word(input, at) {
            Step::No => python::read_head(input, at).map(|_| ()),
            decided => decided,
        }
    }
}

/// Calls, and how far the text was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) calls: Vec<RawCall>,
    pub(crate) end: usize,
    /// The frames that are still open after the calls.
    pub(crate) frames: Frames,
    /// The content of the message around the calls.
    pub(crate) content: Option<String>,
    /// The marker that opens the calls is missing, and only the one that closes them shows that they are calls.
    pub(crate) lost_opener: bool,
}

impl Block {
    /// The same calls, whose opening marker is missing.
    // Case: dialects/tool_calls_array/lost-opener
    pub(crate) fn without_opener(self) -> Self {
        Block { lost_opener: true, ..self.damaged() }
    }

    /// The same calls, whose markup is damaged.
    pub(crate) fn damaged(mut self) -> Self {
        for call in &mut self.calls {
            call.damaged = true;
        }
        self
    }

    /// The same calls, of which the output ends in the middle, at `end`.
    fn cut_at(mut self, end: usize) -> Self {
        for call in &mut self.calls {
            call.ending = Ending::Cut;
            call.at.end = end;
        }
        Block { end, ..self.damaged() }
    }

    pub(crate) fn one(call: RawCall) -> Self {
        Block { end: call.at.end, calls: vec![call], ..Block::default() }
    }
}

/// What is known of the call before its body.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one header")]
struct CallHead {
    name: String,
    id: Option<String>,
    arguments_next: bool,
    id_next: bool,
    /// The fixed words before the name were read.
    lead_read: bool,
    /// The body may be the main value of the tool, as it stands.
    raw_body: bool,
    /// The server of the tool.
    server: String,
    damaged: bool,
}

pub(crate) struct Reader<'t, 'j> {
    pub(crate) input: Input<'t>,
    pub(crate) judge: &'j dyn CallJudge,
    pub(crate) frames: Frames,
    /// Where the call begins, including its frames.
    pub(crate) start: usize,
    /// The name of the call, if something before the body gave it, such as a message header.
    pub(crate) name: Option<String>,
    /// The model stopped by itself, so nothing at the end is truncated.
    pub(crate) stopped: bool,
}

impl Reader<'_, '_> {
    /// Reads from an opening marker, or inside frames that are already open, to the end of the next call.
    pub(crate) fn read(&mut self, from: usize) -> Step<Block> {
        let outside = self.frames.clone();
        let mut begun = from;
        let mut abandoned: Option<Block> = None;
        for _ in 1..begun_again::MAX_BEGINNINGS {
            let block = match (self.read_once(begun), abandoned.take()) {
                // The output ends before the call is named again, so what was written before is all there is of it.
                // Case: dialects/glm45/begun-again-at-the-end
                (Step::Got(block), Some(before)) if block.calls.is_empty() => {
                    return Step::Got(before.cut_at(block.end));
                }
                (Step::Got(block), _) => block,
                (other, _) => return other,
            };
            match self.find_next_beginning(begun, &block) {
                Step::Got(next) => begun = next,
                Step::More => return Step::More,
                Step::No if begun > from => return Step::Got(block.damaged()),
                Step::No => return Step::Got(block),
            }
            abandoned = Some(block);
            self.frames.clone_from(&outside);
        }
        self.read_once(begun).map(Block::damaged)
    }

    /// Where a call in tags that was not closed begins again, with the same words.
    // Case: dialects/anthropic_xml/begun-again
    fn find_next_beginning(&self, begun: usize, block: &Block) -> Step<usize> {
        let [call] = block.calls.as_slice() else { return Step::No };
        let written = &self.input.text[begun..block.end];
        let is_tagged = matches!(call.arguments, RawArguments::Fields(_)) && written.starts_with('<');
        if !is_tagged
            || self.input.stable_only
            || written.trim_end().ends_with('>') && self.ends_in_closer(written)
        {
            return Step::No;
        }
        begun_again::find_repetition(self.input, written, block.end)
    }

    /// Whether a text ends in the tag that closes a call.
    fn ends_in_closer(&self, text: &str) -> bool {
        let text = text.trim_end();
        let last = text.rfind('<').map(|open| token::read(&text[open..], true, self.input.custom));
        matches!(last, Some(Step::Got(Markup::Tag(tag, Word::Call | Word::Frame))) if tag.close)
    }

    fn read_once(&mut self, from: usize) -> Step<Block> {
        let mut head = CallHead { name: self.name.clone().unwrap_or_default(), ..CallHead::default() };
        let mut at = from;
        loop {
            let next = self.skip_gap(at);
            if next >= self.input.text.len() {
                return self.end_of_text(&head, next);
            }
            self.judge.pay(STEP);
            match self.read_step(next, &mut head) {
                Progress::At(after) if after > at || after > next => at = after,
                Progress::At(_) | Progress::No => return Step::No,
                Progress::More => return Step::More,
                Progress::Got(mut block) => {
                    // What was worked around before the body is damage of the call.
                    // Case: dialects/hermes_json/opener-without-end
                    for call in &mut block.calls {
                        call.damaged |= head.damaged;
                        self.drop_awaited_code(call);
                    }
                    let frames = std::mem::take(&mut self.frames);
                    return Step::Got(Block { frames, ..block });
                }
            }
        }
    }

    fn skip_gap(&self, at: usize) -> usize {
        let mut at = self.input.skip_whitespace(at);
        while self.input.rest(at).starts_with("\\n") {
            at = self.input.skip_whitespace(at + 2);
        }
        at
    }

    /// Handles text that ends before a body.
    fn end_of_text(&self, head: &CallHead, at: usize) -> Step<Block> {
        if !self.input.done {
            return Step::More;
        }
        if head.name.is_empty() {
            // A frame at the end of the output, with nothing in it.
            let frames = self.frames.clone();
            return if frames.markers.is_empty() {
                Step::No
            } else {
                Step::Got(Block { end: at, frames, ..Block::default() })
            };
        }
        // The arguments of a tool without arguments may be left out where only they can follow.
        // Case: dialects/mistral_name_args/no-arguments
        let ending =
            if head.arguments_next && self.judge.has_tool(&head.name) { Ending::Open } else { Ending::Cut };
        let call = self.build_call(head, RawArguments::Fields(Vec::new()), at, ending, Form::Named);
        Step::Got(Block::one(call))
    }

    fn build_call(
        &self,
        head: &CallHead,
        arguments: RawArguments,
        end: usize,
        ending: Ending,
        form: Form,
    ) -> RawCall {
        RawCall {
            name: without_tokens(&head.name),
            id: head.id.clone(),
            arguments,
            at: self.start..end,
            ending,
            dialect: self.input.custom.row_of(&self.frames.markers, form),
            damaged: head.damaged,
            open: None,
        }
    }

    /// Ends a complete call that has no arguments.
    fn finish_without_arguments(&self, head: &CallHead, end: usize, form: Form) -> Progress {
        let call = self.build_call(head, RawArguments::Fields(Vec::new()), end, Ending::Complete, form);
        Progress::Got(Block::one(call))
    }

    fn read_step(&mut self, at: usize, head: &mut CallHead) -> Progress {
        let rest = self.input.rest(at);
        if head.raw_body && !rest.starts_with('{') {
            return self.read_raw_body(at, head);
        }
        if head.name.is_empty() && CODE_TOKENS.contains_any(&self.frames.markers) {
            return self.read_interpreter_code(at);
        }
        match token::read(rest, self.input.done, self.input.custom) {
            Step::More => return Progress::More,
            Step::Got(Markup::Token { role, len, spelling }) => {
                return self.read_token(at, head, role, len, spelling);
            }
            Step::Got(Markup::Tag(_, Word::Think)) if head.arguments_next => {
                return self.read_plain_arguments(at, head);
            }
            Step::Got(Markup::Tag(tag, word)) => return self.read_tag(at, head, &tag, word),
            Step::No => {}
        }
        match rest.as_bytes()[0] {
            b'{' if head.name.is_empty() => match arrow_hash::read(self.input, at, self.start) {
                Step::Got(call) => Progress::Got(Block::one(call)),
                Step::More => Progress::More,
                Step::No => self.read_envelope(at),
            },
            b't' if CORNER_BRACKETS.contains_any(&self.frames.markers) => {
                match corner_brackets::read(self.input, at, self.start) {
                    Step::Got(call) => Progress::Got(Block::one(call)),
                    Step::More => Progress::More,
                    Step::No => Progress::No,
                }
            }
            b'{' => self.read_arguments(at, head),
            b'[' if self.is_list(at) => {
                self.frames.brackets += 1;
                Progress::At(at + 1)
            }
            b'"' if !head.arguments_next && head.name.is_empty() => self.read_encoded(at),
            b'`' => self.read_fence(at, head),
            b'~' if rest.starts_with("~~~") => self.read_fence(at, head),
            b'<' => self.read_element(at, head),
            _ if head.arguments_next => self.read_plain_arguments(at, head),
            _ => self.read_header(at, head),
        }
    }

    fn read_token(
        &mut self,
        at: usize,
        head: &mut CallHead,
        role: Role,
        len: usize,
        spelling: &'static str,
    ) -> Progress {
        self.note_marker(spelling);
        match role {
            Role::Open(NextPart::Attributes) => self.read_attribute_list(at + len),
            // The next call begins where the arguments of this one could be.
            Role::Open(_) if head.arguments_next && self.judge.has_tool(&head.name) => {
                self.finish_without_arguments(head, at, Form::Named)
            }
            Role::Open(then) | Role::Maybe(then) | Role::Part(then) => {
                let named = role == Role::Part(NextPart::Body) && self.judge.has_tool(&head.name);
                head.arguments_next = then == NextPart::Arguments || named;
                head.id_next = then == NextPart::Id;
                if spelling == "functools[" {
                    self.frames.brackets += 1;
                }
                Progress::At(at + len)
            }
            Role::Noise | Role::Tail | Role::Message | Role::Header(Header::Author) => Progress::At(at + len),
            Role::Close if head.name.is_empty() => Progress::Got(Block { end: at + len, ..Block::default() }),
            Role::Close | Role::MessageEnd | Role::Stop | Role::Turn
                if !head.name.is_empty() && (head.arguments_next || self.judge.has_tool(&head.name)) =>
            {
                self.finish_without_arguments(head, at, Form::Named)
            }
            _ => Progress::No,
        }
    }

    /// Reads a call whose parts are attributes in brackets.
    fn read_attribute_list(&mut self, from: usize) -> Progress {
        match attribute_list::read(self.input, from) {
            Step::Got(list) => {
                let head = CallHead { name: list.name, ..CallHead::default() };
                let call = self.build_call(&head, list.arguments, list.end, list.ending, Form::Attributes);
                self.frames.markers.clear();
                Progress::Got(Block::one(call))
            }
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    fn note_marker(&mut self, marker: &str) {
        if !self.frames.markers.iter().any(|seen| seen == marker) {
            self.frames.markers.push(marker.to_owned());
        }
    }

    fn read_tag(
        &mut self,
        at: usize,
        head: &mut CallHead,
        tag: &super::tag::Tag<'_>,
        word: Word,
    ) -> Progress {
        let after = at + tag.len;
        if !tag.close {
            self.note_marker(&tag.marker());
        }
        match (tag.close, word) {
            // The wrapper is a tool itself.
            // Case: dialects/agent_tags/wrapper-declared
            (false, Word::Frame)
                if head.name.is_empty()
                    && table::server_element(&[tag.marker()]).is_some()
                    && self.judge.has_tool(tag.word) =>
            {
                self.frames.markers.clear();
                self.read_element(at, head)
            }
            (
                false,
                Word::Frame
                | Word::Key
                | Word::Type
                | Word::Value
                | Word::Parameter
                | Word::Separator
                | Word::Arguments,
            ) if !head.name.is_empty() => self.read_tagged(head, at, None),
            (false, Word::Frame | Word::Declarations) => {
                head.damaged |= tag.damaged;
                if let Some(name) = tag.name() {
                    head.raw_body = tag.equals.is_some();
                    // `<tool: function>`: the body names the tool.
                    // Case: dialects/cwm/first-word
                    if head.raw_body && name == "function" && !self.judge.has_tool(name) {
                        return Progress::At(after);
                    }
                    name.clone_into(&mut head.name);
                    if let Some(arguments) = tag.attribute(&["arguments", "args", "parameters", "input"]) {
                        let decoded = unescape_entities(arguments);
                        let start = at + (arguments.as_ptr() as usize - tag_start(self.input.text, at));
                        let place = start..start + arguments.len();
                        let arguments = if tag.contradicts_itself() {
                            TWICE
                        } else {
                            RawArguments::Decoded(decoded, place)
                        };
                        let end = after;
                        let call = self.build_call(head, arguments, end, Ending::Complete, Form::Attributes);
                        self.frames.markers.clear();
                        return Progress::Got(Block::one(call));
                    }
                    if tag.empty {
                        let call = self.finish_without_arguments(head, after, Form::Attributes);
                        self.frames.markers.clear();
                        return call;
                    }
                }
                Progress::At(after)
            }
            (false, Word::Call) => self.read_tagged_call(at, head, tag),
            (false, Word::Name) if head.name.is_empty() => self.read_tagged(head, at, None),
            (true, Word::Key) if !head.name.is_empty() => self.read_glued_key(at, head),
            // The closing tag of a value that is not there: the call has no arguments.
            // Case: dialects/glm47/closer-after-name
            (true, Word::Value) if self.judge.has_tool(&head.name) => {
                (head.damaged, head.arguments_next) = (true, true);
                Progress::At(after)
            }
            (true, Word::Frame) if self.judge.has_tool(&head.name) => {
                match self.argument_follows(after, head) {
                    Step::Got(()) => self.read_tagged(head, after, None),
                    Step::More => Progress::More,
                    Step::No => self.finish_without_arguments(head, at, Form::Pairs),
                }
            }
            (true, Word::Frame | Word::Call) if !head.name.is_empty() && self.stands_alone(&head.name) => {
                self.finish_without_arguments(head, at, Form::Pairs)
            }
            // Words that do not name a tool are still content.
            // Case: dialects/hostile/frame-with-unknown-name
            (true, Word::Frame) if !head.name.is_empty() => Progress::No,
            (true, Word::Frame | Word::Declarations) if !self.frames.markers.is_empty() => {
                Progress::Got(Block { end: after, ..Block::default() })
            }
            (false, _) if head.name.is_empty() => self.read_element(at, head),
            _ => Progress::No,
        }
    }

    /// Reads the main value of a tool as it stands, up to a closing tag that ends its line or the output.
    // Case: dialects/cwm/malformed
    fn read_raw_body(&mut self, at: usize, head: &CallHead) -> Progress {
        let (mut head, mut from) = (head.clone(), at);
        if head.name.is_empty() {
            let rest = self.input.rest(at);
            let Some(length) = rest.find(char::is_whitespace) else {
                return if self.input.done { Progress::No } else { Progress::More };
            };
            rest[..length].clone_into(&mut head.name);
            from = self.input.skip_whitespace(at + length);
            if from >= self.input.text.len() && !self.input.done {
                return Progress::More;
            }
            if self.judge.has_tool(&head.name) && self.input.byte(from) == Some(b'{') {
                return self.read_arguments(from, &head);
            }
        }
        if !self.judge.has_tool(&head.name) {
            return Progress::No;
        }
        let (mut next, mut opened) = (from, false);
        while let Some(offset) = self.input.rest(next).find('<') {
            let tag_at = next + offset;
            next = tag_at + 1;
            let end = match self.input.markup(tag_at) {
                Step::More => return Progress::More,
                Step::Got(Markup::Tag(tag, Word::Frame)) if tag.close => tag_at + tag.len,
                // The closing tag may belong to this call, and the body may be another one.
                Step::Got(markup) if markup.opens() || markup.closes() => {
                    opened = true;
                    continue;
                }
                _ => continue,
            };
            let own_line = self.input.text[from..tag_at].trim_end_matches([' ', '\t']).ends_with('\n');
            match self.is_hard_end(end) {
                Step::More if !own_line => return Progress::More,
                Step::No if !own_line => {
                    // A closing tag in the middle of a line is text. Before the body it is the tag of another call.
                    // Case: dialects/cwm/closer-before-body
                    opened |= tag_at == from;
                    continue;
                }
                _ => {}
            }
            let place = from..from + self.input.text[from..tag_at].trim_end().len();
            let value = RawValue::String(self.input.text[place.clone()].to_owned());
            let arguments = match self.judge.main_key(&head.name) {
                _ if opened => RawArguments::Refused(
                    Reason::Ambiguous,
                    "another call is opened or closed inside the body of the call",
                ),
                Some(_) if plain_body::says_nothing(value.text()) => {
                    RawArguments::Refused(Reason::Syntax, "the arguments say that there are none")
                }
                // Case: dialects/cwm/members-without-brace
                Some(_) if plain_body::is_no_value(value.text()) => RawArguments::Text(place),
                Some(key) => RawArguments::Fields(vec![Field { key, value, at: place }]),
                None => RawArguments::Text(place),
            };
            let call = self.build_call(&head, arguments, end, Ending::Complete, Form::Named);
            return Progress::Got(Block::one(call));
        }
        if !self.input.done && !self.input.stable_only {
            return Progress::More;
        }
        let (none, end) = (RawArguments::Fields(Vec::new()), self.input.text.len());
        Progress::Got(Block::one(self.build_call(&head, none, end, Ending::Cut, Form::Named)))
    }

    fn read_tagged_call(&mut self, at: usize, head: &mut CallHead, tag: &super::tag::Tag<'_>) -> Progress {
        let after = at + tag.len;
        let Some(name) = tag.name() else {
            // `<function><name>f</name>…` and `<invoke>{"name": …}</invoke>`
            let inner = self.skip_gap(after);
            if inner >= self.input.text.len() && !self.input.done {
                return Progress::More;
            }
            return if self.input.rest(inner).starts_with(['{', '<']) {
                Progress::At(after)
            } else {
                Progress::No
            };
        };
        let mut named =
            CallHead { name: clean_name(name), damaged: head.damaged | tag.damaged, ..head.clone() };
        // `<function=f{…}>`: the arguments slipped into the tag.
        // Case: dialects/functionary_v31/malformed-brace-in-tag
        if let Some(brace) = name.find('{').filter(|_| tag.equals.is_some()) {
            let open = at + self.input.rest(at).find('{').unwrap_or(0);
            named.name = clean_name(name[..brace].trim_end_matches(','));
            named.damaged = true;
            return match self.read_arguments(open, &named) {
                // The end of the tag belongs to the call.
                Progress::Got(mut block) if self.input.byte(block.end) == Some(b'>') => {
                    block.end += 1;
                    for call in &mut block.calls {
                        call.at.end = block.end;
                    }
                    Progress::Got(block)
                }
                Progress::Got(block) if block.end >= self.input.text.len() && !self.input.done => {
                    Progress::More
                }
                other => other,
            };
        }
        if tag.contradicts_itself() {
            let call = self.build_call(&named, TWICE, after, Ending::Complete, Form::Tagged);
            return Progress::Got(Block::one(call));
        }
        if tag.empty {
            return self.finish_without_arguments(&named, after, Form::Tagged);
        }
        self.read_tagged(&named, after, None)
    }

    fn read_tagged(&mut self, head: &CallHead, body: usize, element: Option<String>) -> Progress {
        let form = match &element {
            Some(_) => Form::Element,
            None if PAIR_MARKERS.contains_any(&self.frames.markers)
                || self
                    .frames
                    .markers
                    .iter()
                    .any(|seen| seen.ends_with("key>") || seen.ends_with("tool_call>")) =>
            {
                Form::Pairs
            }
            None => Form::Tagged,
        };
        let form = if self
            .frames
            .markers
            .iter()
            .any(|seen| seen.contains("function>") || seen.contains("invoke>"))
        {
            Form::Tagged
        } else {
            form
        };
        let opened = CallHeader {
            name: head.name.clone(),
            id: head.id.clone(),
            at: self.start,
            body,
            dialect: self.input.custom.row_of(&self.frames.markers, form),
            damaged: head.damaged,
            element,
            stopped: self.stopped,
        };
        match tagged::read(self.input, opened, self.judge) {
            Step::Got(call) if call.name.is_empty() => Progress::No,
            Step::Got(call) => Progress::Got(Block::one(self.qualify_name(call, &head.server))),
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    /// Adds the server to the name, if only the tool with both is declared.
    // Case: dialects/use_mcp_tool/qualified
    fn qualify_name(&self, call: RawCall, server: &str) -> RawCall {
        let tool = &call.name;
        if server.is_empty() || self.judge.has_tool(tool) {
            return call;
        }
        let full =
            [format!("{server}__{tool}"), format!("{server}.{tool}"), format!("mcp__{server}__{tool}")];
        match full.into_iter().find(|name| self.judge.has_tool(name)) {
            Some(name) => RawCall { name, ..call },
            None => call,
        }
    }

    /// Reads the element that names the server of the tool.
    // Case: dialects/use_mcp_tool/single
    fn read_server(&self, from: usize, word: &str, head: &mut CallHead) -> Progress {
        let (rest, closer) = (self.input.rest(from), format!("</{word}>"));
        match rest.find('<') {
            Some(length) if rest[length..].starts_with(&closer) && length <= MAX_NAME => {
                rest[..length].trim().clone_into(&mut head.server);
                Progress::At(from + length + closer.len())
            }
            Some(length) if self.input.done || !closer.starts_with(&rest[length..]) => Progress::No,
            None if self.input.done || rest.len() > MAX_NAME => Progress::No,
            _ => Progress::More,
        }
    }

    /// Reads `namekey</arg_key>`: the tag between name and key was lost.
    // Case: dialects/glm47/malformed-glued
    fn read_glued_key(&mut self, at: usize, head: &CallHead) -> Progress {
        let Some(length) = self.judge.longest_name_prefix(&head.name) else { return Progress::No };
        let key = head.name[length..].trim();
        let key_at = self.input.text[..at].rfind(key).filter(|_| !key.is_empty());
        let Some(key_at) = key_at else { return Progress::No };
        let name = head.name[..length].trim().to_owned();
        let rest = format!("<arg_key>{}", &self.input.text[key_at..]);
        // The lost tag is put back, and positions are moved by its length.
        let shift = "<arg_key>".len();
        let opened = CallHeader {
            name,
            id: None,
            at: 0,
            body: 0,
            dialect: self.input.custom.row_of(&self.frames.markers, Form::Pairs),
            damaged: true,
            element: None,
            stopped: self.stopped,
        };
        let input = Input { text: &rest, ..self.input };
        match tagged::read(input, opened, self.judge) {
            Step::Got(mut call) => {
                let end = (key_at + call.at.end).saturating_sub(shift);
                call.at = self.start..end;
                // Its position is in the text with the added tag.
                call.open = None;
                if let RawArguments::Fields(fields) = &mut call.arguments {
                    for field in fields {
                        field.at = key_at + field.at.start - shift..key_at + field.at.end - shift;
                    }
                }
                Progress::Got(Block::one(call))
            }
            Step::More => Progress::More,
            Step::No => Progress::No,
        }
    }

    /// Whether a name without arguments can be a call: of a declared tool, or of any if none are declared.
    // Case: dialects/glm45/no-arguments
    pub(super) fn stands_alone(&self, name: &str) -> bool {
        self.judge.has_tool(name) || !self.judge.has_tools() && !name.contains(char::is_whitespace)
    }

    /// Whether an element follows that is named after an argument of the tool: the closed frame contained only its name.
    // Case: dialects/tool_calls_array/name-in-frame
    fn argument_follows(&self, at: usize, head: &CallHead) -> Step<()> {
        // Only a frame inside another contains nothing but the name.
        if self.frames.markers.len() < 2 {
            return Step::No;
        }
        let at = self.skip_gap(at);
        if at >= self.input.text.len() && !self.input.done {
            return Step::More;
        }
        if self.input.byte(at) != Some(b'<') {
            return Step::No;
        }
        match self.input.tag(at) {
            Step::Got((tag, meaning)) => {
                let is_key = self.judge.declares_key(&head.name, tag.word) != Some(false);
                let may_be_key = matches!(meaning, None | Some(Word::Name | Word::Arguments | Word::Answer));
                if tag.is_bare() && is_key && may_be_key { Step::Got(()) } else { Step::No }
            }
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }

    /// Reads a tag that is named after a declared tool.
    fn read_element(&mut self, at: usize, head: &mut CallHead) -> Progress {
        let tag = match super::tag::read(self.input.rest(at), self.input.done, self.input.custom) {
            Step::Got(tag) => tag,
            Step::More => return Progress::More,
            Step::No => return Progress::No,
        };
        if tag.is_bare() && table::server_element(&self.frames.markers) == Some(tag.word) {
            return self.read_server(at + tag.len, tag.word, head);
        }
        // After a name, elements that are named after its arguments are the arguments.
        // Case: dialects/attr_tag/elements
        let takes = |word: &str| self.judge.declares_key(&head.name, word) != Some(false);
        if !tag.close && self.judge.has_tool(&head.name) && takes(tag.word) {
            return self.read_tagged(head, at, None);
        }
        if tag.close || !head.name.is_empty() {
            return Progress::No;
        }
        let Some(word) = tool_of_element(tag.word, self.judge).filter(|_| tag.equals.is_none()) else {
            return Progress::No;
        };
        let after = at + tag.len;
        let named = CallHead { name: word.to_owned(), ..head.clone() };
        if !tag.attributes.is_empty() {
            let fields = tag
                .attributes
                .iter()
                .map(|(key, value)| Field {
                    key: (*key).to_owned(),
                    value: RawValue::Untyped(unescape_entities(value)),
                    at: at..after,
                })
                .collect();
            let end = after;
            let call =
                self.build_call(&named, RawArguments::Fields(fields), end, Ending::Complete, Form::Element);
            return Progress::Got(Block::one(call));
        }
        if tag.empty {
            return self.finish_without_arguments(&named, after, Form::Element);
        }
        self.read_tagged(&named, after, Some(tag.word.to_owned()))
    }

    /// Whether the bracket at `at` opens a list of calls.
    fn is_list(&self, at: usize) -> bool {
        let inner = self.skip_gap(at + 1);
        match self.input.byte(inner) {
            None => !self.input.done,
            Some(b'{' | b'[') => true,
            Some(_) => !matches!(python::read_head(self.input, inner), Step::No),
        }
    }

    /// Reads a fence line. Its label may be the name of a tool.
    fn read_fence(&mut self, at: usize, head: &mut CallHead) -> Progress {
        let rest = self.input.rest(at);
        let mark = rest.chars().next().unwrap_or('`');
        let width = rest.chars().take_while(|&ch| ch == mark).count();
        if !self.input.done && width == rest.len() {
            return Progress::More;
        }
        if width < 3 {
            return Progress::No;
        }
        let label_end = rest.find(['\n', '{', '[']).unwrap_or(rest.len());
        if label_end == rest.len() && !self.input.done {
            return Progress::More;
        }
        let label = rest[width..label_end].trim();
        let named =
            label.strip_prefix("tool ").or_else(|| label.strip_prefix("tool:")).unwrap_or(label).trim();
        if head.name.is_empty() && !named.is_empty() && self.judge.has_tool(named) {
            named.clone_into(&mut head.name);
        }
        self.frames.fence = true;
        head.arguments_next |= !head.name.is_empty() && self.judge.has_tool(&head.name);
        Progress::At(at + label_end)
    }
}

/// The tool that an element names, with or without `tool_`. If no tools are declared, only that prefix and a well-known name
/// together show that it is a call.
// Case: dialects/agent_tags/tool-prefix
// Case: dialects/dsml_v4/tool-elements-undeclared
pub(super) fn tool_of_element<'w>(word: &'w str, judge: &dyn CallJudge) -> Option<&'w str> {
    if judge.has_tool(word) {
        return Some(word);
    }
    let name = word.strip_prefix(TOOL_PREFIX)?;
    (judge.has_tool(name) || !judge.has_tools() && is_well_known_tool(name)).then_some(name)
}

enum Progress {
    At(usize),
    Got(Block),
    More,
    No,
}

/// The address of the text at `at`, to compute the position of a part of it.
fn tag_start(text: &str, at: usize) -> usize {
    text[at..].as_ptr() as usize
}

/// The name without quotes and leaked tokens.
fn clean_name(name: &str) -> String {
    without_tokens(name).trim_matches(['"', '\'']).trim().to_owned()
}

/// The name without special tokens.
fn without_tokens(name: &str) -> String {
    // Drops tokens before the name, and everything from a token after it.
    let mut name = name.trim();
    while let Some(after) =
        name.strip_prefix("<|").and_then(|rest| rest.split_once("|>")).map(|(_, after)| after)
    {
        name = after.trim_start();
    }
    name.split("<|").next().unwrap_or(name).trim().to_owned()
}

/// Splits `functions.NAME:3` into a name and an id.
pub(crate) fn split_header(text: &str, known: impl Fn(&str) -> bool) -> (String, Option<String>) {
    let core = text.strip_prefix("functions.").unwrap_or(text);
    if let Some((name, index)) = core.rsplit_once(':')
        && !index.is_empty()
        && index.bytes().all(|byte| byte.is_ascii_digit())
        && known(name)
    {
        return (name.to_owned(), Some(text.to_owned()));
    }
    if known(core) && core == text {
        return (core.to_owned(), None);
    }
    // Some clients allow no dots and colons in ids, and so teach the model to leave them out.
    if let Some(inner) = text.strip_prefix("functions_").or_else(|| text.strip_prefix("functions-")) {
        let name = inner.trim_end_matches(|ch: char| ch.is_ascii_digit()).trim_end_matches(['_', '-']);
        if let Some(name) = [inner, name].into_iter().find(|name| known(name)) {
            return (name.to_owned(), Some(text.to_owned()));
        }
    }
    match core.rsplit_once(':') {
        Some((name, index))
            if !name.is_empty() && !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name.to_owned(), Some(text.to_owned()))
        }
        _ => (core.to_owned(), None),
    }
}

/// Attributes are the only place where markup is escaped.
fn unescape_entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
