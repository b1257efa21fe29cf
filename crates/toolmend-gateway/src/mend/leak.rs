//! Calls that a model wrote as text: the library's stream, behind one small door.

use toolmend::{Event, Finish, Mender, TurnOptions};

/// Reads the text of one turn.
#[derive(Debug)]
pub(crate) struct Leak {}

impl Leak {
    pub(crate) fn new(_mender: &Mender, _options: &TurnOptions) -> Self {
        Leak {}
    }

    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        vec![Event::Content(text.to_owned())]
    }

    pub(crate) fn finish(&mut self, _finish: Finish) -> Vec<Event> {
        Vec::new()
    }
}
