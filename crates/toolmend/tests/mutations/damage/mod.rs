//! What models do to a valid call, by name.

mod notation;
mod slips;
mod strings;
mod structure;
mod whole;

use crate::document::{Document, Token};
use crate::random::Random;

/// One way to break a call; `None` if it does not apply to the call.
pub(crate) struct Damage {
    pub(crate) name: &'static str,
    pub(crate) apply: fn(&Document, &mut Random) -> Option<String>,
}

/// Every kind of damage that models are known to do, by the part of a document that it affects.
pub(crate) fn of_models() -> Vec<&'static Damage> {
    [structure::ALL, strings::ALL, whole::ALL, notation::ALL].into_iter().flatten().collect()
}

/// The same, and every character that can slip.
pub(crate) fn all() -> Vec<&'static Damage> {
    of_models().into_iter().chain(slips::ALL).collect()
}

/// Kinds of damage that wrap or re-encode text that is broken already.
pub(crate) const AROUND: &[Wrapper] = whole::AROUND;

/// Spellings of a whole call that keep the position of every token known, so that it can be truncated.
pub(crate) const SPELLINGS: &[Spelling] = strings::SPELLINGS;

/// A name, and how each token is spelled.
pub(crate) type Spelling = (&'static str, fn(&Token) -> String);

/// A name, and what is put around the text.
pub(crate) type Wrapper = (&'static str, fn(&str) -> String);
