//! Calls that the server recognised.

use toolmend::Delivery;
use toolmend_protocol::{Arguments, CallPiece, OutgoingPart, ReadyCall, StopReason, new_id};

use super::queue::{PiecePosition, PieceState};
use super::{ChoiceMender, complete_started_call, refused_after_start};
use crate::config::RefusalMode;
use crate::mend::judge::{CallJudge, CallRuling};
use crate::mend::live_arguments::LiveArguments;

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
        if self.may_send_early(call, text.as_deref(), last, judge) {
            self.queue.set_spoken();
            self.queue.push_piece(PieceState::Unchanged(None));
            return;
        }
        self.queue.push_piece(PieceState::Waiting(None));
        self.call_pieces.push((position, call));
        // If the arguments look truncated, only the stop reason says whether they are.
        if last && !judge.looks_truncated(&self.assembly.calls[call]) {
            self.judge_native_call(call, None, judge);
        }
    }

    /// Whether a piece of a call may be sent before the call is judged.
    fn may_send_early(&mut self, at: usize, text: Option<&str>, last: bool, judge: &CallJudge) -> bool {
        let call = &self.assembly.calls[at];
        let Some(text) = text.filter(|_| judge.rules.delivery == Delivery::Live && !last) else {
            return false;
        };
        let is_latest = at + 1 == self.assembly.calls.len();
        let waits = self.call_pieces.iter().any(|&(_, of)| of == at);
        let is_certain = call.exact && self.state.calls_unchanged && judge.rules.is_declared(&call.name);
        if !is_latest || waits || !is_certain {
            return false;
        }
        if self.live_call.as_ref().is_none_or(|(of, _)| *of != at) {
            self.live_call = Some((at, LiveArguments::new(judge.rules.mender.tool(&call.name))));
        }
        self.live_call.as_mut().is_some_and(|(_, live)| live.push(text))
    }

    /// Decides about one call and all pieces that it arrived in.
    pub(super) fn judge_native_call(&mut self, at: usize, stop: Option<StopReason>, judge: &mut CallJudge) {
        let Some(call) = self.assembly.calls.get_mut(at).filter(|call| !call.judged) else { return };
        call.judged = true;
        let positions: Vec<PiecePosition> =
            self.call_pieces.extract_if(.., |(_, of)| *of == at).map(|(position, _)| position).collect();
        let call = &self.assembly.calls[at];
        let exact = call.exact && call.is_concatenation();
        let has_repeated_id =
            call.id.is_some() && self.assembly.calls[..at].iter().any(|other| other.id == call.id);
        let was_started =
            self.live_call.as_ref().is_some_and(|(of, live)| *of == at && live.sent().is_some());
        let form_is_wrong = !exact || has_repeated_id;
        let parts = match judge.judge_native_call(call, stop, form_is_wrong) {
            CallRuling::Runs { unchanged: true, .. }
                if was_started && !form_is_wrong && self.state.calls_unchanged =>
            {
                self.state.running_calls += 1;
                self.live_call = None;
                self.queue.keep_pieces(positions);
                return;
            }
            ruling if was_started => {
                self.finish_live_call(at, ruling, positions, judge);
                return;
            }
            CallRuling::Runs { mut calls, unchanged } => {
                if has_repeated_id && let Some(first) = calls.first_mut() {
                    first.id = new_id("call_");
                }
                // Some servers recognise a call and leave it in the text as well.
                let is_leaked = |call: &ReadyCall| {
                    let mut leaked = self.leaked_calls.iter();
                    leaked.any(|other| other.name == call.name && other.arguments == call.arguments)
                };
                let before = calls.len();
                calls.retain(|call| !is_leaked(call));
                self.state.running_calls += calls.len();
                let is_complete = before == calls.len();
                if unchanged && !form_is_wrong && self.state.calls_unchanged && is_complete {
                    self.queue.keep_pieces(positions);
                    return;
                }
                // A correct call next to a changed one is only renumbered.
                judge.report.form_fixed |= form_is_wrong || !is_complete;
                calls.into_iter().map(OutgoingPart::Call).collect()
            }
            CallRuling::Refused { .. } if judge.rules.refusal == RefusalMode::Pass => {
                self.state.running_calls += 1;
                self.queue.keep_pieces(positions);
                return;
            }
            CallRuling::Refused { feedback, truncated } => {
                self.state.truncated |= truncated;
                vec![self.feedback_part(&feedback)]
            }
        };
        self.state.calls_unchanged = false;
        self.queue.replace_pieces(positions, parts);
    }

    /// Sends the rest of a call whose start was sent, now that the call was judged.
    fn finish_live_call(
        &mut self,
        at: usize,
        ruling: CallRuling,
        positions: Vec<PiecePosition>,
        judge: &mut CallJudge,
    ) {
        let sent = self.live_call.take().and_then(|(_, live)| live.sent().map(str::to_owned));
        let call = &self.assembly.calls[at];
        let completed =
            complete_started_call(ruling, call.id.as_ref(), &call.name, &sent.unwrap_or_default());
        self.state.running_calls += 1;
        self.state.calls_unchanged = false;
        let Some((ready, rest)) = completed else {
            judge.report.fatal_error = Some(refused_after_start(&call.name));
            return;
        };
        let left = self.queue.replace_pieces(positions, vec![OutgoingPart::CallEnd(ready, rest)]);
        self.late_parts.extend(left);
    }
}
