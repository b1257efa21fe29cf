//! Judges calls with the library, and reports every verdict.

use std::collections::HashSet;
use std::sync::Arc;

use toolmend::{
    Call, Delivery, Finish, Mender, Outcome, Reason, Recovery, Source, Stream, Tool, TurnOptions, Verdict,
};
use toolmend_protocol::{CallExtras, ReadyCall, StopReason, new_id};

use super::assembly::{PartialCall, is_json, is_object};
use super::notes::NotedCall;
use super::report::{CallRefusal, JudgedCall, ResponseReport};
use super::stub::{
    EarlierRefusals, continue_as_stub, name_without_tool, write_stub, write_stub_for_unknown_tool,
};
use crate::config::RefusalMode;
use crate::observe::{
    CALL_IN_TEXT, CallEvent, Observer, RequestContext, SURPLUS_CALL, WIRE_FORM, log_recovery,
};

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
    /// The names of tools that only the server knows. Calls of them are none of the client's.
    pub(crate) hosted_tools: Arc<HashSet<String>>,
    /// Whether the request allows only one call in a turn.
    pub(crate) allows_one_call: bool,
    pub(crate) refusal: RefusalMode,
    /// Calls that were refused in earlier turns of the conversation.
    pub(crate) earlier_refusals: Arc<EarlierRefusals>,
    /// Whether the token limit is not given as the reason if a truncated call became a stub, because the client would give up.
    pub(crate) hides_truncation: bool,
    /// Whether the client gives up at a call of a tool that it does not have.
    pub(crate) unknown_tools_end_client: bool,
    pub(crate) delivery: Delivery,
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
        self.is_declared(name) || self.hosted_tools.contains(name)
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

/// What the model is told if nothing better is known.
const NOT_UNDERSTOOD: &str = "The call was not understood. Send it again.";

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
    /// Where `text` begins in the text that the positions of repairs refer to.
    offset: usize,
    /// The dialect of a call in text.
    dialect: Option<&'static str>,
    /// What is wrong with how it arrived.
    delivery_fix: Option<&'static str>,
    /// What the client has of it already.
    started: Option<&'a ReadyCall>,
}

