//! One choice of a response: its items wait in line until it is known whether they may stay as they are.

use std::collections::VecDeque;

use toolmend::{Call, Delivery, Event, Finish, Outcome, Source};

use super::assembly::Assembly;
use super::judge::{Judge, Judged, RefusalMode, finish};
use super::live::Live;
use super::track::{Place, Told, Track};
use super::written::Writer;
use crate::turn::{Arguments, CallPiece, Made, Out, Part, ReadyCall, Stop};

/// An item that waits: whatever the wire has as its smallest unit, with what it means.
#[derive(Debug)]
struct Item<T> {
    tag: Option<T>,
    pieces: Vec<Piece>,
    bytes: usize,
}

#[derive(Debug)]
enum Piece {
    Waiting(Option<Made>),
    /// It may stay; if its item may not, this is written in its place.
    Same(Option<Made>),
    Replaced(Vec<Made>),
}

/// Text with a call in it that waits for the end of the turn: a call in the reasoning, or one that stays text.
#[derive(Debug)]
struct Undecided {
    /// The pieces that it came in.
    places: Vec<Place>,
    /// What the reader said about them.
    events: Vec<Event>,
    /// Whether these pieces hold all of it, so that they can stay as they came.
    whole: bool,
}

/// A call in text whose arguments are sent while they are written.
#[derive(Debug)]
struct Begun {
    id: String,
    name: String,
    sent: String,
}

/// One choice of a response.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the turn that holds or not, whatever the others"
)]
pub(crate) struct Lane<T> {
    queue: VecDeque<Item<T>>,
    /// The number of the first item in the queue.
    base: usize,
    content: Track,
    reasoning: Track,
    assembly: Assembly,
    /// Pieces of calls that wait for the end of the call.
    call_pieces: Vec<(Place, usize)>,
    /// Calls that stood in the reasoning, and what followed them, until it is known whether they count.
    thought: Option<Undecided>,
    /// The same for text, on surfaces where calls are text.
    written: Option<Undecided>,
    leaked: Vec<ReadyCall>,
    begun: Option<Begun>,
    /// The last call while its arguments are sent as they come.
    live: Option<(usize, Live)>,
    /// The rest of a call that has no piece left to stand in.
    late: Vec<Made>,
    ran: usize,
    cut: bool,
    /// Whether the user sees nothing so far.
    blank: bool,
    /// Whether every call so far stays as it came: else the numbers on the wire are wrong.
    calls_same: bool,
    closed: bool,
    /// Whether something that the client can see has left.
    pub(crate) spoken: bool,
    held: usize,
}

impl<T> Lane<T> {
    pub(crate) fn new(judge: &Judge) -> Self {
        Lane {
            queue: VecDeque::new(),
            base: 0,
            content: Track::new(&judge.rules, judge.rules.delivery),
            reasoning: Track::new(&judge.rules, Delivery::Held),
            assembly: Assembly::default(),
            call_pieces: Vec::new(),
            thought: None,
            written: None,
            leaked: Vec::new(),
            begun: None,
            live: None,
            late: Vec::new(),
            ran: 0,
            cut: false,
            blank: true,
            calls_same: true,
            closed: false,
            spoken: false,
            held: 0,
        }
    }

