//! Judges the calls of rows: counts each verdict, turns repairs into edits, and reports what is refused.
//!
//! A [`WorkerState`] belongs to one thread. Threads share nothing but compiled tools, so they never wait for each other.
//! This module does not know where the calls of a row are (that is the task of the layouts), and it never changes a row: it
//! only collects edits.

mod recent_cache;
pub(crate) mod rejects;

use std::borrow::Cow;
use std::sync::Arc;

use toolmend::{Finish, Outcome, Verdict};
use toolmend_json::{DocumentMemory, Edits, TextBuffer, ValueRef, quote};

use self::recent_cache::RecentCache;
use self::rejects::RejectLocation;
use crate::counts::CallCounter;
use crate::protocol::{CompiledSchema, NO_TOOLS, Rules, Tools, UNCONSTRAINED};

/// Why several calls are not written where one call was.
pub(crate) const SEVERAL_CALLS: &str = "the arguments hold several calls, and there is room for one";

/// What one worker thread keeps from row to row.
#[derive(Debug)]
pub(crate) struct WorkerState<'r> {
    rules: &'r Rules,
    tools: RecentCache<Tools>,
    schemas: RecentCache<CompiledSchema>,
    /// Lists of tools as JSON, by the prompt or string that they were found in.
    pub(crate) tool_lists: RecentCache<Option<String>>,
    pub(crate) counter: CallCounter,
    /// Lines for the rejects file.
    pub(crate) rejects: Vec<u8>,
    /// Memory that each row reuses.
    pub(crate) nodes: DocumentMemory,
    buffer: TextBuffer,
}

/// What the calls of a row are judged against.
#[derive(Debug, Clone)]
pub(crate) enum Declarations<'r> {
    /// The tools of the run. They are borrowed, because all threads would wait for one reference count.
    Run(&'r Arc<Tools>),
    /// The tools of the row.
    Row(Arc<Tools>),
    /// A schema for any tool.
    Schema(Arc<CompiledSchema>),
}

impl Declarations<'_> {
    /// Judges the arguments of a call.
    pub(crate) fn judge<'t>(&self, tool: &str, text: &'t str, finish: Finish) -> Verdict<'t> {
        match self {
            Declarations::Row(tools) => tools.mend_arguments(tool, text, finish),
            Declarations::Run(tools) => tools.mend_arguments(tool, text, finish),
            Declarations::Schema(schema) => schema.mend_arguments(tool, text, finish),
        }
    }
}

impl<'r> WorkerState<'r> {
    /// Creates the state of a worker. Most rows have their arguments in a member with the name `arguments_member`.
    pub(crate) fn new(rules: &'r Rules, arguments_member: &str) -> Self {
        WorkerState {
            rules,
            tools: RecentCache::default(),
            schemas: RecentCache::default(),
            tool_lists: RecentCache::default(),
            counter: CallCounter::default(),
            rejects: Vec::new(),
            nodes: DocumentMemory::decoding(arguments_member),
            buffer: TextBuffer::default(),
        }
    }

    pub(crate) fn rules(&self) -> &'r Rules {
        self.rules
    }

    /// Selects what the calls of a row are judged against: its own tools if it has any, then its schema, then the tools of
    /// the run. Records of the batch protocol follow the same order.
    pub(crate) fn select_declarations(
        &mut self,
        tools: Option<&str>,
        schema: Option<&str>,
    ) -> Declarations<'r> {
        let rules = self.rules;
        if let Some(source) = tools {
            return Declarations::Row(self.tools.get_or_insert(source, || rules.compile_tools(source)));
        }
        match (rules.shared_tools(), schema) {
            (Some(shared), None) => Declarations::Run(shared),
            (_, schema) => {
                let source = schema.unwrap_or(UNCONSTRAINED);
                Declarations::Schema(self.schemas.get_or_insert(source, || rules.compile_schema(source)))
            }
        }
    }

    /// Returns the tools that an output of a model is read with.
    pub(crate) fn declared_tools(&self, declarations: &Declarations<'_>) -> Arc<Tools> {
        match declarations {
            Declarations::Row(tools) => Arc::clone(tools),
            Declarations::Run(tools) => Arc::clone(tools),
            Declarations::Schema(_) => self.rules.compile_tools(NO_TOOLS),
        }
    }
}

/// A row whose calls are being judged.
#[derive(Debug)]
pub(crate) struct RowMender<'a, 'r> {
    pub(crate) worker: &'a mut WorkerState<'r>,
    pub(crate) edits: &'a mut Edits,
    pub(crate) file: &'a str,
    pub(crate) number: u64,
    pub(crate) model: Cow<'a, str>,
    pub(crate) declarations: Declarations<'r>,
}

