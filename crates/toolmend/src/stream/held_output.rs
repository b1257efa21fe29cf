//! Output whose meaning only its continuation shows.
//!
//! A call without a marker is a call if nothing after it speaks against it, and a call in reasoning is one if the
//! reasoning never ends. The machine goes on as if it were, but nothing is reported: it keeps a copy of itself from
//! before that position, and the text since. If the assumption turns out to be wrong, the copy reads the same text
//! again without it. An assumption is given up at most once for a position, so the work stays linear.

use super::attempts::Attempts;
use super::{Inference, Stream};
use crate::dialect::token::TextKind;
use crate::mender::Mender;
use crate::syntax::Finish;
use crate::turn::{Call, Event, Listener};
use crate::verdict::{Outcome, Reason, Verdict};

/// What is assumed about the output since a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assumption {
    /// Calls without a marker are meant.
    UnmarkedCalls,
    /// The reasoning never ends, so the calls in it are meant.
    CallsInReasoning,
    /// The template opened the reasoning.
    OpenReasoning,
}

/// The output since a position, and the machine before it.
#[derive(Debug, Clone)]
pub(super) struct HeldOutput {
    assumption: Assumption,
    before: Stream,
    /// The output since then, as far as it was taken from the buffer.
    text: String,
    /// How many events were there before.
    events: usize,
}

impl Stream {
    /// Reports nothing from here on until it is known whether the assumption is right.
    pub(super) fn hold_output(&mut self, assumption: Assumption) {
        if self.held.is_some() {
            return;
        }
        let events = std::mem::take(&mut self.events);
        let buffer = std::mem::take(&mut self.buffer);
        let before = self.clone();
        (self.events, self.buffer) = (events, buffer);
        let events = self.events.len();
        self.held = Some(Box::new(HeldOutput { assumption, before, text: String::new(), events }));
    }

    /// Assumes that the template opened the reasoning.
    pub(super) fn assume_open_reasoning(&mut self) {
        self.hold_output(Assumption::OpenReasoning);
        self.text_kind = TextKind::Reasoning;
        self.is_reasoning_enclosed = true;
        self.skip_space = true;
        // If the reasoning is never closed, everything is read again as content.
        self.reads_calls_in_reasoning = false;
    }

    /// Reasoning begins. Returns whether text has to be read again, because it had not begun before.
    pub(super) fn note_opened_reasoning(&mut self) -> bool {
        let wrong = self.assumes(Assumption::OpenReasoning);
        if wrong {
            self.reread_held_output();
        }
        wrong
    }

    /// Reasoning ends. Returns whether text has to be read again, because calls in it were not meant.
    // Case: dialects/hostile/call-in-reasoning
    pub(super) fn note_closed_reasoning(&mut self) -> bool {
        if self.assumes(Assumption::OpenReasoning) || self.eager && self.assumes(Assumption::CallsInReasoning)
        {
            self.confirm_held_output();
            return false;
        }
        let wrong = self.assumes(Assumption::CallsInReasoning);
        if wrong {
            let count = self.reasoning_calls.len();
            self.reread_held_output();
            self.events.push(Event::Note(format!("{count} call(s) inside the reasoning were ignored")));
        }
        wrong
    }

    /// Whether this is assumed.
    pub(super) fn assumes(&self, assumption: Assumption) -> bool {
        self.held.as_ref().is_some_and(|held| held.assumption == assumption)
    }

    /// The calls that are held.
    pub(super) fn held_calls(&self) -> impl Iterator<Item = &Call> {
        let from = self.held.as_ref().map_or(self.events.len(), |held| held.events);
        self.events[from..].iter().filter_map(Event::ended_call)
    }

