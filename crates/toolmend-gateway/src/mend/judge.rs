//! What the library says about a call, told to everybody who wants to know.

use std::sync::Arc;

use toolmend::{Call, Delivery, Finish, Mender, Outcome, TurnOptions, Verdict};

use super::assembly::Assembling;
use super::leak::Leak;
use super::new_id;
use super::report::{Refused, Report};
use crate::observe::journal::{CALL_IN_TEXT, Seen, WIRE_FORM};
use crate::observe::{About, Observer};
use crate::turn::{ReadyCall, Stop};

/// What happens to calls that cannot be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalMode {
    /// The client gets a turn whose text tells what failed.
    #[default]
    Feedback,
    /// The server is asked again with the feedback, if nothing of the turn was sent yet; else as `feedback`.
    Reprompt,
    /// The client gets the bytes as they came.
    Pass,
}

/// Everything that a turn is judged by.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the request or its surface by itself"
)]
pub(crate) struct Rules {
    pub(crate) mender: Mender,
    /// The request declares tools, so its text may hold calls.
    pub(crate) has_tools: bool,
    /// The request has tools that only the server knows: a name that is not declared may be one of them.
    pub(crate) open: bool,
    pub(crate) refusal: RefusalMode,
    pub(crate) delivery: Delivery,
    pub(crate) model: Arc<str>,
    /// Whether the surface has a word for turns that end in calls.
    pub(crate) stops_for_calls: bool,
    /// Whether calls are part of the text on this surface, so that they stay where they are.
    pub(crate) calls_are_text: bool,
    /// The most bytes of one turn that wait for their judgement.
    pub(crate) held_bytes: usize,
    pub(crate) about: Arc<About>,
}

impl Rules {
    /// A reader for text that may hold calls.
    pub(crate) fn leak(&self, delivery: Delivery) -> Leak {
        Leak::new(&self.mender, &TurnOptions::new().model(&*self.model).delivery(delivery))
    }

    /// Whether a call of this name may run.
    pub(crate) fn admits(&self, name: &str) -> bool {
        self.open || self.is_declared(name)
    }

    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.mender.tool(name).is_some()
    }
}

/// The verdict on one call.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It runs, as one call or as several.
    Runs {
        calls: Vec<ReadyCall>,
        /// Whether name, id and arguments are those that came.
        same: bool,
    },
    /// It does not run.
    Refused { feedback: String, cut: bool },
}

/// Judges the calls of one response.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) rules: Rules,
    pub(crate) report: Report,
    observer: Arc<Observer>,
}

impl Judge {
    pub(crate) fn new(rules: Rules, observer: Arc<Observer>) -> Self {
        Judge { rules, report: Report::default(), observer }
    }

    /// A call that the server had recognised. `wire`: whether it came in a form that clients cannot read.
    pub(crate) fn native(&mut self, call: &Assembling, stop: Option<Stop>, wire: bool) -> Judged {
        let written = call.arguments();
        let rules = &self.rules;
        if rules.open && !call.name.is_empty() && !rules.is_declared(&call.name) {
            let id = call.id.clone().unwrap_or_else(|| new_id("call_"));
            let same = call.id.is_some();
            return Judged::Runs {
                calls: vec![ReadyCall {
                    id,
                    name: call.name.clone(),
                    arguments: written,
                    ..ReadyCall::default()
                }],
                same,
            };
        }
        let finish = finish(stop);
        let verdict = rules.mender.mend_finished(&call.name, &written, finish);
        let seen = Seen {
            verdict: &verdict,
            called: &call.name,
            written: &written,
            offset: 0,
            dialect: None,
            beside: wire.then_some(WIRE_FORM),
            finish,
        };
        self.observer.write_down(&rules.about, &rules.mender, &seen);
        let same =
            call.id.is_some() && verdict.outcome() == Outcome::Clean && verdict.json() == Some(&written);
        self.verdict(&verdict, call.id.clone(), &call.name, same, || format!("{}({written})", call.name))
    }

    /// Whether the arguments of a call end before they are complete, as far as they tell by themselves.
    pub(crate) fn seems_cut(&self, call: &Assembling) -> bool {
        let written = call.arguments();
        serde_json::from_str::<serde::de::IgnoredAny>(&written).is_err()
            && self.rules.mender.mend(&call.name, &written).outcome() == Outcome::Truncated
    }

    /// A call that stood in text, with the id that it was given already.
    pub(crate) fn leaked(&mut self, call: &Call, id: Option<String>) -> Judged {
        self.report.leaked += usize::from(!self.rules.calls_are_text);
        if call.outcome().runs() && !self.rules.admits(&call.name) {
            // The library leaves names that nobody declared to its caller. Here they are refused, as those of native calls.
            let written = call.arguments().unwrap_or("{}").to_owned();
            let verdict = self.rules.mender.mend(&call.name, &written);
            self.write_down(call, &verdict);
            return self.verdict(&verdict, None, &call.name, false, || call.raw.clone());
        }
        self.write_down(call, &call.verdict);
        self.verdict(&call.verdict, id.or_else(|| call.id.clone()), &call.name, false, || call.raw.clone())
    }

    fn write_down(&self, call: &Call, verdict: &Verdict<'_>) {
        let seen = Seen {
            verdict,
            called: &call.name,
            written: &call.raw,
            offset: call.at.start,
            dialect: Some(call.dialect),
            beside: (!self.rules.calls_are_text).then_some(CALL_IN_TEXT),
            finish: Finish::Unknown,
        };
        self.observer.write_down(&self.rules.about, &self.rules.mender, &seen);
    }

    fn verdict(
        &mut self,
        verdict: &Verdict<'_>,
        id: Option<String>,
        called: &str,
        same: bool,
        raw: impl FnOnce() -> String,
    ) -> Judged {
        self.report.add(verdict);
        self.observer.verdict(verdict, called, &self.rules.model);
        let name = verdict.tool().unwrap_or(called);
        if !verdict.outcome().runs() {
            let feedback = verdict.feedback().unwrap_or("The call was not understood.").to_owned();
            self.report.refused.push(Refused { raw: raw(), feedback: feedback.clone() });
            return Judged::Refused { feedback, cut: verdict.outcome() == Outcome::Truncated };
        }
        let texts: Vec<&str> = match verdict.json() {
            Some(json) => vec![json],
            None => verdict.values().iter().map(String::as_str).collect(),
        };
        let mut id = id;
        let calls: Vec<ReadyCall> = texts
            .into_iter()
            .map(|arguments| ReadyCall {
                id: id.take().unwrap_or_else(|| new_id("call_")),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                ..ReadyCall::default()
            })
            .collect();
        if let (Some(call), false) = (calls.first(), verdict.notes().is_empty()) {
            self.report.notes.push((call.id.clone(), verdict.notes().to_vec()));
        }
        Judged::Runs { same: same && calls.len() == 1, calls }
    }
}

/// What a reason to stop says about the last call.
pub(crate) fn finish(stop: Option<Stop>) -> Finish {
    match stop {
        Some(Stop::Length) => Finish::Length,
        Some(Stop::End | Stop::Calls) => Finish::Stop,
        Some(Stop::Other) | None => Finish::Unknown,
    }
}
