//! How a template writes reasoning, and whether its prompt opens it.

use super::markers::{is_marker, pieces};
use super::probes::REASONING;
use crate::dialect::token::{self, Word};

/// What the output of a model begins with, as far as the prompt decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Start {
    /// The prompt opens the reasoning.
    InReasoning,
    /// The prompt opens and closes the reasoning.
    AfterReasoning,
    /// The prompt says nothing about reasoning.
    #[default]
    Anything,
}

/// The reasoning of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reasoning {
    /// The markers around reasoning, if the template writes any.
    pub(super) markers: Option<(String, String)>,
    pub(super) start: Start,
}

impl Reasoning {
    /// Finds the markers in a turn with reasoning, and the state in which the prompt leaves the model.
    pub(super) fn find(thought: Option<&str>, plain_head: &str, generation: &str) -> Self {
        let markers = thought.and_then(|turn| markers_around(turn, plain_head));
        let end = generation.trim_end();
        let last = pieces(end).last().copied().filter(|piece| is_marker(piece)).unwrap_or_default();
        let is_think = |word: &str| token::word(word) == Some(Word::Think);
        let inner = last.trim_matches(['<', '>']);
        let start = match &markers {
            Some((open, _)) if end.ends_with(open.as_str()) => Start::InReasoning,
            Some((_, close)) if end.ends_with(close.as_str()) => Start::AfterReasoning,
            _ if is_think(inner) => Start::InReasoning,
            _ if inner.strip_prefix('/').is_some_and(is_think) => Start::AfterReasoning,
            _ => Start::Anything,
        };
        Reasoning { markers, start }
    }
}

/// The marker before and the marker after the reasoning of a turn.
fn markers_around(turn: &str, plain_head: &str) -> Option<(String, String)> {
    let at = turn.find(REASONING)?;
    let before = pieces(&turn[..at]);
    let after = pieces(&turn[at + REASONING.len()..]);
    let open =
        *before.iter().rev().find(|piece| !piece.trim().is_empty()).filter(|piece| is_marker(piece))?;
    let close = *after.iter().find(|piece| !piece.trim().is_empty()).filter(|piece| is_marker(piece))?;
    // The head of a turn is a marker too. It is followed by the content if there is no reasoning.
    let belongs = words(close).any(|word| words(open).any(|other| other == word));
    (belongs || !plain_head.ends_with(open)).then(|| (open.to_owned(), close.to_owned()))
}

/// The words of a marker that are more than a direction.
fn words(marker: &str) -> impl Iterator<Item = String> {
    let words = marker.split(|ch: char| !ch.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| {
        word.len() > 1 && !matches!(word.as_str(), "start" | "end" | "begin" | "open" | "close")
    })
}
