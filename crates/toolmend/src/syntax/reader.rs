//! The machine: reads one value from a text, remembers where it had a choice, and goes back there when a
//! reading dies.
//!
//! It walks with an explicit stack of frames. At most places one reading is possible and it moves on; a place
//! with several pushes a [`Choice`]. Work is paid from a fuel tank that is linear in the input.

use std::borrow::Cow;
use std::ops::Range;

use super::lookahead::Ends;
use super::string_end::Scan;
use super::token::{self, Mark};
use crate::json::strict;
use crate::patch::Edit;
use crate::policy::Limits;
use crate::repair::{RepairKind, Tier};
use crate::schema::guide::{Guide, KeyFit, SchemaPosition};
use crate::syntax::Finish;

/// What brackets a frame was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Object,
    Array,
    /// The arguments of `name(key=value)`.
    Call,
    /// A tuple: an array in round brackets.
    Tuple,
    /// An object whose opening brace is missing.
    Implicit,
}

impl FrameKind {
    pub(super) const fn is_object(self) -> bool {
        matches!(self, FrameKind::Object | FrameKind::Call | FrameKind::Implicit)
    }

    /// The mark that closes it.
    pub(super) const fn closer(self) -> Mark {
        match self {
            FrameKind::Object | FrameKind::Implicit => Mark::CloseObject,
            FrameKind::Array => Mark::CloseArray,
            FrameKind::Call | FrameKind::Tuple => Mark::CloseParen,
        }
    }
}

/// An open bracket and what was read in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) place: SchemaPosition,
    /// The place behind its opening bracket.
    pub(super) open: usize,
    /// Bits of the declared properties that were read.
    pub(super) used: u128,
    /// Members or elements that are complete.
    pub(super) count: usize,
    /// Where the last complete member or element ends; the place behind the opener before that.
    pub(super) last_end: usize,
    /// The current member's key in the text, without quotes.
    pub(super) key: (usize, usize),
    /// The place of the current member's or element's value.
    pub(super) value: SchemaPosition,
}

/// What the machine does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Value,
    Key,
    After,
}

/// The result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Go(Next),
    /// The root value ends here.
    Done(usize),
    /// This reading cannot go on: what was expected, and where.
    Dead(&'static str, usize),
    /// The text ends inside the value.
    Cut,
}

/// How good a reading is: fit to the schema first, then risk, then the tier of the edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Cost {
    pub(super) fit: u32,
    /// Guesses, and what speaks against them.
    pub(super) risk: usize,
    pub(super) assumed: bool,
}

/// A doubt weighs as much as this many guesses.
const DOUBT: usize = 3;

/// A complete reading.
#[derive(Debug, Clone)]
pub(super) struct Survivor {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) edits: Vec<Edit>,
    pub(super) cost: Cost,
    pub(super) root: FrameKind,
    pub(super) empty: bool,
    /// Where a slip of one mark would make it another value, if there is such a place.
    pub(super) contested: Option<usize>,
}

impl Survivor {
    /// A value that needs no edit.
    pub(super) fn strict(text: &str, start: usize, end: usize) -> Self {
        Survivor {
            start,
            end,
            edits: Vec::new(),
            cost: Cost::default(),
            root: FrameKind::Object,
            empty: is_empty(&text[start..end]),
            contested: None,
        }
    }
}

/// Whether a value is brackets and white space alone.
fn is_empty(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']') || byte.is_ascii_whitespace())
}

/// Where a text stops inside a value.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) start: usize,
    /// Keys and indices from the root to the cut.
    pub(super) path: Vec<Cow<'static, str>>,
    /// Edits and end of the members that were complete.
    pub(super) partial: Option<(Vec<Edit>, usize)>,
    /// Whether at least one key was read: prose with a brace in it is not a cut document.
    pub(super) keyed: bool,
}

/// A reading that died: the farthest place reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    pub(super) expected: &'static str,
    pub(super) at: usize,
    /// Whether a member had been read: then what follows is no prose.
    pub(super) keyed: bool,
}

/// What became of reading one value.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) best: Option<Survivor>,
    /// A different reading that is as good as the best.
    pub(super) rival: Option<Survivor>,
    pub(super) cut: Option<Cut>,
    pub(super) death: Option<Death>,
    pub(super) out_of_fuel: bool,
}

/// A place to come back to.
#[derive(Debug, Clone)]
struct Choice {
    stack: Vec<Frame>,
    edits: usize,
    fit: u32,
    doubt: u32,
    guesses: usize,
    contested: Option<usize>,
    scan: Scan,
}

/// Choices kept at most; the oldest are forgotten beyond that, so memory stays bounded.
const MAX_CHOICES: usize = 64;
/// Members that a reading may leave open: what is not closed by then is not JSON with a fault or two.
const MAX_SURVIVORS: usize = 16;

