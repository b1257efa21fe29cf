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
/// What it costs to ask again what is known of a tag, in bytes that a reader could read meanwhile.
const QUESTION: usize = 64;

/// What was found after a tag whose decoration never occurs in text. Each of them asks what follows it, and a text may be
/// full of them. All positions are in the output.
#[derive(Debug, Clone, Default)]
pub(super) struct DecoratedTags {
    searched: Range<usize>,
    /// The last closing tag with such a decoration.
    closer: Option<Range<usize>>,
    /// The first marker that opens something.
    opener: Option<usize>,
}

impl DecoratedTags {
    /// What is known about the text from one position on, up to another.
    fn known_from(self, from: usize, limit: usize) -> Self {
        let is_searched = self.searched.start <= from && from <= self.searched.end;
        let is_near = |at: &usize| (from..=limit).contains(at);
        if !is_searched || !self.opener.iter().all(is_near) {
            return DecoratedTags { searched: from..from, ..DecoratedTags::default() };
        }
        let closer = self.closer.filter(|closer| is_near(&closer.start));
        DecoratedTags { closer, ..self }
    }
}

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
            Closer::Again if is_end_of_line(input.rest(body)) => {
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
        let start = self.offset;
        let last = std::mem::take(&mut self.decorated_tags);
        let mut known = last.known_from(start + at + length, start + at + REACH);
        let mut is_half = false;
        let mut from = known.searched.end - start;
        // What comes after this does not count, whether it has arrived or not.
        while known.opener.is_none() && from <= at + REACH {
            from += input.rest(from).find('<').unwrap_or(input.text.len() - from);
            if from >= input.text.len() || from > at + REACH {
                break;
            }
            #[cfg(test)]
            crate::syntax::meter::add(1);
            match input.markup(from) {
                Step::More => {
                    is_half = true;
                    break;
                }
                Step::Got(markup) if markup.opens() => {
                    known.opener = Some(start + from);
                    break;
                }
                Step::Got(Markup::Tag(tag, _))
                    if tag.close && tag::decoration(input.rest(from), input.custom).is_some() =>
                {
                    known.closer = Some(start + from..start + from + tag.len);
                }
                _ => {}
            }
            from += 1;
        }
        known.searched.end = start + from;
        let (closer, opener) = (known.closer.clone(), known.opener);
        self.decorated_tags = known;
        if is_half || !done && input.text.len() <= at + REACH && opener.is_none() {
            // What was searched is remembered. Only the question is asked again.
            self.attempts.charge(QUESTION);
            return self.hold_and_wait(at);
        }
        let limit =
            opener.map_or_else(|| at + first_part(&input.text[at..], REACH).len(), |opener| opener - start);
        if let Some(end) =
            closer.map(|closer| closer.end - start).filter(|_| !input.rest(at).starts_with("</"))
        {
            let dialect = input.custom.row_of(&[format!("<{space}invoke>")], Form::Tagged);
            self.accept_block(at, Block::one(refused("", at..end, dialect)), Evidence::Marked);
            return true;
        }
        let length = tag::end_in_line(&input.text[at..limit]).unwrap_or(length);
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

/// Whether nothing else is in the line that goes on here.
fn is_end_of_line(rest: &str) -> bool {
    let next = rest.trim_start_matches(|ch: char| ch.is_whitespace() && ch != '\n').chars().next();
    matches!(next, None | Some('\n'))
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
