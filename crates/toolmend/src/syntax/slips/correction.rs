//! A correction of one slip: the edit that undoes it.

use std::ops::Range;

use super::is_odd_text;
use super::machine::Mark;
use crate::patch::Edit;
use crate::repair::RepairKind;

/// A text with this edit may be what the model meant.
#[derive(Debug, Clone)]
pub(crate) struct Correction {
    pub(crate) edit: Edit,
    /// Whether it only completes a text that ends too early. Such a text may be truncated, so the correction proves nothing
    /// by itself.
    pub(crate) completes: bool,
    pub(crate) likelihood: Likelihood,
}

/// How likely a slip is, the likeliest first. Only equally likely slips are rivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likelihood {
    /// A mark of the structure was lost, doubled, mistyped or swapped with another.
    Usual,
    /// Two marks beside each other were lost together.
    Pair,
    /// A string would have quotes or brackets that do not pair up. If the other corrections leave as many such strings, it
    /// is as likely as they are.
    OddText,
    /// Something else speaks against it, such as a string that ends in a comma.
    Odd,
}

impl Correction {
    fn new(range: Range<usize>, with: &'static str, kind: RepairKind) -> Self {
        let edit = Edit::new(range, with, kind);
        Correction { edit, completes: false, likelihood: Likelihood::Usual }
    }

    pub(super) fn add(at: usize, mark: Mark) -> Self {
        let kind = match mark {
            Mark::OpenObject | Mark::OpenArray => RepairKind::MissingOpenerAdded,
            Mark::CloseObject | Mark::CloseArray => RepairKind::MissingCloserAdded,
            Mark::Comma => RepairKind::MissingCommaAdded,
            Mark::Colon => RepairKind::MissingColonAdded,
        };
        Correction::new(at..at, mark.text(), kind)
    }

    pub(super) fn add_quote(at: usize, quote: &'static str) -> Self {
        Correction::new(at..at, quote, RepairKind::MissingQuoteAdded)
    }

    /// A quote that is text.
    pub(super) fn escape_quote(at: usize) -> Self {
        Correction::new(at..at, "\\", RepairKind::InnerQuoteEscaped)
    }

    /// A quote that is text, with a backslash too many.
    pub(super) fn unescape_quote(backslash: usize) -> Self {
        Correction::new(backslash..backslash + 1, "", RepairKind::OverEscapedQuoteFixed)
    }

    /// A quote that delimits a string although it has a backslash.
    pub(super) fn unescape_delimiter(backslash: usize) -> Self {
        Correction::new(backslash..backslash + 1, "", RepairKind::DelimiterUnescaped)
    }

    pub(super) fn drop_mark(at: usize, mark: Mark) -> Self {
        let kind = match mark {
            Mark::OpenObject | Mark::OpenArray => RepairKind::ExtraOpenerRemoved,
            Mark::CloseObject | Mark::CloseArray => RepairKind::ExtraCloserRemoved,
            Mark::Comma => RepairKind::ExtraCommaRemoved,
            Mark::Colon => RepairKind::ExtraColonRemoved,
        };
        Correction::new(at..at + 1, "", kind)
    }

    pub(super) fn drop_quote(at: usize) -> Self {
        Correction::new(at..at + 1, "", RepairKind::DoubledQuoteRemoved)
    }

    pub(super) fn drop_character(at: usize) -> Self {
        Correction::new(at..at + 1, "", RepairKind::MarkCorrected)
    }

    pub(super) fn drop_repeated_token(range: Range<usize>) -> Self {
        Correction::new(range, "", RepairKind::RepeatedTokenRemoved)
    }

    /// A mistyped mark.
    pub(super) fn replace(range: Range<usize>, from: Option<Mark>, with: Mark) -> Self {
        let kind = match (from, with) {
            (Some(from), with) if from.closes() && with.closes() => RepairKind::CloserReplaced,
            _ => RepairKind::MarkCorrected,
        };
        Correction::new(range, with.text(), kind)
    }

    /// A mistyped quote.
    pub(super) fn replace_by_quote(range: Range<usize>, quote: &'static str) -> Self {
        Correction::new(range, quote, RepairKind::MarkCorrected)
    }

    /// The character at `at` and the next one, in the wrong order.
    pub(super) fn swap(text: &str, at: usize) -> Option<Self> {
        let mut characters = text.get(at..)?.chars();
        let (first, second) = (characters.next()?, characters.next()?);
        let range = at..at + first.len_utf8() + second.len_utf8();
        let edit = Edit::new(range, format!("{second}{first}"), RepairKind::MarksSwapped);
        Some(Correction { edit, completes: false, likelihood: Likelihood::Usual })
    }

    /// From `at` on, everything was escaped once more.
    pub(super) fn unescape_rest(text: &str, at: usize, unescaped: String) -> Self {
        let edit = Edit::new(at..text.len(), unescaped, RepairKind::OverEscapingRemoved);
        Correction { edit, completes: false, likelihood: Likelihood::Usual }
    }

    /// The same correction, of two marks.
    pub(super) fn of_two_marks(self) -> Self {
        Correction { likelihood: Likelihood::Pair, ..self }
    }

    /// The same correction, which is odd under this condition.
    pub(super) fn odd_if(self, odd: bool) -> Self {
        let likelihood = if odd { Likelihood::Odd } else { self.likelihood };
        Correction { likelihood, ..self }
    }

    /// The same correction, which under this condition takes a bracket from a text that would be odd with it.
    pub(super) fn taking_bracket_if(self, taking: bool) -> Self {
        let likelihood = if taking { self.likelihood.max(Likelihood::OddText) } else { self.likelihood };
        Correction { likelihood, ..self }
    }

    /// The same correction, which leaves this content of a string.
    pub(super) fn leaving(self, content: &str) -> Self {
        let odd = is_odd_text(content);
        let likelihood = if odd { self.likelihood.max(Likelihood::OddText) } else { self.likelihood };
        Correction { likelihood, ..self }
    }
}