/// Where the parts of a call are in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSite<'d> {
    pub(crate) name: Option<ValueRef<'d>>,
    /// A string or a value. `None` if the call has no arguments.
    pub(crate) arguments: Option<ValueRef<'d>>,
    /// Whether mended arguments are written as a value, even if they were a string.
    pub(crate) as_value: bool,
    pub(crate) finish: Finish,
}

impl RowMender<'_, '_> {
    /// Judges a call of a tool that the row does not name.
    pub(crate) fn mend_call_of(
        &mut self,
        tool: &str,
        arguments: ValueRef<'_>,
        finish: Finish,
        pointer: impl FnOnce() -> String,
    ) {
        let call = CallSite { name: None, arguments: Some(arguments), as_value: false, finish };
        self.mend_named_call(&call, tool, pointer);
    }

    /// Judges one call. Repairs become edits; a refusal becomes a line of the rejects. `pointer` returns where the call is.
    pub(crate) fn mend_call(&mut self, call: &CallSite<'_>, pointer: impl FnOnce() -> String) -> Outcome {
        let name = call.name.and_then(ValueRef::text).unwrap_or_default();
        self.mend_named_call(call, &name, pointer)
    }

    fn mend_named_call(
        &mut self,
        call: &CallSite<'_>,
        name: &str,
        pointer: impl FnOnce() -> String,
    ) -> Outcome {
        // The memory is taken out of the worker, because the text borrows it while the worker counts and reports.
        let mut buffer = std::mem::take(&mut self.worker.buffer);
        let outcome = self.mend_call_in(&mut buffer, call, name, pointer);
        self.worker.buffer = buffer;
        outcome
    }

    fn mend_call_in(
        &mut self,
        buffer: &mut TextBuffer,
        call: &CallSite<'_>,
        name: &str,
        pointer: impl FnOnce() -> String,
    ) -> Outcome {
        let (text, is_text) = match call.arguments {
            None => ("", true),
            Some(view) => match view.text_in(buffer) {
                Some(text) => (text, true),
                None => (view.raw(), false),
            },
        };
        let verdict = self.declarations.judge(name, text, call.finish);
        let tool = verdict.tool().unwrap_or(name);
        self.worker.counter.count_verdict(&self.model, tool, &verdict);
        match verdict.outcome() {
            Outcome::Clean => {}
            Outcome::Mended => match verdict.json() {
                Some(json) => self.edit_call(call, name, tool, json, is_text),
                None => self.report_unwritten(&pointer(), tool, SEVERAL_CALLS, text),
            },
            _ => self.report_refusal(&pointer(), tool, &verdict, text),
        }
        verdict.outcome()
    }

    /// Replaces the arguments of a call, and its name if the tool has another one.
    fn edit_call(&mut self, call: &CallSite<'_>, name: &str, tool: &str, json: &str, is_text: bool) {
        let quoted = is_text && !call.as_value;
        match (call.arguments, call.name) {
            (Some(arguments), named) => {
                if quoted {
                    self.edits.replace_quoted(arguments.span(), json);
                } else {
                    self.edits.replace(arguments.span(), json);
                }
                if let Some(named) = named.filter(|_| name != tool) {
                    self.edits.replace_quoted(named.span(), tool);
                }
            }
            // The row has no member for the arguments, so one is added after the name.
            (None, Some(named)) if json != "{}" => {
                let (key, tool) = (if call.as_value { "input" } else { "arguments" }, quote(tool));
                let literal = if quoted { quote(json) } else { json.to_owned() };
                self.edits.replace(named.span(), format!("{tool},\"{key}\":{literal}"));
            }
            (None, Some(named)) if name != tool => self.edits.replace_quoted(named.span(), tool),
            (None, _) => {}
        }
    }

    /// Adds a refused call to the rejects.
    pub(crate) fn report_refusal(&mut self, at: &str, tool: &str, verdict: &Verdict<'_>, input: &str) {
        let location = RejectLocation { file: self.file, row: self.number, at };
        rejects::append_refused_call(&mut self.worker.rejects, location, (&self.model, tool), verdict, input);
    }

    /// Adds a call that was mended, but cannot be written, to the rejects.
    pub(crate) fn report_unwritten(&mut self, at: &str, tool: &str, why: &str, input: &str) {
        let location = RejectLocation { file: self.file, row: self.number, at };
        rejects::append_unwritten_call(&mut self.worker.rejects, location, tool, why, input);
    }
}
