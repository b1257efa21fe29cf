//! Calls whose arguments are in their own tags.
//!
//! A call is read tag by tag, from its header to its closing tag. `end` finds the end of each value, `ambiguity`
//! refuses calls whose values may end elsewhere, and `body_text` handles bodies without tags. Nothing here knows the
//! type of a value.

mod ambiguity;
mod body_text;
mod end;
mod layout;
mod seen_fields;

use self::end::{Closer, ClosingTags, ValueEnd};
use self::layout::Layout;
use self::seen_fields::SeenFields;
use super::escaped_words;
use super::input::{Input, Step};
use super::marker_remains;
use super::raw_call::{Ending, Field, OpenArgument, RawArguments, RawCall, RawValue};
use super::table::{Dialect, Form, Values};
use super::tag::{Style, Tag};
use super::token::{self, Markup, Role, Word};
use crate::json::strict;
use crate::verdict::Reason;

/// A longer type is text.
const MAX_TYPE: usize = 128;

/// The arguments of a call in which the end of a value is ambiguous.
const AMBIGUOUS: RawArguments = RawArguments::Refused(
    Reason::Ambiguous,
    "a value contains a closing tag with another tag after it, so its end is not known",
);

/// The header of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallHeader {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    /// Where the call begins.
    pub(crate) at: usize,
    /// The position after the header.
    pub(crate) body: usize,
    pub(crate) dialect: &'static Dialect,
    pub(crate) damaged: bool,
    /// The word of the element that contains the arguments, if its children are named after the keys.
    pub(crate) element: Option<String>,
    /// The model stopped by itself, so nothing at the end is truncated.
    pub(crate) stopped: bool,
}

/// What readers need to know about the declared tools.
pub(crate) trait ToolLookup {
    /// Whether a declared tool has this name, allowing for known distortions.
    fn has_tool(&self, name: &str) -> bool;
    /// Whether that tool declares this key. `None` if the tool is not declared.
    fn declares_key(&self, tool: &str, key: &str) -> Option<bool>;
    /// The length of the longest declared name that the text begins with.
    fn longest_name_prefix(&self, text: &str) -> Option<usize>;
    /// The only key that a single value can belong to.
    fn main_key(&self, tool: &str) -> Option<String>;
    /// Counts what reading costs, in bytes that could be looked at meanwhile, if the output pays for it.
    fn pay(&self, work: usize);
}

/// What it costs to read what is next in a call.
const STEP: usize = 32;

struct Reader<'t, 'k> {
    input: Input<'t>,
    known: &'k dyn ToolLookup,
    call: CallHeader,
    fields: Vec<Field>,
    seen: SeenFields,
    closing_tags: ClosingTags,
    damaged: bool,
    /// The closing tag of a value was lost, so its end is a guess.
    end_is_guessed: bool,
    /// The end of a value is ambiguous.
    ambiguous: bool,
    /// Why the layout leaves a value in doubt.
    doubt: Option<&'static str>,
    open: Option<OpenArgument>,
}

/// Reads the arguments after the header, and the closing tag.
pub(crate) fn read(input: Input<'_>, call: CallHeader, known: &dyn ToolLookup) -> Step<RawCall> {
    let damaged = call.damaged;
    let closing_tags = ClosingTags::new(input.text.len().saturating_sub(call.body));
    Reader {
        input,
        known,
        call,
        fields: Vec::new(),
        seen: SeenFields::default(),
        closing_tags,
        damaged,
        end_is_guessed: false,
        ambiguous: false,
        doubt: None,
        open: None,
    }
    .read()
}

/// How far the reader got.
enum Progress {
    At(usize),
    End(usize, Ending),
    Text(std::ops::Range<usize>, usize, Ending),
    More,
    No,
}

