//! Turns that the model writes in the name of another speaker: a user, a tool, the system.
//!
//! Servers stop at the token that ends a turn. If one does not, the model goes on with what others might say, and then with its
//! own answer to that. Its turn has ended before, so everything from the header of such a turn on is text, byte for byte.

use super::{Mode, Stream};
use crate::dialect::input::Step;
use crate::turn::Event;

/// Lines in which a tool answers a call without a marker.
const OBSERVATIONS: &[&str] = &["Observation:", "观察:", "观察："];

/// Whether a text begins with the answer of a tool.
// Case: dialects/react/call-after-invented-observation
pub(super) fn is_observation(text: &str, done: bool) -> Step<()> {
    if !done && OBSERVATIONS.iter().any(|label| label.len() > text.len() && label.starts_with(text)) {
        return Step::More;
    }
    let Some(answer) = OBSERVATIONS.iter().find_map(|label| text.strip_prefix(label)) else {
        return Step::No;
    };
    match (answer.trim().is_empty(), done) {
        (false, _) => Step::Got(()),
        (true, false) => Step::More,
        (true, true) => Step::No,
    }
}

impl Stream {
    /// Leaves everything from this position on as text.
    // Case: dialects/hostile/turn-of-the-user
    // Case: dialects/hostile/consent-of-the-user
    pub(super) fn begin_turn_of_other(&mut self, at: usize) -> bool {
        self.flush_before(at);
        self.enter_turn_of_other();
        true
    }

    pub(super) fn enter_turn_of_other(&mut self) {
        self.events.push(Event::Note(
            "the model wrote the turn of another speaker, so nothing after its own turn is a call".to_owned(),
        ));
        self.scanned = 0;
        self.mode = Mode::OtherTurn;
    }

    pub(super) fn advance_turn_of_other(&mut self) -> bool {
        self.flush(self.buffer.len());
        false
    }
}
