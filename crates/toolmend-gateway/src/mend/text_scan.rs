//! Scans text for leaked calls, piece by piece.
//!
//! The text goes through the library's stream. As long as the stream returns exactly what it was given, the pieces stay
//! unchanged. From the first difference on they are rewritten. A piece is held as a whole while its end could begin a
//! marker: sending the certain half would be earlier by one token, but the frame could not stay unchanged.

use std::collections::VecDeque;

use toolmend::{Delivery, Event, Finish, Stream};

use super::choice::PiecePosition;
use super::judge::TurnRules;

/// What the scan found out about pieces.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// These pieces stay unchanged.
    pub(crate) unchanged: Vec<PiecePosition>,
    /// These pieces are replaced: the first by the events, the others by nothing.
    pub(crate) replaced: Vec<PiecePosition>,
    /// The beginning of the first replaced piece, as far as it is text.
    pub(crate) text_before: String,
    /// What replaces the pieces.
    pub(crate) events: Vec<Event>,
    /// Whether everything before stayed unchanged.
    pub(crate) is_first_change: bool,
}

/// Scans the text or the reasoning of one choice.
#[derive(Debug)]
pub(crate) struct TextScan {
    /// `None` if nothing is scanned, or not any more.
    stream: Option<LazyStream>,
    /// Pieces that the stream has not returned in full.
    pending: VecDeque<(PiecePosition, String)>,
    /// How many bytes of the first pending piece the stream has returned.
    returned: usize,
    /// Whether the stream has returned something else than the text.
    has_diverged: bool,
    /// Whether the stream has returned something else than text.
    has_found: bool,
}

/// A stream that is created with the first text: most turns have no text, or no reasoning.
#[derive(Debug)]
enum LazyStream {
    NotStarted(Delivery),
    Started(Box<Stream>),
}

impl TextScan {
    /// Returns a scan for a turn that is judged by these rules.
    pub(crate) fn new(rules: &TurnRules, delivery: Delivery) -> Self {
        let stream = rules.has_tools.then_some(LazyStream::NotStarted(delivery));
        TextScan { stream, pending: VecDeque::new(), returned: 0, has_diverged: false, has_found: false }
    }

    /// Whether text is missing although nothing was found in it.
    pub(crate) fn has_removed_markup(&self) -> bool {
        self.has_diverged && !self.has_found
    }

    /// Adds a piece of text.
    pub(crate) fn push(&mut self, position: PiecePosition, text: &str, rules: &TurnRules) -> ScanResult {
        if let Some(LazyStream::NotStarted(delivery)) = self.stream {
            self.stream = Some(LazyStream::Started(Box::new(rules.text_stream(delivery))));
        }
        let Some(LazyStream::Started(stream)) = &mut self.stream else {
            return ScanResult { unchanged: vec![position], ..ScanResult::default() };
        };
        let events = stream.push(text);
        self.has_found |= has_found(&events);
        if self.has_diverged {
            return ScanResult { replaced: vec![position], events, ..ScanResult::default() };
        }
        self.pending.push_back((position, text.to_owned()));
        self.compare(events)
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self, finish: Finish) -> ScanResult {
        let Some(LazyStream::Started(mut stream)) = self.stream.take() else { return ScanResult::default() };
        let events = stream.finish(finish);
        self.has_found |= has_found(&events);
        if self.has_diverged {
            return ScanResult { events, ..ScanResult::default() };
        }
        let mut result = self.compare(events);
        if !self.pending.is_empty() && !self.has_diverged {
            // The stream does not return white space at the end, so it stays. Markup without meaning is dropped.
            let open = self
                .pending
                .iter()
                .enumerate()
                .map(|(at, (_, text))| &text[if at == 0 { self.returned } else { 0 }..]);
            if open.into_iter().all(|text| text.trim().is_empty()) {
                result.unchanged.extend(self.pending.drain(..).map(|(position, _)| position));
            } else {
                self.diverge(&mut result, Vec::new());
            }
        }
        result
    }

    /// Stops scanning. Returns the pieces that stay unchanged, and the events that the stream still held.
    pub(crate) fn abandon(&mut self) -> (Vec<PiecePosition>, Vec<Event>) {
        let held_events = match self.stream.take() {
            Some(LazyStream::Started(mut stream)) if self.has_diverged => stream.finish(Finish::Unknown),
            _ => Vec::new(),
        };
        (self.pending.drain(..).map(|(position, _)| position).collect(), held_events)
    }

    /// Compares what the stream returned with the pending pieces.
    fn compare(&mut self, events: Vec<Event>) -> ScanResult {
        let mut result = ScanResult::default();
        let mut events = events.into_iter();
        while let Some(event) = events.next() {
            let Event::Content(text) = &event else {
                self.diverge(&mut result, [event].into_iter().chain(events).collect());
                return result;
            };
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let Some((position, front)) = self.pending.front() else {
                    self.diverge(
                        &mut result,
                        [Event::Content(rest.to_owned())].into_iter().chain(events).collect(),
                    );
                    return result;
                };
                let open = &front[self.returned..];
                if let Some(further) = rest.strip_prefix(open) {
                    result.unchanged.push(*position);
                    rest = further;
                    self.pending.pop_front();
                    self.returned = 0;
                } else if open.starts_with(rest) {
                    self.returned += rest.len();
                    rest = "";
                } else {
                    self.diverge(
                        &mut result,
                        [Event::Content(rest.to_owned())].into_iter().chain(events).collect(),
                    );
                    return result;
                }
            }
        }
        result
    }

    /// Gives up on unchanged pieces: everything pending is replaced by these events.
    fn diverge(&mut self, result: &mut ScanResult, events: Vec<Event>) {
        self.has_diverged = true;
        result.is_first_change = true;
        if let Some((_, front)) = self.pending.front() {
            front[..self.returned].clone_into(&mut result.text_before);
        }
        result.replaced.extend(self.pending.drain(..).map(|(position, _)| position));
        result.events = events;
    }
}

/// Whether something else than text was found.
fn has_found(events: &[Event]) -> bool {
    events.iter().any(|event| !matches!(event, Event::Content(_) | Event::Removed(_) | Event::Note(_)))
}
