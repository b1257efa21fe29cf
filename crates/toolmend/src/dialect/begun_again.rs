//! Calls that were begun, left unfinished and begun again.
//!
//! A model that starts over writes the same words again, from the first marker on. What it wrote before is not a call of its
//! own: nothing shows that it was complete, and what follows shows that it was not.

use super::input::{Input, Step};

/// How often one call may be begun.
pub(crate) const MAX_BEGINNINGS: usize = 4;

/// Where these words are written again, if they are next. White space between them does not count.
pub(crate) fn find_repetition(input: Input<'_>, written: &str, from: usize) -> Step<usize> {
    let start = input.skip_whitespace(from);
    let mut rest = input.rest(start);
    for word in written.split_whitespace() {
        let next = rest.trim_start();
        match next.strip_prefix(word) {
            Some(after) => rest = after,
            // The output ends while the words are repeated.
            None if word.starts_with(next) && input.done && !input.rest(start).is_empty() => break,
            None if word.starts_with(next) && !input.done => return Step::More,
            None => return Step::No,
        }
    }
    Step::Got(start)
}