impl WrittenCall<'_> {
    /// Whether calls continue what the client has of this one.
    fn continues_as(&self, name: &str, id: &str, arguments: &[&str]) -> bool {
        let Some(started) = self.started else { return true };
        let first = arguments.first().is_some_and(|first| first.starts_with(&started.arguments));
        started.name == name && started.id == id && first
    }
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

    /// Judges a call that the server recognised. `form_is_wrong`: it arrived in a form that clients cannot read. `id`: the one
    /// that the client gets; `None` if it needs a new one. `started`: what the client has of it already.
    pub(crate) fn judge_native_call(
        &mut self,
        call: &PartialCall,
        id: Option<String>,
        stop: Option<StopReason>,
        form_is_wrong: bool,
        started: Option<&ReadyCall>,
    ) -> CallRuling {
        let written = call.arguments();
        if self.rules.hosted_tools.contains(&call.name) && !self.rules.is_declared(&call.name) {
            let unchanged = id.is_some();
            return CallRuling::Runs {
                calls: vec![ReadyCall {
                    id: id.unwrap_or_else(|| new_id("call_")),
                    name: call.name.clone(),
                    arguments: written,
                    extras: call.extras.clone(),
                    ..ReadyCall::default()
                }],
                unchanged,
            };
        }
        let finish = finish_of(stop);
        let verdict = self.rules.mender.mend_finished(&call.name, &written, finish);
        let unchanged =
            id.is_some() && verdict.outcome() == Outcome::Clean && verdict.json() == Some(&written);
        let call = WrittenCall {
            id,
            name: &call.name,
            text: &written,
            place: CallPlace::Native,
            finish,
            extras: call.extras.clone(),
            offset: 0,
            dialect: None,
            delivery_fix: form_is_wrong.then_some(WIRE_FORM),
            started,
        };
        self.rule(&verdict, call, unchanged)
    }

    /// Whether the arguments of a call look truncated.
    pub(crate) fn looks_truncated(&self, call: &PartialCall) -> bool {
        let written = call.arguments();
        !is_json(&written) && self.rules.mender.mend(&call.name, &written).outcome() == Outcome::Truncated
    }

    /// Judges a call in text. `started`: what the client has of it already.
    pub(crate) fn judge_leaked_call(
        &mut self,
        call: &Call,
        started: Option<&ReadyCall>,
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
            offset: call.at.start,
            dialect: Some(call.dialect),
            delivery_fix: (!self.rules.calls_are_text).then_some(CALL_IN_TEXT),
            started,
        };
        if call.outcome().runs() && !self.rules.allows_name(&call.name) {
            // The library leaves undeclared names to its caller. The gateway refuses them, as it does for native calls.
            let written = call.arguments().unwrap_or("{}").to_owned();
            let verdict = self.rules.mender.mend(&call.name, &written);
            return self.rule(&verdict, as_written, false);
        }
        let id = started.map(|started| started.id.clone()).or_else(|| call.id.clone());
        self.rule(&call.verdict, WrittenCall { id, ..as_written }, false)
    }

    /// Reports a call that is left out because the request allows only one. `written` is what the model wrote, and `first` the
    /// call that runs.
    pub(crate) fn leave_out_call(
        &mut self,
        name: &str,
        id: &str,
        written: &str,
        finish: Finish,
        first: &NotedCall,
    ) {
        let event = CallEvent {
            tool: name,
            called: name,
            call_id: id,
            outcome: Outcome::Rejected,
            reason: Some(Reason::Policy),
            message: "the request allows one call in a turn, and another one came first",
            cut: None,
            repairs: &[],
            delivery_fix: Some(SURPLUS_CALL),
            feedback: None,
            written,
            offset: 0,
            dialect: None,
            finish,
            schema: None,
            arguments: &[],
        };
        self.observer.report_call(&self.rules.context, &event);
        log_recovery(&self.rules.context, name, id, Recovery::GaveUp);
        self.report.add_event(&event);
        let note = "Note: only the first call of the turn was run, because one call at a time is allowed. Send further calls one by one.";
        if !self.report.notes.iter().any(|(known, _)| known == first) {
            self.report.notes.push((first.clone(), vec![note.to_owned()]));
        }
    }

    /// Reports a verdict and turns it into a ruling.
    fn rule(&mut self, verdict: &Verdict<'_>, mut call: WrittenCall<'_>, unchanged: bool) -> CallRuling {
        // Arguments that end early although the server says that the model was finished were not cut off: they are wrong.
        let truncated = verdict.outcome() == Outcome::Truncated && call.finish != Finish::Stop;
        let outcome = match verdict.outcome() {
            Outcome::Truncated if !truncated => Outcome::Rejected,
            // Without the gateway, the client would not have seen a call in text or in a form that it cannot read.
            Outcome::Clean if call.delivery_fix.is_some() => Outcome::Mended,
            outcome => outcome,
        };
        let name = verdict.tool().unwrap_or(call.name).to_owned();
        let id = call.id.take().filter(|id| !id.is_empty()).unwrap_or_else(|| new_id("call_"));
        let texts: Vec<&str> = match verdict.json() {
            _ if !verdict.outcome().runs() => Vec::new(),
            Some(json) => vec![json],
            None => verdict.values().iter().map(String::as_str).collect(),
        };
        // A call that does not continue what the client has of it would be another one.
        let runs = verdict.outcome().runs() && call.continues_as(&name, &id, &texts);
        let (texts, outcome) = if runs || !verdict.outcome().runs() {
            (texts, outcome)
        } else {
            (Vec::new(), Outcome::Rejected)
        };
        let refusal = (!runs).then(|| {
            let feedback = match verdict.refusal().filter(|_| outcome != verdict.outcome()) {
                Some(refusal) => feedback_on_unfinished(&name, refusal.cut.as_deref()),
                None => verdict.feedback().unwrap_or(NOT_UNDERSTOOD).to_owned(),
            };
            let answer = self.answer_refusal(&name, &id, &call, truncated);
            Refusal { feedback, truncated, answer }
        });
        let known = verdict.refusal();
        let event = CallEvent {
            tool: &name,
            called: call.name,
            call_id: &id,
            outcome,
            reason: verdict.reason().or((outcome == Outcome::Rejected).then_some(Reason::Syntax)),
            message: known.map_or("", |refusal| refusal.message.as_str()),
            cut: known.and_then(|refusal| refusal.cut.as_deref()),
            repairs: verdict.repairs(),
            delivery_fix: call.delivery_fix,
            feedback: refusal.as_ref().map(|refusal| refusal.feedback.as_str()),
            written: call.text,
            offset: call.offset,
            dialect: call.dialect,
            finish: call.finish,
            schema: self.rules.mender.tool(&name).and_then(Tool::schema),
            arguments: &texts,
        };
        self.observer.report_call(&self.rules.context, &event);
        self.report.add_event(&event);
        // Calls that run are needed only if the server may be asked again.
        if refusal.is_some() || self.rules.refusal == RefusalMode::Reprompt {
            self.report.calls.push(JudgedCall {
                id: id.clone(),
                tool: name.clone(),
                written: call.text.to_owned(),
                is_text: call.place != CallPlace::Native,
                refusal: refusal.as_ref().map(|refusal| CallRefusal {
                    feedback: refusal.feedback.clone(),
                    recovery: refusal.answer.recovery(call.place),
                    is_logged: false,
                }),
            });
        }
        if let Some(refusal) = refusal {
            if let RefusalAnswer::Stub(stub) = &refusal.answer {
                let noted = NotedCall::new(&stub.id, &stub.name, &stub.arguments);
                self.report.notes.push((noted, vec![refusal.feedback.clone()]));
            }
            return CallRuling::Refused(refusal);
        }
        if !verdict.notes().is_empty() {
            let noted = NotedCall::new(&id, &name, texts.first().copied().unwrap_or_default());
            self.report.notes.push((noted, verdict.notes().to_vec()));
        }
        // If one call became several, the first takes its place.
        let (mut id, mut extras) = (Some(id), call.extras);
        let calls: Vec<ReadyCall> = texts
            .into_iter()
            .map(|arguments| ReadyCall {
                id: id.take().unwrap_or_else(|| new_id("call_")),
                name: name.clone(),
                arguments: arguments.to_owned(),
                extras: std::mem::take(&mut extras),
                ..ReadyCall::default()
            })
            .collect();
        CallRuling::Runs { unchanged: unchanged && calls.len() == 1, calls }
    }

    /// Ends a call that is refused although its start was sent: as harmlessly as possible, with arguments that the client
    /// rejects. `None` if there are none, so that the turn has to end with an error.
    pub(crate) fn refuse_started_call(
        &mut self,
        started: &ReadyCall,
        written: &str,
        feedback: String,
    ) -> Option<ReadyCall> {
        let tool = self.rules.mender.tool(&started.name);
        let Some(arguments) = tool.and_then(|tool| continue_as_stub(&started.arguments, written, tool))
        else {
            self.report.set_last_recovery(Recovery::GaveUp);
            self.report.fatal_error = Some(refused_after_start(&started.name));
            return None;
        };
        self.report.set_last_recovery(Recovery::Reprompt);
        self.report.notes.retain(|(call, _)| call.id != started.id);
        let noted = NotedCall::new(&started.id, &started.name, &arguments);
        self.report.notes.push((noted, vec![feedback]));
        Some(ReadyCall { arguments, ..started.clone() })
    }

    /// Reports what was corrected in the response and belongs to no call.
    pub(crate) fn finish_report(&mut self) {
        for kind in self.report.take_unreported_fixes() {
            self.observer.report_answer_fix(&self.rules.context, kind);
        }
    }
}

