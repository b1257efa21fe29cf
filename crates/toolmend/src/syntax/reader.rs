//! The reader: reads one value, remembers where it had a choice, and goes back there when a reading dies.
//!
//! It walks the text with an explicit stack of frames, each with its position in the schema. Nothing recurses over
//! the input. In most positions one reading is possible and the reader moves on. Where several are possible it pushes
//! a [`Choice`]: the whole [`State`] of the reading, its open frames, and the string that can be continued.
//!
//! The best complete reading wins: fit to the schema first, then risk (guesses, and [`DOUBT`] for each doubt), then
//! the tier of its edits. A tie between two different values is reported as a rival, and the caller refuses. Fuel is
//! linear in the input and bounds all of it.
//!
//! This file holds the search and the small tools that every rule uses. It never decides what a character means:
//! that is up to the rules in `grammar`, `string_end`, `unquoted_value` and `lookahead`.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use super::fuel::Fuel;
use super::lookahead::{EndEvidence, StrictRow};
use super::paid_text::{Comments, PaidText};
use super::reading::{Cost, Cut, Death, Frame, FrameKind, Next, Run, Step, Survivor, is_empty};
use super::string_end::Scan;
use super::token::Punctuation;
use crate::patch::Edit;
use crate::repair::{RepairKind, Tier};
use crate::schema::guide::{Guide, KeyFit, SchemaPosition};
use crate::syntax::{Finish, ReadContext};

/// What an edit costs: it is stored, sorted, applied and reported.
const EDIT: usize = 16;

/// A doubt weighs as much as this many guesses.
const DOUBT: usize = 3;
/// Choices kept at most. Beyond that the oldest are forgotten, so memory stays bounded.
const MAX_CHOICES: usize = 64;
/// What a step, a choice, and the copy of a frame cost.
const STEP: usize = 8;
const CHOICE: usize = 64;
const FRAME: usize = 8;
/// Complete readings that one search compares before it stops.
const MAX_SURVIVORS: usize = 16;

/// The state of one reading, saved and restored as a whole.
///
/// It is complete together with the frames of the stack, which a [`Choice`] copies beside it. What all readings of a
/// text share is not in here: the fuel, and the [`Evidence`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// The byte that is read next.
    pub(super) pos: usize,
    /// How many edits the reading has made; those after them belong to a reading that died.
    edits: usize,
    /// How badly the keys fit the schema; 0 is best.
    pub(super) fit: u32,
    /// How much speaks against strings whose quotes were taken for text.
    pub(super) doubt: u32,
    /// Decisions that another reading would have spared. Edits forced by one fault count once.
    pub(super) guesses: usize,
    /// The first byte at which one slipped character explains the text as well.
    pub(super) contested: Option<usize>,
    /// The content of the last string value.
    pub(super) last_string: (usize, usize),
    /// Strings in which quotes were taken for text.
    pub(super) raw_strings: usize,
}

/// What any reading of the value has met. Deliberately not part of [`State`], and not restored when the reader goes back.
///
/// A reading that died still showed how the text is written: that it holds keys, that quotes in it are not escaped, that
/// keys lack their quotes. Each of these makes the reader more careful, above all about completing text that may be
/// truncated. Restoring them could only make a later reading less careful than what is known by then.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    /// Whether a key was read.
    had_key: bool,
    /// Keys read without their closing quote.
    pub(super) half_keys: usize,
    /// Quotes taken for text in the strings so far.
    pub(super) raw_quotes: usize,
    /// Keys read in an object that declares none, which the object around it declares.
    pub(super) keys_of_outer_object: usize,
    /// The first key of the root.
    pub(super) first_key: (usize, usize),
}

/// A reading to come back to.
#[derive(Debug, Clone)]
struct Choice {
    state: State,
    stack: Vec<Frame>,
    /// The string whose next possible end is taken then.
    scan: Scan,
}

/// The reader over one text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: PaidText<'a>,
    pub(super) guide: &'a Guide,
    pub(super) finish: Finish,
    pub(super) depth_limit: usize,
    edit_limit: usize,
    /// Work that is left for all readings of this text.
    pub(super) fuel: &'a Fuel,
    pub(super) comments: Comments,
    pub(super) strict_row: StrictRow,
    pub(super) state: State,
    pub(super) stack: Vec<Frame>,
    pub(super) edits: Vec<Edit>,
    choices: VecDeque<Choice>,
    pub(super) evidence: Evidence,
    start: usize,
    root: FrameKind,
    starts_with_quote: bool,
    /// The document has a literal `\n` for line breaks between its tokens.
    literal_breaks: bool,
}

