//! Calls whose arguments stand in tags of their own.
//!
//! No family escapes anything, so every closing tag can also be text. A closing tag counts where what follows it can
//! follow, and tags that are opened and closed inside a value stay inside. Only where no such end exists, and the output is
//! complete, is a closing tag taken for missing.

mod ambiguity;
mod end;

use self::end::{Closer, Found, follows};
use super::input::{Input, Step};
use super::raw_call::{Begun, Ending, Field, RawArguments, RawCall, Written};
use super::tag::Tag;
use super::token::{self, Markup, Role, Word};
use crate::json::strict;
use crate::verdict::Reason;

/// What becomes of arguments of which one may end too late.
const DOUBTFUL: RawArguments = RawArguments::Refused(
    Reason::Ambiguous,
    "a closing tag stands inside a value with another tag behind it, so nobody can tell where the value ends",
);

/// A call whose header was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    /// Where the call begins.
    pub(crate) at: usize,
    /// The place behind the header.
    pub(crate) body: usize,
    pub(crate) dialect: &'static str,
    pub(crate) damaged: bool,
    /// The word of the element that holds the arguments, where its children are named after the keys.
    pub(crate) element: Option<String>,
}

/// What is known about declared tools.
pub(crate) trait ToolLookup {
    /// Whether a declared tool is called so, more or less.
    fn tool(&self, name: &str) -> bool;
    /// Whether that tool declares this key. Nothing is known about tools that are not declared.
    fn key(&self, tool: &str, key: &str) -> Option<bool>;
    /// The longest declared name that the text begins with.
    fn name_before(&self, text: &str) -> Option<usize>;
    /// The only key that a single value can go to.
    fn main_key(&self, tool: &str) -> Option<String>;
}

struct Reader<'t, 'k> {
    input: Input<'t>,
    known: &'k dyn ToolLookup,
    call: Opened,
    fields: Vec<Field>,
    damaged: bool,
    /// The closing tag of a value was lost, so that its end is a guess.
    guessed: bool,
    /// A value may have ended before the place that was taken for its end.
    doubtful: bool,
    open: Option<Begun>,
}

/// Reads the arguments behind the header, and the closing tag.
pub(crate) fn read(input: Input<'_>, call: Opened, known: &dyn ToolLookup) -> Step<RawCall> {
    let damaged = call.damaged;
    Reader { input, known, call, fields: Vec::new(), damaged, guessed: false, doubtful: false, open: None }
        .run()
}

/// What the reader does next.
enum Next {
    At(usize),
    End(usize, Ending),
    Text(std::ops::Range<usize>, usize, Ending),
    More,
    No,
}

impl Reader<'_, '_> {
    fn run(mut self) -> Step<RawCall> {
        let mut at = self.call.body;
        loop {
            match self.next(at) {
                // Every turn has to get on.
                Next::At(behind) if behind > at => at = behind,
                // What was certain before stays so.
                Next::At(_) | Next::No if self.input.certain && !self.fields.is_empty() => {
                    let fields = std::mem::take(&mut self.fields);
                    return self.finish(RawArguments::Fields(fields), at, Ending::Cut);
                }
                Next::At(_) | Next::No => return Step::No,
                Next::More if self.input.certain && !self.call.name.is_empty() => {
                    let fields = std::mem::take(&mut self.fields);
                    let end = self.input.text.len();
                    return self.finish(RawArguments::Fields(fields), end, Ending::Cut);
                }
                Next::More => return Step::More,
                Next::End(end, ending) => {
                    let fields = std::mem::take(&mut self.fields);
                    return self.finish(RawArguments::Fields(fields), end, ending);
                }
                Next::Text(range, end, ending) => return self.finish(RawArguments::Text(range), end, ending),
            }
        }
    }

    fn finish(self, arguments: RawArguments, end: usize, ending: Ending) -> Step<RawCall> {
        // What looks like the end of the call may stand in a text that was cut off.
        let ending = if self.guessed && ending == Ending::Complete { Ending::Open } else { ending };
        let arguments = if self.doubtful && !self.input.certain { DOUBTFUL } else { arguments };
        let Opened { name, id, at, dialect, .. } = self.call;
        Step::Got(RawCall {
            name,
            id,
            arguments,
            at: at..end,
            ending,
            dialect,
            damaged: self.damaged,
            open: self.open,
        })
    }

