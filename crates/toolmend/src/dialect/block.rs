//! From an opening marker to the calls behind it.
//!
//! Wrappers, brackets and fences are framing; what stands in them decides how it is read. So a family that borrows the
//! wrapper of another, or loses its own, is still understood.

use super::envelope::{self, Enveloped};
use super::extent::{self, Extent};
use super::raw::{Ending, Field, Input, RawArguments, RawCall, Step, Written};
use super::table::{self, Form};
use super::tagged::{self, Known, Opened};
use super::token::{self, Header, Markup, Role, Then, Word};
use super::{gemma, python};

/// How many closers are tried for a body whose quotes make no sense.
const MAX_TRIES: usize = 12;
/// Longer headers are no headers.
const MAX_NAME: usize = 200;

/// What is asked while a body is read.
pub(crate) trait Judge: Known {
    /// Whether this text can be mended into arguments of the tool.
    fn mends(&self, tool: &str, arguments: &str) -> bool;
    /// The text as strict JSON, where there is one reading without a schema.
    fn fixed(&self, text: &str) -> Option<String>;
    /// The tool that these arguments belong to, by their keys alone.
    fn by_keys(&self, arguments: &str) -> Option<String>;
    /// Whether any tools are declared.
    fn has_tools(&self) -> bool;
    /// Whether any declared tool has an argument of this name.
    fn is_argument(&self, key: &str) -> bool;
    /// Whether the name of a declared tool could begin like this.
    fn begins_tool(&self, text: &str) -> bool;
}

/// The frames around the place that is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Area {
    /// The markers that were seen, in their canonical spelling.
    pub(crate) seen: Vec<String>,
    /// Brackets of a list of calls.
    pub(crate) brackets: usize,
    /// A code fence around the calls.
    pub(crate) fence: bool,
}

/// Calls, and how far the text was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) calls: Vec<RawCall>,
    pub(crate) end: usize,
    /// The frames that are still open behind the calls.
    pub(crate) area: Area,
}

impl Block {
    pub(crate) fn one(call: RawCall) -> Self {
        Block { end: call.at.end, calls: vec![call], area: Area::default() }
    }
}

/// What is known of the call before its body.
#[derive(Debug, Clone, Default)]
struct Head {
    name: String,
    id: Option<String>,
    arguments_next: bool,
    id_next: bool,
    damaged: bool,
}

pub(crate) struct Reader<'t, 'j> {
    pub(crate) input: Input<'t>,
    pub(crate) judge: &'j dyn Judge,
    pub(crate) area: Area,
    /// Where the call begins, its frames included.
    pub(crate) start: usize,
    /// The call is named by what stood before, a message header for example.
    pub(crate) name: Option<String>,
    /// The model finished by itself: what is open at the end was not cut off.
    pub(crate) stopped: bool,
}

impl Reader<'_, '_> {
    /// Reads from an opening marker, or inside an area that is already open, to the end of the next call.
    pub(crate) fn read(&mut self, from: usize) -> Step<Block> {
        let mut head = Head { name: self.name.clone().unwrap_or_default(), ..Head::default() };
        let mut at = from;
        loop {
            let next = self.gap(at);
            if next >= self.input.text.len() {
                return self.at_end(&head, next);
            }
            match self.step(next, &mut head) {
                Turn::At(behind) if behind > at || behind > next => at = behind,
                Turn::At(_) | Turn::No => return Step::No,
                Turn::More => return Step::More,
                Turn::Got(block) => {
                    let area = std::mem::take(&mut self.area);
                    return Step::Got(Block { area, ..block });
                }
            }
        }
    }

    fn gap(&self, at: usize) -> usize {
        let mut at = self.input.skip_white(at);
        while self.input.rest(at).starts_with("\\n") {
            at = self.input.skip_white(at + 2);
        }
        at
    }

    /// The text stops before a body.
    fn at_end(&self, head: &Head, at: usize) -> Step<Block> {
        if !self.input.done {
            return Step::More;
        }
        if head.name.is_empty() {
            // A place for calls at the end of the output, with nothing in it.
            let area = self.area.clone();
            return if area.seen.is_empty() {
                Step::No
            } else {
                Step::Got(Block { calls: Vec::new(), end: at, area })
            };
        }
        let call = self.raw(head, RawArguments::Fields(Vec::new()), at, Ending::Cut, Form::Named);
        Step::Got(Block::one(call))
    }

