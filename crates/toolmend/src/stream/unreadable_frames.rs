//! Frames for calls without a readable call.
//!
//! What is between such markers is neither dropped nor text: it is reported as a refused call, so that no markup is
//! shown and no byte is lost. Only a tag in the middle of a sentence is text that talks about tags.
// Case: dialects/hostile/frame-without-call

use std::ops::Range;

use super::Stream;
use crate::dialect::block::{Block, Frames};
use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::{Ending, RawArguments, RawCall};
use crate::dialect::table::{CODE_TOKENS, Dialect, Form};
use crate::dialect::tag;
use crate::dialect::token::{Markup, Role, Word};
use crate::intent::Evidence;
use crate::text_parts::first_part;
use crate::verdict::Reason;

/// How far away the closing marker may be. Text is not held back for longer.
const REACH: usize = 4096;

impl Stream {
    /// Refuses the frame at this position. Returns whether anything was decided, or `None` if this is not such a frame.
    pub(super) fn refuse_unreadable_frame(&mut self, at: usize, done: bool) -> Option<bool> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let Step::Got(markup) = input.markup(at) else { return None };
        let (mark, form) = match &markup {
            Markup::Token { role: Role::Open(_), spelling, .. } => ((*spelling).to_owned(), Form::Named),
            Markup::Tag(tag, Word::Frame) if tag.is_bare() && self.begins_line(at) => {
                (tag.marker(), Form::Json)
            }
            _ => return None,
        };
        // Words of tags may be ordinary words, and some markers are never closed.
        if !input.custom.is_closed(&mark) {
            return None;
        }
        let body = at + markup.len();
        // Code that no tool runs is content.
        // Case: dialects/internlm2/interpreter-undeclared
        let token_at = input.skip_whitespace(body);
        if let Step::Got(Markup::Token { spelling, len, .. }) = input.markup(token_at)
            && CODE_TOKENS.contains(spelling)
        {
            let length = token_at + len - at;
            self.dropped_openers += 1;
            return Some(self.hide_token(at, length));
        }
        let (closer, end) = match closer(input, body) {
            Closer::At(closer, end) => (closer, end),
            Closer::More => {
                // Otherwise every byte would be another attempt and use up the budget.
                return Some(self.hold_and_wait(at));
            }
            // Nothing shows that the closing marker was not to come.
            Closer::Missing if !self.has_stopped() => {
                self.emit_truncated_call(
                    at,
                    String::new(),
                    Frames { markers: vec![mark], ..Frames::default() },
                );
                return Some(true);
            }
            // On its own line, a marker that opens nothing is still markup.
            // Case: dialects/hostile/lone-opener
            Closer::Missing => {
                let length = markup.len();
                return Some(self.drop_opener(at, length));
            }
            // The same if it is opened again instead of being closed.
            // Case: dialects/hermes_json/opener-again
            Closer::Again if input.rest(body).lines().next().is_none_or(|line| line.trim().is_empty()) => {
                let length = markup.len();
                return Some(self.drop_opener(at, length));
            }
            Closer::Again | Closer::Far => return None,
        };
        let word = input.text[body..closer].trim();
        if word == "[]" {
            self.accept_block(at, Block { end, ..Block::default() }, Evidence::Marked);
            return Some(true);
        }
        let is_name = !word.contains(|ch: char| ch.is_whitespace() || "<>{}[]\"".contains(ch));
        let (name, dialect) = (if is_name { word } else { "" }, input.custom.row_of(&[mark], form));
        let call = refused(name, at..end, dialect);
        self.accept_block(at, Block::one(call), Evidence::Marked);
        Some(true)
    }

    /// Refuses tags whose decoration never occurs in text, up to the last one that closes something. If nothing is
    /// closed, the marker alone is dropped.
    // Case: dialects/dsml_v4/mangled-opener
    // Case: dialects/dsml_v4/marker-alone
    pub(super) fn refuse_decorated_tags(
        &mut self,
        at: usize,
        space: &'static str,
        length: usize,
        done: bool,
    ) -> bool {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let (mut from, mut end) = (at + length, None);
        // What comes after this does not count, whether it has arrived or not.
        let mut limit = at + first_part(&input.text[at..], REACH).len();
        let mut opened = false;
        while let Some(offset) = input.rest(from).find('<') {
            from += offset;
            if from > at + REACH {
                break;
            }
            match input.markup(from) {
                Step::More => {
                    self.hold(at);
                    return false;
                }
                Step::Got(markup) if markup.opens() => {
                    (limit, opened) = (from, true);
                    break;
                }
                Step::Got(Markup::Tag(tag, _))
                    if tag.close && tag::decoration(input.rest(from), input.custom).is_some() =>
                {
                    end = Some(from + tag.len);
                }
                _ => {}
            }
            from += 1;
        }
        if !done && input.text.len() <= at + REACH && !opened {
            self.hold(at);
            return false;
        }
        if let Some(end) = end.filter(|_| !input.rest(at).starts_with("</")) {
            let dialect = input.custom.row_of(&[format!("<{space}invoke>")], Form::Tagged);
            self.accept_block(at, Block::one(refused("", at..end, dialect)), Evidence::Marked);
            return true;
        }
        let line = input.text[at..limit].lines().next().unwrap_or_default();
        let length = line.find('>').map_or(length, |end| end + 1);
        self.drop_token(at, length)
    }
}

fn refused(name: &str, at: Range<usize>, dialect: &'static Dialect) -> RawCall {
    let why = "expected a call between the markers, found other text";
    RawCall {
        name: name.to_owned(),
        id: None,
        arguments: RawArguments::Refused(Reason::Syntax, why),
        at,
        ending: Ending::Complete,
        dialect,
        damaged: true,
        open: None,
    }
}

/// Where a frame is closed.
enum Closer {
    /// At this position, and the position after it.
    At(usize, usize),
    /// Not before the end of the output.
    Missing,
    /// Another frame is opened first.
    Again,
    /// Too far away.
    Far,
    /// Only more text can show.
    More,
}

fn closer(input: Input<'_>, from: usize) -> Closer {
    let mut at = from;
    while let Some(offset) = input.rest(at).find(['<', '[']) {
        at += offset;
        if at > from + REACH {
            return Closer::Far;
        }
        match input.markup(at) {
            Step::Got(markup) if markup.closes() => return Closer::At(at, at + markup.len()),
            Step::Got(markup) if markup.opens() => return Closer::Again,
            Step::More => return Closer::More,
            Step::Got(_) | Step::No => at += 1,
        }
    }
    match (input.text.len() > from + REACH, input.done) {
        (true, _) => Closer::Far,
        (false, true) => Closer::Missing,
        (false, false) => Closer::More,
    }
}
