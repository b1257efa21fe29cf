//! Text and reasoning, and the calls in them.

use toolmend::{Call, Delivery, Event, Outcome, Source};
use toolmend_protocol::{OutgoingPart, ReadyCall, new_id};

use super::queue::{PiecePosition, PieceState};
use super::{ChoiceMender, complete_started_call, end_started_call, feedback_on};
use crate::config::RefusalMode;
use crate::mend::judge::{CallJudge, CallRuling, RefusalAnswer};
use crate::mend::text_calls::TextCallWriter;
use crate::mend::text_scan::ScanResult;
use crate::observe::REASONING_IN_TEXT;

/// Text with a call that waits for the end of the turn: in the reasoning, in a protocol where calls are text, or if refused
/// calls stay as the server sent them.
#[derive(Debug)]
pub(super) struct UndecidedText {
    /// The pieces that it arrived in.
    positions: Vec<PiecePosition>,
    /// What the scan found in them.
    pub(super) events: Vec<Event>,
    /// Whether these pieces hold all of it, so that they can stay unchanged.
    pub(super) is_whole: bool,
}

/// A call in text whose arguments are sent while the model writes them.
#[derive(Debug)]
pub(super) struct StartedCall {
    id: String,
    name: String,
    sent: String,
}

impl<T> ChoiceMender<T> {
    /// Applies what a scan found.
    pub(super) fn apply_scan(&mut self, result: ScanResult, reasoning: bool, judge: &mut CallJudge) {
        for position in result.unchanged {
            if !reasoning
                && let Some(PieceState::Waiting(Some(OutgoingPart::Text(text)))) =
                    self.queue.piece_mut(position)
            {
                self.state.is_blank &= text.trim().is_empty();
            }
            self.queue.keep_pieces([position]);
        }
        if result.replaced.is_empty() {
            return;
        }
        let passes_call = judge.rules.refusal == RefusalMode::Pass
            && result.events.iter().filter_map(call_of).any(|call| !call.outcome().runs());
        let mut events = result.events.into_iter();
        if let Some(undecided) = self.undecided_mut(reasoning) {
            undecided.positions.extend(result.replaced);
            undecided.events.extend(events);
            return;
        }
        let (positions, is_whole) = (result.replaced, result.is_first_change);
        if !reasoning && (judge.rules.calls_are_text || passes_call) {
            let events = [Event::Content(result.text_before)].into_iter().chain(events).collect();
            self.undecided_text = Some(UndecidedText { positions, events, is_whole });
            return;
        }
        let mut parts = Vec::new();
        if !result.text_before.is_empty() {
            self.state.is_blank &= reasoning || result.text_before.trim().is_empty();
            parts.push(if reasoning {
                OutgoingPart::Reasoning(result.text_before)
            } else {
                OutgoingPart::Text(result.text_before)
            });
        }
        while let Some(event) = events.next() {
            if reasoning && is_call(&event) {
                let texts = parts.into_iter().filter_map(|part| match part {
                    OutgoingPart::Reasoning(text) => Some(Event::Content(text)),
                    _ => None,
                });
                let events = texts.chain([event]).chain(events).collect();
                self.undecided_reasoning = Some(UndecidedText { positions, events, is_whole });
                return;
            }
            parts.extend(self.parts_of_event(event, reasoning, judge));
        }
        self.queue.replace_pieces(positions, parts);
    }

    /// Applies the result of a scan that ended. Returns parts that have no piece to replace.
    pub(super) fn apply_final_scan(
        &mut self,
        mut result: ScanResult,
        reasoning: bool,
        judge: &mut CallJudge,
    ) -> Vec<OutgoingPart> {
        let events = if result.replaced.is_empty() { std::mem::take(&mut result.events) } else { Vec::new() };
        self.apply_scan(result, reasoning, judge);
        if let Some(undecided) = self.undecided_mut(reasoning) {
            undecided.events.extend(events);
            return Vec::new();
        }
        events.into_iter().flat_map(|event| self.parts_of_event(event, reasoning, judge)).collect()
    }

    fn undecided_mut(&mut self, reasoning: bool) -> Option<&mut UndecidedText> {
        if reasoning { self.undecided_reasoning.as_mut() } else { self.undecided_text.as_mut() }
    }