    fn raw(&self, head: &Head, arguments: RawArguments, end: usize, ending: Ending, form: Form) -> RawCall {
        RawCall {
            name: without_tokens(&head.name),
            id: head.id.clone(),
            arguments,
            at: self.start..end,
            ending,
            dialect: table::name_of(&self.area.seen, form),
            damaged: head.damaged,
        }
    }

    fn step(&mut self, at: usize, head: &mut Head) -> Turn {
        let rest = self.input.rest(at);
        match token::read(rest, self.input.done) {
            Step::More => return Turn::More,
            Step::Got(Markup::Token { role, len, spelling }) => {
                return self.token(at, head, role, len, spelling);
            }
            Step::Got(Markup::Tag(tag, word)) => return self.tag(at, head, &tag, word),
            Step::No => {}
        }
        match rest.as_bytes()[0] {
            b'{' if head.name.is_empty() => self.envelope(at),
            b'{' => self.arguments(at, head),
            b'[' if self.is_list(at) => {
                self.area.brackets += 1;
                Turn::At(at + 1)
            }
            b'"' if !head.arguments_next && head.name.is_empty() => self.encoded(at),
            b'`' => self.fence(at, head),
            b'~' if rest.starts_with("~~~") => self.fence(at, head),
            b'<' => self.element(at, head),
            _ if head.arguments_next => self.plain_arguments(at, head),
            _ => self.header(at, head),
        }
    }

    fn token(&mut self, at: usize, head: &mut Head, role: Role, len: usize, spelling: &'static str) -> Turn {
        self.see(spelling);
        match role {
            Role::Open(then) | Role::Maybe(then) | Role::Part(then) => {
                head.arguments_next = then == Then::Arguments;
                head.id_next = then == Then::Id;
                if spelling == "functools[" {
                    self.area.brackets += 1;
                }
                Turn::At(at + len)
            }
            Role::Noise | Role::Message | Role::Header(Header::Author) => Turn::At(at + len),
            Role::Close if head.name.is_empty() => {
                Turn::Got(Block { calls: Vec::new(), end: at + len, area: Area::default() })
            }
            Role::Close | Role::MessageEnd | Role::Stop
                if !head.name.is_empty() && (head.arguments_next || self.judge.tool(&head.name)) =>
            {
                let call =
                    self.raw(head, RawArguments::Fields(Vec::new()), at, Ending::Complete, Form::Named);
                Turn::Got(Block::one(call))
            }
            _ => Turn::No,
        }
    }

    fn see(&mut self, marker: &str) {
        if !self.area.seen.iter().any(|seen| seen == marker) {
            self.area.seen.push(marker.to_owned());
        }
    }

    fn tag(&mut self, at: usize, head: &mut Head, tag: &super::tag::Tag<'_>, word: Word) -> Turn {
        let behind = at + tag.len;
        let separator = match tag.space {
            "" => "",
            "longcat" | "dots" => "_",
            "DSML" => "|",
            _ => ":",
        };
        if !tag.close {
            self.see(&format!("<{}{separator}{}>", tag.space, tag.word.to_ascii_lowercase()));
        }
        match (tag.close, word) {
            (false, Word::Frame) if !head.name.is_empty() => self.tagged(head, at, None),
            (false, Word::Frame | Word::Declarations) => {
                if let Some(name) = tag.name() {
                    head.name = name.to_owned();
                    if let Some(arguments) = tag.attribute(&["arguments", "args", "parameters", "input"]) {
                        let decoded = unescape_entities(arguments);
                        let start = at + (arguments.as_ptr() as usize - tag_start(self.input.text, at));
                        let arguments = RawArguments::Decoded(decoded, start..start + arguments.len());
                        let end = behind;
                        let call = self.raw(head, arguments, end, Ending::Complete, Form::Attributes);
                        return Turn::Got(Block::one(call));
                    }
                    if tag.empty {
                        let call = self.raw(
                            head,
                            RawArguments::Fields(Vec::new()),
                            behind,
                            Ending::Complete,
                            Form::Attributes,
                        );
                        return Turn::Got(Block::one(call));
                    }
                }
                Turn::At(behind)
            }
            (false, Word::Call) => self.tagged_call(at, head, tag),
            (false, Word::Name) if head.name.is_empty() => self.tagged(head, at, None),
            (false, Word::Key | Word::Value | Word::Parameter | Word::Separator | Word::Arguments)
                if !head.name.is_empty() =>
            {
                self.tagged(head, at, None)
            }
            (true, Word::Key) if !head.name.is_empty() => self.glued_key(at, head),
            (true, Word::Frame | Word::Call) if !head.name.is_empty() && self.stands_alone(&head.name) => {
                let call =
                    self.raw(head, RawArguments::Fields(Vec::new()), at, Ending::Complete, Form::Pairs);
                Turn::Got(Block::one(call))
            }
            (true, Word::Frame | Word::Declarations) if !self.area.seen.is_empty() => {
                Turn::Got(Block { calls: Vec::new(), end: behind, area: Area::default() })
            }
            (false, _) if head.name.is_empty() => self.element(at, head),
            _ => Turn::No,
        }
    }

