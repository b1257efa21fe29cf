//! Calls that the server recognised.

use toolmend::Delivery;
use toolmend_protocol::{Arguments, CallExtras, CallPiece, OutgoingPart, ReadyCall, StopReason};

use super::queue::{PiecePosition, PieceState};
use super::{ChoiceMender, complete_started_call, end_started_call, feedback_on};
use crate::mend::judge::{CallJudge, CallRuling, Refusal, RefusalAnswer, refused_after_start};
use crate::mend::live_arguments::LiveArguments;

/// A call whose start may have been sent.
#[derive(Debug)]
pub(super) struct LiveCall {
    /// Its position in the assembly.
    at: usize,
    /// The id and the name as they were sent. Later pieces may change what is known about the call.
    id: String,
    name: String,
    arguments: LiveArguments,
}

impl LiveCall {
    fn was_started(&self) -> bool {
        self.arguments.sent().is_some()
    }

    /// Returns what the client has of it, if it was started.
    fn started(&self) -> Option<ReadyCall> {
        let arguments = self.arguments.sent()?.to_owned();
        let (id, name) = (self.id.clone(), self.name.clone());
        Some(ReadyCall { id, name, arguments, ..ReadyCall::default() })
    }
}

impl<T> ChoiceMender<T> {
    /// Adds a piece of a call.
    pub(super) fn add_call_piece(
        &mut self,
        piece: CallPiece,
        position: PiecePosition,
        judge: &mut CallJudge,
    ) {
        self.end_reasoning(judge);
        let last = piece.last;
        let text = match &piece.arguments {
            Some(Arguments::Piece(text)) => Some(text.clone()),
            Some(Arguments::Whole(_)) => None,
            None => Some(String::new()),
        };
        let call = self.assembly.add_piece(piece, |name| judge.rules.is_declared(name));
        if self.assembly.calls[call].judged {
            self.add_late_piece(call, text.as_deref(), judge);
            return;
        }
        if let Some(before) = self.live_call.as_ref().map(|live| live.at).filter(|&before| before < call)
            && self.assembly.calls[before].is_complete()
        {
            // The next call has begun, so this one is over.
            self.judge_native_call(before, Some(StopReason::Calls), judge);
        }
        if self.may_send_early(call, text.as_deref(), last, judge) {
            self.queue.set_spoken();
            // What the piece carries leaves with it, and clients append what comes twice.
            self.assembly.calls[call].extras = CallExtras::default();
            self.queue.push_piece(PieceState::Unchanged(None));
            return;
        }
        self.queue.push_piece(PieceState::Waiting(None));
        self.call_pieces.push((position, call));
        // If the arguments look truncated, only the stop reason says whether they are. A call after one that is still being
        // sent waits for it.
        let waits_for_other =
            self.live_call.as_ref().is_some_and(|live| live.at != call && live.was_started());
        if last && !waits_for_other && !judge.looks_truncated(&self.assembly.calls[call]) {
            self.judge_native_call(call, None, judge);
        }
    }

    /// Adds a piece of a call that was already judged. It adds nothing if it repeats what is known. Otherwise the client has
    /// a call that the model did not mean.
    fn add_late_piece(&mut self, at: usize, text: Option<&str>, judge: &mut CallJudge) {
        self.queue.push_piece(PieceState::Replaced(Vec::new()));
        let call = &self.assembly.calls[at];
        let says_more = text.is_some_and(|text| !text.trim().is_empty())
            && call.judged_arguments.as_deref() != Some(call.arguments().as_str());
        if says_more {
            judge.report.fatal_error = Some(refused_after_start(&call.name));
        }
    }

    /// Whether a piece of a call may be sent before the call is judged.
    fn may_send_early(&mut self, at: usize, text: Option<&str>, last: bool, judge: &CallJudge) -> bool {
        let call = &self.assembly.calls[at];
        let Some(text) = text.filter(|_| judge.rules.delivery == Delivery::Live && !last) else {
            return false;
        };
        // Calls that began earlier must be complete, and nothing of a later one may wait for this one.
        let is_alone = at + 1 == self.assembly.calls.len()
            && self.assembly.calls[..at].iter().all(|call| call.judged)
            && self.call_pieces.is_empty()
            && self.state.first_call.is_none();
        let is_certain = call.exact && self.state.calls_unchanged && judge.rules.is_declared(&call.name);
        if !is_alone || !is_certain {
            return false;
        }
        let live = match &mut self.live_call {
            Some(live) if live.at == at => live,
            other => {
                let Some(id) = call.id.clone() else { return false };
                let arguments = LiveArguments::new(judge.rules.mender.tool(&call.name));
                other.insert(LiveCall { at, id, name: call.name.clone(), arguments })
            }
        };
        let is_same = Some(&live.id) == call.id.as_ref() && live.name == call.name;
        live.arguments.push(text) && is_same
    }