    /// Whether the next event is the first one that is held.
    pub(super) fn is_first_held_event(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.events == self.events.len())
    }

    /// Keeps text that leaves the buffer.
    pub(super) fn keep_held_text(&mut self, length: usize) {
        if let Some(held) = &mut self.held {
            held.text.push_str(&self.buffer[..length]);
        }
    }

    /// The assumption is right: everything is reported.
    pub(super) fn confirm_held_output(&mut self) {
        self.held = None;
    }

    /// The assumption is wrong: the text is read again without it.
    pub(super) fn reread_held_output(&mut self) {
        let Some(held) = self.held.take() else { return };
        let HeldOutput { assumption, before, text, events } = *held;
        self.buffer.put_back(&text);
        self.events.truncate(events);
        let received = self.attempts.received;
        let mut attempts = Attempts { received, may_have_ended: true, ..Attempts::default() };
        if assumption == Assumption::CallsInReasoning {
            // Every section of reasoning may be read again, and the budget is that of the output.
            (attempts.spent, attempts.effort) = (self.attempts.spent, self.attempts.effort);
            before.judge.pay(self.judge.work().saturating_sub(before.judge.work()));
        }
        let mut stream = Stream {
            partial: std::mem::take(&mut self.partial),
            buffer: std::mem::take(&mut self.buffer),
            events: std::mem::take(&mut self.events),
            attempts,
            finish: self.finish,
            finished: self.finished,
            ..before
        };
        match assumption {
            Assumption::UnmarkedCalls => stream.inference = Inference::Off,
            Assumption::CallsInReasoning => stream.reads_calls_in_reasoning = false,
            // The copy is from before the assumption.
            Assumption::OpenReasoning => {}
        }
        *self = stream;
    }

    /// Decides at the end of the output. Returns whether text has to be read again.
    pub(super) fn settle_held_output(&mut self) -> bool {
        let Some(held) = &self.held else { return false };
        let is_right = match held.assumption {
            Assumption::UnmarkedCalls => !self.takes_calls_back(held.events),
            Assumption::CallsInReasoning => {
                let ends_in_calls = self.has_stopped() && !self.reasons_after_call;
                self.eager || self.text_kind == TextKind::Reasoning && ends_in_calls
            }
            Assumption::OpenReasoning => self.finish == Finish::Length,
        };
        if is_right {
            if held.assumption == Assumption::UnmarkedCalls {
                self.settle_unmarked_calls();
            }
            self.confirm_held_output();
        } else {
            self.reread_held_output();
        }
        !is_right
    }

    /// Calls without a marker all run, or none does and each is reported.
    // Case: dialects/hostile/calls-then-words
    fn settle_unmarked_calls(&mut self) {
        let has = |outcome| self.held_calls().any(|call| call.outcome() == outcome);
        if has(Outcome::Rejected) {
            let why = "another call next to it cannot run, so none of them does";
            self.stop_held_calls(|mender, call| {
                mender.refused_verdict(&call.name, &call.raw, Reason::Policy, why).into_owned()
            });
        } else if has(Outcome::Truncated) != (self.finish == Finish::Length) {
            // The list has no end, or words could still have taken the calls back. If the output was truncated inside a call,
            // that call shows that those before it are meant.
            self.stop_held_calls(|mender, call| {
                let arguments = call.arguments().map(str::to_owned);
                mender.truncated_verdict(&call.name, &call.raw, "", arguments).into_owned()
            });
        }
    }

    /// Gives the held calls that run another verdict.
    fn stop_held_calls(&mut self, verdict: impl Fn(&Mender, &Call) -> Verdict<'static>) {
        let from = self.held.as_ref().map_or(self.events.len(), |held| held.events);
        let held = self.events.split_off(from);
        for event in held {
            match event {
                Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
                Event::CallEnd { index, call } => {
                    let verdict = verdict(&self.mender, &call);
                    let call = Box::new(Call { verdict, ..*call });
                    self.events.push(match call.outcome() {
                        Outcome::Truncated => Event::CallCut { index, call },
                        _ => Event::CallRejected { index, call },
                    });
                }
                other => self.events.push(other),
            }
        }
    }

    /// Hands over what may be reported.
    pub(super) fn hand_events_to(&mut self, listener: &mut impl Listener) {
        let count = self.held.as_ref().map_or(self.events.len(), |held| held.events);
        for event in self.events.drain(..count) {
            self.mender.report_event(&event);
            listener.event(event);
        }
        if let Some(held) = &mut self.held {
            held.events = 0;
        }
    }

    /// Whether the words after the first call take it back.
    // Case: dialects/hostile/asked-for-and-corrected
    fn takes_calls_back(&self, from: usize) -> bool {
        let mut called = false;
        self.events[from..].iter().any(|event| match event {
            Event::Content(text) => called && is_correction(text),
            Event::CallEnd { .. } | Event::CallRejected { .. } => {
                called = true;
                false
            }
            _ => false,
        })
    }
}

/// Words that take back what was said before them, at the start of a sentence.
const CORRECTIONS: &[&str] = &[
    "wait",
    "no,",
    "no.",
    "oops",
    "correction",
    "corrected",
    "scratch that",
    "sorry",
    "my mistake",
    "that is wrong",
    "that's wrong",
    "that was wrong",
    "that is not right",
    "that's not right",
    "actually, no",
    "on second thought",
    "never mind",
    "nevermind",
    "let me correct",
    "let me fix",
    "do not run",
    "don't run",
    "do not call",
    "don't call",
    "not executed",
    "not run",
    "warte",
    "nein,",
    "falsch",
    "das ist falsch",
    "korrektur",
    "espera",
    "perdón",
    "corrección",
    "no lo ejecut",
    "attends",
    "non,",
    "pardon",
    "espere",
    "não,",
    "aspetta",
    "подожди",
    "нет,",
    "исправление",
    "等等",
    "等一下",
    "不对",
    "错了",
    "更正",
    "不要执行",
    "待って",
    "違い",
    "訂正",
    "잠깐",
    "아니",
    "정정",
];

/// Whether a sentence of this text begins with a correction.
fn is_correction(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let sentences = text.split(['.', '!', '?', '\n', ':', '—', '。', '！', '？']);
    let mut starts = sentences.map(|sentence| sentence.trim_start_matches(|ch: char| !ch.is_alphanumeric()));
    // `no.` ends at the mark that separates sentences.
    starts.any(|sentence| sentence == "no" || CORRECTIONS.iter().any(|words| sentence.starts_with(words)))
}
