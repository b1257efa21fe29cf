//! One choice of a response: its items wait in line until it is decided whether they stay unchanged.
//!
//! Three kinds of parts can wait: text that may hold a call, pieces of native calls, and the stop reason. Calls in the
//! reasoning wait for the end of the turn: they count only if the turn has nothing else, because then the server took the
//! whole answer for reasoning. In protocols where calls are text, text with a call also waits for the end: if no call was
//! mended or refused, every byte stays; otherwise the text is assembled again, each call in its own dialect.

mod native_calls;
mod queue;
mod text;

use toolmend::{Delivery, Event, Finish};
use toolmend_protocol::{MendedItem, OutgoingPart, Part, ReadyCall, StopReason};

pub(super) use self::queue::PiecePosition;

use self::native_calls::LiveCall;
use self::queue::{ItemQueue, PieceState};
use self::text::{StartedCall, UndecidedText, is_call};
use super::assembly::{CallAssembly, is_object};
use super::judge::{CallJudge, CallRuling, Refusal, RefusalAnswer, finish_of};
use super::notes::NotedCall;
use super::text_scan::TextScan;
use crate::config::RefusalMode;
use crate::observe::MARKUP_REMOVED;

/// Mends one choice of a response.
#[derive(Debug)]
pub(crate) struct ChoiceMender<T> {
    queue: ItemQueue<T>,
    text_scan: TextScan,
    reasoning_scan: TextScan,
    assembly: CallAssembly,
    /// Pieces that wait for the end of their call, with the position of the call in the assembly.
    call_pieces: Vec<(PiecePosition, usize)>,
    /// Reasoning with calls, and what followed them, until it is known whether they count.
    undecided_reasoning: Option<UndecidedText>,
    /// Text with calls, and what followed them, in protocols where calls are text.
    undecided_text: Option<UndecidedText>,
    /// The calls that were found in text.
    leaked_calls: Vec<ReadyCall>,
    /// A call in text whose arguments are being sent.
    started_call: Option<StartedCall>,
    /// The native call whose arguments are sent as they arrive. There is one at a time, because clients of most protocols
    /// read only one.
    live_call: Option<LiveCall>,
    /// The rest of a call that has no piece left to replace.
    late_parts: Vec<OutgoingPart>,
    state: TurnState,
}

/// What is known about the turn so far.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about the turn")]
struct TurnState {
    /// How many calls run.
    running_calls: usize,
    /// The first call that runs, if the request allows only one.
    first_call: Option<NotedCall>,
    /// Whether a call was refused, so that the turn ends in another way than the server said.
    has_refused: bool,
    /// Whether a call was truncated.
    truncated: bool,
    /// Whether a truncated call became a stub.
    has_truncated_stub: bool,
    /// Whether the stream ended before the turn did. No limit was reached then.
    broke_off: bool,
    /// What is known about how the turn ended.
    finish: Finish,
    /// Whether the user sees no text so far.
    is_blank: bool,
    /// Whether every call so far stays unchanged. Otherwise the numbers on the wire are wrong.
    calls_unchanged: bool,
    /// Whether the turn has ended.
    is_closed: bool,
}

impl<T> ChoiceMender<T> {
    /// Returns a mender for one choice.
    pub(crate) fn new(judge: &CallJudge) -> Self {
        ChoiceMender {
            queue: ItemQueue::new(),
            text_scan: TextScan::new(&judge.rules, judge.rules.delivery),
            reasoning_scan: TextScan::new(&judge.rules, Delivery::Held),
            assembly: CallAssembly::default(),
            call_pieces: Vec::new(),
            undecided_reasoning: None,
            undecided_text: None,
            leaked_calls: Vec::new(),
            started_call: None,
            live_call: None,
            late_parts: Vec::new(),
            state: TurnState {
                running_calls: 0,
                first_call: None,
                has_refused: false,
                truncated: false,
                has_truncated_stub: false,
                broke_off: false,
                finish: Finish::Unknown,
                is_blank: true,
                calls_unchanged: true,
                is_closed: false,
            },
        }
    }

    /// Whether something is held back.
    pub(crate) fn is_holding(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether the turn has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed
    }

    /// Whether something that the client can see was sent.
    pub(crate) fn has_spoken(&self) -> bool {
        self.queue.has_spoken()
    }

    /// Returns the number of bytes that are held back.
    pub(crate) fn held_bytes(&self) -> usize {
        self.queue.held_bytes() + self.assembly.bytes()
    }

    /// Returns about how much memory the choice takes.
    pub(crate) fn memory(&self) -> usize {
        self.queue.memory() + self.assembly.bytes()
    }