    /// Whether something waits that the client has not seen.
    pub(crate) fn is_holding(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether its end was seen.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// How many bytes wait.
    pub(crate) fn held(&self) -> usize {
        self.held + self.assembly.bytes()
    }

    /// Takes the next item.
    pub(crate) fn push(&mut self, tag: T, bytes: usize, parts: Vec<Part>, judge: &mut Judge) -> Vec<Out<T>> {
        let number = self.base + self.queue.len();
        self.held += bytes;
        self.queue.push_back(Item { tag: Some(tag), pieces: Vec::with_capacity(parts.len()), bytes });
        for (at, part) in parts.into_iter().enumerate() {
            let place = (number, at);
            if self.closed {
                self.add(Piece::Same(None));
                continue;
            }
            match part {
                Part::Opaque => self.add(Piece::Same(None)),
                Part::Text(text) if text.is_empty() => self.add(Piece::Same(None)),
                Part::Reasoning(text) if text.is_empty() => self.add(Piece::Same(None)),
                Part::Text(text) => {
                    if !text.trim().is_empty() {
                        self.leave_thoughts(judge);
                    }
                    let told = self.content.push(place, &text, &judge.rules);
                    self.add(Piece::Waiting(Some(Made::Text(text))));
                    self.told(told, false, judge);
                }
                Part::Reasoning(text) => {
                    let told = self.reasoning.push(place, &text, &judge.rules);
                    self.add(Piece::Waiting(Some(Made::Reasoning(text))));
                    self.told(told, true, judge);
                }
                Part::Call(piece) => self.call(piece, place, judge),
                Part::Stop(stop) => {
                    self.add(Piece::Waiting(Some(Made::Stop(stop))));
                    self.close(Some(stop), Some(place), judge);
                }
            }
        }
        self.drain()
    }

    /// Tells that nothing follows. Calls that were not complete run only if the turn had an end.
    pub(crate) fn end(&mut self, judge: &mut Judge) -> Vec<Out<T>> {
        if !self.closed {
            self.close(None, None, judge);
        }
        self.drain()
    }

    /// Tells that the turn broke off: text that waits is text, and no call of it runs.
    pub(crate) fn give_up(&mut self, judge: &mut Judge) -> Vec<Out<T>> {
        self.closed = true;
        self.settle_thought(false, judge);
        for reasoning in [true, false] {
            let track = if reasoning { &mut self.reasoning } else { &mut self.content };
            let mut told = track.finish(Finish::Unknown);
            told.events.retain(|event| matches!(event, Event::Content(_) | Event::Reasoning(_)));
            let behind = self.told_at_end(told, reasoning, judge);
            if !behind.is_empty() {
                self.append(behind);
            }
        }
        if let Some(written) = &mut self.written {
            written.whole = false;
            written.events.retain(|event| !is_call(event));
        }
        self.settle_written(judge);
        for (place, _) in std::mem::take(&mut self.call_pieces) {
            self.replace(place, Vec::new());
        }
        self.drain()
    }

    fn add(&mut self, piece: Piece) {
        if let Some(item) = self.queue.back_mut() {
            item.pieces.push(piece);
        }
    }

    fn piece(&mut self, place: Place) -> Option<&mut Piece> {
        let item = self.queue.get_mut(place.0.checked_sub(self.base)?)?;
        item.pieces.get_mut(place.1)
    }

    fn keep(&mut self, place: Place) {
        if let Some(piece) = self.piece(place)
            && let Piece::Waiting(made) = piece
        {
            *piece = Piece::Same(made.take());
        }
    }

    /// Puts this in the place of a piece. Where the piece is gone it follows what is there.
    fn replace(&mut self, place: Place, made: Vec<Made>) {
        match self.piece(place) {
            Some(Piece::Replaced(before)) => before.extend(made),
            Some(piece) => *piece = Piece::Replaced(made),
            None if made.is_empty() => {}
            None => self.append(made),
        }
    }

    fn append(&mut self, made: Vec<Made>) {
        self.queue.push_back(Item { tag: None, pieces: vec![Piece::Replaced(made)], bytes: 0 });
    }

    fn call(&mut self, piece: CallPiece, place: Place, judge: &mut Judge) {
        self.leave_thoughts(judge);
        let last = piece.last;
        let told = match &piece.arguments {
            Some(Arguments::Piece(text)) => Some(text.clone()),
            Some(Arguments::Whole(_)) => None,
            None => Some(String::new()),
        };
        let call = self.assembly.take(piece, |name| judge.rules.is_declared(name));
        if self.flows(call, told.as_deref(), last, judge) {
            self.spoken = true;
            self.add(Piece::Same(None));
            return;
        }
        self.add(Piece::Waiting(None));
        self.call_pieces.push((place, call));
        // Where the arguments seem to be cut off, only the end of the turn tells whether they are.
        if last && !judge.seems_cut(&self.assembly.calls[call]) {
            self.judge_call(call, None, judge);
        }
    }

    /// Whether a piece of a call may be sent before the call is judged.
    fn flows(&mut self, at: usize, text: Option<&str>, last: bool, judge: &Judge) -> bool {
        let call = &self.assembly.calls[at];
        let Some(text) = text.filter(|_| judge.rules.delivery == Delivery::Live && !last) else {
            return false;
        };
        let latest = at + 1 == self.assembly.calls.len();
        let waits = self.call_pieces.iter().any(|&(_, of)| of == at);
        if !latest || waits || !call.exact || !self.calls_same || !judge.rules.is_declared(&call.name) {
            return false;
        }
        if self.live.as_ref().is_none_or(|(of, _)| *of != at) {
            self.live = Some((at, Live::new(judge.rules.mender.tool(&call.name))));
        }
        let Some((_, live)) = &mut self.live else { return false };
        live.push(text)
    }

    /// What follows the beginning of a call that was sent, now that the call was judged.
    fn rest(&mut self, at: usize, judged: Judged, places: Vec<Place>, judge: &mut Judge) {
        let sent = self.live.take().and_then(|(_, live)| live.sent().map(str::to_owned)).unwrap_or_default();
        let call = &self.assembly.calls[at];
        let rest = completed(judged, call.id.as_ref(), &call.name, &sent);
        self.ran += 1;
        self.calls_same = false;
        let Some((ready, rest)) = rest else {
            judge.report.stuck = Some(stuck(&call.name));
            return;
        };
        let mut made = Some(vec![Made::Rest(ready, rest)]);
        for place in places {
            self.replace(place, made.take().unwrap_or_default());
        }
        self.late.extend(made.into_iter().flatten());
    }

    /// Decides about one call and all pieces that it came in.
    fn judge_call(&mut self, at: usize, stop: Option<Stop>, judge: &mut Judge) {
        let Some(call) = self.assembly.calls.get_mut(at).filter(|call| !call.done) else { return };
        call.done = true;
        let mut places = Vec::new();
        self.call_pieces.retain(|&(place, of)| {
            if of == at {
                places.push(place);
            }
            of != at
        });
        let call = &self.assembly.calls[at];
        let exact = call.exact && call.is_plain();
        let twin = |id: &Option<String>| {
            id.is_some() && self.assembly.calls[..at].iter().any(|other| other.id == *id)
        };
        let twin = twin(&call.id);
        let begun = self.live.as_ref().is_some_and(|(of, live)| *of == at && live.sent().is_some());
        let wire = !exact || twin;
        let made = match judge.native(call, stop, wire) {
            Judged::Runs { same: true, .. } if begun && exact && !twin && self.calls_same => {
                self.ran += 1;
                self.live = None;
                for place in places {
                    self.keep(place);
                }
                return;
            }
            judged if begun => {
                self.rest(at, judged, places, judge);
                return;
            }
            Judged::Runs { mut calls, same } => {
                if twin && let Some(first) = calls.first_mut() {
                    first.id = super::new_id("call_");
                }
                // The server recognised the call and left it in the text too.
                let known = |call: &ReadyCall| {
                    self.leaked
                        .iter()
                        .any(|other| other.name == call.name && other.arguments == call.arguments)
                };
                let before = calls.len();
                calls.retain(|call| !known(call));
                self.ran += calls.len();
                if same && exact && !twin && self.calls_same && before == calls.len() {
                    for place in places {
                        self.keep(place);
                    }
                    return;
                }
                // One that was fine and only stands beside one that was not is written again as it was.
                judge.report.rewired |= wire || before != calls.len();
                calls.into_iter().map(Made::Call).collect()
            }
            Judged::Refused { .. } if judge.rules.refusal == RefusalMode::Pass => {
                self.ran += 1;
                for place in places {
                    self.keep(place);
                }
                return;
            }
            Judged::Refused { feedback, cut } => {
                self.cut |= cut;
                vec![self.feedback(&feedback)]
            }
        };
        self.calls_same = false;
        let mut made = Some(made);
        for place in places {
            self.replace(place, made.take().unwrap_or_default());
        }
    }

    fn feedback(&mut self, feedback: &str) -> Made {
        let gap = if self.blank { "" } else { "\n\n" };
        self.blank = false;
        Made::Text(format!("{gap}{feedback}"))
    }

    /// Applies what the reader of a track said.
    fn told(&mut self, told: Told, reasoning: bool, judge: &mut Judge) {
        for place in told.same {
            if !reasoning && let Some(Piece::Waiting(Some(Made::Text(text)))) = self.piece(place) {
                let blank = text.trim().is_empty();
                self.blank &= blank;
            }
            self.keep(place);
        }
        if told.replaced.is_empty() {
            return;
        }
        let mut made = Vec::new();
        let mut events = told.events.into_iter();
        if let Some(undecided) = self.undecided(reasoning) {
            undecided.places.extend(told.replaced);
            undecided.events.extend(events);
            return;
        }
        if !reasoning && judge.rules.calls_are_text {
            let events = [Event::Content(told.before)].into_iter().chain(events).collect();
            self.written = Some(Undecided { places: told.replaced, events, whole: told.first });
            return;
        }
        if !told.before.is_empty() {
            self.blank &= reasoning || told.before.trim().is_empty();
            made.push(if reasoning { Made::Reasoning(told.before) } else { Made::Text(told.before) });
        }
        while let Some(event) = events.next() {
            if reasoning && is_call(&event) {
                let texts = made.into_iter().filter_map(|made| match made {
                    Made::Reasoning(text) => Some(Event::Content(text)),
                    _ => None,
                });
                let events = texts.chain([event]).chain(events).collect();
                self.thought = Some(Undecided { places: told.replaced, events, whole: told.first });
                return;
            }
            made.extend(self.made_of(event, reasoning, judge));
        }
        let mut made = Some(made);
        for place in told.replaced {
            self.replace(place, made.take().unwrap_or_default());
        }
    }

    fn undecided(&mut self, reasoning: bool) -> Option<&mut Undecided> {
        if reasoning { self.thought.as_mut() } else { self.written.as_mut() }
    }

    fn made_of(&mut self, event: Event, reasoning: bool, judge: &mut Judge) -> Vec<Made> {
        match event {
            Event::Content(text) if reasoning => vec![Made::Reasoning(text)],
            Event::Content(text) => {
                self.blank &= text.trim().is_empty();
                vec![Made::Text(text)]
            }
            Event::Reasoning(text) => {
                judge.report.rewired |= !reasoning;
                vec![Made::Reasoning(text)]
            }
            Event::CallEnd { call, .. } | Event::CallCut { call, .. } | Event::CallRejected { call, .. } => {
                self.leaked_call(&call, judge)
            }
            Event::CallStart { name, id, .. } if !reasoning && judge.rules.delivery == Delivery::Live => {
                let id = id.unwrap_or_else(|| super::new_id("call_"));
                self.begun = Some(Begun { id, name, sent: String::new() });
                Vec::new()
            }
            Event::ArgumentsDelta { text, .. } if !reasoning => self.more_arguments(text),
            _ => Vec::new(),
        }
    }

    /// The next piece of a call in text that is sent as it is written.
    fn more_arguments(&mut self, text: String) -> Vec<Made> {
        let Some(begun) = self.begun.as_mut().filter(|_| !text.is_empty()) else { return Vec::new() };
        self.calls_same = false;
        let first = begun.sent.is_empty();
        begun.sent.push_str(&text);
        vec![if first {
            Made::Begin(ReadyCall {
                id: begun.id.clone(),
                name: begun.name.clone(),
                arguments: text,
                ..ReadyCall::default()
            })
        } else {
            Made::Piece(text)
        }]
    }

    fn leaked_call(&mut self, call: &Call, judge: &mut Judge) -> Vec<Made> {
        let begun = self.begun.take().filter(|begun| !begun.sent.is_empty());
        let judged = judge.leaked(call, begun.as_ref().map(|begun| begun.id.clone()));
        if let Some(begun) = begun {
            self.ran += 1;
            let Some((ready, rest)) = completed(judged, Some(&begun.id), &begun.name, &begun.sent) else {
                judge.report.stuck = Some(stuck(&begun.name));
                return Vec::new();
            };
            self.leaked.push(ready.clone());
            return vec![Made::Rest(ready, rest)];
        }
        match judged {
            Judged::Runs { calls, .. } => {
                self.ran += calls.len();
                self.calls_same = false;
                self.leaked.extend(calls.iter().cloned());
                calls.into_iter().map(Made::Call).collect()
            }
            Judged::Refused { .. } if judge.rules.refusal == RefusalMode::Pass => {
                self.blank = false;
                vec![Made::Text(call.raw.clone())]
            }
            Judged::Refused { feedback, cut } => {
                self.cut |= cut;
                vec![self.feedback(&feedback)]
            }
        }
    }

    /// Decides about text with calls in it, on surfaces where calls are text. It stays as it came unless one of the
    /// calls was mended or refused; then it is written again, each call in its own dialect.
    fn settle_written(&mut self, judge: &mut Judge) {
        let Some(written) = self.written.take() else { return };
        let stays = |call: &Call| match call.outcome() {
            Outcome::Clean if judge.rules.admits(&call.name) => true,
            Outcome::Mended => false,
            _ => judge.rules.refusal == RefusalMode::Pass,
        };
        let same = written.whole && written.events.iter().filter_map(call_of).all(stays);
        let mut made = Writer::new(!self.blank);
        for event in written.events {
            let dialect = call_of(&event).map_or("", |call| call.dialect);
            if let Event::Reasoning(text) = &event {
                made.thoughts(text);
                continue;
            }
            for told in self.made_of(event, false, judge) {
                made.add(told, dialect);
            }
        }
        if same {
            for place in written.places {
                self.keep(place);
            }
            return;
        }
        // What was clean was only moved.
        judge.report.rewired |= judge.report.outcome.is_none_or(|outcome| outcome == Outcome::Clean);
        let mut made = Some(made.finish());
        for place in written.places {
            self.replace(place, made.take().unwrap_or_default());
        }
    }

    /// A call in the reasoning counts where the turn says nothing else: then the server took the whole answer for
    /// thoughts. Else the model only thought about calling.
    fn settle_thought(&mut self, counts: bool, judge: &mut Judge) {
        let Some(thought) = self.thought.take() else { return };
        if !counts && thought.whole {
            for place in thought.places {
                self.keep(place);
            }
            return;
        }
        let mut made = Vec::new();
        for event in thought.events {
            match event {
                Event::CallEnd { call, .. }
                | Event::CallCut { call, .. }
                | Event::CallRejected { call, .. } => {
                    if counts && call.source == Source::Explicit {
                        made.extend(self.leaked_call(&call, judge));
                    } else {
                        made.push(Made::Reasoning(call.raw));
                    }
                }
                other => made.extend(self.made_of(other, true, judge)),
            }
        }
        let mut made = Some(made);
        for place in thought.places {
            self.replace(place, made.take().unwrap_or_default());
        }
    }

    /// Something else is said: what the model thought before is nothing but thoughts.
    fn leave_thoughts(&mut self, judge: &mut Judge) {
        self.settle_thought(false, judge);
        let (same, held) = self.reasoning.abandon();
        for place in same {
            self.keep(place);
        }
        let made: Vec<Made> = held.into_iter().flat_map(|event| self.made_of(event, true, judge)).collect();
        if !made.is_empty() {
            self.append(made);
        }
    }

    /// The end of the turn: everything that waits is decided.
    fn close(&mut self, stop: Option<Stop>, place: Option<Place>, judge: &mut Judge) {
        self.closed = true;
        let end = finish(stop);
        for reasoning in [true, false] {
            let track = if reasoning { &mut self.reasoning } else { &mut self.content };
            let told = track.finish(end);
            let behind = self.told_at_end(told, reasoning, judge);
            if !behind.is_empty() {
                self.behind(place, behind);
            }
        }
        self.settle_written(judge);
        let last = self.assembly.calls.len().saturating_sub(1);
        for at in 0..self.assembly.calls.len() {
            // Only the last call can be the one that the limit cut off: behind the others the model went on.
            let stop = if at == last { stop } else { Some(Stop::Calls) };
            self.judge_call(at, stop, judge);
        }
        let late = std::mem::take(&mut self.late);
        if !late.is_empty() {
            self.behind(place, late);
        }
        let counts = self.ran == 0 && self.blank && self.assembly.calls.is_empty();
        self.settle_thought(counts, judge);
        let told = match stop {
            _ if self.cut && judge.rules.refusal != RefusalMode::Pass => Stop::Length,
            Some(stop @ (Stop::Length | Stop::Other)) => stop,
            _ if self.ran > 0 && judge.rules.stops_for_calls => Stop::Calls,
            _ => Stop::End,
        };
        let Some(place) = place else {
            judge.report.rewired = true;
            self.append(vec![Made::Stop(told)]);
            return;
        };
        if stop == Some(told) && matches!(self.piece(place), Some(Piece::Waiting(_))) {
            self.keep(place);
        } else {
            judge.report.rewired |= stop != Some(told);
            self.behind(Some(place), vec![Made::Stop(told)]);
        }
    }

    /// The same at the end, where there may be no piece that the last words belong to.
    fn told_at_end(&mut self, mut told: Told, reasoning: bool, judge: &mut Judge) -> Vec<Made> {
        let events = if told.replaced.is_empty() { std::mem::take(&mut told.events) } else { Vec::new() };
        self.told(told, reasoning, judge);
        if let Some(undecided) = self.undecided(reasoning) {
            undecided.events.extend(events);
            return Vec::new();
        }
        events.into_iter().flat_map(|event| self.made_of(event, reasoning, judge)).collect()
    }

    /// Adds something to what replaces a piece.
    fn behind(&mut self, place: Option<Place>, made: Vec<Made>) {
        match place.and_then(|place| self.piece(place)) {
            Some(Piece::Replaced(before)) => before.extend(made),
            Some(piece) => *piece = Piece::Replaced(made),
            None => self.append(made),
        }
    }

    /// What can leave: all items up to the first that waits.
    fn drain(&mut self) -> Vec<Out<T>> {
        let mut out = Vec::new();
        while let Some(item) = self.queue.front() {
            if item.pieces.iter().any(|piece| matches!(piece, Piece::Waiting(_))) {
                break;
            }
            let Some(item) = self.queue.pop_front() else { break };
            self.base += 1;
            self.held -= item.bytes;
            let same = item.pieces.iter().all(|piece| matches!(piece, Piece::Same(_)));
            match item.tag {
                Some(tag) if same => {
                    self.spoken |= item.pieces.iter().any(|piece| matches!(piece, Piece::Same(Some(_))));
                    out.push(Out::Keep(tag));
                }
                tag => {
                    let mut all = Vec::new();
                    for piece in item.pieces {
                        match piece {
                            Piece::Same(made) => all.extend(made),
                            Piece::Replaced(made) => all.extend(made),
                            Piece::Waiting(_) => {}
                        }
                    }
                    self.spoken |= !all.is_empty();
                    out.push(Out::Instead(tag, all));
                }
            }
        }
        out
    }
}

fn is_call(event: &Event) -> bool {
    call_of(event).is_some()
}

fn call_of(event: &Event) -> Option<&Call> {
    match event {
        Event::CallEnd { call, .. } | Event::CallCut { call, .. } | Event::CallRejected { call, .. } => {
            Some(call)
        }
        _ => None,
    }
}

/// The call whose beginning was sent and what is left to send of it, where it runs and really begins like that.
fn completed(judged: Judged, id: Option<&String>, name: &str, sent: &str) -> Option<(ReadyCall, String)> {
    let Judged::Runs { calls, .. } = judged else { return None };
    let [ready] = <[ReadyCall; 1]>::try_from(calls).ok()?;
    let same = ready.name == name && Some(&ready.id) == id;
    let rest = ready.arguments.strip_prefix(sent).filter(|_| same)?.to_owned();
    Some((ready, rest))
}

fn stuck(name: &str) -> String {
    format!("the call of {name} cannot be run, and its beginning was sent already")
}