    /// Returns what is written for an event of the library's stream.
    fn parts_of_event(&mut self, event: Event, reasoning: bool, judge: &mut CallJudge) -> Vec<OutgoingPart> {
        match event {
            Event::Content(text) if reasoning => vec![OutgoingPart::Reasoning(text)],
            Event::Content(text) => {
                self.state.is_blank &= text.trim().is_empty();
                vec![OutgoingPart::Text(text)]
            }
            Event::Reasoning(text) => {
                judge.report.fixes.extend((!reasoning).then_some(REASONING_IN_TEXT));
                vec![OutgoingPart::Reasoning(text)]
            }
            Event::CallEnd { call, .. } | Event::CallCut { call, .. } | Event::CallRejected { call, .. } => {
                self.judge_leaked_call(&call, judge)
            }
            Event::CallStart { name, id, .. } if !reasoning && judge.rules.delivery == Delivery::Live => {
                let id = id.unwrap_or_else(|| new_id("call_"));
                self.started_call = Some(StartedCall { id, name, sent: String::new() });
                Vec::new()
            }
            Event::ArgumentsDelta { text, .. } if !reasoning => self.add_arguments(text),
            _ => Vec::new(),
        }
    }

    /// Returns the next piece of a call in text that is sent as it is written.
    fn add_arguments(&mut self, text: String) -> Vec<OutgoingPart> {
        let Some(call) = self.started_call.as_mut().filter(|_| !text.is_empty()) else { return Vec::new() };
        self.state.calls_unchanged = false;
        let is_first = call.sent.is_empty();
        call.sent.push_str(&text);
        vec![if is_first {
            let (id, name) = (call.id.clone(), call.name.clone());
            OutgoingPart::CallStart(ReadyCall { id, name, arguments: text, ..ReadyCall::default() })
        } else {
            OutgoingPart::CallArguments(text)
        }]
    }

    /// Judges a call in text and returns what is written for it.
    fn judge_leaked_call(&mut self, call: &Call, judge: &mut CallJudge) -> Vec<OutgoingPart> {
        let started = self.started_call.take().filter(|started| !started.sent.is_empty());
        let id = call.id.as_deref().unwrap_or_default();
        if started.is_none()
            && !judge.rules.calls_are_text
            && self.leave_out_call(&call.name, id, &call.raw, judge)
        {
            return Vec::new();
        }
        let started = started.map(|StartedCall { id, name, sent }| ReadyCall {
            id,
            name,
            arguments: sent,
            ..ReadyCall::default()
        });
        let ruling = judge.judge_leaked_call(call, started.as_ref(), self.state.finish);
        if let Some(started) = started {
            return self.finish_started_call(ruling, &call.raw, &started, judge);
        }
        match ruling {
            CallRuling::Runs { calls, .. } => {
                self.add_running_calls(&calls, judge);
                self.state.calls_unchanged = false;
                self.leaked_calls.extend(calls.iter().cloned());
                calls.into_iter().map(OutgoingPart::Call).collect()
            }
            CallRuling::Refused(refusal) => match refusal.answer {
                RefusalAnswer::Unchanged => {
                    self.state.is_blank = false;
                    vec![OutgoingPart::Text(call.raw.clone())]
                }
                RefusalAnswer::Stub(call) | RefusalAnswer::AsWritten(call) => {
                    self.add_stub(&call, refusal.truncated, judge);
                    self.state.calls_unchanged = false;
                    vec![OutgoingPart::Call(call)]
                }
                RefusalAnswer::Feedback => {
                    self.state.has_refused = true;
                    self.state.truncated |= refusal.truncated;
                    vec![self.feedback_part(&refusal.feedback)]
                }
            },
        }
    }