    /// Decides about one call and all pieces that it arrived in.
    pub(super) fn judge_native_call(&mut self, at: usize, stop: Option<StopReason>, judge: &mut CallJudge) {
        let Some(call) = self.assembly.calls.get_mut(at).filter(|call| !call.judged) else { return };
        call.judged = true;
        call.judged_arguments = (judge.rules.delivery == Delivery::Live).then(|| call.arguments());
        let positions: Vec<PiecePosition> =
            self.call_pieces.extract_if(.., |(_, of)| *of == at).map(|(position, _)| position).collect();
        let call = &self.assembly.calls[at];
        let exact = call.exact && call.is_concatenation();
        let has_repeated_id =
            call.id.is_some() && self.assembly.calls[..at].iter().any(|other| other.id == call.id);
        let started = self.live_call.as_ref().filter(|live| live.at == at).and_then(LiveCall::started);
        let was_started = started.is_some();
        let form_is_wrong = !exact || has_repeated_id;
        let id = call.id.clone().filter(|_| !has_repeated_id);
        if self.leave_out_call(&call.name, call.id.as_deref().unwrap_or_default(), &call.arguments(), judge) {
            self.state.calls_unchanged = false;
            self.queue.replace_pieces(positions, Vec::new());
            return;
        }
        let parts = match judge.judge_native_call(call, id, stop, form_is_wrong, started.as_ref()) {
            CallRuling::Runs { unchanged: true, calls }
                if was_started && !form_is_wrong && self.state.calls_unchanged =>
            {
                self.add_running_calls(&calls, judge);
                self.live_call = None;
                self.queue.keep_pieces(positions);
                return;
            }
            CallRuling::Refused(Refusal { answer: RefusalAnswer::Unchanged, .. })
                if was_started && !form_is_wrong =>
            {
                self.state.running_calls += 1;
                self.live_call = None;
                self.queue.keep_pieces(positions);
                return;
            }
            ruling if was_started => {
                let written = call.arguments();
                self.finish_live_call(ruling, &written, positions, judge);
                return;
            }
            CallRuling::Runs { mut calls, unchanged } => {
                // Some servers recognise a call and leave it in the text as well.
                let is_leaked = |call: &ReadyCall| {
                    let mut leaked = self.leaked_calls.iter();
                    leaked.any(|other| other.name == call.name && other.arguments == call.arguments)
                };
                let before = calls.len();
                calls.retain(|call| !is_leaked(call));
                self.add_running_calls(&calls, judge);
                let is_complete = before == calls.len();
                if unchanged && !form_is_wrong && self.state.calls_unchanged && is_complete {
                    self.queue.keep_pieces(positions);
                    return;
                }
                // A correct call next to a changed one is only renumbered.
                judge.report.fix_form(form_is_wrong || !is_complete);
                calls.into_iter().map(OutgoingPart::Call).collect()
            }
            CallRuling::Refused(refusal) => match refusal.answer {
                RefusalAnswer::Unchanged => {
                    self.state.running_calls += 1;
                    self.queue.keep_pieces(positions);
                    return;
                }
                RefusalAnswer::AsWritten(call) => {
                    self.add_running_calls(std::slice::from_ref(&call), judge);
                    if !form_is_wrong && self.state.calls_unchanged {
                        self.queue.keep_pieces(positions);
                        return;
                    }
                    judge.report.fix_form(form_is_wrong);
                    vec![OutgoingPart::Call(call)]
                }
                RefusalAnswer::Stub(call) => {
                    self.add_stub(&call, refusal.truncated, judge);
                    vec![OutgoingPart::Call(call)]
                }
                RefusalAnswer::Feedback => {
                    self.state.has_refused = true;
                    self.state.truncated |= refusal.truncated;
                    vec![self.feedback_part(&refusal.feedback)]
                }
            },
        };
        self.state.calls_unchanged = false;
        self.queue.replace_pieces(positions, parts);
    }

    /// Sends the rest of a call whose start was sent, now that the call was judged. If it does not run, the rest makes the
    /// client reject it.
    fn finish_live_call(
        &mut self,
        ruling: CallRuling,
        written: &str,
        positions: Vec<PiecePosition>,
        judge: &mut CallJudge,
    ) {
        let Some(live) = self.live_call.take() else { return };
        let sent = live.arguments.sent().unwrap_or_default();
        self.state.calls_unchanged = false;
        let (calls, rest) =
            if let Some(completed) = complete_started_call(&ruling, &live.id, &live.name, sent) {
                self.add_running_calls(&completed.0, judge);
                completed
            } else {
                let (feedback, truncated) = feedback_on(ruling);
                let started = live.started().unwrap_or_default();
                let Some(stub) = judge.refuse_started_call(&started, written, feedback) else {
                    self.state.running_calls += 1;
                    return;
                };
                self.add_stub(&stub, truncated, judge);
                let rest = stub.arguments[sent.len()..].to_owned();
                (vec![stub], rest)
            };
        // The end goes before every call that waits, because it belongs to the call that was started last.
        let first =
            self.call_pieces.iter().map(|(position, _)| *position).chain(positions.iter().copied()).min();
        self.queue.replace_pieces(positions, Vec::new());
        let end = end_started_call(calls, rest);
        match first {
            Some(first) => self.queue.extend_replacement(Some(first), end),
            None => self.late_parts.extend(end),
        }
    }
}
