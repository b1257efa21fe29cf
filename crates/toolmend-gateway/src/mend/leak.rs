//! Calls that a model wrote as text: the library's stream, behind one small door.

use toolmend::{Event, Finish, Mender, Stream, TurnOptions};

/// Reads the text of one turn.
#[derive(Debug)]
pub(crate) struct Leak {
    stream: Stream,
}

impl Leak {
    pub(crate) fn new(mender: &Mender, options: &TurnOptions) -> Self {
        Leak { stream: mender.stream(options) }
    }

    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        self.stream.push(text)
    }

    pub(crate) fn finish(&mut self, finish: Finish) -> Vec<Event> {
        self.stream.finish(finish)
    }
}