impl State {
    /// The guesses and doubts of this reading in one number.
    fn risk(&self) -> usize {
        self.guesses + DOUBT * self.doubt as usize
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, context: &ReadContext<'a>) -> Self {
        let limits = &context.policy.limits;
        Reader {
            text: PaidText::new(text, context.fuel),
            guide: context.guide,
            finish: context.finish,
            depth_limit: limits.depth,
            edit_limit: limits.edits,
            fuel: context.fuel,
            comments: Comments::default(),
            strict_row: StrictRow::default(),
            state: State::default(),
            stack: Vec::new(),
            edits: Vec::new(),
            choices: VecDeque::new(),
            evidence: Evidence::default(),
            start: 0,
            root: FrameKind::Object,
            starts_with_quote: false,
            literal_breaks: false,
        }
    }

    /// Reads the value whose opening bracket, quote or first byte is at `start`.
    pub(super) fn read_from(&mut self, start: usize) -> Run {
        self.reset(start, FrameKind::Object);
        self.search_readings(Next::Value)
    }

    /// Reads the members of an object that has no opening brace: `body` is where its first key starts.
    pub(super) fn read_members(
        &mut self,
        start: usize,
        body: usize,
        kind: FrameKind,
        opener: RepairKind,
    ) -> Run {
        self.reset(start, kind);
        self.edits.push(Edit::new(start..body, "{", opener));
        self.state.pos = body;
        self.push_frame(kind, body);
        self.search_readings(Next::Key)
    }

    /// Where the strict value at `start` ends, if what comes after it can follow a value.
    pub(super) fn strict_value(&mut self, start: usize) -> Option<usize> {
        self.reset(start, FrameKind::Object);
        let end = self.text.strict_value_end(start, self.depth_limit)?;
        (!self.fuel.is_empty() && self.rate_trailing_text(end, false) != EndEvidence::No).then_some(end)
    }

    fn reset(&mut self, start: usize, root: FrameKind) {
        self.state = State { pos: start, ..State::default() };
        self.evidence = Evidence::default();
        self.stack.clear();
        self.edits.clear();
        self.choices.clear();
        self.start = start;
        self.root = root;
        // Asked once, because three quotes are looked for up to the end of the text.
        self.starts_with_quote = matches!(self.text.punctuation_at(start), Some((Punctuation::Quote(_), _)));
        let inside = self.text.skip_whitespace(start + 1);
        self.literal_breaks = matches!(self.text.window(inside, 2), [b'\\', b'n' | b'r' | b't' | b'\\']);
    }

    /// Follows readings, the likeliest first, until one is settled or no choice is left.
    fn search_readings(&mut self, first: Next) -> Run {
        let mut run = Run { best: None, rival: None, cut: None, death: None, out_of_fuel: false };
        let mut step = Step::Go(first);
        let mut found = 0;
        loop {
            if !self.spend_fuel(STEP) {
                run.out_of_fuel = true;
                return run;
            }
            match step {
                // A reading that is already worse than the best one cannot win.
                Step::Go(_) if run.best.as_ref().is_some_and(|best| self.cost() > best.cost) => {}
                Step::Go(next) => {
                    step = self.step(next);
                    continue;
                }
                Step::Done(end) if self.rate_trailing_text(end, false) == EndEvidence::No => {
                    self.record_death(&mut run, "the end of the value", end);
                }
                Step::Done(end) => {
                    found += 1;
                    self.record_survivor(&mut run, end);
                    if found >= MAX_SURVIVORS || self.is_settled(&run) {
                        return run;
                    }
                }
                Step::Dead(expected, at) => self.record_death(&mut run, expected, at),
                Step::Cut => {
                    if run.cut.is_none() {
                        run.cut = Some(self.describe_cut());
                    }
                }
            }
            match self.backtrack() {
                Some(then) => step = then,
                None => return run,
            }
        }
    }

    /// Whether no other choice can lead to a reading as good as the best.
    fn is_settled(&self, run: &Run) -> bool {
        // Going on from a choice takes at least its quote for text.
        let least = |choice: &Choice| choice.state.risk() + choice.scan.seen.raw_quotes;
        run.best.as_ref().is_some_and(|best| {
            best.cost.fit == 0 && self.choices.iter().all(|choice| least(choice) > best.cost.risk)
        })
    }

    fn step(&mut self, next: Next) -> Step {
        match next {
            Next::Value => self.read_value(),
            Next::Key => self.read_key(),
            Next::AfterValue => self.read_after_value(),
        }
    }

    /// Goes back to the last choice and takes the next possible end of its string.
    fn backtrack(&mut self) -> Option<Step> {
        let choice = self.choices.pop_back()?;
        self.state = choice.state;
        self.stack = choice.stack;
        self.edits.truncate(choice.state.edits);
        Some(self.continue_string(choice.scan))
    }

