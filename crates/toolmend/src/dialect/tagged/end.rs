//! Where the value of an argument in tags ends.
//!
//! No family escapes closing tags, so any of them can be text. A closing tag counts if what follows it can follow an
//! argument. If no closing tag counts and the output is complete, the next argument or the end of the call ends the
//! value. Whether the result is trusted is decided in `ambiguity`.

use std::cell::{Cell, OnceCell, RefCell};

use super::super::input::{Input, Step};
use super::super::tag::{Style, Tag};
use super::super::token::{self, Markup, Role, Word};
use super::{Reader, is_key, skip_gap};

/// What a look at a tag costs, in bytes that could be looked at meanwhile.
pub(super) const LOOK: usize = 32;
/// The same if its word alone decides.
pub(super) const GLANCE: usize = 6;

/// What closes a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closer<'a> {
    /// Any word of this meaning. The style of the tag that opened the value, if it is known.
    Word(Word, Option<Style<'a>>),
    /// Any word for arguments. This one opened the value, in this style.
    Argument(&'a str, Style<'a>),
    /// The element's own word.
    Element(&'a str),
}

impl<'a> Closer<'a> {
    /// What closes the value of an argument that this tag opened.
    pub(super) fn of_argument(tag: &Tag<'a>) -> Self {
        Closer::Argument(tag.word, tag.style())
    }

    /// The meaning that all tags have that close such a value, if it is a meaning.
    fn meaning(self) -> Option<Word> {
        match self {
            Closer::Word(word, _) => Some(word),
            Closer::Argument(..) => Some(Word::Parameter),
            Closer::Element(_) => None,
        }
    }

    /// Whether a tag of this meaning closes, or opens, such a value.
    pub(super) fn matches(self, tag: &Tag<'_>, meaning: Option<Word>) -> bool {
        match self {
            Closer::Word(word, _) => meaning == Some(word),
            Closer::Argument(..) => meaning == Some(Word::Parameter),
            Closer::Element(word) => tag.word == word,
        }
    }

    /// Whether the tag has the word of this value, not only its meaning. Web pages and comments are full of `<param>`,
    /// which is never closed.
    // Case: dialects/qwen3_xml/page-with-param-elements
    pub(super) fn is_own(self, tag: &Tag<'_>, meaning: Option<Word>) -> bool {
        match self {
            Closer::Argument(word, _) => tag.word.eq_ignore_ascii_case(word) && self.has_style_of(tag),
            _ => self.matches(tag, meaning) && self.has_style_of(tag),
        }
    }

    /// Whether the tag is decorated like the one that opened the value.
    pub(super) fn has_style_of(self, tag: &Tag<'_>) -> bool {
        match self {
            Closer::Word(_, Some(style)) | Closer::Argument(_, style) => tag.style() == style,
            Closer::Word(_, None) | Closer::Element(_) => true,
        }
    }
}

/// Which closing tags are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// Those in the style of the tag that opened the value. Tags that are opened inside the value are closed inside it.
    Own,
    /// The same, in any style. A value without a closing tag of its own style was closed in another one.
    AnyStyle,
    /// Any, whatever was opened before it.
    Any,
}

/// What the search for closing tags has found out. Every value of a call searches the rest of the text for its end.
#[derive(Debug)]
pub(super) struct ClosingTags {
    /// No tag from this position on closes a value of this meaning, of its own style or of any.
    none_from: RefCell<Vec<(Word, bool, usize)>>,
    /// The tags that may still be looked at.
    left: Cell<usize>,
    has_lines: OnceCell<bool>,
}

impl ClosingTags {
    /// The search in a text of this length. Each tag is looked at a few times, and no tag is a single byte.
    pub(super) fn new(length: usize) -> Self {
        const AT_LEAST: usize = 4096;
        let left = Cell::new(length + AT_LEAST);
        ClosingTags { none_from: RefCell::default(), left, has_lines: OnceCell::new() }
    }

    /// Whether so many tags were looked at that the search was given up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Pays for a look at a tag; false if the search is given up.
    fn pay(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        #[cfg(test)]
        crate::syntax::meter::add(1);
        !self.is_exhausted()
    }

    fn is_missing(&self, closer: Closer<'_>, own: bool, from: usize) -> bool {
        let none = self.none_from.borrow();
        let covers = |&(known, known_own, at): &(Word, bool, usize), word| {
            known == word && at <= from && (own || !known_own)
        };
        closer.meaning().is_some_and(|word| none.iter().any(|entry| covers(entry, word)))
    }