impl Reader<'_, '_> {
    fn read(mut self) -> Step<RawCall> {
        let mut at = self.call.body;
        loop {
            self.known.pay(STEP);
            let next = self.read_next(at);
            // What was found after the search was given up means nothing.
            if self.closing_tags.is_exhausted() {
                return Step::No;
            }
            match next {
                // Every step must advance, or the loop would not end.
                Progress::At(after) if after > at => at = after,
                // What was final before stays final.
                Progress::At(_) | Progress::No if self.input.stable_only && !self.fields.is_empty() => {
                    let fields = std::mem::take(&mut self.fields);
                    return self.finish(RawArguments::Fields(fields), at, Ending::Cut);
                }
                Progress::At(_) | Progress::No => return Step::No,
                Progress::More if self.input.stable_only && !self.call.name.is_empty() => {
                    let fields = std::mem::take(&mut self.fields);
                    let end = self.input.text.len();
                    return self.finish(RawArguments::Fields(fields), end, Ending::Cut);
                }
                Progress::More => return Step::More,
                Progress::End(end, ending) => {
                    let fields = std::mem::take(&mut self.fields);
                    return self.finish(RawArguments::Fields(fields), end, ending);
                }
                Progress::Text(range, end, ending) => {
                    return self.finish(RawArguments::Text(range), end, ending);
                }
            }
        }
    }

    fn finish(self, arguments: RawArguments, end: usize, ending: Ending) -> Step<RawCall> {
        // What looks like the end of the call may be part of a truncated text.
        let ending = if self.end_is_guessed && ending == Ending::Complete { Ending::Open } else { ending };
        let arguments = match self.doubt {
            _ if self.input.stable_only => arguments,
            Some(why) => RawArguments::Refused(Reason::Ambiguous, why),
            None if self.ambiguous => AMBIGUOUS,
            None => arguments,
        };
        let CallHeader { name, id, at, dialect, .. } = self.call;
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

    fn read_next(&mut self, at: usize) -> Progress {
        let at = skip_gap(self.input, at);
        if at >= self.input.text.len() {
            // Anything could have followed a header alone.
            let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Open };
            return if self.input.done { Progress::End(at, ending) } else { Progress::More };
        }
        let rest = self.input.rest(at);
        if self.input.done && token::is_half(rest, self.input.custom) {
            // Case: dialects/anthropic_xml/half-an-opening-tag
            let closes = token::is_half_closer(rest, self.input.custom);
            let ending = if self.fields.is_empty() || !closes { Ending::Cut } else { Ending::Open };
            return Progress::End(self.input.text.len(), ending);
        }
        if !rest.starts_with(['<', ']', '[']) {
            return self.read_text(at);
        }
        if self.call.element.is_some() {
            match self.read_element(at) {
                Progress::No => {}
                other => return other,
            }
        }
        match token::read(rest, self.input.done, self.input.custom) {
            Step::More => Progress::More,
            Step::Got(Markup::Tag(tag, word)) => self.read_tag(at, &tag, word),
            Step::Got(Markup::Token { role: Role::Noise | Role::Part(_), len, .. }) => Progress::At(at + len),
            Step::Got(markup) if markup.closes() => Progress::End(at, Ending::Complete),
            Step::Got(_) => {
                self.damaged = true;
                Progress::End(at, Ending::Complete)
            }
            Step::No => match self.read_element(at) {
                Progress::No => self.read_text(at),
                other => other,
            },
        }
    }