    fn next(&mut self, at: usize) -> Next {
        let at = skip_gap(self.input, at);
        if at >= self.input.text.len() {
            // A header alone could have been followed by anything.
            let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Open };
            return if self.input.done { Next::End(at, ending) } else { Next::More };
        }
        let rest = self.input.rest(at);
        if self.input.done && token::is_half(rest, self.input.custom) {
            let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Open };
            return Next::End(self.input.text.len(), ending);
        }
        if !rest.starts_with(['<', ']', '[']) {
            return self.text(at);
        }
        if self.call.element.is_some() {
            match self.element(at) {
                Next::No => {}
                other => return other,
            }
        }
        match token::read(rest, self.input.done, self.input.custom) {
            Step::More => Next::More,
            Step::Got(Markup::Tag(tag, word)) => self.tag(at, &tag, word),
            Step::Got(Markup::Token { role: Role::Noise | Role::Part(_), len, .. }) => Next::At(at + len),
            Step::Got(markup) if markup.closes() => Next::End(at, Ending::Complete),
            Step::Got(_) => {
                self.damaged = true;
                Next::End(at, Ending::Complete)
            }
            Step::No => match self.element(at) {
                Next::No => self.text(at),
                other => other,
            },
        }
    }

    fn tag(&mut self, at: usize, tag: &Tag<'_>, word: Word) -> Next {
        let behind = at + tag.len;
        match (tag.close, word) {
            (true, Word::Call) => Next::End(behind, Ending::Complete),
            (true, Word::Frame | Word::Declarations) => Next::End(at, Ending::Complete),
            (true, Word::Result | Word::Think) => Next::End(at, Ending::Open),
            // A closing tag too many.
            (true, _) => {
                self.damaged |= word != Word::Arguments;
                Next::At(behind)
            }
            (false, Word::Parameter) => {
                self.damaged |= !token::is_spelt(tag.word);
                self.parameter(at, tag)
            }
            (false, Word::Key) => self.pair(behind),
            (false, Word::Separator | Word::Arguments) => Next::At(behind),
            (false, Word::Value) if self.fields.is_empty() => self.lone_value(behind),
            (false, Word::Frame) if self.fields.is_empty() => match self.is_half_pair(behind) {
                Step::Got(()) => {
                    self.damaged = true;
                    self.pair(behind)
                }
                Step::More => Next::More,
                // A header and another one: nothing says that this call was complete.
                Step::No => Next::End(at, Ending::Cut),
            },
            (false, Word::Name) if self.call.name.is_empty() => self.name(behind),
            (false, Word::Name | Word::Answer) => self.element(at),
            (false, Word::Call | Word::Frame) if !self.fields.is_empty() || !self.call.name.is_empty() => {
                self.damaged = true;
                let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Complete };
                Next::End(at, ending)
            }
            _ => Next::No,
        }
    }

    /// `f</tool_name>`: a name holds no tags, so the next one ends it.
    fn name(&mut self, from: usize) -> Next {
        let Some(length) = self.input.rest(from).find('<') else {
            return if self.input.done { Next::No } else { Next::More };
        };
        match self.input.markup(from + length) {
            Step::Got(Markup::Tag(tag, Word::Name)) if tag.close => {
                self.call.name = self.input.text[from..from + length].trim().to_owned();
                Next::At(from + length + tag.len)
            }
            Step::More => Next::More,
            _ => Next::No,
        }
    }

    /// `<parameter=key>value</parameter>` and its relatives.
    fn parameter(&mut self, at: usize, tag: &Tag<'_>) -> Next {
        let mut behind = at + tag.len;
        let Some(name) = tag.name().or_else(|| tag.attribute(&["key"])) else {
            return self.named_inside(behind);
        };
        // The same tag twice is one.
        let (again, doubled) = (self.input.skip_white(behind), &self.input.text[at..behind]);
        let rest = self.input.rest(again);
        if rest.starts_with(doubled) {
            self.damaged = true;
            behind = again + doubled.len();
        } else if !self.input.done && doubled.starts_with(rest) {
            return Next::More;
        }
        if name.contains(['\\', '"']) {
            return Next::No;
        }
        if tag.empty {
            self.push(name, String::new(), None, behind..behind);
            return Next::At(behind);
        }
        // `<parameter=key: value` without its `>`: the value stands in the header.
        if tag.damaged {
            self.damaged = true;
            if let Some((key, value)) = name.split_once([':', '=']).filter(|(key, _)| is_key(key)) {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                let close = skip_gap(self.input, behind);
                self.push(&key, value, None, at..behind);
                return Next::At(close.max(behind));
            }
            if !is_key(name) {
                return Next::No;
            }
            // `<parameter=keyvalue</parameter>`: nobody can tell the key from its value.
            let closed = self.input.skip_white(behind);
            self.doubtful |= self.input.rest(closed).starts_with("</");
        }
        let string = tag.attribute(&["string"]).or_else(|| tag.attribute(&["type"]));
        let string = string.map(|kind| matches!(kind, "true" | "string"));
        match self.value(behind, Closer::Argument(tag.word)) {
            Step::Got(found) => {
                let text = &self.input.text[behind..found.end];
                // Only one family has sections of characters; elsewhere they are text.
                let text = if tag.word == "param" { without_cdata(text) } else { text }.to_owned();
                self.ended(&found, behind, Closer::Argument(tag.word));
                self.push(name, text, string, behind..found.end);
                Next::At(found.behind)
            }
            Step::More => {
                self.begun(name, behind, string == Some(true));
                Next::More
            }
            Step::No => {
                self.begun(name, behind, string == Some(true));
                Next::End(self.input.text.len(), Ending::Cut)
            }
        }
    }

    /// `<parameter><name>k</name><value>v</value></parameter>`
    fn named_inside(&mut self, from: usize) -> Next {
        let element = |at: usize, word: &str| -> Step<(usize, usize, usize)> {
            let open = format!("<{word}>");
            let at = self.input.skip_white(at);
            let rest = self.input.rest(at);
            if !self.input.done && rest.len() < open.len() && open.starts_with(rest) {
                return Step::More;
            }
            if !rest.starts_with(&open) {
                return Step::No;
            }
            let start = at + open.len();
            self.value(start, Closer::Element(word)).map(|found| (start, found.end, found.behind))
        };
        let name = match element(from, "name") {
            Step::Got(name) => name,
            Step::More => return Next::More,
            Step::No => return Next::No,
        };
        let value = match element(name.2, "value") {
            Step::Got(value) => value,
            Step::More => return Next::More,
            Step::No => return Next::No,
        };
        let key = self.input.text[name.0..name.1].trim().to_owned();
        let text = self.input.text[value.0..value.1].to_owned();
        self.push(&key, text, None, value.0..value.1);
        Next::At(value.2)
    }

    /// Whether `key</arg_key>` stands here.
    fn is_half_pair(&self, at: usize) -> Step<()> {
        let rest = self.input.rest(at);
        let Some(length) = rest.find('<') else {
            return if self.input.done || rest.len() > 128 { Step::No } else { Step::More };
        };
        match token::read(&rest[length..], self.input.done, self.input.custom) {
            Step::Got(Markup::Tag(tag, Word::Key)) if tag.close && is_key(rest[..length].trim()) => {
                Step::Got(())
            }
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    /// A key, and the value in the next pair of tags.
    fn pair(&mut self, from: usize) -> Next {
        let rest = self.input.rest(from);
        let Some(length) = rest.find('<') else {
            return if self.input.done { Next::End(self.input.text.len(), Ending::Cut) } else { Next::More };
        };
        let key = rest[..length].trim().to_owned();
        let (mut at, mut lost) = (from + length, false);
        // What closes the key, opens the value, and whatever was doubled between them.
        loop {
            at = skip_gap(self.input, at);
            match self.input.markup(at) {
                Step::More => return Next::More,
                Step::Got(Markup::Tag(tag, Word::Key)) if tag.close => at += tag.len,
                Step::Got(Markup::Tag(tag, Word::Value)) if tag.close => {
                    self.damaged = true;
                    match self.value_follows(at + tag.len) {
                        Step::Got(()) => at += tag.len,
                        Step::More => return Next::More,
                        Step::No => break,
                    }
                }
                Step::Got(Markup::Tag(tag, Word::Value)) if !tag.close => {
                    at += tag.len;
                    break;
                }
                _ => {
                    self.damaged = true;
                    lost = true;
                    break;
                }
            }
        }
        if key.is_empty() || at >= self.input.text.len() && self.input.done {
            return Next::End(at, Ending::Cut);
        }
        self.doubtful |= key.contains('>');
        let next = self.pair_value(&key, at);
        if lost && let Some(field) = self.fields.last() {
            self.doubtful |= ambiguity::begins_in_wreck(field.value.text());
        }
        next
    }

    fn pair_value(&mut self, key: &str, at: usize) -> Next {
        match self.value(at, Closer::Word(Word::Value)) {
            Step::Got(found) => {
                let text = self.input.text[at..found.end].to_owned();
                self.ended(&found, at, Closer::Word(Word::Value));
                self.push(key, text, None, at..found.end);
                Next::At(found.behind)
            }
            Step::More => {
                self.begun(key, at, false);
                Next::More
            }
            Step::No => {
                self.begun(key, at, false);
                Next::End(self.input.text.len(), Ending::Cut)
            }
        }
    }

    /// Whether the value's opening tag still comes: the key was closed by the wrong tag.
    fn value_follows(&self, at: usize) -> Step<()> {
        let at = skip_gap(self.input, at);
        match self.input.markup(at) {
            Step::Got(Markup::Tag(tag, Word::Value)) if !tag.close => Step::Got(()),
            Step::More => Step::More,
            _ if at >= self.input.text.len() && !self.input.done => Step::More,
            _ => Step::No,
        }
    }

    /// A value without any key goes to the only place that it can go to.
    fn lone_value(&mut self, at: usize) -> Next {
        match self.known.main_key(&self.call.name) {
            Some(key) => {
                self.damaged = true;
                self.pair_value(&key, at)
            }
            None => Next::No,
        }
    }

    /// `<key>value</key>` where elements are named after the keys.
    fn element(&mut self, at: usize) -> Next {
        let offset = if self.input.rest(at).starts_with(token::MINIMAX) { token::MINIMAX.len() } else { 0 };
        let start = self.input.skip_white(at + offset);
        let rest = self.input.rest(start);
        if !rest.starts_with('<') {
            return Next::No;
        }
        let tag = match super::tag::read(rest, self.input.done) {
            Step::Got(tag) => tag,
            Step::More => return Next::More,
            Step::No => return Next::No,
        };
        if tag.close {
            let own = self.call.element.as_deref() == Some(tag.word);
            return if own { Next::End(start + tag.len, Ending::Complete) } else { Next::No };
        }
        // The next call begins, and the tag that closes this one was lost.
        let declared = self.known.key(&self.call.name, tag.word) == Some(true);
        if self.call.element.is_some() && !declared && self.known.tool(tag.word) {
            self.damaged = true;
            let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Open };
            return Next::End(at, ending);
        }
        let foreign = matches!(
            self.input.custom.meaning(tag.word),
            Some(Word::Parameter | Word::Key | Word::Value | Word::Frame | Word::Call)
        );
        if foreign || tag.equals.is_some() || !tag.attributes.is_empty() {
            return Next::No;
        }
        let behind = start + tag.len;
        if tag.empty {
            self.push(tag.word, String::new(), None, behind..behind);
            return Next::At(behind);
        }
        // One element that only holds the others.
        if self.input.custom.meaning(tag.word) == Some(Word::Arguments)
            && self.known.key(&self.call.name, tag.word) != Some(true)
            && self.fields.is_empty()
        {
            return Next::At(behind);
        }
        match self.value(behind, Closer::Element(tag.word)) {
            Step::Got(found) => {
                let text = self.input.text[behind..found.end].to_owned();
                self.ended(&found, behind, Closer::Element(tag.word));
                self.push(tag.word, text, None, behind..found.end);
                Next::At(found.behind)
            }
            Step::More => Next::More,
            Step::No => Next::End(self.input.text.len(), Ending::Cut),
        }
    }

    /// Text where a tag should be: the arguments as JSON, or the only argument without its tag.
    fn text(&mut self, at: usize) -> Next {
        if !self.fields.is_empty() {
            return Next::No;
        }
        // JSON knows its own end, so that tags inside its strings do not count.
        let extent = match self.input.byte(at) {
            Some(b'{') if self.input.certain => {
                return Next::Text(at..self.input.text.len(), self.input.text.len(), Ending::Cut);
            }
            Some(b'{') => match super::json_extent::measure(self.input.text, at) {
                // Without strict quotes the brackets may be those of a text that goes on.
                super::json_extent::Extent::Whole(end) if self.goes_on(at, end) => {
                    super::json_extent::Extent::Broken(at)
                }
                extent => extent,
            },
            _ => super::json_extent::Extent::Broken(at),
        };
        if extent == super::json_extent::Extent::Open && !self.input.done {
            return Next::More;
        }
        if let super::json_extent::Extent::Whole(end) = extent {
            let close = skip_gap(self.input, end);
            if let Some(element) = &self.call.element {
                let rest = self.input.rest(close);
                return match self.input.byte(close) {
                    Some(b'<') => match super::tag::read(rest, self.input.done) {
                        Step::Got(tag) if tag.close && tag.word == element => {
                            Next::Text(at..end, close + tag.len, Ending::Complete)
                        }
                        Step::More => Next::More,
                        _ if self.input.done && token::is_half(rest, self.input.custom) => {
                            Next::Text(at..end, self.input.text.len(), Ending::Unclosed)
                        }
                        _ => Next::No,
                    },
                    Some(_) => Next::No,
                    None if self.input.done => Next::Text(at..end, end, Ending::Unclosed),
                    None => Next::More,
                };
            }
            return match self.input.markup(close) {
                Step::More => Next::More,
                Step::Got(Markup::Tag(tag, Word::Call)) if tag.close => {
                    Next::Text(at..end, close + tag.len, Ending::Complete)
                }
                // The tag that closes the call has lost its slash.
                Step::Got(Markup::Tag(tag, Word::Call)) if tag.is_bare() => {
                    let behind = skip_gap(self.input, close + tag.len);
                    match self.input.byte(behind) {
                        None if !self.input.done => Next::More,
                        Some(b'{' | b'[') => Next::Text(at..end, end, Ending::Complete),
                        Some(b'<') if self.input.rest(behind).starts_with("<name") => {
                            Next::Text(at..end, end, Ending::Complete)
                        }
                        _ => {
                            self.damaged = true;
                            Next::Text(at..end, close + tag.len, Ending::Complete)
                        }
                    }
                }
                // What stands before the closing tag belongs to the arguments, and is judged with them.
                Step::No if close < self.input.text.len() => match self.closing_tag(close) {
                    Step::Got((tag, behind)) => Next::Text(at..tag, behind, Ending::Complete),
                    Step::More => Next::More,
                    Step::No => Next::Text(at..end, end, Ending::Complete),
                },
                _ if close < self.input.text.len() => Next::Text(at..end, end, Ending::Complete),
                _ if self.input.done => Next::Text(at..end, end, Ending::Unclosed),
                _ => Next::More,
            };
        }
        let mut from = at;
        while let Some(offset) = self.input.rest(from).find('<') {
            let tag_at = from + offset;
            match self.input.markup(tag_at) {
                Step::More => return Next::More,
                Step::Got(markup) if markup.closes() => {
                    match follows(self.input, tag_at + markup.len(), None) {
                        Step::Got(()) => {
                            let call = matches!(&markup, Markup::Tag(_, Word::Call));
                            let end = if call { tag_at + markup.len() } else { tag_at };
                            let text = &self.input.text[at..tag_at];
                            self.doubtful |=
                                !text.starts_with('{') && ambiguity::holds_arguments(text, self.input.custom);
                            return Next::Text(at..tag_at, end, Ending::Complete);
                        }
                        Step::More => return Next::More,
                        Step::No => from = tag_at + 1,
                    }
                }
                // A call opened inside a text that has not ended: an example, or a closing tag lost.
                Step::Got(markup) if markup.opens() && self.input.byte(at) == Some(b'{') => {
                    return Next::Text(at..tag_at, tag_at, Ending::Open);
                }
                _ => {
                    let own = self.call.element.as_ref().map(|word| format!("</{word}>"));
                    if own.as_ref().is_some_and(|own| self.input.rest(tag_at).starts_with(own)) {
                        return Next::Text(
                            at..tag_at,
                            tag_at + own.map_or(0, |own| own.len()),
                            Ending::Complete,
                        );
                    }
                    from = tag_at + 1;
                }
            }
        }
        if !self.input.done {
            return Next::More;
        }
        if self.input.byte(at) == Some(b'{') {
            return Next::Text(at..self.input.text.len(), self.input.text.len(), Ending::Open);
        }
        Next::No
    }

    /// Whether text follows directly behind an object that is not strict.
    fn goes_on(&self, at: usize, end: usize) -> bool {
        let next = self.input.rest(end).chars().next();
        next.is_some_and(|ch| ch != '<' && !ch.is_whitespace())
            && strict::check(&self.input.text[at..end], strict::MAX_DEPTH).is_err()
    }

    /// The tag that closes the call, where nothing else begins before it.
    fn closing_tag(&self, from: usize) -> Step<(usize, usize)> {
        const REACH: usize = 2048;
        let mut at = from;
        while let Some(offset) = self.input.rest(at).find('<') {
            at += offset;
            if at > from + REACH {
                return Step::No;
            }
            match self.input.markup(at) {
                Step::More => return Step::More,
                Step::Got(Markup::Tag(tag, Word::Call)) if tag.close => return Step::Got((at, at + tag.len)),
                Step::Got(markup) if markup.opens() || markup.closes() => return Step::No,
                _ => at += 1,
            }
        }
        let more = !self.input.done && self.input.text.len() <= from + REACH;
        if more { Step::More } else { Step::No }
    }

    /// A value ends here, which began at `from`.
    fn ended(&mut self, found: &Found, from: usize, closer: Closer<'_>) {
        self.damaged |= found.damaged;
        self.guessed |= found.damaged;
        let value = &self.input.text[from..found.end];
        self.doubtful |= ambiguity::is_doubtful(value, closer, self.input.custom)
            || found.damaged && (ambiguity::ends_in_wreck(value) || self.swallows(value, closer));
    }

    /// Whether the elements of other arguments stand in one whose closing tag was lost.
    fn swallows(&self, value: &str, closer: Closer<'_>) -> bool {
        let element = |at: usize| match super::tag::read(&value[at..], true) {
            Step::Got(tag) => !tag.close && self.known.key(&self.call.name, tag.word) == Some(true),
            _ => false,
        };
        matches!(closer, Closer::Element(_)) && value.match_indices('<').any(|(at, _)| element(at))
    }

    fn begun(&mut self, key: &str, at: usize, verbatim: bool) {
        let verbatim = verbatim || self.call.dialect == super::untyped_values::VERBATIM;
        self.open = Some(Begun { key: key.to_owned(), at, verbatim });
    }

    fn push(&mut self, key: &str, text: String, string: Option<bool>, at: std::ops::Range<usize>) {
        let key = key.trim().trim_matches(['"', '\'']).trim().to_owned();
        if self.fields.iter().any(|field| field.key == key) {
            // The first one may have been told already; it stays.
            self.damaged = true;
            return;
        }
        let value = match string {
            Some(true) => Written::String(text),
            Some(false) | None if self.call.dialect == super::untyped_values::VERBATIM => {
                Written::Verbatim(text)
            }
            Some(false) | None => Written::Untyped(text),
        };
        self.fields.push(Field { key, value, at });
    }
}

/// The text inside a section of characters.
fn without_cdata(text: &str) -> &str {
    text.trim().strip_prefix("<![CDATA[").and_then(|inner| inner.strip_suffix("]]>")).unwrap_or(text)
}

/// Whether a text can be the key of an argument.
fn is_key(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 128
        && !text.contains(|ch: char| ch.is_whitespace() || "<>\"'{}[](),;".contains(ch))
}

/// White space between tags, and line breaks that were written as two characters.
fn skip_gap(input: Input<'_>, mut at: usize) -> usize {
    loop {
        at = input.skip_white(at);
        if !input.rest(at).starts_with("\\n") {
            return at;
        }
        at += 2;
    }
}
