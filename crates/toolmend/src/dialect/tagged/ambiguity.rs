//! Values whose end is ambiguous.
//!
//! A tag that is lost, doubled or misspelt makes a value swallow the next argument, and the call still looks right.
//! This is the worst mistake a reader of markup can make, so every value that contains markup of its own notation is
//! checked. Tags in the middle of a line are text that the value talks about, and tags that are opened and closed
//! inside the value belong together. Anything else has two readings, and neither is run.
//!
//! This module never chooses between the readings. `tests/markup.rs` loses, doubles and misspells every marker of every
//! row.

use super::end::Closer;
use crate::dialect::custom::CustomTable;
use crate::dialect::input::Step;
use crate::dialect::tag::Tag;
use crate::dialect::token::{self, Word};

/// Whether the value may end somewhere else.
// Case: dialects/hostile/closing-tag-in-a-line
// Case: dialects/hostile/lost-parameter-tag
pub(super) fn is_ambiguous(value: &str, closer: Closer<'_>, marked: bool, custom: &CustomTable) -> bool {
    if marked && !marks_pair_up(value) || matches!(closer, Closer::Element(_)) && holds_pairs(value, custom) {
        return true;
    }
    let mut open = [0usize; 2];
    for (at, _) in value.match_indices('<') {
        let Step::Got((tag, meaning)) = token::read_tag(&value[at..], true, custom) else { continue };
        let Some(kind) = kind(&tag, meaning, closer) else { continue };
        if !tag.close {
            open[kind] += usize::from(!tag.empty);
        } else if open[kind] > 0 {
            open[kind] -= 1;
        } else if !tag.space.is_empty() || !is_in_line(&value[at + tag.len..]) {
            return true;
        }
    }
    open != [0, 0]
}

/// Whether a text that should be one value contains tags that separate values.
pub(super) fn holds_arguments(text: &str, custom: &CustomTable) -> bool {
    text.contains(token::MINIMAX) || holds(text, custom, &[Word::Key, Word::Value, Word::Parameter])
}

/// Whether an element contains tags of the notation in which keys have their own tags.
fn holds_pairs(text: &str, custom: &CustomTable) -> bool {
    holds(text, custom, &[Word::Key, Word::Value])
}

fn holds(text: &str, custom: &CustomTable, words: &[Word]) -> bool {
    text.match_indices('<').any(|(at, _)| match token::read_tag(&text[at..], true, custom) {
        Step::Got((_, meaning)) => meaning.is_some_and(|word| words.contains(&word)),
        _ => false,
    })
}

/// Whether a tag took the text after it for its attributes, because its own end was lost. The attributes of an argument
/// are its name and its type.
// Case: dialects/dsml_v4/half-a-parameter-tag
pub(super) fn holds_text_after(tag: &Tag<'_>) -> bool {
    tag.attributes.iter().any(|(_, value)| value.contains(['<', '>', '"', '\n']))
}

/// Whether two tags of the same argument have the same suffix: `<arg_key:suffix>`, `<arg_value:suffix>`. With another one,
/// its end is in the value.
pub(super) fn has_suffix_of(tag: &str, other: &str) -> bool {
    let suffix =
        |tag: &str| tag.rsplit_once(':').filter(|_| !tag.contains('|')).map(|(_, suffix)| suffix.to_owned());
    match (suffix(tag), suffix(other)) {
        (Some(suffix), Some(other)) => suffix == other,
        _ => true,
    }
}

/// Which of the tags around such a value this is.
fn kind(tag: &Tag<'_>, meaning: Option<Word>, closer: Closer<'_>) -> Option<usize> {
    match (closer, meaning) {
        (Closer::Word(Word::Value, _), Some(Word::Key)) => closer.has_style_of(tag).then_some(1),
        _ => closer.is_own(tag, meaning).then_some(0),
    }
}

/// One family marks every tag, so a tag that is opened in a value is closed in it.
fn marks_pair_up(value: &str) -> bool {
    let all = value.matches(token::MINIMAX).count();
    all == 0 || all == 2 * value.matches("]<]minimax[>[</").count()
}

/// Whether the line continues as text after a tag: after a blank or a punctuation mark, as words do.
fn is_in_line(after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\t']).chars().next();
    // `</param>"key">` is what is left of a tag.
    let is_quote = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let line = after.split(['\n', '<']).next().unwrap_or_default();
    !line.contains("\">")
        && after.strip_prefix(['`', '\'', '"']).is_none_or(is_quote)
        && after.starts_with(|ch: char| " \t`'\").,;:!?".contains(ch))
        && next.is_some_and(|ch| !matches!(ch, '\r' | '\n' | '<' | '>'))
}