    fn read_tag(&mut self, at: usize, tag: &Tag<'_>, word: Word) -> Progress {
        let after = at + tag.len;
        match (tag.close, word) {
            (true, Word::Call | Word::Frame | Word::Declarations) => {
                match self.find_own_end(after, tag, word) {
                    Step::Got((end, ending)) => Progress::End(end, ending),
                    Step::More => Progress::More,
                    Step::No if word == Word::Call => match self.argument_follows(after) {
                        Step::Got(()) => {
                            self.ambiguous = true;
                            Progress::At(after)
                        }
                        Step::More => Progress::More,
                        Step::No => Progress::End(after, Ending::Complete),
                    },
                    Step::No => Progress::End(at, Ending::Complete),
                }
            }
            (true, Word::Result | Word::Think) => Progress::End(at, Ending::Open),
            // One closing tag too many.
            // Case: dialects/qwen3_xml/malformed-double-closer
            (true, _) => {
                self.damaged |= word != Word::Arguments;
                Progress::At(after)
            }
            (false, Word::Parameter) => {
                let is_misspelt = !self.input.custom.is_spelt(tag);
                let undeclared = |key: &str| self.known.declares_key(&self.call.name, key) == Some(false);
                self.ambiguous |= is_misspelt && tag.name().is_some_and(undeclared);
                self.damaged |= is_misspelt;
                self.ambiguous |= tag.contradicts_itself();
                self.read_parameter(at, tag)
            }
            (false, Word::Key) => self.read_pair(after),
            (false, Word::Separator | Word::Arguments) => Progress::At(after),
            (false, Word::Value) if self.fields.is_empty() => self.read_lone_value(after),
            (false, Word::Frame) if self.fields.is_empty() => match self.is_half_pair(after) {
                Step::Got(()) => {
                    self.damaged = true;
                    self.read_pair(after)
                }
                Step::More => Progress::More,
                // Two headers in a row: nothing shows that this call was complete.
                Step::No => Progress::End(at, Ending::Cut),
            },
            (false, Word::Name) if self.call.name.is_empty() => self.read_name(after),
            (false, Word::Name | Word::Answer) => self.read_element(at),
            (false, Word::Call | Word::Frame) if !self.fields.is_empty() || !self.call.name.is_empty() => {
                self.damaged = true;
                let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Complete };
                Progress::End(at, ending)
            }
            _ => Progress::No,
        }
    }

    /// Whether another argument follows the tag that closes the call. Then the tag came too early, or it is part of a value.
    // `tests/call_reading.rs` has calls that go on.
    fn argument_follows(&self, after: usize) -> Step<()> {
        let at = skip_gap(self.input, after);
        if self.input.stable_only || at >= self.input.text.len() {
            let is_open = !self.input.stable_only && !self.input.done;
            return if is_open { Step::More } else { Step::No };
        }
        match self.input.markup(at) {
            Step::Got(Markup::Tag(tag, Word::Parameter | Word::Key)) if !tag.close => Step::Got(()),
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    /// The end of the call where a tag closes it that another family writes, if that tag is part of a value: a tag of its own
    /// closes the call later, without being opened again, or may have been cut off.
    // Case: dialects/seed_oss/call-of-others-in-value
    fn find_own_end(&mut self, after: usize, closer: &Tag<'_>, meaning: Word) -> Step<(usize, Ending)> {
        let header = self.call.at.min(self.call.body)..self.call.body;
        let Some(open) = self.input.text[header.clone()].rfind('<') else { return Step::No };
        let opener = match token::read(&self.input.text[header.start + open..], true, self.input.custom) {
            Step::Got(Markup::Tag(opener, word)) if word == meaning && !opener.close => opener,
            _ => return Step::No,
        };
        let is_own =
            |tag: &Tag<'_>| tag.word.eq_ignore_ascii_case(opener.word) && tag.style() == opener.style();
        if is_own(closer) || self.input.stable_only {
            return Step::No;
        }
        for (offset, _) in self.input.rest(after).match_indices('<') {
            match self.input.tag(after + offset) {
                Step::Got((tag, _)) if is_own(&tag) && tag.close => {
                    self.ambiguous = true;
                    return Step::Got((after + offset + tag.len, Ending::Complete));
                }
                Step::Got((tag, _)) if is_own(&tag) => return Step::No,
                Step::More => return Step::More,
                _ => {}
            }
        }
        match (self.input.done, self.call.stopped) {
            (false, _) => Step::More,
            (true, true) => Step::No,
            (true, false) => Step::Got((self.input.text.len(), Ending::Cut)),
        }
    }

    /// Reads `f</tool_name>`. A name contains no tags, so the next tag ends it.
    fn read_name(&mut self, from: usize) -> Progress {
        let Some(length) = self.input.rest(from).find('<') else {
            return if self.input.done { Progress::No } else { Progress::More };
        };
        match self.input.markup(from + length) {
            Step::Got(Markup::Tag(tag, Word::Name)) if tag.close => {
                self.call.name = self.input.text[from..from + length].trim().to_owned();
                Progress::At(from + length + tag.len)
            }
            Step::More => Progress::More,
            _ => Progress::No,
        }
    }

    /// Reads `<parameter=key>value</parameter>` and its relatives.
    fn read_parameter(&mut self, at: usize, tag: &Tag<'_>) -> Progress {
        let mut after = at + tag.len;
        let Some(name) = tag.name().or_else(|| tag.attribute(&["key"])) else {
            return self.read_named_inside(after);
        };
        // The same tag twice counts once.
        // Case: dialects/qwen3_xml/doubled-parameter-tag
        let (again, doubled) = (self.input.skip_whitespace(after), &self.input.text[at..after]);
        let rest = self.input.rest(again);
        if rest.starts_with(doubled) {
            self.damaged = true;
            after = again + doubled.len();
        } else if !self.input.done && doubled.starts_with(rest) {
            return Progress::More;
        }
        if name.contains(['\\', '"']) {
            return Progress::No;
        }
        if tag.empty {
            self.push_field(name, String::new(), None, after..after);
            return Progress::At(after);
        }
        // `<parameter=key: value` without its `>`: the value is in the header.
        // Case: dialects/qwen3_xml/malformed-header
        if tag.damaged {
            self.damaged = true;
            if let Some((key, value)) = name.split_once([':', '=']).filter(|(key, _)| is_key(key)) {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                let close = skip_gap(self.input, after);
                self.push_field(&key, value, None, at..after);
                return Progress::At(close.max(after));
            }
            if !is_key(name) {
                return Progress::No;
            }
            // `<parameter=keyvalue</parameter>`: the key cannot be separated from its value.
            let closed = self.input.skip_whitespace(after);
            self.ambiguous |= self.input.rest(closed).starts_with("</");
        }
        self.ambiguous |= ambiguity::holds_text_after(tag) || name.starts_with(['=', ':']);
        let string = tag.attribute(&["string"]).or_else(|| tag.attribute(&["type"]));
        let string = string.and_then(is_string_type);
        match self.find_value_end(after, Closer::of_argument(tag)) {
            Step::Got(found) => {
                let text = &self.input.text[after..found.end];
                // Only one family writes CDATA sections. In all others they are text.
                // Case: dialects/minicpm5/truncated
                let text = if tag.word == "param" { without_cdata(text) } else { text }.to_owned();
                self.note_value_end(&found, after, Closer::of_argument(tag));
                let is_verbatim = string == Some(true) || self.call.dialect.has_verbatim_values;
                match layout::find(self.input.text, at, &(after..found.end)) {
                    Layout::Indented(text) if !is_verbatim => {
                        self.damaged = true;
                        self.push_field(name, text, string, after..found.end);
                    }
                    Layout::Doubtful(why) if !is_verbatim => {
                        self.doubt = Some(why);
                        self.push_field(name, text, string, after..found.end);
                    }
                    _ => self.push_field(name, text, string, after..found.end),
                }
                Progress::At(found.after)
            }
            Step::More => {
                // How such a value is laid out is seen at its end.
                if !layout::is_laid_out(self.input.text, at) {
                    self.note_open_argument(name, after, string == Some(true));
                }
                Progress::More
            }
            Step::No => {
                self.note_open_argument(name, after, string == Some(true));
                Progress::End(self.input.text.len(), Ending::Cut)
            }
        }
    }

    /// Reads `<parameter><name>k</name><value>v</value></parameter>`.
    fn read_named_inside(&mut self, from: usize) -> Progress {
        let element = |at: usize, word: &str| -> Step<(usize, usize, usize)> {
            let open = format!("<{word}>");
            let at = self.input.skip_whitespace(at);
            let rest = self.input.rest(at);
            if !self.input.done && rest.len() < open.len() && open.starts_with(rest) {
                return Step::More;
            }
            if !rest.starts_with(&open) {
                return Step::No;
            }
            let start = at + open.len();
            self.find_value_end(start, Closer::Element(word)).map(|found| (start, found.end, found.after))
        };
        let name = match element(from, "name") {
            Step::Got(name) => name,
            Step::More => return Progress::More,
            Step::No => return Progress::No,
        };
        let value = match element(name.2, "value") {
            Step::Got(value) => value,
            Step::More => return Progress::More,
            Step::No => return Progress::No,
        };
        let key = self.input.text[name.0..name.1].trim().to_owned();
        let text = self.input.text[value.0..value.1].to_owned();
        self.push_field(&key, text, None, value.0..value.1);
        Progress::At(value.2)
    }

    /// Whether `key</arg_key>` is here.
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

    /// Reads a key, and the value in the next pair of tags.
    fn read_pair(&mut self, from: usize) -> Progress {
        let rest = self.input.rest(from);
        let Some(length) = rest.find('<') else {
            return if self.input.done {
                Progress::End(self.input.text.len(), Ending::Cut)
            } else {
                Progress::More
            };
        };
        let key = rest[..length].trim().to_owned();
        let (mut at, mut lost, mut string, mut style) = (from + length, false, None, None);
        // Skips the tag that closes the key, the one that opens the value, and whatever is doubled between them.
        // Case: dialects/glm47/malformed
        loop {
            at = skip_gap(self.input, at);
            match self.input.markup(at) {
                Step::More => return Progress::More,
                Step::Got(Markup::Tag(tag, Word::Key)) if tag.close => at += tag.len,
                Step::Got(Markup::Tag(tag, Word::Type)) if !tag.close => match self.read_type(at + tag.len) {
                    Step::Got((is_string, after)) => {
                        string = is_string;
                        at = after;
                    }
                    Step::More => return Progress::More,
                    Step::No => return Progress::No,
                },
                Step::Got(Markup::Tag(tag, Word::Value)) if tag.close => {
                    self.damaged = true;
                    match self.value_follows(at + tag.len) {
                        Step::Got(()) => at += tag.len,
                        Step::More => return Progress::More,
                        Step::No => return self.read_joined_pair(&key, from..at, at + tag.len),
                    }
                }
                Step::Got(Markup::Tag(tag, Word::Value)) if !tag.close => {
                    let key_at = self.input.text[..from].rfind('<').unwrap_or(from);
                    let key_tag = &self.input.text[key_at..from];
                    self.ambiguous |= !ambiguity::has_suffix_of(&self.input.text[at..at + tag.len], key_tag);
                    style = Some(tag.style());
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
            return Progress::End(at, Ending::Cut);
        }
        self.ambiguous |= key.contains('>');
        let next = self.read_pair_value(&key, string, at, style);
        if lost && let Some(field) = self.fields.last() {
            self.ambiguous |= marker_remains::begins_in(field.value.text());
        }
        next
    }

    /// Reads `key=value</arg_value>`: the tags between key and value were lost. The equals sign is evidence only after a
    /// key of the tool, and a key that the tool does not have may contain the value.
    // Case: dialects/glm47/key-equals-value
    fn read_joined_pair(&mut self, key: &str, place: std::ops::Range<usize>, after: usize) -> Progress {
        let declares = |key: &str| self.known.declares_key(&self.call.name, key);
        if let Some((key, value)) = key.split_once('=').filter(|(key, _)| declares(key.trim()) == Some(true))
        {
            self.push_field(key, value.to_owned(), None, place);
        } else {
            self.ambiguous |= declares(key) == Some(false);
            self.push_field(key, String::new(), None, place);
        }
        Progress::At(after)
    }

    /// Reads `integer</arg_type>`. Returns whether the type is `string`, and the position after the closing tag.
    // Case: dialects/k2_horizon_typed/single
    fn read_type(&self, from: usize) -> Step<(Option<bool>, usize)> {
        let rest = self.input.rest(from);
        let Some(length) = rest.find('<') else {
            return if self.input.done || rest.len() > MAX_TYPE { Step::No } else { Step::More };
        };
        match self.input.markup(from + length) {
            Step::Got(Markup::Tag(tag, Word::Type)) if tag.close => {
                Step::Got((is_string_type(rest[..length].trim()), from + length + tag.len))
            }
            Step::More => Step::More,
            _ => Step::No,
        }
    }

    fn read_pair_value(
        &mut self,
        key: &str,
        string: Option<bool>,
        at: usize,
        style: Option<Style<'_>>,
    ) -> Progress {
        let closer = Closer::Word(Word::Value, style);
        match self.find_value_end(at, closer) {
            Step::Got(found) => {
                let text = self.input.text[at..found.end].to_owned();
                self.note_value_end(&found, at, closer);
                self.push_field(key, text, string, at..found.end);
                Progress::At(found.after)
            }
            Step::More => {
                self.note_open_argument(key, at, string == Some(true));
                Progress::More
            }
            Step::No => {
                self.note_open_argument(key, at, string == Some(true));
                Progress::End(self.input.text.len(), Ending::Cut)
            }
        }
    }

    /// Whether the value's opening tag is still to come, because the key was closed by the wrong tag.
    fn value_follows(&self, at: usize) -> Step<()> {
        let at = skip_gap(self.input, at);
        match self.input.markup(at) {
            Step::Got(Markup::Tag(tag, Word::Value)) if !tag.close => Step::Got(()),
            Step::More => Step::More,
            _ if at >= self.input.text.len() && !self.input.done => Step::More,
            _ => Step::No,
        }
    }

    /// A value without a key belongs to the only key that can take it.
    fn read_lone_value(&mut self, at: usize) -> Progress {
        match self.known.main_key(&self.call.name) {
            Some(key) => {
                self.damaged = true;
                self.read_pair_value(&key, None, at, None)
            }
            None => Progress::No,
        }
    }

    /// Reads `<key>value</key>`, in notations that name elements after keys.
    fn read_element(&mut self, at: usize) -> Progress {
        let offset = if self.input.rest(at).starts_with(token::MINIMAX) { token::MINIMAX.len() } else { 0 };
        let start = self.input.skip_whitespace(at + offset);
        let rest = self.input.rest(start);
        if !rest.starts_with('<') {
            return Progress::No;
        }
        let (tag, meaning) = match self.input.tag(start) {
            Step::Got(found) => found,
            Step::More => return Progress::More,
            Step::No => return Progress::No,
        };
        if tag.close {
            let own = self.call.element.as_deref() == Some(tag.word);
            return if own { Progress::End(start + tag.len, Ending::Complete) } else { Progress::No };
        }
        // The next call begins: the tag that closes this one was lost.
        let declared = self.known.declares_key(&self.call.name, tag.word) == Some(true);
        if self.call.element.is_some() && !declared && self.known.has_tool(tag.word) {
            self.damaged = true;
            let ending = if self.fields.is_empty() { Ending::Cut } else { Ending::Open };
            return Progress::End(at, ending);
        }
        let foreign =
            matches!(meaning, Some(Word::Parameter | Word::Key | Word::Value | Word::Frame | Word::Call));
        if foreign || tag.equals.is_some() || !tag.attributes.is_empty() {
            return Progress::No;
        }
        let after = start + tag.len;
        // In a notation that does not name elements after keys, an unknown element is a misspelt marker.
        let is_marker = self.known.declares_key(&self.call.name, tag.word) == Some(false)
            || self.call.dialect.form == Form::Pairs && !declared;
        self.ambiguous |= self.call.element.is_none() && is_marker && meaning.is_none();
        if tag.empty {
            self.push_field(tag.word, String::new(), None, after..after);
            return Progress::At(after);
        }
        // One element that only contains the others.
        if meaning == Some(Word::Arguments)
            && self.known.declares_key(&self.call.name, tag.word) != Some(true)
            && self.fields.is_empty()
        {
            return Progress::At(after);
        }
        match self.find_value_end(after, Closer::Element(tag.word)) {
            Step::Got(found) => {
                let text = self.input.text[after..found.end].to_owned();
                self.note_value_end(&found, after, Closer::Element(tag.word));
                self.push_field(tag.word, text, None, after..found.end);
                Progress::At(found.after)
            }
            Step::More => Progress::More,
            Step::No => Progress::End(self.input.text.len(), Ending::Cut),
        }
    }

    /// Notes how the value that began at `from` ends.
    fn note_value_end(&mut self, found: &ValueEnd, from: usize, closer: Closer<'_>) {
        self.damaged |= found.damaged;
        self.end_is_guessed |= found.damaged;
        let value = &self.input.text[from..found.end];
        self.ambiguous |= ambiguity::is_ambiguous(value, closer, self.is_marked(), self.input.custom)
            || found.damaged
                && (marker_remains::ends_in(value, self.input.custom) || self.swallows(value, closer));
    }

    /// Whether the family of the call writes a token before every tag.
    fn is_marked(&self) -> bool {
        self.input.text[self.call.at.min(self.call.body)..self.call.body].contains(token::MINIMAX)
    }

    /// Whether an element whose closing tag was lost contains the elements of other arguments.
    fn swallows(&self, value: &str, closer: Closer<'_>) -> bool {
        let element = |at: usize| match token::read_tag(&value[at..], true, self.input.custom) {
            Step::Got((tag, _)) => {
                !tag.close && self.known.declares_key(&self.call.name, tag.word) == Some(true)
            }
            _ => false,
        };
        matches!(closer, Closer::Element(_)) && value.match_indices('<').any(|(at, _)| element(at))
    }

    fn note_open_argument(&mut self, key: &str, at: usize, verbatim: bool) {
        let verbatim = verbatim || self.call.dialect.has_verbatim_values;
        self.open = Some(OpenArgument { key: key.to_owned(), at, verbatim });
    }

    fn push_field(&mut self, key: &str, text: String, string: Option<bool>, at: std::ops::Range<usize>) {
        let key = key.trim().trim_matches(['"', '\'']).trim().to_owned();
        let text = escaped_words::unescape(text, self.call.dialect.escaped_words);
        // The same argument twice counts once. With another value, the call is refused.
        // Case: dialects/qwen3_xml/duplicate-parameter
        if self.seen.has_value(&self.fields, &key, &text) {
            self.damaged = true;
            return;
        }
        let is_json = self.call.dialect.values == Values::Json;
        let value = match string {
            None if is_json && strict::check(text.trim(), strict::MAX_DEPTH).is_ok() => {
                RawValue::Json(text.trim().to_owned())
            }
            Some(true) => RawValue::String(text),
            Some(false) | None if self.call.dialect.has_verbatim_values => RawValue::Verbatim(text),
            Some(false) | None => RawValue::Untyped(text),
        };
        self.seen.note(self.fields.len(), &key, value.text());
        self.fields.push(Field { key, value, at });
    }
}

/// The text inside a CDATA section.
fn without_cdata(text: &str) -> &str {
    text.trim().strip_prefix("<![CDATA[").and_then(|inner| inner.strip_suffix("]]>")).unwrap_or(text)
}

/// Whether this type, or this answer to the question whether the value is a string, means a string. `None` if it means
/// that anything is possible.
fn is_string_type(written: &str) -> Option<bool> {
    match written {
        "true" | "string" => Some(true),
        "any" | "" => None,
        _ => Some(false),
    }
}

/// Whether a text can be the key of an argument.
fn is_key(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 128
        && !text.contains(|ch: char| ch.is_whitespace() || "<>\"'{}[](),;".contains(ch))
}

/// Skips white space between tags, and line breaks that were written as `\n`.
fn skip_gap(input: Input<'_>, mut at: usize) -> usize {
    loop {
        at = input.skip_whitespace(at);
        if !input.rest(at).starts_with("\\n") {
            return at;
        }
        at += 2;
    }
}