    fn tagged_call(&mut self, at: usize, head: &mut Head, tag: &super::tag::Tag<'_>) -> Turn {
        let behind = at + tag.len;
        let Some(name) = tag.name() else {
            // `<function><name>f</name>…` and `<invoke>{"name": …}</invoke>`
            let inner = self.gap(behind);
            if inner >= self.input.text.len() && !self.input.done {
                return Turn::More;
            }
            return if self.input.rest(inner).starts_with(['{', '<']) { Turn::At(behind) } else { Turn::No };
        };
        let mut named = Head { name: clean_name(name), damaged: head.damaged | tag.damaged, ..head.clone() };
        // `<function=f{…}>`: the arguments slipped into the tag.
        if let Some(brace) = name.find('{').filter(|_| tag.equals.is_some()) {
            let open = at + self.input.rest(at).find('{').unwrap_or(0);
            named.name = clean_name(name[..brace].trim_end_matches(','));
            named.damaged = true;
            return self.arguments(open, &named);
        }
        if tag.empty {
            let call =
                self.raw(&named, RawArguments::Fields(Vec::new()), behind, Ending::Complete, Form::Tagged);
            return Turn::Got(Block::one(call));
        }
        self.tagged(&named, behind, None)
    }

    fn tagged(&mut self, head: &Head, body: usize, element: Option<String>) -> Turn {
        let form = match &element {
            Some(_) => Form::Element,
            None if self
                .area
                .seen
                .iter()
                .any(|seen| seen.ends_with("key>") || seen.ends_with("tool_call>")) =>
            {
                Form::Pairs
            }
            None => Form::Tagged,
        };
        let form = if self.area.seen.iter().any(|seen| seen.contains("function>") || seen.contains("invoke>"))
        {
            Form::Tagged
        } else {
            form
        };
        let opened = Opened {
            name: head.name.clone(),
            id: head.id.clone(),
            at: self.start,
            body,
            dialect: table::name_of(&self.area.seen, form),
            damaged: head.damaged,
            element,
        };
        match tagged::read(self.input, opened, self.judge) {
            Step::Got(call) if call.name.is_empty() => Turn::No,
            Step::Got(call) => {
                let end = call.at.end;
                Turn::Got(Block::one(call))
            }
            Step::More => Turn::More,
            Step::No => Turn::No,
        }
    }

    /// `namekey</arg_key>`: the tag between name and key was lost.
    fn glued_key(&mut self, at: usize, head: &Head) -> Turn {
        let Some(length) = self.judge.name_before(&head.name) else { return Turn::No };
        let key = head.name[length..].trim();
        let key_at = self.input.text[..at].rfind(key).filter(|_| !key.is_empty());
        let Some(key_at) = key_at else { return Turn::No };
        let name = head.name[..length].trim().to_owned();
        let rest = format!("<arg_key>{}", &self.input.text[key_at..]);
        // The lost tag is put back, and places are moved by its length.
        let shift = "<arg_key>".len();
        let opened = Opened {
            name,
            id: None,
            at: 0,
            body: 0,
            dialect: table::name_of(&self.area.seen, Form::Pairs),
            damaged: true,
            element: None,
        };
        let input = Input { text: &rest, done: self.input.done };
        match tagged::read(input, opened, self.judge) {
            Step::Got(mut call) => {
                let end = (key_at + call.at.end).saturating_sub(shift);
                call.at = self.start..end;
                if let RawArguments::Fields(fields) = &mut call.arguments {
                    for field in fields {
                        field.at = key_at + field.at.start - shift..key_at + field.at.end - shift;
                    }
                }
                Turn::Got(Block::one(call))
            }
            Step::More => Turn::More,
            Step::No => Turn::No,
        }
    }

    /// Whether a name with nothing behind it can be a call: of a declared tool, or where none are declared.
    fn stands_alone(&self, name: &str) -> bool {
        self.judge.tool(name) || !self.judge.has_tools() && !name.contains(char::is_whitespace)
    }

