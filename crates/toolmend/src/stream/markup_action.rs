//! What becomes of markup in a text.

use super::{Answer, CallContext, Mode, Stream};
use crate::dialect::block::{Block, CallJudge, Frames, Reader};
use crate::dialect::input::Step;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, Written};
use crate::dialect::tagged::ToolLookup;
use crate::dialect::token::{self, Header, Markup, Role, TextKind, Word};
use crate::turn::Source;

impl Stream {
    /// What to do about markup.
    pub(super) fn act(&self, markup: &Markup<'_>, at: usize, line_start: bool) -> Act {
        let len = markup.len();
        // What stands in a fence that text goes on behind is shown, not done.
        if self.in_fence && self.lane == TextKind::Content && (markup.opens() || markup.closes()) {
            return Act::Text;
        }
        match markup {
            Markup::Token { role, spelling, .. } => match role {
                Role::Open(_) | Role::Maybe(_) => Act::Block,
                Role::Begin(lane) => Act::Enter(*lane, len),
                Role::Header(header) => Act::Header(*header, len),
                Role::MessageEnd if *spelling == "<|message_sep|>" => Act::Separator(len),
                Role::End | Role::MessageEnd => Act::Leave(len),
                Role::Result => Act::Answer(false, len),
                Role::Part(_) => Act::Orphan(len),
                Role::Tail => Act::Tail(len),
                Role::Unseen => Act::Hide(len),
                Role::Close | Role::Message | Role::Noise | Role::Stop => Act::Drop(len),
            },
            Markup::Tag(tag, word) => match (tag.close, word) {
                (false, Word::Think) if self.opens_reasoning(line_start, tag.word) => {
                    Act::Enter(TextKind::Reasoning, len)
                }
                (true, Word::Think) if self.lane == TextKind::Reasoning || tag.word == "think" => {
                    Act::Leave(len)
                }
                _ if self.addressed && tag.space == "atem" => Act::Text,
                (false, Word::Frame | Word::Call | Word::Declarations) => Act::Block,
                (false, Word::Name) if line_start && tag.attributes.is_empty() => Act::Block,
                (false, Word::Result) => Act::Answer(true, len),
                // Nothing but white space stands between the reasoning and the frame.
                (false, Word::Answer)
                    if self.answer == Answer::Next
                        && tag.is_bare()
                        && self.buffer[..at].trim().is_empty() =>
                {
                    Act::Frame(Answer::Inside, len)
                }
                (true, Word::Answer) if self.answer == Answer::Inside || self.is_behind_call(at) => {
                    Act::Frame(Answer::Outside, len)
                }
                (true, Word::Call | Word::Parameter | Word::Value) if self.calls > 0 => Act::Drop(len),
                (true, Word::Frame) if self.mentioned > 0 => Act::Mentioned,
                (true, Word::Frame) if tag.word.len() > 4 && !self.is_quoted(at) => Act::Drop(len),
                _ => Act::Text,
            },
        }
    }

    /// Whether only white space stands between the last call and this place.
    fn is_behind_call(&self, at: usize) -> bool {
        self.calls > 0 && self.skip_space && self.buffer[..at].trim().is_empty()
    }

