//! The vocabulary of the reader: frames, steps, and what a search for readings ends with.
//!
//! Plain data. No type here looks at the text or decides anything.

use std::borrow::Cow;

use super::token::Punctuation;
use crate::patch::Edit;
use crate::schema::guide::SchemaPosition;

/// The brackets that a frame was opened with.
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

    /// The bracket that closes it in the text.
    pub(super) const fn closer(self) -> Punctuation {
        match self {
            FrameKind::Object | FrameKind::Implicit => Punctuation::CloseObject,
            FrameKind::Array => Punctuation::CloseArray,
            FrameKind::Call | FrameKind::Tuple => Punctuation::CloseParen,
        }
    }

    /// The bracket that closes it in JSON.
    pub(super) const fn json_closer(self) -> &'static str {
        if self.is_object() { "}" } else { "]" }
    }
}

/// An open bracket and what was read inside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The schema position of the object or array itself.
    pub(super) position: SchemaPosition,
    /// The byte after its opening bracket.
    pub(super) open: usize,
    /// Bits of the declared properties that were read.
    pub(super) used: u128,
    /// The number of complete members or elements.
    pub(super) count: usize,
    /// Where the last complete member or element ends; before the first one, the byte after the opening bracket.
    pub(super) last_end: usize,
    /// The current member's key in the text, without quotes.
    pub(super) key: (usize, usize),
    /// The schema position of the current member's or element's value.
    pub(super) value_position: SchemaPosition,
}

/// What the reader expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Value,
    Key,
    AfterValue,
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

/// How good a reading is; less is better. Fit to the schema counts first, then risk, then the tier of the edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Cost {
    pub(super) fit: u32,
    /// Guesses, and the doubts about them.
    pub(super) risk: usize,
    /// Whether an edit is of the tier `assumed`.
    pub(super) assumed: bool,
}

/// A complete reading.
#[derive(Debug, Clone)]
pub(super) struct Survivor {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) edits: Vec<Edit>,
    pub(super) cost: Cost,
    pub(super) root: FrameKind,
    /// Whether it is brackets and white space alone.
    pub(super) empty: bool,
    /// Where one slipped character would make it another value, if there is such a byte.
    pub(super) contested: Option<usize>,
    /// Strings in which quotes were taken for text. All quotes of a string that lack their escapes are one fault.
    pub(super) raw_strings: usize,
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
            raw_strings: 0,
        }
    }
}

/// Whether a value is brackets and white space alone.
pub(super) fn is_empty(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']') || byte.is_ascii_whitespace())
}

/// Where the text stops inside a value.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) start: usize,
    /// Keys and indices from the root to the cut.
    pub(super) path: Vec<Cow<'static, str>>,
    /// The edits and the end of the members that were complete.
    pub(super) partial: Option<(Vec<Edit>, usize)>,
    /// Whether at least one key was read. Prose with a brace in it is not a truncated document.
    pub(super) had_member: bool,
}

/// A reading that died: the furthest byte that any dead reading reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    pub(super) expected: &'static str,
    pub(super) at: usize,
    /// Whether a member had been read. Then the bracket was not prose.
    pub(super) had_member: bool,
}

/// What the search for readings of one value found.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) best: Option<Survivor>,
    /// A different reading that is as good as the best.
    pub(super) rival: Option<Survivor>,
    pub(super) cut: Option<Cut>,
    pub(super) death: Option<Death>,
    pub(super) out_of_fuel: bool,
}