/// The machine over one text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) guide: &'a Guide,
    pub(super) finish: Finish,
    pub(super) depth_limit: usize,
    pub(super) edit_limit: usize,
    pub(super) pos: usize,
    pub(super) stack: Vec<Frame>,
    pub(super) edits: Vec<Edit>,
    pub(super) fit: u32,
    pub(super) doubt: u32,
    /// Decisions that another reading would have spared; edits that one fault forces count once.
    pub(super) guesses: usize,
    /// The first place of this reading that a slip of one mark explains as well.
    pub(super) contested: Option<usize>,
    pub(super) fuel: usize,
    pub(super) comments_end: usize,
    choices: Vec<Choice>,
    start: usize,
    root: FrameKind,
    keyed: bool,
    /// Keys read without their closing quote.
    pub(super) half_keys: usize,
    /// Quotes taken for text in the strings so far.
    pub(super) raw_quotes: usize,
    /// The inside of the last string value.
    pub(super) last_string: (usize, usize),
    /// Keys read in an object that declares none, which the object around it declares.
    pub(super) homeless: usize,
    /// The first key of the root.
    pub(super) first_key: (usize, usize),
    /// The document has `\n` for line breaks between its tokens.
    literal_breaks: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, guide: &'a Guide, finish: Finish, limits: &Limits) -> Self {
        Reader {
            text,
            bytes: text.as_bytes(),
            guide,
            finish,
            depth_limit: limits.depth,
            edit_limit: limits.edits,
            pos: 0,
            stack: Vec::new(),
            edits: Vec::new(),
            fit: 0,
            doubt: 0,
            guesses: 0,
            contested: None,
            // Some looks at every byte, and some more for what is short; a text that needs more is hostile.
            fuel: text.len().saturating_mul(8) + (1 << 20),
            comments_end: token::comments_end(text.as_bytes()),
            choices: Vec::new(),
            start: 0,
            root: FrameKind::Object,
            keyed: false,
            half_keys: 0,
            raw_quotes: 0,
            last_string: (0, 0),
            homeless: 0,
            first_key: (0, 0),
            literal_breaks: false,
        }
    }

    /// Reads the value whose opening bracket, quote or first byte is at `start`.
    pub(super) fn run(&mut self, start: usize) -> Run {
        self.reset(start, FrameKind::Object);
        self.drive(Next::Value)
    }

    /// Reads the members of an object that has no opening brace: `body` is where its first key starts.
    pub(super) fn run_members(
        &mut self,
        start: usize,
        body: usize,
        kind: FrameKind,
        opener: RepairKind,
    ) -> Run {
        self.reset(start, kind);
        self.edits.push(Edit::new(start..body, "{", opener));
        self.pos = body;
        self.push(kind, body);
        self.drive(Next::Key)
    }

    /// Where the strict value at `start` ends, if what follows it can follow.
    pub(super) fn strict_value(&mut self, start: usize) -> Option<usize> {
        self.reset(start, FrameKind::Object);
        let end = strict::check_value(self.text, start, self.depth_limit).ok()?;
        (self.burn(end - start) && self.trailing(end, false) != Ends::No).then_some(end)
    }

    fn reset(&mut self, start: usize, root: FrameKind) {
        self.pos = start;
        self.start = start;
        self.root = root;
        self.stack.clear();
        self.edits.clear();
        self.choices.clear();
        self.fit = 0;
        self.doubt = 0;
        self.guesses = 0;
        self.contested = None;
        self.keyed = false;
        self.half_keys = 0;
        self.raw_quotes = 0;
        self.last_string = (0, 0);
        self.homeless = 0;
        self.first_key = (0, 0);
        let inside = strict::skip_white(self.bytes, start + 1);
        self.literal_breaks =
            matches!(self.bytes.get(inside..inside + 2), Some([b'\\', b'n' | b'r' | b't' | b'\\']));
    }

    fn drive(&mut self, first: Next) -> Run {
        let mut run = Run { best: None, rival: None, cut: None, death: None, out_of_fuel: false };
        let mut step = Step::Go(first);
        let mut found = 0;
        loop {
            if !self.burn(1) {
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
                Step::Done(end) if self.trailing(end, false) == Ends::No => {
                    self.died(&mut run, "the end of the value", end);
                }
                Step::Done(end) => {
                    found += 1;
                    self.survived(&mut run, end);
                    if found >= MAX_SURVIVORS || self.is_settled(&run) {
                        return run;
                    }
                }
                Step::Dead(expected, at) => self.died(&mut run, expected, at),
                Step::Cut => {
                    if run.cut.is_none() {
                        run.cut = Some(self.cut());
                    }
                }
            }
            match self.back() {
                Some(then) => step = then,
                None => return run,
            }
        }
    }

    /// Whether no other choice can lead to a reading as good as the best.
    fn is_settled(&self, run: &Run) -> bool {
        // Going on from a choice takes its quote for text, at least.
        let least =
            |choice: &Choice| choice.guesses + DOUBT * choice.doubt as usize + choice.scan.seen.raw_quotes;
        run.best.as_ref().is_some_and(|best| {
            best.cost.fit == 0 && self.choices.iter().all(|choice| least(choice) > best.cost.risk)
        })
    }

    fn step(&mut self, next: Next) -> Step {
        match next {
            Next::Value => self.value(),
            Next::Key => self.key(),
            Next::After => self.after(),
        }
    }

    /// Goes back to the last choice and takes its next candidate.
    fn back(&mut self) -> Option<Step> {
        let choice = self.choices.pop()?;
        self.stack = choice.stack;
        self.edits.truncate(choice.edits);
        self.fit = choice.fit;
        self.doubt = choice.doubt;
        self.guesses = choice.guesses;
        self.contested = choice.contested;
        Some(self.continue_string(choice.scan))
    }

    /// Remembers this place; `scan` says how to go on when the reading that follows dies.
    pub(super) fn remember(&mut self, scan: Scan, edits: usize) {
        if self.choices.len() == MAX_CHOICES {
            self.choices.remove(0);
        }
        self.choices.push(Choice {
            stack: self.stack.clone(),
            edits,
            fit: self.fit,
            doubt: self.doubt,
            guesses: self.guesses,
            contested: self.contested,
            scan,
        });
    }

    pub(super) fn cost(&self) -> Cost {
        Cost { fit: self.fit, risk: self.risk(), assumed: false }
    }

    fn risk(&self) -> usize {
        self.guesses + DOUBT * self.doubt as usize
    }

    fn survived(&mut self, run: &mut Run, end: usize) {
        let assumed = self.edits.iter().any(|edit| edit.kind.tier() == Tier::Assumed);
        let survivor = Survivor {
            start: self.start,
            end,
            edits: if self.choices.is_empty() { std::mem::take(&mut self.edits) } else { self.edits.clone() },
            cost: Cost { assumed, ..self.cost() },
            root: self.root,
            empty: is_empty(&self.text[self.start..end]),
            contested: self.contested,
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

    fn died(&self, run: &mut Run, expected: &'static str, at: usize) {
        if run.death.is_none_or(|death| at > death.at) {
            run.death = Some(Death { expected, at, keyed: self.keyed });
        }
    }

    fn cut(&self) -> Cut {
        // A key that is not complete names nothing yet: the cut is in the object itself.
        let path = self
            .stack
            .iter()
            .map_while(|frame| match frame.kind.is_object() {
                true if frame.key == (0, 0) => None,
                true => Some(Cow::Owned(self.text[frame.key.0..frame.key.1].to_owned())),
                false => Some(Cow::Owned(frame.count.to_string())),
            })
            .collect();
        let partial = self.stack.first().filter(|frame| frame.count > 0).map(|frame| {
            let edits = self.edits.iter().filter(|edit| edit.end <= frame.last_end).cloned().collect();
            (edits, frame.last_end)
        });
        Cut { start: self.start, path, partial, keyed: self.keyed }
    }

    /// Whether `\\n` between tokens stands for a line break.
    pub(super) fn is_literal_broken(&self) -> bool {
        self.literal_breaks
    }

    /// Whether the root is a string and no bracket.
    pub(super) fn root_is_string(&self) -> bool {
        self.root == FrameKind::Object
            && matches!(token::mark(self.bytes, self.start), Some((Mark::Quote(_), _)))
    }

    /// Whether the object at `at`, behind the root's own members, starts with the root's first key: then the
    /// model began anew.
    pub(super) fn starts_anew(&mut self, at: usize) -> bool {
        let first = &self.text[self.first_key.0..self.first_key.1];
        let Some((Mark::OpenObject, len)) = token::mark(self.bytes, at) else { return false };
        let open = self.look(at + len);
        let Some((Mark::Quote(quote), len)) = token::mark(self.bytes, open) else { return false };
        let behind = open + len + first.len();
        !first.is_empty()
            && self.text.get(open + len..behind) == Some(first)
            && quote.closes_at(self.bytes, behind) > 0
    }

    /// Notes that one slipped mark at `at` would explain the text as well, with another value.
    pub(super) fn contest(&mut self, at: usize) {
        self.contested = self.contested.or(Some(at));
    }

    // --- small tools that every rule uses ---

    /// Pays for work; false when the tank is empty.
    pub(super) fn burn(&mut self, work: usize) -> bool {
        self.fuel = self.fuel.saturating_sub(work);
        self.fuel > 0
    }

    pub(super) fn edit(&mut self, range: Range<usize>, with: impl Into<Cow<'static, str>>, kind: RepairKind) {
        self.guesses += usize::from(kind.info().is_guess);
        if self.edits.len() >= self.edit_limit {
            self.fuel = 0;
            return;
        }
        self.edits.push(Edit::new(range, with, kind));
    }

    /// The place behind trivia, without repairing it.
    #[inline]
    pub(super) fn look(&mut self, at: usize) -> usize {
        if token::starts_token(self.bytes, at) {
            return at;
        }
        let mut end = at;
        while let Some((next, _)) = token::trivia(self.bytes, end, self.comments_end) {
            end = next;
        }
        self.burn(end - at);
        end
    }

    /// The same behind a quote that may be text: a comment or a literal `\n` there is text as well, unless the
    /// document is written with such line breaks.
    #[inline]
    pub(super) fn look_behind_quote(&mut self, at: usize, dirty: bool) -> usize {
        if token::starts_token(self.bytes, at) {
            return at;
        }
        let mut end = at;
        while let Some((next, kind)) = token::trivia(self.bytes, end, self.comments_end) {
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
        self.burn(end - at);
        end
    }

    /// Moves behind trivia and turns it into white space.
    #[inline]
    pub(super) fn skip(&mut self) {
        if token::starts_token(self.bytes, self.pos) {
            return;
        }
        while let Some((next, kind)) = token::trivia(self.bytes, self.pos, self.comments_end) {
            if let Some(kind) = kind {
                let plain = match kind {
                    RepairKind::CommentRemoved => "",
                    RepairKind::UnicodeSpaceReplaced if is_zero_width(&self.text[self.pos..next]) => "",
                    _ => " ",
                };
                // With a quote that has no partner it may be the text of a value, up to that value's end.
                if kind == RepairKind::CommentRemoved
                    && memchr::memchr_iter(b'"', &self.bytes[self.pos..next]).count() % 2 == 1
                {
                    self.contest(self.pos);
                }
                self.edit(self.pos..next, plain, kind);
            }
            self.pos = next;
        }
    }

    pub(super) fn push(&mut self, kind: FrameKind, behind: usize) {
        let place = self.slot();
        self.stack.push(Frame {
            kind,
            place,
            open: behind,
            used: 0,
            count: 0,
            last_end: behind,
            key: (0, 0),
            value: if kind.is_object() { SchemaPosition::ANY } else { self.guide.element(place, 0) },
        });
    }

    /// What the guide says about the value that is read now.
    pub(super) fn slot(&self) -> SchemaPosition {
        self.stack.last().map_or(self.guide.root(), |frame| frame.value)
    }

    /// A value ended at `end`.
    pub(super) fn value_ended(&mut self, end: usize) -> Step {
        self.pos = end;
        let guide = self.guide;
        if let Some(frame) = self.stack.last_mut() {
            frame.count += 1;
            frame.last_end = end;
            frame.key = (0, 0);
            if !frame.kind.is_object() {
                frame.value = guide.element(frame.place, frame.count);
            }
        }
        Step::Go(Next::After)
    }

    /// Notes the key of the member that is read now, and how well it fits.
    pub(super) fn key_read(&mut self, key: Range<usize>) {
        let guide = self.guide;
        let Some(frame) = self.stack.last_mut() else { return };
        let name = &self.text[key.clone()];
        frame.key = (key.start, key.end);
        if self.first_key == (0, 0) {
            self.first_key = frame.key;
        }
        frame.value = guide.member(frame.place, name);
        self.keyed = true;
        match guide.key(frame.place, name) {
            KeyFit::Declared(index) => {
                let bit = 1u128.checked_shl(u32::try_from(index).unwrap_or(u32::MAX)).unwrap_or(0);
                if frame.used & bit != 0 {
                    self.fit += 1;
                }
                frame.used |= bit;
            }
            KeyFit::Undeclared => self.fit += if guide.closed(frame.place) { 3 } else { 1 },
            KeyFit::Unknown => {}
        }
    }

    /// Required properties that this frame has not seen.
    pub(super) fn missing(&self, frame: &Frame) -> u32 {
        (self.guide.required(frame.place) & !frame.used).count_ones()
    }

    /// Closes the top frame; `behind` is the place behind its closer.
    pub(super) fn pop(&mut self, behind: usize) -> Step {
        if let Some(frame) = self.stack.pop()
            && frame.kind.is_object()
        {
            self.fit += 2 * self.missing(&frame);
        }
        if self.stack.is_empty() {
            return Step::Done(behind);
        }
        self.value_ended(behind)
    }
}

fn is_zero_width(space: &str) -> bool {
    matches!(
        space,
        "\u{feff}" | "\u{200b}" | "\u{200c}" | "\u{200d}" | "\u{2060}" | "\u{180e}" | "\u{ad}" | "\0"
    ) || ('\u{200b}'..='\u{200f}').any(|ch| space.starts_with(ch))
}