    /// Remembers this state; `scan` says how to go on when the reading that follows dies.
    pub(super) fn remember_choice(&mut self, scan: Scan) {
        if self.choices.len() == MAX_CHOICES {
            self.choices.pop_front();
        }
        self.spend_fuel(CHOICE + FRAME * self.stack.len());
        let state = State { edits: self.edits.len(), ..self.state };
        self.choices.push_back(Choice { state, stack: self.stack.clone(), scan });
    }

    fn cost(&self) -> Cost {
        Cost { fit: self.state.fit, risk: self.state.risk(), assumed: false }
    }

    fn record_survivor(&mut self, run: &mut Run, end: usize) {
        let assumed = self.edits.iter().any(|edit| edit.kind.tier() == Tier::Assumed);
        self.spend_fuel(self.edits.len());
        let survivor = Survivor {
            start: self.start,
            end,
            edits: if self.choices.is_empty() { std::mem::take(&mut self.edits) } else { self.edits.clone() },
            cost: Cost { assumed, ..self.cost() },
            root: self.root,
            empty: is_empty(self.text.str(self.start..end)),
            contested: self.state.contested,
            raw_strings: self.state.raw_strings,
        };
        match &run.best {
            Some(best) if survivor.cost > best.cost => {}
            Some(best) if survivor.cost == best.cost => {
                if run.rival.is_none() && (best.end, &best.edits) != (survivor.end, &survivor.edits) {
                    run.rival = Some(survivor);
                }
            }
            _ => {
                run.best = Some(survivor);
                run.rival = None;
            }
        }
    }

    fn record_death(&self, run: &mut Run, expected: &'static str, at: usize) {
        if run.death.is_none_or(|death| at > death.at) {
            run.death = Some(Death { expected, at, had_member: self.evidence.had_key });
        }
    }

    fn describe_cut(&self) -> Cut {
        // An incomplete key names nothing yet, so the cut is in the object itself.
        // Case: syntax/cut-in-key
        let path = self
            .stack
            .iter()
            .map_while(|frame| match frame.kind.is_object() {
                true if frame.key == (0, 0) => None,
                true => Some(Cow::Owned(self.text.str(frame.key.0..frame.key.1).to_owned())),
                false => Some(Cow::Owned(frame.count.to_string())),
            })
            .collect();
        let partial = self.stack.first().filter(|frame| frame.count > 0).map(|frame| {
            let edits = self.edits.iter().filter(|edit| edit.end <= frame.last_end).cloned().collect();
            (edits, frame.last_end)
        });
        Cut { start: self.start, path, partial, had_member: self.evidence.had_key }
    }

    /// Whether a literal `\n` between tokens means a line break.
    pub(super) fn has_literal_line_breaks(&self) -> bool {
        self.literal_breaks
    }

    /// Whether the root is a string, not a bracket.
    pub(super) fn root_is_string(&self) -> bool {
        self.root == FrameKind::Object && self.starts_with_quote
    }

    /// Whether the object at `at`, after the root's own members, starts with the root's first key. Then the model started
    /// over.
    // Case: syntax/restart
    pub(super) fn is_restart_at(&mut self, at: usize) -> bool {
        let first = self.text.str(self.evidence.first_key.0..self.evidence.first_key.1);
        let Some((Punctuation::OpenObject, len)) = self.text.punctuation_at(at) else {
            return false;
        };
        let open = self.after_trivia(at + len);
        let Some((Punctuation::Quote(quote), len)) = self.text.punctuation_at(open) else {
            return false;
        };
        let after = open + len + first.len();
        !first.is_empty()
            && self.text.get(open + len..after) == Some(first)
            && self.text.closer_at(quote, after) > 0
    }

    /// Notes that one slipped character at `at` would explain the text as well, with another value.
    pub(super) fn contest(&mut self, at: usize) {
        self.state.contested = self.state.contested.or(Some(at));
    }

    pub(super) fn edit(&mut self, range: Range<usize>, with: impl Into<Cow<'static, str>>, kind: RepairKind) {
        self.state.guesses += usize::from(kind.info().is_guess);
        self.spend_fuel(EDIT);
        if self.edits.len() >= self.edit_limit {
            self.fuel.drain();
            return;
        }
        self.edits.push(Edit::new(range, with, kind));
    }

    /// The position after trivia, without repairing it.
    #[inline]
    pub(super) fn after_trivia(&mut self, at: usize) -> usize {
        if self.text.starts_token(at) {
            return at;
        }
        let mut end = at;
        while let Some((next, _)) = self.trivia_at(end) {
            end = next;
        }
        end
    }