    /// Adds the next item. Returns the items that can leave.
    pub(crate) fn push(
        &mut self,
        received: T,
        bytes: usize,
        parts: Vec<Part>,
        judge: &mut CallJudge,
    ) -> Vec<MendedItem<T>> {
        let number = self.queue.push_item(received, bytes, parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            let position = (number, at);
            if self.state.is_closed {
                self.queue.push_piece(PieceState::Unchanged(None));
                continue;
            }
            match part {
                Part::Opaque => self.queue.push_piece(PieceState::Unchanged(None)),
                Part::Text(text) | Part::Reasoning(text) if text.is_empty() => {
                    self.queue.push_piece(PieceState::Unchanged(None));
                }
                Part::Text(text) => {
                    if !text.trim().is_empty() {
                        self.end_reasoning(judge);
                    }
                    let result = self.text_scan.push(position, &text, &judge.rules);
                    self.queue.push_piece(PieceState::Waiting(Some(OutgoingPart::Text(text))));
                    self.apply_scan(result, false, judge);
                }
                Part::Reasoning(text) => {
                    let result = self.reasoning_scan.push(position, &text, &judge.rules);
                    self.queue.push_piece(PieceState::Waiting(Some(OutgoingPart::Reasoning(text))));
                    self.apply_scan(result, true, judge);
                }
                Part::Call(piece) => self.add_call_piece(piece, position, judge),
                Part::Stop(stop) => {
                    self.queue.push_piece(PieceState::Waiting(Some(OutgoingPart::Stop(stop))));
                    self.close_turn(Some(stop), Some(position), judge);
                }
            }
        }
        self.queue.take_decided()
    }

    /// Ends the choice: nothing follows. Returns the items that are left.
    pub(crate) fn end(&mut self, judge: &mut CallJudge) -> Vec<MendedItem<T>> {
        if !self.state.is_closed {
            self.close_turn(None, None, judge);
        }
        self.queue.take_decided()
    }

    /// Ends a choice whose stream ended without an end of the turn. A call that is complete and strict is delivered: nothing could have
    /// followed in it, and without the gateway the client would have it. Any other last call becomes a stub, from which clients
    /// recover, whereas most of them give up at an error. Returns false if the client gets no call.
    pub(crate) fn end_without_stop(&mut self, judge: &mut CallJudge) -> bool {
        let Some(last) = self.assembly.calls.last() else { return false };
        let is_complete = last.judged || is_object(&last.arguments());
        if !is_complete && (self.live_call.is_some() || judge.rules.refusal != RefusalMode::Auto) {
            return false;
        }
        self.state.broke_off = true;
        // Some clients need the end of each call, which may be missing as well.
        self.assembly.calls.iter_mut().filter(|call| !call.judged).for_each(|call| call.exact = false);
        self.close_turn(Some(StopReason::Length), None, judge);
        self.state.running_calls > 0
    }

    /// Ends a choice whose turn broke off: held text is sent as text, and no held call runs.
    pub(crate) fn give_up(&mut self, judge: &mut CallJudge) -> Vec<MendedItem<T>> {
        if self.state.is_closed {
            return self.queue.take_decided();
        }
        self.state.is_closed = true;
        self.decide_reasoning(false, judge);
        for reasoning in [true, false] {
            let mut result = self.scan_mut(reasoning).finish(Finish::Unknown);
            result.events.retain(|event| matches!(event, Event::Content(_) | Event::Reasoning(_)));
            let rest = self.apply_final_scan(result, reasoning, judge);
            if !rest.is_empty() {
                self.queue.append_parts(rest);
            }
        }
        if let Some(undecided) = &mut self.undecided_text {
            undecided.is_whole = false;
            undecided.events.retain(|event| !is_call(event));
        }
        self.decide_text(judge);
        let positions = std::mem::take(&mut self.call_pieces).into_iter().map(|(position, _)| position);
        self.queue.replace_pieces(positions.collect(), Vec::new());
        self.queue.take_decided()
    }

    /// Ends the turn: everything that waits is decided. `position` is where the stop reason is.
    fn close_turn(
        &mut self,
        stop: Option<StopReason>,
        position: Option<PiecePosition>,
        judge: &mut CallJudge,
    ) {
        self.state.is_closed = true;
        let finish = finish_of(stop);
        self.state.finish = finish;
        for reasoning in [true, false] {
            let result = self.scan_mut(reasoning).finish(finish);
            let rest = self.apply_final_scan(result, reasoning, judge);
            if !rest.is_empty() {
                self.queue.extend_replacement(position, rest);
            }
        }
        self.decide_text(judge);
        let last = self.assembly.calls.len().saturating_sub(1);
        for at in 0..self.assembly.calls.len() {
            // Only the last call can be truncated: after the others the model went on.
            let stop = if at == last { stop } else { Some(StopReason::Calls) };
            self.judge_native_call(at, stop, judge);
        }
        let late_parts = std::mem::take(&mut self.late_parts);
        if !late_parts.is_empty() {
            self.queue.extend_replacement(position, late_parts);
        }
        if self.text_scan.has_removed_markup() && !judge.rules.calls_are_text {
            judge.report.fixes.insert(MARKUP_REMOVED);
        }
        let counts = self.state.running_calls == 0 && self.state.is_blank && self.assembly.calls.is_empty();
        self.decide_reasoning(counts, judge);
        self.decide_stop(stop, position, judge);
    }