    /// Whether the place stands in quotes, so that the text only talks about it.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        let before = self.buffer[..at].chars().next_back().or(self.last);
        before.is_some_and(|ch| matches!(ch, '`' | '"' | '\''))
    }

    /// Reasoning may begin anywhere in one family's tag; others' words are ordinary words unless a line begins with them.
    pub(super) fn opens_reasoning(&self, line_start: bool, word: &str) -> bool {
        self.lane == TextKind::Content && (word.eq_ignore_ascii_case("think") || line_start && self.fresh)
            || self.lane == TextKind::Reasoning
    }

    pub(super) fn markup(&mut self, at: usize, act: Act, done: bool) -> bool {
        match act {
            Act::Text => self.unmarked_or_skip(at, done),
            Act::Mentioned => {
                self.mentioned -= 1;
                self.skip_mark(at)
            }
            Act::Block => self.block(at, done),
            Act::Enter(lane, len) => {
                self.flush_before(at);
                self.consume(len);
                self.enter(lane);
                self.scanned = 0;
                true
            }
            Act::Leave(len) => {
                self.flush_before(at);
                self.consume(len);
                if !self.eager {
                    self.drop_thoughts();
                }
                self.enter(TextKind::Content);
                self.scanned = 0;
                true
            }
            Act::Header(header, len) => self.header(at, header, len, done),
            Act::Separator(len) => self.separator(at, len, done),
            Act::Answer(tagged, len) => {
                self.flush_before(at);
                self.consume(len);
                self.interrupt();
                self.mode = Mode::Answer(tagged);
                true
            }
            Act::Orphan(len) if self.buffer[at..].starts_with('<') => self.drop_token(at, len),
            Act::Orphan(_) => self.skip_mark(at),
            Act::Tail(len) => {
                let rest = self.buffer[at + len..].trim_start();
                if rest.is_empty() && !done {
                    self.hold(at);
                    return false;
                }
                let more = match token::read(rest, done, self.custom.table()) {
                    Step::More => {
                        self.hold(at);
                        return false;
                    }
                    Step::Got(Markup::Token { role, .. }) => {
                        matches!(role, Role::Tail | Role::Noise | Role::Stop)
                    }
                    _ => false,
                };
                if rest.is_empty() || more { self.drop_token(at, len) } else { self.skip_mark(at) }
            }
            Act::Frame(answer, len) => {
                self.drop_token(at, len);
                self.answer = answer;
                true
            }
            Act::Drop(len) => self.drop_token(at, len),
            Act::Hide(len) => {
                self.flush_before(at);
                self.consume(len);
                self.scanned = 0;
                true
            }
        }
    }

    pub(super) fn unmarked_or_skip(&mut self, at: usize, done: bool) -> bool {
        self.unmarked(at, self.begins_line(at), done)
    }

    /// Whether a text only talks about a marker that people can type: words stand on both sides of it.
    fn is_prose(&self, at: usize, done: bool) -> Step<()> {
        let before = self.buffer[..at].chars().next_back().or(self.last);
        if !self.buffer[at..].starts_with('[') || before != Some(' ') {
            return Step::No;
        }
        let Step::Got(markup) = token::read(&self.buffer[at..], done, self.custom.table()) else {
            return Step::No;
        };
        let rest = &self.buffer[at + markup.len()..];
        let words = rest.trim_start_matches(' ');
        let length = words.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let word = &words[..length];
        match words.as_bytes().get(length) {
            None if !done && length <= 64 => Step::More,
            _ if words.len() == rest.len() || length == 0 || self.mender.knows(word) => Step::No,
            Some(b'{' | b'[' | b'(') => Step::No,
            None if done && self.mender.begins_tool(word) => Step::No,
            _ => Step::Got(()),
        }
    }

    /// A place for calls begins here, or words that look like it.
    pub(super) fn block(&mut self, at: usize, done: bool) -> bool {
        if self.attempts.exhausted() {
            return self.skip_mark(at);
        }
        match self.is_prose(at, done) {
            Step::Got(()) => return self.skip_mark(at),
            Step::More => {
                self.hold(at);
                return false;
            }
            Step::No => {}
        }
        if !self.attempts.allowed(self.buffer.len() - at, done) {
            self.hold(at);
            self.flow_on();
            return false;
        }
        let (answer, spent) = self.first_answer(at, done, |input| {
            let (judge, area, stopped) = (&self.mender, Frames::default(), self.has_stopped());
            Reader { input, judge, area, start: at, name: None, stopped }.read(at)
        });
        self.attempts.spent += spent;
        match answer {
            Step::Got(block) if !self.waits(&block, done) => {
                self.way = CallContext::Framed(Frames::default(), None);
                self.found(at, block, Source::Explicit);
                true
            }
            Step::Got(_) | Step::More => {
                let length = self.buffer.len() - at;
                self.hold(at);
                let at = self.buffer.len() - length;
                self.wait(at);
                self.way = CallContext::Framed(Frames::default(), None);
                self.flow(at);
                false
            }
            Step::No if self.is_cut(at, &Frames::default()) => {
                self.cut(at, String::new(), Frames::default());
                true
            }
            Step::No if self.refuses(at, CallContext::Framed(Frames::default(), None)) => true,
            Step::No => {
                if let Some(decided) = self.unreadable(at, done) {
                    return decided;
                }
                self.no_block(at, done)
            }
        }
    }

    /// What looked like a place for calls is none.
    fn no_block(&mut self, at: usize, done: bool) -> bool {
        match token::read(&self.buffer[at..], done, self.custom.table()) {
            Step::Got(Markup::Token { spelling: "<|python_tag|>", len, .. })
                if self.interpreter().is_some() =>
            {
                self.code(at, len, done)
            }
            // A special token is markup even where nothing follows that it could open.
            Step::Got(Markup::Token { role: Role::Open(_), len, .. }) => self.drop_token(at, len),
            Step::Got(Markup::Tag(tag, Word::Call)) if done && self.calls > 0 && tag.name().is_some() => {
                let name = tag.name().unwrap_or_default().to_owned();
                self.wreck(at, name)
            }
            Step::Got(Markup::Tag(tag, Word::Frame)) if tag.is_bare() => {
                let on = self.unmarked_or_skip(at, done);
                // It stayed text, so it is only talked about, and so is the tag that closes it.
                self.mentioned += usize::from(self.scanned == at + 1);
                on
            }
            _ => self.unmarked_or_skip(at, done),
        }
    }
}