    /// A tag that is named after a declared tool.
    fn element(&mut self, at: usize, head: &Head) -> Turn {
        let tag = match super::tag::read(self.input.rest(at), self.input.done) {
            Step::Got(tag) => tag,
            Step::More => return Turn::More,
            Step::No => return Turn::No,
        };
        if tag.close || !head.name.is_empty() {
            return Turn::No;
        }
        let word = tag.word.strip_prefix("tool_").filter(|_| !self.judge.tool(tag.word)).unwrap_or(tag.word);
        if !self.judge.tool(word) || tag.equals.is_some() {
            return Turn::No;
        }
        let behind = at + tag.len;
        let named = Head { name: word.to_owned(), ..head.clone() };
        if !tag.attributes.is_empty() {
            let fields = tag
                .attributes
                .iter()
                .map(|(key, value)| Field {
                    key: (*key).to_owned(),
                    value: Written::Untyped(unescape_entities(value)),
                    at: at..behind,
                })
                .collect();
            let end = behind;
            let call = self.raw(&named, RawArguments::Fields(fields), end, Ending::Complete, Form::Element);
            return Turn::Got(Block::one(call));
        }
        if tag.empty {
            let call =
                self.raw(&named, RawArguments::Fields(Vec::new()), behind, Ending::Complete, Form::Element);
            return Turn::Got(Block::one(call));
        }
        self.tagged(&named, behind, Some(tag.word.to_owned()))
    }

    /// Whether the bracket at `at` opens a list of calls.
    fn is_list(&self, at: usize) -> bool {
        let inner = self.gap(at + 1);
        match self.input.byte(inner) {
            None => !self.input.done,
            Some(b'{' | b'[') => true,
            Some(_) => !matches!(python::head(self.input, inner), Step::No),
        }
    }

    /// A fence line; its label may be the name of a tool.
    fn fence(&mut self, at: usize, head: &mut Head) -> Turn {
        let rest = self.input.rest(at);
        let mark = rest.chars().next().unwrap_or('`');
        let width = rest.chars().take_while(|&ch| ch == mark).count();
        if !self.input.done && width == rest.len() {
            return Turn::More;
        }
        if width < 3 {
            return Turn::No;
        }
        let label_end = rest.find(['\n', '{', '[']).unwrap_or(rest.len());
        if label_end == rest.len() && !self.input.done {
            return Turn::More;
        }
        let label = rest[width..label_end].trim();
        let named =
            label.strip_prefix("tool ").or_else(|| label.strip_prefix("tool:")).unwrap_or(label).trim();
        if head.name.is_empty() && !named.is_empty() && self.judge.tool(named) {
            head.name = named.to_owned();
        }
        self.area.fence = true;
        Turn::At(at + label_end)
    }

    /// A name, in front of whatever holds the arguments.
    fn header(&mut self, at: usize, head: &mut Head) -> Turn {
        let rest = self.input.rest(at);
        if rest.starts_with("call:") || (!self.input.done && "call:".starts_with(rest)) || self.is_gemma() {
            match gemma::call(self.input, at, table::name_of(&self.area.seen, Form::Gemma)) {
                Step::Got(call) => {
                    let call = RawCall { at: self.start..call.at.end, ..call };
                    return Turn::Got(Block::one(call));
                }
                Step::More => return Turn::More,
                Step::No if rest.starts_with("call:") => return Turn::No,
                Step::No => {}
            }
        }
        if rest.starts_with("functools[") {
            self.area.brackets += 1;
            self.see("functools[");
            return Turn::At(at + "functools[".len());
        }
        match python::call(self.input, at, table::name_of(&self.area.seen, Form::Python)) {
            Step::Got(call) if head.name.is_empty() => {
                let call = RawCall { at: self.start..call.at.end, ..call };
                return Turn::Got(Block::one(call));
            }
            Step::More => return Turn::More,
            _ => {}
        }
        if !head.name.is_empty() && !head.id_next {
            return Turn::No;
        }
        let length = rest.find(['\n', '<', '{', '[', '`', '>', '"', '✿']).unwrap_or(rest.len());
        if length == rest.len() && !self.input.done {
            return if length > MAX_NAME { Turn::No } else { Turn::More };
        }
        let text = rest[..length].trim().trim_end_matches([':', ',']).trim();
        let text = text.strip_suffix("\\n").unwrap_or(text).trim_end();
        let behind = at + length;
        if text.is_empty() || text.len() > MAX_NAME {
            return Turn::No;
        }
        if head.id_next {
            head.id = Some(text.to_owned());
            head.id_next = false;
            return Turn::At(behind);
        }
        self.named(text, at, behind, head)
    }

