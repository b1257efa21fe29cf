//! Judges calls with the library, and reports every verdict.

use std::sync::Arc;

use toolmend::{Call, Delivery, Finish, Mender, Outcome, Source, Stream, Tool, TurnOptions, Verdict};
use toolmend_protocol::{CallExtras, ReadyCall, StopReason, new_id};

use super::assembly::{PartialCall, is_object};
use super::report::{RefusedCall, ResponseReport};
use super::stub::{EarlierRefusals, write_stub, write_stub_for_unknown_tool};
use crate::config::RefusalMode;
use crate::observe::journal::{CALL_IN_TEXT, CallRecord, WIRE_FORM};
use crate::observe::{Observer, RequestContext};

/// The rules that a turn is judged by.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact about the request or its protocol"
)]
pub(crate) struct TurnRules {
    pub(crate) mender: Mender,
    /// Whether the request declares tools, so that text may hold calls.
    pub(crate) has_tools: bool,
    /// Whether the request has tools that only the server knows: an undeclared name may be one of them.
    pub(crate) has_hosted_tools: bool,
    pub(crate) refusal: RefusalMode,
    /// Calls that were refused in earlier turns of the conversation.
    pub(crate) earlier_refusals: Arc<EarlierRefusals>,
    /// Whether the token limit is not given as the reason if a truncated call became a stub, because the client would give up.
    pub(crate) hides_truncation: bool,
    pub(crate) delivery: Delivery,
    pub(crate) model: Arc<str>,
    /// What the request says about calls in text.
    pub(crate) options: TurnOptions,
    /// Whether the protocol has a stop reason for turns that end in calls.
    pub(crate) has_stop_reason_for_calls: bool,
    /// Whether calls are part of the text in this protocol, so that they stay in the text.
    pub(crate) calls_are_text: bool,
    /// The most bytes of one turn that are held back.
    pub(crate) held_bytes: usize,
    pub(crate) context: Arc<RequestContext>,
}

impl TurnRules {
    /// Returns a stream that finds calls in text.
    pub(crate) fn text_stream(&self, delivery: Delivery) -> Stream {
        self.mender.stream(&self.options.clone().delivery(delivery))
    }

    /// Whether a call of this name may run.
    pub(crate) fn allows_name(&self, name: &str) -> bool {
        self.has_hosted_tools || self.is_declared(name)
    }

    /// Whether the request declares tools that the client runs.
    pub(crate) fn declares_tools(&self) -> bool {
        self.mender.tools().iter().map(Tool::name).any(|name| !name.is_empty())
    }

    /// Whether the request declares a tool of this name.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.mender.tool(name).is_some()
    }
}

/// What is decided about one call.
#[derive(Debug)]
pub(crate) enum CallRuling {
    /// It runs, as one call or as several.
    Runs {
        calls: Vec<ReadyCall>,
        /// Whether name, id and arguments are unchanged.
        unchanged: bool,
    },
    /// It does not run.
    Refused(Refusal),
}

/// A call that does not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) feedback: String,
    /// Whether the token limit cut it off.
    pub(crate) truncated: bool,
    pub(crate) answer: RefusalAnswer,
}

/// What the client gets in place of a call that does not run.
#[derive(Debug)]
pub(crate) enum RefusalAnswer {
    /// The feedback, as text.
    Feedback,
    /// What the server sent.
    Unchanged,
    /// The call as the model wrote it: it is JSON, so the client says itself what is wrong with it.
    AsWritten(ReadyCall),
    /// A call that the client refuses.
    Stub(ReadyCall),
}

/// How often the same call gets a stub. A model that repeats itself needs other words.
const MAX_EQUAL_STUBS: usize = 3;

/// A call as the model wrote it.
struct WrittenCall<'a> {
    id: Option<String>,
    /// The name as the model wrote it.
    name: &'a str,
    /// Its arguments, or all of it if it stood in text.
    text: &'a str,
    place: CallPlace,
    finish: Finish,
    /// What else it carried.
    extras: CallExtras,
}

/// Where a call was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallPlace {
    /// The server recognised it.
    Native,
    /// In text, with markers that mean nothing else.
    Marked,
    /// In text, by its shape.
    Inferred,
}