impl Stream {
    /// The declared tool that runs code, and the argument that takes it.
    fn interpreter(&self) -> Option<(&'static str, String)> {
        let names = ["python", "ipython", "code_interpreter"].into_iter();
        names.filter(|name| self.mender.knows(name)).find_map(|name| match self.mender.schema_of(name) {
            Some(_) => Some((name, self.mender.main_key(name)?)),
            // Nothing is known about its arguments.
            None => Some((name, "code".to_owned())),
        })
    }

    /// Code behind its marker, up to the end of the turn.
    fn code(&mut self, at: usize, len: usize, done: bool) -> bool {
        let Some((name, key)) = self.interpreter() else { return self.drop_token(at, len) };
        let from = at + len;
        let end = ["<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>"]
            .iter()
            .filter_map(|mark| self.buffer[from..].find(mark))
            .min();
        let Some(length) = end.or_else(|| done.then_some(self.buffer.len() - from)) else {
            self.hold(at);
            return false;
        };
        let place = from..from + length;
        let value = Written::String(self.buffer[place.clone()].to_owned());
        let call = RawCall {
            name: name.to_owned(),
            id: None,
            arguments: RawArguments::Fields(vec![Field { key, value, at: place.clone() }]),
            at: at..place.end,
            ending: if end.is_some() { Ending::Complete } else { Ending::Open },
            dialect: "llama_builtin",
            damaged: false,
            open: None,
        };
        self.found(at, Block::one(call), Source::Explicit);
        true
    }
}

/// What to do about markup in a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// It is text.
    Text,
    /// It closes what the text only talks about.
    Mentioned,
    /// A place for calls.
    Block,
    Enter(TextKind, usize),
    Leave(usize),
    Header(Header, usize),
    Separator(usize),
    /// What only a tool can say; whether a tag closes it.
    Answer(bool, usize),
    /// Part of a call whose beginning is missing: a special token is no text, a word in brackets may be.
    Orphan(usize),
    /// Means nothing where the output ends behind it.
    Tail(usize),
    /// A frame around the answer.
    Frame(Answer, usize),
    Drop(usize),
    /// The same, and the text around it is one.
    Hide(usize),
}