    /// The same after a quote that may be text. A comment or a literal `\n` there is text as well, unless the document is
    /// written with such line breaks.
    // Case: syntax/literal-newlines
    #[inline]
    pub(super) fn after_trivia_following_quote(&mut self, at: usize, dirty: bool) -> usize {
        if self.text.starts_token(at) {
            return at;
        }
        let mut end = at;
        while let Some((next, kind)) = self.trivia_at(end) {
            let doubtful = match kind {
                Some(RepairKind::CommentRemoved) => dirty,
                Some(RepairKind::LiteralWhitespaceRemoved) => !self.literal_breaks,
                _ => false,
            };
            if doubtful {
                break;
            }
            end = next;
        }
        end
    }

    /// Moves past trivia and turns it into white space.
    // Case: syntax/comments
    // Case: syntax/no-break-space
    #[inline]
    pub(super) fn skip_trivia(&mut self) {
        if self.text.starts_token(self.state.pos) {
            return;
        }
        while let Some((next, kind)) = self.trivia_at(self.state.pos) {
            if let Some(kind) = kind {
                let plain = match kind {
                    RepairKind::CommentRemoved => "",
                    RepairKind::UnicodeSpaceReplaced
                        if is_zero_width(self.text.str(self.state.pos..next)) =>
                    {
                        ""
                    }
                    _ => " ",
                };
                // With an unpaired quote in it, the comment may be text of a value, and the quote that value's end.
                // Case: syntax/comment-with-unpaired-quote
                if kind == RepairKind::CommentRemoved
                    && memchr::memchr_iter(b'"', self.text.bytes(self.state.pos..next)).count() % 2 == 1
                {
                    self.contest(self.state.pos);
                }
                self.edit(self.state.pos..next, plain, kind);
            }
            self.state.pos = next;
        }
    }

    pub(super) fn push_frame(&mut self, kind: FrameKind, after: usize) {
        let position = self.value_position();
        self.stack.push(Frame {
            kind,
            position,
            open: after,
            used: 0,
            count: 0,
            last_end: after,
            key: (0, 0),
            value_position: if kind.is_object() {
                SchemaPosition::ANY
            } else {
                self.guide.element(position, 0)
            },
        });
    }

    /// The schema position of the value that is read now.
    pub(super) fn value_position(&self) -> SchemaPosition {
        self.stack.last().map_or(self.guide.root(), |frame| frame.value_position)
    }

    /// Completes the value that ended at `end`.
    pub(super) fn finish_value(&mut self, end: usize) -> Step {
        self.state.pos = end;
        let guide = self.guide;
        if let Some(frame) = self.stack.last_mut() {
            frame.count += 1;
            frame.last_end = end;
            frame.key = (0, 0);
            if !frame.kind.is_object() {
                frame.value_position = guide.element(frame.position, frame.count);
            }
        }
        Step::Go(Next::AfterValue)
    }

    /// Records the key of the member that is read now, and how well it fits the schema.
    pub(super) fn note_key(&mut self, key: Range<usize>) {
        let guide = self.guide;
        let Some(frame) = self.stack.last_mut() else { return };
        let name = self.text.str(key.clone());
        frame.key = (key.start, key.end);
        if self.evidence.first_key == (0, 0) {
            self.evidence.first_key = frame.key;
        }
        frame.value_position = guide.member(frame.position, name);
        self.evidence.had_key = true;
        match guide.match_key(frame.position, name) {
            KeyFit::Declared(index) => {
                let bit = 1u128.checked_shl(u32::try_from(index).unwrap_or(u32::MAX)).unwrap_or(0);
                if frame.used & bit != 0 {
                    self.state.fit += 1;
                }
                frame.used |= bit;
            }
            KeyFit::Undeclared => self.state.fit += if guide.is_closed(frame.position) { 3 } else { 1 },
            KeyFit::Unknown => {}
        }
    }

    /// The number of required properties that this frame has not seen.
    pub(super) fn count_missing_required(&self, frame: &Frame) -> u32 {
        (self.guide.required(frame.position) & !frame.used).count_ones()
    }

    /// Closes the top frame; `after` is the position after its closing bracket.
    pub(super) fn pop_frame(&mut self, after: usize) -> Step {
        if let Some(frame) = self.stack.pop()
            && frame.kind.is_object()
        {
            self.state.fit += 2 * self.count_missing_required(&frame);
        }
        if self.stack.is_empty() {
            return Step::Done(after);
        }
        self.finish_value(after)
    }
}

fn is_zero_width(space: &str) -> bool {
    matches!(
        space,
        "\u{feff}" | "\u{200b}" | "\u{200c}" | "\u{200d}" | "\u{2060}" | "\u{180e}" | "\u{ad}" | "\0"
    ) || ('\u{200b}'..='\u{200f}').any(|ch| space.starts_with(ch))
}