/// Judges the calls of one response.
#[derive(Debug)]
pub(crate) struct CallJudge {
    pub(crate) rules: TurnRules,
    pub(crate) report: ResponseReport,
    observer: Arc<Observer>,
}

impl CallJudge {
    /// Returns a judge for one response.
    pub(crate) fn new(rules: TurnRules, observer: Arc<Observer>) -> Self {
        CallJudge { rules, report: ResponseReport::default(), observer }
    }

    /// Judges a call that the server recognised. `form_is_wrong`: it arrived in a form that clients cannot read.
    pub(crate) fn judge_native_call(
        &mut self,
        call: &PartialCall,
        stop: Option<StopReason>,
        form_is_wrong: bool,
    ) -> CallRuling {
        let written = call.arguments();
        let rules = &self.rules;
        if rules.has_hosted_tools && !call.name.is_empty() && !rules.is_declared(&call.name) {
            let id = call.id.clone().unwrap_or_else(|| new_id("call_"));
            let unchanged = call.id.is_some();
            return CallRuling::Runs {
                calls: vec![ReadyCall {
                    id,
                    name: call.name.clone(),
                    arguments: written,
                    extras: call.extras.clone(),
                    ..ReadyCall::default()
                }],
                unchanged,
            };
        }
        let finish = finish_of(stop);
        let verdict = rules.mender.mend_finished(&call.name, &written, finish);
        let record = CallRecord {
            verdict: &verdict,
            called: &call.name,
            written: &written,
            offset: 0,
            dialect: None,
            delivery_fix: form_is_wrong.then_some(WIRE_FORM),
            finish,
        };
        self.observer.record_call(&rules.context, &rules.mender, &record);
        let unchanged =
            call.id.is_some() && verdict.outcome() == Outcome::Clean && verdict.json() == Some(&written);
        let call = WrittenCall {
            id: call.id.clone(),
            name: &call.name,
            text: &written,
            place: CallPlace::Native,
            finish,
            extras: call.extras.clone(),
        };
        self.rule(&verdict, call, unchanged)
    }

    /// Whether the arguments of a call look truncated.
    pub(crate) fn looks_truncated(&self, call: &PartialCall) -> bool {
        let written = call.arguments();
        serde_json::from_str::<serde::de::IgnoredAny>(&written).is_err()
            && self.rules.mender.mend(&call.name, &written).outcome() == Outcome::Truncated
    }

    /// Judges a call in text. `id` is the one that was already sent for it.
    pub(crate) fn judge_leaked_call(
        &mut self,
        call: &Call,
        id: Option<String>,
        finish: Finish,
    ) -> CallRuling {
        let place = if call.source == Source::Explicit { CallPlace::Marked } else { CallPlace::Inferred };
        let as_written = WrittenCall {
            id: None,
            name: &call.name,
            text: &call.raw,
            place,
            finish,
            extras: CallExtras::default(),
        };
        self.report.leaked_calls += usize::from(!self.rules.calls_are_text);
        if call.outcome().runs() && !self.rules.allows_name(&call.name) {
            // The library leaves undeclared names to its caller. The gateway refuses them, as it does for native calls.
            let written = call.arguments().unwrap_or("{}").to_owned();
            let verdict = self.rules.mender.mend(&call.name, &written);
            self.record_leaked_call(call, &verdict);
            return self.rule(&verdict, as_written, false);
        }
        self.record_leaked_call(call, &call.verdict);
        let id = id.or_else(|| call.id.clone());
        self.rule(&call.verdict, WrittenCall { id, ..as_written }, false)
    }

    fn record_leaked_call(&self, call: &Call, verdict: &Verdict<'_>) {
        let record = CallRecord {
            verdict,
            called: &call.name,
            written: &call.raw,
            offset: call.at.start,
            dialect: Some(call.dialect),
            delivery_fix: (!self.rules.calls_are_text).then_some(CALL_IN_TEXT),
            finish: Finish::Unknown,
        };
        self.observer.record_call(&self.rules.context, &self.rules.mender, &record);
    }