    fn is_gemma(&self) -> bool {
        self.area.seen.iter().any(|seen| matches!(seen.as_str(), "<|tool_call>" | "<start_function_call>"))
    }

    /// The text before a body is a name, a name with attributes, or a shorthand.
    fn named(&mut self, text: &str, at: usize, behind: usize, head: &mut Head) -> Turn {
        // DeepSeek writes the kind of the call before its name.
        if text == "function" {
            match self.part_follows(behind) {
                Step::Got(()) => return Turn::At(behind),
                Step::More => return Turn::More,
                Step::No => {}
            }
        }
        if text.contains(char::is_whitespace) {
            return self.with_attributes(text, at, behind, head);
        }
        match self.input.byte(behind) {
            // `shell>ls -la`
            Some(b'>') if self.judge.tool(text) => return self.shorthand(text, at, behind, head),
            Some(b'>' | b'"') => return Turn::No,
            _ => {}
        }
        // A counter in place of the name: only the arguments tell the tool.
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !self.judge.tool(text) {
            return self.counted(text, behind, head);
        }
        let (name, id) = split_header(text, |name| self.judge.tool(name));
        // Words before a list of calls name nothing.
        if self.input.byte(behind) == Some(b'[') && !self.judge.tool(&name) {
            match token::read(self.input.rest(behind), self.input.done) {
                Step::Got(_) => {}
                Step::More => return Turn::More,
                Step::No => return Turn::At(behind),
            }
        }
        head.name = name;
        if head.id.is_none() {
            head.id = id;
        }
        if behind >= self.input.text.len() {
            // A name and nothing behind it could still be half a name.
            let call = self.raw(head, RawArguments::Fields(Vec::new()), behind, Ending::Cut, Form::Named);
            return Turn::Got(Block::one(call));
        }
        Turn::At(behind)
    }

    /// The arguments behind a counter, and the tool that takes them.
    fn counted(&mut self, id: &str, behind: usize, head: &mut Head) -> Turn {
        let mut at = self.gap(behind);
        match token::read(self.input.rest(at), self.input.done) {
            Step::Got(Markup::Token { role: Role::Part(_), len, .. }) => at = self.gap(at + len),
            Step::More => return Turn::More,
            _ => {}
        }
        if at >= self.input.text.len() && !self.input.done {
            return Turn::More;
        }
        if self.input.byte(at) != Some(b'{') {
            return Turn::No;
        }
        match extent::json(self.input.text, at) {
            Extent::Whole(end) => {
                head.name = self.judge.by_keys(&self.input.text[at..end]).unwrap_or_default();
                head.id = Some(id.to_owned());
                head.damaged = true;
                let call = self.raw(head, RawArguments::Text(at..end), end, Ending::Complete, Form::Named);
                Turn::Got(Block::one(call))
            }
            _ if self.input.done => Turn::No,
            _ => Turn::More,
        }
    }

    fn part_follows(&self, at: usize) -> Step<()> {
        let at = self.gap(at);
        match token::read(self.input.rest(at), self.input.done) {
            Step::Got(Markup::Token { role: Role::Part(_), .. }) => Step::Got(()),
            Step::More => Step::More,
            _ if at >= self.input.text.len() && !self.input.done => Step::More,
            _ => Step::No,
        }
    }

    /// `f a="x" b="y"`, or words that are no call at all.
    fn with_attributes(&mut self, text: &str, at: usize, behind: usize, head: &mut Head) -> Turn {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // The key's opening tag was lost: `name key</arg_key>`.
        match token::read(self.input.rest(behind), self.input.done) {
            Step::Got(Markup::Tag(tag, Word::Key)) if tag.close && self.judge.tool(name) => {
                head.name = text.to_owned();
                return Turn::At(behind);
            }
            Step::More => return Turn::More,
            _ => {}
        }
        // `f {json}`
        if self.judge.tool(name) && rest.trim().is_empty() {
            head.name = name.to_owned();
            return Turn::At(behind);
        }
        if !self.judge.tool(name) || !rest.contains('=') {
            return Turn::No;
        }
        // Quotes ended the header early: the attributes run to the closing tag.
        let from = at + self.input.rest(at).find(rest.trim_start()).unwrap_or(0);
        head.name = name.to_owned();
        head.damaged = true;
        self.until_closer(from, head)
    }