    fn note_missing(&self, closer: Closer<'_>, own: bool, from: usize) {
        if let Some(word) = closer.meaning().filter(|_| !self.is_missing(closer, own, from)) {
            self.none_from.borrow_mut().push((word, own, from));
        }
    }
}

/// The end of a value, and the position after its closing tag.
pub(super) struct ValueEnd {
    pub(super) end: usize,
    pub(super) after: usize,
    pub(super) damaged: bool,
}

impl Reader<'_, '_> {
    /// Finds the end of the value that begins at `from`.
    pub(super) fn find_value_end(&self, from: usize, closer: Closer<'_>) -> Step<ValueEnd> {
        const CDATA: (&str, &str) = ("<![CDATA[", "]]>");
        let start = self.input.skip_whitespace(from);
        if self.input.rest(start).starts_with(CDATA.0) {
            if let Some(offset) = self.input.rest(start).find(CDATA.1) {
                return self.find_closing_tag(start + offset + CDATA.1.len(), closer, Search::Own);
            }
            return if self.input.done { Step::No } else { Step::More };
        }
        match self.find_closing_tag(from, closer, Search::Own) {
            Step::No => {}
            other => return other,
        }
        // From here on the output is complete, and no balanced end was found.
        // Case: dialects/dsml_v4/closers-without-namespace
        if self.closing_tags.is_missing(closer, true, from) {
            // If the output was truncated, they may be part of the value.
            match self.find_closing_tag(from, closer, Search::AnyStyle) {
                Step::No => {}
                _ if !self.call.stopped => return Step::No,
                other => return other,
            }
        }
        match self.end_before_next_key(from, closer) {
            Step::No => {}
            other => return other,
        }
        match self.find_closing_tag(from, closer, Search::Any) {
            Step::No => self.end_before_call_end(from, closer),
            other => other,
        }
    }

    /// Finds the first closing tag after which the call can continue. Tags that are opened inside the value are closed
    /// inside it.
    // Case: dialects/qwen3_xml/closer-in-value
    // Case: dialects/glm47/closer-in-value
    // Case: dialects/dsml_v4/markup-of-others-in-value
    fn find_closing_tag(&self, from: usize, closer: Closer<'_>, search: Search) -> Step<ValueEnd> {
        let undecided = || if self.input.done { Step::No } else { Step::More };
        let (balanced, own_style) = (search != Search::Any, search == Search::Own);
        if self.closing_tags.is_missing(closer, own_style, from) {
            return undecided();
        }
        let (mut inside, mut is_closed) = (0usize, false);
        let mut foreign = ForeignTags::default();
        let mut at = from;
        while let Some(offset) = memchr::memchr(b'<', &self.input.text.as_bytes()[at..]) {
            let tag_at = at + offset;
            at = tag_at + 1;
            if !self.closing_tags.pay() {
                return undecided();
            }
            // Markup in values is mostly that of pages, which ends nothing.
            let is_other =
                |word| token::means_something_else(self.input.rest(tag_at), word, self.input.custom);
            if closer.meaning().is_some_and(is_other) {
                self.known.pay(GLANCE);
                continue;
            }
            self.known.pay(LOOK);
            let (tag, meaning) = match self.input.tag(tag_at) {
                Step::Got(found) => found,
                Step::More => return Step::More,
                Step::No => continue,
            };
            if !closer.matches(&tag, meaning) || own_style && !closer.has_style_of(&tag) {
                continue;
            }
            let is_own = closer.is_own(&tag, meaning);
            if !tag.close {
                inside += usize::from(balanced && !tag.empty && is_own);
                foreign.note_open(&tag, balanced && !is_own);
                continue;
            }
            is_closed = true;
            // The value opens and closes an element of a page that is called like a tag of another dialect.
            // Case: dialects/qwen3_xml/param-element-at-the-end
            if !is_own && foreign.close(tag.word) {
                continue;
            }
            if inside > 0 {
                inside -= usize::from(is_own);
                continue;
            }
            let after = tag_at + tag.len;
            let element = match closer {
                Closer::Element(_) => self.call.element.as_deref().or(Some("")),
                Closer::Word(..) | Closer::Argument(..) => None,
            };
            match follows(self.input, after, element) {
                Step::Got(()) => {
                    let end = self.without_namespace(tag_at);
                    // Tags that are not balanced, or not of its style, may be part of a truncated text.
                    return Step::Got(ValueEnd { end, after, damaged: search != Search::Own });
                }
                Step::More => return Step::More,
                Step::No => {}
            }
        }
        if !is_closed {
            self.closing_tags.note_missing(closer, own_style, from);
        }
        undecided()
    }