impl RefusalAnswer {
    /// Returns how the call is handled: the client hears of it, or nothing more is tried.
    fn recovery(&self, place: CallPlace) -> Recovery {
        match self {
            RefusalAnswer::Feedback => Recovery::GaveUp,
            // A call that stays text is none for the client.
            RefusalAnswer::Unchanged if place != CallPlace::Native => Recovery::GaveUp,
            RefusalAnswer::Unchanged | RefusalAnswer::AsWritten(_) | RefusalAnswer::Stub(_) => {
                Recovery::Reprompt
            }
        }
    }
}

/// Writes feedback on a call whose arguments end early although nothing cut them off.
fn feedback_on_unfinished(tool: &str, cut: Option<&str>) -> String {
    let place = cut.filter(|cut| !cut.is_empty()).map_or_else(String::new, |cut| format!(" inside `{cut}`"));
    format!(
        "Tool call rejected: `{tool}` was not run.\nProblem: the arguments end{place}, before the JSON is complete.\nNext: \
         send the whole call again as one JSON object, with every string and every bracket closed."
    )
}

impl CallJudge {
    /// Decides what the client gets in place of a call that does not run. `name` is the tool that the call means.
    fn answer_refusal(&self, name: &str, id: &str, call: &WrittenCall<'_>, truncated: bool) -> RefusalAnswer {
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
            id: id.to_owned(),
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
        let under_no_tool =
            |name: &str| RefusalAnswer::Stub(ready(name, write_stub_for_unknown_tool(call.text)));
        let Some(tool) = rules.mender.tool(name) else {
            // The client has no tool of this name if it declared others.
            return if rules.declares_tools() { under_no_tool(name) } else { RefusalAnswer::Feedback };
        };
        if let Some(stub) = write_stub(call.text, tool) {
            return RefusalAnswer::Stub(ready(name, stub));
        }
        let unknown = name_without_tool(name, |name| rules.allows_name(name));
        let unknown = unknown.filter(|_| !rules.unknown_tools_end_client && !name.is_empty());
        unknown.map_or(RefusalAnswer::Feedback, |name| under_no_tool(&name))
    }
}

/// Returns the error for a call that is refused although its start was sent. Some clients decide by these words whether they try
/// again.
pub(super) fn refused_after_start(name: &str) -> String {
    format!(
        "server_error: the call of {name} cannot be run, and its beginning was already sent. Please try your request again"
    )
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