    /// The text up to the closer of the frame is the arguments, in some notation of its own.
    fn until_closer(&mut self, from: usize, head: &Head) -> Turn {
        let mut at = from;
        while let Some(offset) = self.input.rest(at).find('<') {
            let tag_at = at + offset;
            match token::read(self.input.rest(tag_at), self.input.done) {
                Step::More => return Turn::More,
                Step::Got(markup) if markup.closes() => {
                    let text = self.input.text[from..tag_at].trim_end();
                    let text = text.strip_suffix("/>").or_else(|| text.strip_suffix('/')).unwrap_or(text);
                    let range = from..from + text.trim_end().len();
                    let call =
                        self.raw(head, RawArguments::Text(range), tag_at, Ending::Complete, Form::Attributes);
                    return Turn::Got(Block::one(call));
                }
                _ => at = tag_at + 1,
            }
        }
        if self.input.done { Turn::No } else { Turn::More }
    }

    fn shorthand(&mut self, name: &str, _at: usize, behind: usize, head: &mut Head) -> Turn {
        head.name = name.to_owned();
        head.damaged = true;
        let body = self.gap(behind + 1);
        self.until_closer(body, head)
    }

    /// JSON whose object says which tool is meant.
    fn envelope(&mut self, at: usize) -> Turn {
        let keyed = self.area.seen.iter().any(|seen| seen == "<|tools_prefix|>");
        let named = |name: &str| self.judge.tool(name);
        match extent::json(self.input.text, at) {
            Extent::Whole(end) => {
                let json = &self.input.text[at..end];
                match envelope::read(json, at, keyed, &named) {
                    envelope::Reading::Calls(calls) => {
                        return Turn::Got(self.enveloped(calls, end, false, Ending::Complete));
                    }
                    envelope::Reading::Declaration => return Turn::No,
                    envelope::Reading::Other => {}
                }
                match self.broken_envelope(at, end, keyed, true) {
                    Some(block) => return Turn::Got(block),
                    None if crate::json::strict::check(json, crate::json::strict::MAX_DEPTH).is_ok() => {
                        return self.nameless(at, end);
                    }
                    None => {}
                }
                self.up_to_closer(at, keyed)
            }
            Extent::Open | Extent::InString if !self.input.done => Turn::More,
            Extent::Open | Extent::InString | Extent::Broken(_) => self.up_to_closer(at, keyed),
        }
    }

    /// Strict JSON without a name: the keys may tell the tool.
    fn nameless(&self, at: usize, end: usize) -> Turn {
        match self.judge.by_keys(&self.input.text[at..end]) {
            Some(name) => {
                let head = Head { name, damaged: true, ..Head::default() };
                let call = self.raw(&head, RawArguments::Text(at..end), end, Ending::Complete, Form::Json);
                Turn::Got(Block::one(call))
            }
            None => Turn::No,
        }
    }