    /// The position before the namespace token of a closing tag, which is not part of the value.
    // Case: dialects/minimax_m2/token-at-the-end
    fn without_namespace(&self, end: usize) -> usize {
        if !self.is_marked() {
            return end;
        }
        let before = self.input.text[..end].trim_end();
        if before.ends_with(token::MINIMAX) { before.len() - token::MINIMAX.len() } else { end }
    }

    /// Where a tag may begin, from here on, for as long as looking at tags is paid for.
    fn paid_tags(&self, from: usize) -> impl Iterator<Item = usize> {
        let opens = self.input.rest(from).match_indices('<').map(move |(offset, _)| from + offset);
        opens.take_while(|_| {
            self.known.pay(LOOK);
            self.closing_tags.pay()
        })
    }

    /// Ends the value where the next argument begins on its own line, because its closing tag was lost.
    // Case: dialects/qwen3_xml/malformed-open-parameter
    // Case: dialects/glm47/malformed-missing-closer
    fn end_before_next_key(&self, from: usize, closer: Closer<'_>) -> Step<ValueEnd> {
        for tag_at in self.paid_tags(from) {
            let Step::Got(Markup::Tag(tag, word)) =
                token::read(self.input.rest(tag_at), true, self.input.custom)
            else {
                continue;
            };
            let before = self.input.text[from..tag_at].trim_end_matches([' ', '\t']);
            let own_line = before.is_empty() || before.ends_with('\n');
            let next = match (closer, word) {
                (Closer::Argument(..), Word::Parameter) if !tag.close && own_line => {
                    tag.name().is_some_and(|key| self.may_be_key(key))
                }
                (Closer::Word(Word::Value, _), Word::Key) if !tag.close => {
                    let key = self.input.rest(tag_at + tag.len).split('<').next().unwrap_or("").trim();
                    is_key(key) && self.may_be_key(key)
                }
                // After the end of the call, the search would run into the next one.
                (Closer::Word(..) | Closer::Argument(..), Word::Call | Word::Frame)
                    if !tag.close && own_line =>
                {
                    return Step::No;
                }
                _ => false,
            };
            if next {
                let end =
                    if self.has_lines() { without_break(self.input.text, from, tag_at) } else { tag_at };
                let end = self.end_before_closer(from, end, closer);
                return Step::Got(ValueEnd { end, after: tag_at, damaged: true });
            }
        }
        Step::No
    }

    /// Whether the family writes every argument on its own line.
    fn has_lines(&self) -> bool {
        *self.closing_tags.has_lines.get_or_init(|| self.writes_lines())
    }

    fn writes_lines(&self) -> bool {
        let body = self.input.rest(self.call.body);
        let opens = |at: &usize| match token::read(&body[*at..], true, self.input.custom) {
            Step::Got(Markup::Tag(tag, word)) => !tag.close && matches!(word, Word::Parameter | Word::Key),
            _ => false,
        };
        let first = body.match_indices('<').map(|(at, _)| at).find(opens);
        let before = |at: usize| self.input.text[..self.call.body + at].trim_end_matches([' ', '\t']);
        first.is_some_and(|at| before(at).ends_with('\n'))
    }

    /// The end of a value that is closed after all: the tags inside it were only not balanced.
    fn end_before_closer(&self, from: usize, end: usize, closer: Closer<'_>) -> usize {
        let text = self.input.text[from..end].trim_end();
        let Some(open) = text.rfind('<') else { return end };
        match token::read_tag(&text[open..], true, self.input.custom) {
            Step::Got((tag, meaning))
                if tag.close && closer.matches(&tag, meaning) && open + tag.len == text.len() =>
            {
                from + open
            }
            _ => end,
        }
    }

    fn may_be_key(&self, key: &str) -> bool {
        !self.seen.has_key(key) && self.known.declares_key(&self.call.name, key).unwrap_or(true)
    }

