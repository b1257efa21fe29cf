//! Text on its way through the reader of leaked calls, piece by piece.
//!
//! As long as the reader gives back exactly what it was given, the pieces stay as they came. From the first
//! difference on they are written anew.

use std::collections::VecDeque;

use toolmend::{Delivery, Event, Finish};

use super::judge::Rules;
use super::leak::Leak;

/// Where a piece stands in its lane: the number of its item, and its place in the item.
pub(crate) type Place = (usize, usize);

/// What the reader said about the pieces so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// These pieces stay as they came.
    pub(crate) same: Vec<Place>,
    /// These pieces are replaced: the first by the events, the others by nothing.
    pub(crate) replaced: Vec<Place>,
    /// The beginning of the first replaced piece that is certain to be text.
    pub(crate) before: String,
    /// What stands in the place of the replaced pieces.
    pub(crate) events: Vec<Event>,
    /// Everything before was given back as it came.
    pub(crate) first: bool,
}

#[derive(Debug)]
pub(crate) struct Track {
    /// None where nothing is read, or not any more.
    leak: Option<Reader>,
    /// Pieces that the reader has not given back in full.
    pending: VecDeque<(Place, String)>,
    /// How much of the first one it gave back.
    covered: usize,
    diverged: bool,
}

/// A reader is made when there is something to read: most turns have no text, or no thoughts.
#[derive(Debug)]
enum Reader {
    Later(Delivery),
    Now(Box<Leak>),
}

impl Track {
    /// A track for a turn that is judged by these rules.
    pub(crate) fn new(rules: &Rules, delivery: Delivery) -> Self {
        let leak = rules.has_tools.then_some(Reader::Later(delivery));
        Track { leak, pending: VecDeque::new(), covered: 0, diverged: false }
    }

    pub(crate) fn push(&mut self, place: Place, text: &str, rules: &Rules) -> Told {
        if let Some(Reader::Later(delivery)) = self.leak {
            self.leak = Some(Reader::Now(Box::new(rules.leak(delivery))));
        }
        let Some(Reader::Now(leak)) = &mut self.leak else {
            return Told { same: vec![place], ..Told::default() };
        };
        let events = leak.push(text);
        if self.diverged {
            return Told { replaced: vec![place], events, ..Told::default() };
        }
        self.pending.push_back((place, text.to_owned()));
        self.compare(events)
    }

    pub(crate) fn finish(&mut self, finish: Finish) -> Told {
        let Some(Reader::Now(mut leak)) = self.leak.take() else { return Told::default() };
        let events = leak.finish(finish);
        if self.diverged {
            return Told { events, ..Told::default() };
        }
        let mut told = self.compare(events);
        if !self.pending.is_empty() && !self.diverged {
            // White space at the end is told by nobody and stays. Markup that means nothing goes.
            let open = self
                .pending
                .iter()
                .enumerate()
                .map(|(at, (_, text))| &text[if at == 0 { self.covered } else { 0 }..]);
            if open.into_iter().all(|text| text.trim().is_empty()) {
                told.same.extend(self.pending.drain(..).map(|(place, _)| place));
            } else {
                self.diverge(&mut told, Vec::new());
            }
        }
        told
    }

    /// Reads nothing from here on. Gives what stays as it came, and the text that the reader still held.
    pub(crate) fn abandon(&mut self) -> (Vec<Place>, Vec<Event>) {
        let held = match self.leak.take() {
            Some(Reader::Now(mut leak)) if self.diverged => leak.finish(Finish::Unknown),
            _ => Vec::new(),
        };
        (self.pending.drain(..).map(|(place, _)| place).collect(), held)
    }

    fn compare(&mut self, events: Vec<Event>) -> Told {
        let mut told = Told::default();
        let mut events = events.into_iter();
        while let Some(event) = events.next() {
            let Event::Content(text) = &event else {
                self.diverge(&mut told, [event].into_iter().chain(events).collect());
                return told;
            };
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let Some((place, front)) = self.pending.front() else {
                    self.diverge(
                        &mut told,
                        [Event::Content(rest.to_owned())].into_iter().chain(events).collect(),
                    );
                    return told;
                };
                let open = &front[self.covered..];
                if let Some(further) = rest.strip_prefix(open) {
                    told.same.push(*place);
                    rest = further;
                    self.pending.pop_front();
                    self.covered = 0;
                } else if open.starts_with(rest) {
                    self.covered += rest.len();
                    rest = "";
                } else {
                    self.diverge(
                        &mut told,
                        [Event::Content(rest.to_owned())].into_iter().chain(events).collect(),
                    );
                    return told;
                }
            }
        }
        told
    }

    fn diverge(&mut self, told: &mut Told, events: Vec<Event>) {
        self.diverged = true;
        told.first = true;
        if let Some((_, front)) = self.pending.front() {
            front[..self.covered].clone_into(&mut told.before);
        }
        told.replaced.extend(self.pending.drain(..).map(|(place, _)| place));
        told.events = events;
    }
}
