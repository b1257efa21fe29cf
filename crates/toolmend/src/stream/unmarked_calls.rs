//! Calls without a marker: whether the evidence is enough, and all of them or none.
//!
//! The readers say which evidence there is. This module compares it with the ladder (`intent`) and with the verdicts on
//! the calls. What does not reach its rung stays text. If one call of an output does not run, no other call without a
//! marker does.

use super::held_output::Assumption;
use super::refusing_words;
use super::{CallContext, Inference, Stream};
use crate::dialect::block::Block;
use crate::dialect::custom::CustomTable;
use crate::dialect::inferred::{Found, InferenceRules, may_begin_without_tools};
use crate::dialect::input::Step;
use crate::dialect::raw_call::RawCall;
use crate::dialect::table::{Dialect, Form, is_no_tool};
use crate::dialect::token::{self, Markup, TextKind};
use crate::intent::{Evidence, Rung, ToolChoice};
use crate::repair::RepairKind;
use crate::syntax::Finish;
use crate::turn::{Call, Event};
use crate::verdict::{Outcome, Reason};

/// Whether these calls are elements, and it is not known where their values end.
fn is_doubtful(block: &Block, made: &[Call]) -> bool {
    let is_ambiguous =
        |call: &Call| call.verdict.refusal().is_some_and(|refusal| refusal.reason == Some(Reason::Ambiguous));
    block.calls.iter().all(|call| call.dialect.form == Form::Element) && made.iter().any(is_ambiguous)
}

/// Whether calls of this row contain this markup.
fn writes_marker(row: &Dialect, markup: &Markup<'_>, custom: &CustomTable) -> bool {
    let spelling = |markup: &Markup<'_>| match markup {
        Markup::Token { spelling, .. } => (*spelling).to_owned(),
        Markup::Tag(tag, _) => tag.marker(),
    };
    let wanted = spelling(markup);
    let writes = |template: &str| {
        template.char_indices().any(|(at, _)| match token::read(&template[at..], true, custom) {
            Step::Got(found) => spelling(&found) == wanted,
            _ => false,
        })
    };
    let templates = [row.heading, row.section.0, row.call, row.parameter, row.section.1];
    row.marks.contains(&wanted.as_str()) || templates.into_iter().any(writes)
}

/// What the verdicts on the calls of one block say together.
enum Weight {
    /// All run, or nothing but their end is missing.
    Enough,
    /// Some run and others do not.
    Half,
    /// None runs as it must, so they are text.
    TooLittle,
}

impl Stream {
    /// Whether text can be a call without a marker at this position.
    pub(super) fn may_infer(&self, at: usize) -> bool {
        let asked = self.is_asked();
        let may_name_tool = !self.mender.tools().is_empty()
            || self.requested.is_some()
            || may_begin_without_tools(&self.buffer[at..]);
        self.text_kind == TextKind::Content
            && (!self.is_in_fence() || asked)
            && match self.inference {
                Inference::On => true,
                Inference::AskedFor => asked,
                Inference::Off => false,
            }
            && self.request.choice != ToolChoice::None
            && may_name_tool
    }

    /// Whether the prompt or the request asks for calls without a marker.
    pub(super) fn is_asked(&self) -> bool {
        self.requested.is_some() || self.request.demands_call()
    }

    /// Whether the prompt or the request asks for what the markup at this position begins. A prompt asks for its own form only.
    // Case: dialects/hostile/other-form-than-asked-for
    pub(super) fn is_asked_at(&self, at: usize) -> bool {
        let begins_form = |row: &Dialect| {
            let found = token::read(&self.buffer[at..], true, self.custom.table());
            match found {
                Step::Got(markup) => writes_marker(row, &markup, self.custom.table()),
                _ => true,
            }
        };
        self.request.demands_call() || self.requested.is_some_and(begins_form)
    }