    /// Reports a verdict and turns it into a ruling.
    fn rule(&mut self, verdict: &Verdict<'_>, call: WrittenCall<'_>, unchanged: bool) -> CallRuling {
        // Arguments that end early although the server says that the model was finished were not cut off: they are wrong.
        let truncated = verdict.outcome() == Outcome::Truncated && call.finish != Finish::Stop;
        let outcome = match verdict.outcome() {
            Outcome::Truncated if !truncated => Outcome::Rejected,
            outcome => outcome,
        };
        self.report.add_verdict(verdict, outcome);
        self.observer.report_verdict(verdict, call.name, &self.rules.model);
        let name = verdict.tool().unwrap_or(call.name);
        if !verdict.outcome().runs() {
            let feedback = verdict.feedback().unwrap_or("The call was not understood.").to_owned();
            let raw = match call.place {
                CallPlace::Native => format!("{}({})", call.name, call.text),
                _ => call.text.to_owned(),
            };
            self.report.refused.push(RefusedCall { raw, feedback: feedback.clone() });
            let answer = self.answer_refusal(name, &call, truncated);
            if let RefusalAnswer::Stub(stub) = &answer {
                self.report.notes.push((stub.id.clone(), vec![feedback.clone()]));
            }
            return CallRuling::Refused(Refusal { feedback, truncated, answer });
        }
        // If one call became several, the first takes its place.
        let (mut id, mut extras) = (call.id, call.extras);
        let texts: Vec<&str> = match verdict.json() {
            Some(json) => vec![json],
            None => verdict.values().iter().map(String::as_str).collect(),
        };
        let calls: Vec<ReadyCall> = texts
            .into_iter()
            .map(|arguments| ReadyCall {
                id: id.take().unwrap_or_else(|| new_id("call_")),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                extras: std::mem::take(&mut extras),
                ..ReadyCall::default()
            })
            .collect();
        if let (Some(call), false) = (calls.first(), verdict.notes().is_empty()) {
            self.report.notes.push((call.id.clone(), verdict.notes().to_vec()));
        }
        CallRuling::Runs { unchanged: unchanged && calls.len() == 1, calls }
    }
}

impl CallJudge {
    /// Decides what the client gets in place of a call that does not run. `name` is the tool that the call means.
    fn answer_refusal(&self, name: &str, call: &WrittenCall<'_>, truncated: bool) -> RefusalAnswer {
        let rules = &self.rules;
        match rules.refusal {
            RefusalMode::Pass => return RefusalAnswer::Unchanged,
            RefusalMode::Feedback | RefusalMode::Reprompt => return RefusalAnswer::Feedback,
            RefusalMode::Auto => {}
        }
        if rules.calls_are_text || call.place == CallPlace::Inferred {
            return RefusalAnswer::Unchanged;
        }
        let ready = |name: &str, arguments: String| ReadyCall {
            id: call.id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| new_id("call_")),
            name: name.to_owned(),
            arguments,
            extras: call.extras.clone(),
            ..ReadyCall::default()
        };
        if call.place == CallPlace::Native && !truncated && is_object(call.text) && is_readable(call.text) {
            return RefusalAnswer::AsWritten(ready(call.name, call.text.to_owned()));
        }
        if rules.earlier_refusals.count(name, call.text) >= MAX_EQUAL_STUBS {
            return RefusalAnswer::Feedback;
        }
        let stub = match rules.mender.tool(name) {
            Some(tool) => write_stub(call.text, tool),
            // The client has no tool of this name if it declared others, and nobody else has tools.
            None => (!name.trim().is_empty() && rules.declares_tools() && !rules.has_hosted_tools)
                .then(|| write_stub_for_unknown_tool(call.text)),
        };
        stub.map_or(RefusalAnswer::Feedback, |stub| RefusalAnswer::Stub(ready(name, stub)))
    }
}

/// Whether every string of a JSON text is text: half of a surrogate pair is not.
fn is_readable(json: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(json).is_ok()
}

/// Returns what a stop reason says about the last call.
pub(crate) fn finish_of(stop: Option<StopReason>) -> Finish {
    match stop {
        Some(StopReason::Length) => Finish::Length,
        Some(StopReason::End | StopReason::Calls) => Finish::Stop,
        Some(StopReason::Other) | None => Finish::Unknown,
    }
}