    /// Returns the rest of a call in text whose start was sent. `started` has the arguments that were sent.
    fn finish_started_call(
        &mut self,
        ruling: CallRuling,
        written: &str,
        started: &ReadyCall,
        judge: &mut CallJudge,
    ) -> Vec<OutgoingPart> {
        let completed = complete_started_call(&ruling, &started.id, &started.name, &started.arguments);
        if let Some((calls, rest)) = completed {
            self.add_running_calls(&calls, judge);
            self.leaked_calls.extend(calls.iter().cloned());
            return end_started_call(calls, rest);
        }
        let (feedback, truncated) = feedback_on(ruling);
        let Some(stub) = judge.refuse_started_call(started, written, feedback) else {
            self.state.running_calls += 1;
            return Vec::new();
        };
        self.add_stub(&stub, truncated, judge);
        let rest = stub.arguments[started.arguments.len()..].to_owned();
        vec![OutgoingPart::CallEnd(stub, rest)]
    }

    /// Decides about text with calls that waited for the end of the turn. It stays unchanged if every call in it does.
    /// Otherwise it is written again; in protocols where calls are text, each call in its own dialect.
    pub(super) fn decide_text(&mut self, judge: &mut CallJudge) {
        let Some(undecided) = self.undecided_text.take() else { return };
        let stays = |call: &Call| match call.outcome() {
            Outcome::Clean if !judge.rules.calls_are_text => false,
            Outcome::Clean if judge.rules.allows_name(&call.name) => true,
            Outcome::Mended => false,
            _ => matches!(judge.rules.refusal, RefusalMode::Pass | RefusalMode::Auto),
        };
        let is_unchanged = undecided.is_whole && undecided.events.iter().filter_map(call_of).all(stays);
        if !judge.rules.calls_are_text {
            let events = undecided.events.into_iter();
            let parts = events.flat_map(|event| self.parts_of_event(event, false, judge)).collect();
            if is_unchanged {
                self.queue.keep_pieces(undecided.positions);
            } else {
                self.queue.replace_pieces(undecided.positions, parts);
            }
            return;
        }
        let mut writer = TextCallWriter::new(!self.state.is_blank);
        for event in undecided.events {
            let dialect = call_of(&event).map_or("", |call| call.dialect);
            if let Event::Reasoning(text) = &event {
                writer.add_reasoning(text);
                continue;
            }
            for part in self.parts_of_event(event, false, judge) {
                writer.add_part(part, dialect);
            }
        }
        if is_unchanged {
            self.queue.keep_pieces(undecided.positions);
            return;
        }
        // If all calls were clean, only their form changed.
        let is_clean = judge.report.outcome.is_none_or(|outcome| outcome == Outcome::Clean);
        judge.report.fix_form(is_clean);
        self.queue.replace_pieces(undecided.positions, writer.finish());
    }

    /// Decides about reasoning with calls. `counts`: the turn has nothing else, so the server took the whole answer for
    /// reasoning. Otherwise the model only thought about calling.
    pub(super) fn decide_reasoning(&mut self, counts: bool, judge: &mut CallJudge) {
        let Some(undecided) = self.undecided_reasoning.take() else { return };
        if !counts && undecided.is_whole {
            self.queue.keep_pieces(undecided.positions);
            return;
        }
        let mut parts = Vec::new();
        for event in undecided.events {
            match event {
                Event::CallEnd { call, .. }
                | Event::CallCut { call, .. }
                | Event::CallRejected { call, .. } => {
                    if counts && call.source == Source::Explicit {
                        parts.extend(self.judge_leaked_call(&call, judge));
                    } else {
                        parts.push(OutgoingPart::Reasoning(call.raw));
                    }
                }
                other => parts.extend(self.parts_of_event(other, true, judge)),
            }
        }
        self.queue.replace_pieces(undecided.positions, parts);
    }

    /// Ends the reasoning because something else follows: what the model thought before is only reasoning.
    pub(super) fn end_reasoning(&mut self, judge: &mut CallJudge) {
        self.decide_reasoning(false, judge);
        let (unchanged, held_events) = self.reasoning_scan.abandon();
        self.queue.keep_pieces(unchanged);
        let parts: Vec<OutgoingPart> =
            held_events.into_iter().flat_map(|event| self.parts_of_event(event, true, judge)).collect();
        if !parts.is_empty() {
            self.queue.append_parts(parts);
        }
    }
}

/// Whether an event is a complete, truncated or rejected call.
pub(super) fn is_call(event: &Event) -> bool {
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