    /// Whether this is a line of a program in a fence. If the prompt asked for calls in the notation of a program, a fence is
    /// read as a whole, because a line among other statements is not a call.
    // Case: dialects/pythonic/program-with-other-statements
    pub(super) fn is_statement_in_fence(&self, at: usize) -> bool {
        let asks_for_program = self.requested.is_some_and(|row| row.form == Form::Python);
        asks_for_program && self.is_in_fence() && self.buffer[at..].starts_with(char::is_alphabetic)
    }

    /// What may be read at this position without a marker.
    pub(super) fn inference_rules(&self, at: usize) -> InferenceRules<'_> {
        let only = match (&self.request.choice, self.mender.tools()) {
            (ToolChoice::Tool(name), _) => self.mender.tool(name),
            (_, [only]) if self.requested.is_some_and(|row| row.is_bound_to_tool) => Some(only),
            _ => None,
        };
        InferenceRules {
            judge: &self.judge,
            request: &self.request,
            lowest: self.lowest,
            eager: self.eager || self.requested.is_some_and(|row| !row.on),
            requested: self.requested,
            model_form: self.model_dialect.map(|row| row.form),
            first: self.is_first(at),
            // Only something in a fence can be an example.
            example: self.buffer[at..].starts_with(['`', '~'])
                && !self.request.demands_call()
                && self.announces_example(at),
            stopped: self.has_stopped(),
            only: only.map(crate::tools::Tool::name),
        }
    }

    /// Whether a call may begin here, inside a line.
    pub(super) fn may_infer_inside_line(&self, at: usize) -> bool {
        match self.buffer.as_bytes()[at] {
            b'{' => self.requested.is_some(),
            b'[' => self.requested.is_some_and(|row| row.form == Form::Python),
            byte => byte == b'>',
        }
    }

    /// Handles what a reader found without a marker.
    pub(super) fn accept_found(&mut self, at: usize, found: Found) -> bool {
        self.context = CallContext::Inferred;
        match found {
            // Case: dialects/dsml_v4/tool-elements-shown
            Found::Calls(block, Evidence::Marked)
                if block.calls.iter().all(|call| call.dialect.form == Form::Element)
                    && (self.is_announced_as_text(at) || self.announces_example(at)) =>
            {
                self.skip_candidate(at)
            }
            Found::Calls(block, Evidence::Marked) => {
                self.accept_block(at, block, Evidence::Marked);
                true
            }
            Found::Calls(block, evidence) if self.is_meant(at, evidence) => {
                self.accept_unmarked(at, block, evidence)
            }
            Found::Calls(block, _) | Found::Shown(block) => {
                let made = self.judge_block(at, &block, Evidence::Named);
                if made.iter().any(|call| call.outcome().runs()) {
                    self.pass_over(at)
                } else {
                    self.skip_candidate(at)
                }
            }
        }
    }

    /// Whether the text before calls does not say that they are only shown. What was asked for may come after any words that
    /// do not speak against it.
    // Case: dialects/py_call/asked-for-and-negated
    fn is_meant(&self, at: usize, evidence: Evidence) -> bool {
        if evidence.rung().among_words {
            self.text_kind != TextKind::Content || !refusing_words::forbids(&self.text_before(at))
        } else {
            !self.is_announced_as_text(at)
        }
    }

    /// Whether a call without a marker names a tool that is not declared. Data has the same shape.
    // Case: dialects/hostile/undeclared-in-a-list
    fn names_unknown_tool(&self, block: &Block, evidence: Evidence) -> bool {
        let is_unknown = |call: &RawCall| !self.mender.knows_tool(&call.name) && !is_no_tool(&call.name);
        !evidence.rung().is_reported && block.calls.iter().any(is_unknown)
    }

    /// Whether a call is not one of the tool that the request asked for.
    // Case: dialects/bare_json/other-tool-than-asked-for
    fn calls_another_tool(&self, made: &[Call]) -> bool {
        let ToolChoice::Tool(name) = &self.request.choice else { return false };
        made.iter().any(|call| call.name != *name)
    }

    /// Accepts calls without a marker if the evidence is enough. Otherwise they are text.
    pub(super) fn accept_unmarked(&mut self, at: usize, block: Block, evidence: Evidence) -> bool {
        let is_shown = !evidence.rung().among_words && self.has_placeholders(&block)
            || self.names_unknown_tool(&block, evidence);
        if is_shown || self.inference != Inference::On && !evidence.rung().is_reported {
            return self.pass_over(at);
        }
        let mut made = self.judge_block(at, &block, evidence);
        if self.calls_another_tool(&made) {
            return self.pass_over(at);
        }
        if self.refuse_repetition(at, &block, &mut made) {
            self.emit_block(at, block, made, evidence);
            return true;
        }
        match self.weigh(&made, evidence.rung()) {
            Weight::Enough => {}
            // What is inside an element whose end is not known is not a call of its own.
            // Case: dialects/agent_tags/markup-of-others-in-value
            // Case: dialects/agent_tags/second-value-with-markup-of-others
            Weight::TooLittle if is_doubtful(&block, &made) => {
                let shown = self.offset + at..self.offset + block.end;
                self.pass_over(at);
                self.doubtful = shown;
                return true;
            }
            Weight::TooLittle => return self.pass_over(at),
            Weight::Half => made = made.into_iter().map(|call| self.refuse_with_others(call)).collect(),
        }
        self.flush_before(at);
        self.hold_output(Assumption::UnmarkedCalls);
        self.emit_block(0, Block { end: block.end - at, ..block }, made, evidence);
        true
    }

    /// Leaves a call as text, and with it all others without a marker.
    // Case: dialects/hostile/call-then-words-then-call
    pub(super) fn pass_over(&mut self, at: usize) -> bool {
        if self.assumes(Assumption::UnmarkedCalls) {
            self.events.push(Event::Note(
                "calls without a marker stay text, because one of them does not run".to_owned(),
            ));
            self.reread_held_output();
            return true;
        }
        self.inference = Inference::AskedFor;
        self.skip_candidate(at)
    }

    /// Whether the calls before these marked ones were only shown: they are in a fence, or the same tools are called
    /// now. Then they are text.
    // Case: dialects/hostile/shown-and-made
    // Case: dialects/hostile/unmarked-then-marked
    pub(super) fn leaves_shown_calls(&mut self, marked: &[RawCall]) -> bool {
        if marked.is_empty() || !self.assumes(Assumption::UnmarkedCalls) || self.is_asked() {
            return false;
        }
        let is_shown = |call: &Call| {
            call.raw.starts_with(['`', '~']) || marked.iter().any(|made| made.name == call.name)
        };
        let shown = self.held_calls().any(is_shown);
        if shown {
            self.reread_held_output();
        }
        shown
    }

    fn weigh(&self, made: &[Call], rung: &Rung) -> Weight {
        if rung.is_reported || made.is_empty() {
            return Weight::Enough;
        }
        let is_enough = |call: &&Call| {
            let fits = match call.outcome() {
                Outcome::Clean | Outcome::Mended => call.verdict.repairs().iter().all(|repair| {
                    // How the call is written is judged by its reader.
                    matches!(repair.kind, RepairKind::MarkupMended | RepairKind::ArgumentsPlaced)
                        || repair.kind.tier() <= rung.repairs
                }),
                Outcome::Truncated => self.finish != Finish::Stop && rung.for_destructive_tools,
                Outcome::Rejected => false,
            };
            fits && (rung.for_destructive_tools || self.mender.may_be_called_without_name(&call.name))
        };
        match made.iter().filter(is_enough).count() {
            0 => Weight::TooLittle,
            count if count == made.len() => Weight::Enough,
            _ => Weight::Half,
        }
    }

    fn refuse_with_others(&self, call: Call) -> Call {
        if !call.outcome().runs() {
            return call;
        }
        let why = "another call next to it cannot run, so none of them does";
        let verdict = self.mender.refused_verdict(&call.name, &call.raw, Reason::Policy, why).into_owned();
        Call { verdict, ..call }
    }
}