    /// `ending` is that of the last call: the ones before it are complete.
    fn enveloped(&self, calls: Vec<Enveloped>, end: usize, damaged: bool, ending: Ending) -> Block {
        let last = calls.len().saturating_sub(1);
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| {
                let head =
                    Head { name: call.name, id: call.id, damaged: damaged || call.flat, ..Head::default() };
                let ending = if index == last { ending } else { Ending::Complete };
                self.raw(&head, call.arguments, end, ending, Form::Json)
            })
            .collect();
        Block { calls, end, area: Area::default() }
    }

    /// An object that is not strict, up to `end`: its head tells the tool, and the tool's schema reads the rest.
    ///
    /// Where neither a bracket nor a marker ends it, only the end of the output does: then it may have been cut off.
    fn broken_envelope(&self, at: usize, end: usize, keyed: bool, ended: bool) -> Option<Block> {
        let json = &self.input.text[at..end];
        let ending = |or| if ended { Ending::Complete } else { or };
        if let Some((head, range)) = self.broken_head(at, end) {
            let text = &self.input.text[range.clone()];
            let object = text.starts_with(['{', '"', '[']) || self.judge.tool(&head.name);
            if object && self.judge.mends(&head.name, text) {
                let ending = ending(Ending::Unclosed);
                let call = self.raw(&head, RawArguments::Text(range), end, ending, Form::Json);
                return Some(Block::one(call));
            }
        }
        let fixed = self.judge.fixed(json)?;
        let named = |name: &str| self.judge.tool(name);
        match envelope::read(&fixed, 0, keyed, &named) {
            // A name alone in a text that is broken may be half of anything.
            envelope::Reading::Calls(calls) if calls.iter().all(|call| !call.bare) => {
                let calls = calls.into_iter().map(|call| envelope::lifted(call, &fixed, &(at..end)));
                Some(self.enveloped(calls.collect(), end, true, ending(Ending::Unclosed)))
            }
            _ => None,
        }
    }

    fn broken_head(&self, at: usize, end: usize) -> Option<(Head, std::ops::Range<usize>)> {
        let json = &self.input.text[at..end];
        let found = envelope::head(json)?;
        let from = at + found.arguments?;
        let text = self.input.text[from..end].trim_end();
        let until = match extent::json(text, 0) {
            Extent::Whole(length) if text.starts_with(['{', '[']) => from + length,
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
        let head = Head { name: found.name, id: found.id, damaged: true, ..Head::default() };
        Some((head, from..until))
    }

    /// Tries the closers behind a broken object, nearest first.
    fn up_to_closer(&mut self, at: usize, keyed: bool) -> Turn {
        let length = self.input.text.len();
        match self.closers(at, |end| self.broken_envelope(at, end, keyed, end < length)) {
            Step::Got(Ok(block)) => Turn::Got(block),
            Step::More => Turn::More,
            Step::No => Turn::No,
            // Nothing can be mended, but the call is to be told of.
            Step::Got(Err(limit)) => match self.broken_head(at, limit) {
                Some((head, range)) => {
                    let end = limit;
                    let call = self.raw(&head, RawArguments::Text(range), end, Ending::Open, Form::Json);
                    Turn::Got(Block::one(call))
                }
                None => match envelope::head(&self.input.text[at..limit]) {
                    Some(found) => {
                        let head = Head { name: found.name, id: found.id, ..Head::default() };
                        let end = limit;
                        let call =
                            self.raw(&head, RawArguments::Fields(Vec::new()), end, Ending::Cut, Form::Json);
                        Turn::Got(Block::one(call))
                    }
                    None => Turn::No,
                },
            },
        }
    }

    /// The first end, at a marker or at the end of the output, that `attempt` can make sense of; else how far the call
    /// goes at most.
    ///
    /// A closer with another call or nothing behind it is the end of this one, whatever the quotes before it say.
    fn closers<T>(&self, from: usize, attempt: impl Fn(usize) -> Option<T>) -> Step<Result<T, usize>> {
        let mut at = from;
        let mut tries = 0;
        let bytes = self.input.text.as_bytes();
        // Where the quotes make sense up to the end of the output, all markup before it stands in strings: it is text,
        // unless the model says that it had finished and so lost a quote.
        let in_strings = matches!(extent::json(self.input.text, from), Extent::Open | Extent::InString);
        if in_strings && self.input.done && !self.stopped {
            let end = self.input.text.len();
            return Step::Got(attempt(end).ok_or(end));
        }
        while let Some(offset) = memchr::memchr3(b'<', b'[', b'`', &bytes[at..]) {
            let mark = at + offset;
            at = mark + 1;
            let rest = self.input.rest(mark);
            let len = if self.area.fence && rest.starts_with("```") {
                3
            } else {
                match token::read(rest, self.input.done) {
                    Step::More => return Step::More,
                    Step::Got(markup) if markup.closes() => markup.len(),
                    Step::Got(markup) if markup.opens() => 0,
                    _ => continue,
                }
            };
            if let Some(found) = attempt(mark) {
                return Step::Got(Ok(found));
            }
            tries += 1;
            match self.is_hard_end(mark + len) {
                Step::Got(()) => return Step::Got(Err(mark)),
                Step::More => return Step::More,
                Step::No if tries >= MAX_TRIES => return Step::Got(Err(mark)),
                Step::No => {}
            }
        }
        if !self.input.done {
            return Step::More;
        }
        let end = self.input.text.len();
        Step::Got(attempt(end).ok_or(end))
    }

    /// Whether only markup or nothing stands behind a closer.
    fn is_hard_end(&self, behind: usize) -> Step<()> {
        let next = self.gap(behind);
        if next >= self.input.text.len() {
            return if self.input.done { Step::Got(()) } else { Step::More };
        }
        match token::read(self.input.rest(next), self.input.done) {
            Step::Got(markup) if markup.closes() || markup.opens() => Step::Got(()),
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    /// The arguments of a call whose name is known, as JSON.
    fn arguments(&mut self, at: usize, head: &Head) -> Turn {
        let found = |end: usize, ending: Ending| {
            let call = self.raw(head, RawArguments::Text(at..end), end, ending, Form::Named);
            Turn::Got(Block::one(call))
        };
        match extent::json(self.input.text, at) {
            Extent::Whole(end) => {
                let json = &self.input.text[at..end];
                if crate::json::strict::check(json, crate::json::strict::MAX_DEPTH).is_ok()
                    || self.judge.mends(&head.name, json)
                {
                    return self.unwrapped(at, end, head).unwrap_or_else(|| found(end, Ending::Complete));
                }
            }
            Extent::Open | Extent::InString if !self.input.done => return Turn::More,
            _ => {}
        }
        let text = |end: usize| self.input.text[at..end].trim_end();
        match self.closers(at, |end| self.judge.mends(&head.name, text(end)).then_some(at + text(end).len()))
        {
            // Without a marker behind it, only the end of the output ends it: it may have been cut off.
            Step::Got(Ok(end)) if !self.input.rest(end).trim_start().is_empty() => {
                found(end, Ending::Complete)
            }
            Step::Got(Ok(end) | Err(end)) => found(end, Ending::Open),
            Step::More => Turn::More,
            Step::No => Turn::No,
        }
    }

    /// An envelope where only the arguments were expected, as one family writes it.
    fn unwrapped(&self, at: usize, end: usize, head: &Head) -> Option<Turn> {
        if self.name.is_none() && !self.area.seen.iter().any(|seen| seen == "<|content_invoke_tool_json|>") {
            return None;
        }
        let named = |name: &str| name == head.name || self.judge.tool(name);
        match envelope::read(&self.input.text[at..end], at, false, &named) {
            envelope::Reading::Calls(calls)
                if calls.len() == 1 && !calls[0].flat && !calls[0].bare && named(&calls[0].name) =>
            {
                Some(Turn::Got(self.enveloped(calls, end, false, Ending::Complete)))
            }
            _ => None,
        }
    }

    /// Arguments that are announced and are no object.
    fn plain_arguments(&mut self, at: usize, head: &Head) -> Turn {
        let rest = self.input.rest(at);
        if rest.starts_with('"') || rest.starts_with('\'') || rest.starts_with('[') {
            return self.arguments_text(at, head);
        }
        self.arguments_text(at, head)
    }

    fn arguments_text(&mut self, at: usize, head: &Head) -> Turn {
        match self.closers(at, Some) {
            Step::Got(Ok(end) | Err(end)) => {
                let range = at..at + self.input.text[at..end].trim_end().len();
                let ending = if end < self.input.text.len() { Ending::Complete } else { Ending::Open };
                let call = self.raw(head, RawArguments::Text(range), end, ending, Form::Named);
                Turn::Got(Block::one(call))
            }
            Step::More => Turn::More,
            Step::No => Turn::No,
        }
    }

    /// A call in a JSON string.
    fn encoded(&mut self, at: usize) -> Turn {
        let rest = self.input.rest(at);
        let Ok(end) = crate::json::strict::check_string(rest.as_bytes(), 0) else {
            return if self.input.done { Turn::No } else { Turn::More };
        };
        let Some(inner) = envelope::encoded(&rest[..end]) else { return Turn::No };
        let named = |name: &str| self.judge.tool(name);
        match envelope::read(&inner, 0, false, &named) {
            envelope::Reading::Calls(calls) => {
                let place = at..at + end;
                let calls = calls.into_iter().map(|call| envelope::lifted(call, &inner, &place));
                Turn::Got(self.enveloped(calls.collect(), at + end, true, Ending::Complete))
            }
            _ => Turn::No,
        }
    }
}

enum Turn {
    At(usize),
    Got(Block),
    More,
    No,
}

/// The address of the text at `at`, to tell where a part of it stands.
fn tag_start(text: &str, at: usize) -> usize {
    text[at..].as_ptr() as usize
}

/// A name without what leaked into it.
fn clean_name(name: &str) -> String {
    without_tokens(name).trim_matches(['"', '\'']).trim().to_owned()
}

/// A name without special tokens.
fn without_tokens(name: &str) -> String {
    // Tokens before the name, and everything from a token behind it.
    let mut name = name.trim();
    while let Some(behind) =
        name.strip_prefix("<|").and_then(|rest| rest.split_once("|>")).map(|(_, behind)| behind)
    {
        name = behind.trim_start();
    }
    name.split("<|").next().unwrap_or(name).trim().to_owned()
}

/// `functions.NAME:3` is a name and an id in one.
pub(crate) fn split_header(text: &str, known: impl Fn(&str) -> bool) -> (String, Option<String>) {
    let core = text.strip_prefix("functions.").unwrap_or(text);
    if known(core) && core == text {
        return (core.to_owned(), None);
    }
    // Clients that allow no dots and colons in ids teach the model to leave them out.
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
        _ if core.len() < text.len() => (core.to_owned(), Some(text.to_owned())),
        _ => (text.to_owned(), None),
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