    /// Decides about the stop reason.
    fn decide_stop(
        &mut self,
        stop: Option<StopReason>,
        position: Option<PiecePosition>,
        judge: &mut CallJudge,
    ) {
        let ends_in_calls = self.state.running_calls > 0 && judge.rules.has_stop_reason_for_calls;
        let after_calls = if ends_in_calls { StopReason::Calls } else { StopReason::End };
        // The server lost a call. Some clients then ask again; if the turn seemed complete, they would stop.
        let lost_call = self.assembly.calls.is_empty() && !self.state.has_refused;
        if self.state.broke_off && self.state.running_calls == 0 {
            // The stream ends with an error.
            return;
        }
        let new_stop = match stop {
            _ if self.state.broke_off => after_calls,
            _ if self.state.has_truncated_stub && judge.rules.hides_truncation => after_calls,
            _ if self.state.truncated && judge.rules.refusal != RefusalMode::Pass => StopReason::Length,
            Some(stop @ (StopReason::Length | StopReason::Other)) => stop,
            Some(StopReason::Calls) if lost_call => StopReason::Calls,
            _ => after_calls,
        };
        let Some(position) = position else {
            judge.report.fix_form(true);
            self.queue.append_parts(vec![OutgoingPart::Stop(new_stop)]);
            return;
        };
        let waits = matches!(self.queue.piece_mut(position), Some(PieceState::Waiting(_)));
        if stop == Some(new_stop) && waits {
            self.queue.keep_pieces([position]);
        } else {
            // Refusals and calls in text are reported as such; the reason only follows from them.
            let follows = self.state.has_refused || !self.leaked_calls.is_empty();
            judge.report.fix_form(stop != Some(new_stop) && !follows);
            self.queue.extend_replacement(Some(position), vec![OutgoingPart::Stop(new_stop)]);
        }
    }

    fn scan_mut(&mut self, reasoning: bool) -> &mut TextScan {
        if reasoning { &mut self.reasoning_scan } else { &mut self.text_scan }
    }

    /// Counts calls that run.
    fn add_running_calls(&mut self, calls: &[ReadyCall], judge: &CallJudge) {
        self.state.running_calls += calls.len();
        if judge.rules.allows_one_call && self.state.first_call.is_none() {
            let noted = |call: &ReadyCall| NotedCall::new(&call.id, &call.name, &call.arguments);
            self.state.first_call = calls.first().map(noted);
        }
    }

    /// Reports a call that does not run because the request allows only one, if that is so.
    fn leave_out_call(&self, name: &str, id: &str, written: &str, judge: &mut CallJudge) -> bool {
        let Some(first) = &self.state.first_call else { return false };
        judge.leave_out_call(name, id, written, self.state.finish, first);
        true
    }

    /// Counts a stub, which the client takes for a call that runs.
    fn add_stub(&mut self, stub: &ReadyCall, truncated: bool, judge: &CallJudge) {
        self.add_running_calls(std::slice::from_ref(stub), judge);
        self.state.has_refused = true;
        self.state.truncated |= truncated;
        self.state.has_truncated_stub |= truncated;
    }

    /// Returns feedback on a refused call as text, separated from the text before it.
    fn feedback_part(&mut self, feedback: &str) -> OutgoingPart {
        let gap = if self.state.is_blank { "" } else { "\n\n" };
        self.state.is_blank = false;
        OutgoingPart::Text(format!("{gap}{feedback}"))
    }
}

/// Returns the calls of which the start of the first was sent, and the arguments of that one that are still unsent. `None` if the call
/// does not run or does not begin with what was sent.
fn complete_started_call(
    ruling: &CallRuling,
    id: &str,
    name: &str,
    sent: &str,
) -> Option<(Vec<ReadyCall>, String)> {
    let calls = match ruling {
        CallRuling::Runs { calls, .. } => calls.as_slice(),
        CallRuling::Refused(Refusal { answer: RefusalAnswer::AsWritten(call), .. }) => {
            std::slice::from_ref(call)
        }
        CallRuling::Refused(_) => return None,
    };
    let first = calls.first().filter(|call| call.name == name && call.id == id)?;
    let rest = first.arguments.strip_prefix(sent)?.to_owned();
    Some((calls.to_vec(), rest))
}

/// Returns what is written for calls of which the start of the first was sent.
fn end_started_call(calls: Vec<ReadyCall>, rest: String) -> Vec<OutgoingPart> {
    let mut calls = calls.into_iter();
    let end = calls.next().map(|first| OutgoingPart::CallEnd(first, rest));
    end.into_iter().chain(calls.map(OutgoingPart::Call)).collect()
}

/// Returns the feedback on a call that does not run, and whether the token limit cut it off.
fn feedback_on(ruling: CallRuling) -> (String, bool) {
    match ruling {
        CallRuling::Refused(refusal) => (refusal.feedback, refusal.truncated),
        // The judge refuses calls that do not continue what was sent.
        CallRuling::Runs { .. } => Default::default(),
    }
}