    /// Ends the value where the call ends, because its closing tag was lost.
    fn end_before_call_end(&self, from: usize, closer: Closer<'_>) -> Step<ValueEnd> {
        for tag_at in self.paid_tags(from) {
            if let (Some(own), Step::Got((tag, _))) = (self.call.element.as_deref(), self.input.tag(tag_at))
                && tag.close
                && tag.word == own
            {
                let text = self.input.text[from..self.end_before_closer(from, tag_at, closer)].trim_end();
                return Step::Got(ValueEnd { end: from + text.len(), after: tag_at, damaged: true });
            }
            let Step::Got(markup) = token::read(self.input.rest(tag_at), true, self.input.custom) else {
                continue;
            };
            let after = tag_at + markup.len();
            // Markup of other families does not end the elements of a truncated call.
            // Case: dialects/agent_tags/markup-of-others-in-value
            if self.call.element.is_some() && !self.call.stopped {
                continue;
            }
            if markup.closes() && follows(self.input, after, None) == Step::Got(()) {
                // Tags that are marked one by one cannot be text, so one of them is wrong.
                let marked = self.input.text[from..tag_at].contains(token::MINIMAX);
                return if marked {
                    Step::No
                } else {
                    let end = self.end_before_closer(from, tag_at, closer);
                    Step::Got(ValueEnd { end, after: tag_at, damaged: true })
                };
            }
        }
        Step::No
    }
}

/// Tags inside a value that have the meaning of its own tags, but another word.
#[derive(Default)]
struct ForeignTags<'t> {
    open: Vec<(&'t str, usize)>,
}

impl<'t> ForeignTags<'t> {
    fn note_open(&mut self, tag: &Tag<'t>, counts: bool) {
        // There are few words with this meaning, and none that is closed begins with a value.
        if !counts || tag.empty || self.open.len() > 16 {
            return;
        }
        match self.open.iter_mut().find(|(word, _)| word.eq_ignore_ascii_case(tag.word)) {
            Some((_, count)) => *count += 1,
            None => self.open.push((tag.word, 1)),
        }
    }

    /// Closes a tag of this word, if one is open.
    fn close(&mut self, word: &str) -> bool {
        match self.open.iter_mut().find(|(open, count)| *count > 0 && open.eq_ignore_ascii_case(word)) {
            Some((_, count)) => {
                *count -= 1;
                true
            }
            None => false,
        }
    }
}

/// The position before the line break between two arguments.
fn without_break(text: &str, from: usize, at: usize) -> usize {
    let before = text[from..at].trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    line.map_or(at, |line| from + line.len())
}

/// Whether markup follows that can follow an argument or a call. `element`: any tag can, and this one ends the call.
// Case: dialects/hostile/in-value-closer-and-text
pub(super) fn follows(input: Input<'_>, at: usize, element: Option<&str>) -> Step<()> {
    let mut at = skip_gap(input, at);
    if input.rest(at).starts_with(token::MINIMAX) {
        at = skip_gap(input, at + token::MINIMAX.len());
    }
    let rest = input.rest(at);
    if rest.is_empty() || input.done && token::is_half(rest, input.custom) {
        return if input.done { Step::Got(()) } else { Step::More };
    }
    // The broken tag of an argument is still not text.
    if rest.starts_with("<parameter=") {
        return Step::Got(());
    }
    match token::read(rest, input.done, input.custom) {
        Step::More => return Step::More,
        Step::Got(Markup::Token { role: Role::Begin(_) | Role::Result, .. }) => return Step::No,
        Step::Got(Markup::Token { .. }) => return Step::Got(()),
        Step::Got(Markup::Tag(tag, word)) => {
            let close = tag.close
                && !matches!(word, Word::Think | Word::Value | Word::Key | Word::Name | Word::Result);
            let open = !tag.close && matches!(word, Word::Parameter | Word::Key | Word::Call | Word::Frame);
            if close || open {
                return Step::Got(());
            }
        }
        Step::No => {}
    }
    // A closing tag with a namespace is markup, whatever its word.
    if rest.starts_with("</") {
        match input.tag(at) {
            Step::Got((tag, _)) if !tag.space.is_empty() => return Step::Got(()),
            Step::More => return Step::More,
            _ => {}
        }
    }
    if element.is_some() && rest.starts_with('<') {
        return match input.tag(at) {
            Step::Got((tag, _)) if tag.attributes.is_empty() && tag.equals.is_none() => Step::Got(()),
            Step::More => Step::More,
            _ => Step::No,
        };
    }
    Step::No
}
