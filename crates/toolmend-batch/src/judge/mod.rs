//! Where one thread judges calls: what it remembers, what it counts, what it rejects.

mod recent;
pub(crate) mod reject;

use std::borrow::Cow;
use std::sync::Arc;

use toolmend::{Finish, Outcome, Verdict};
use toolmend_json::{DocumentMemory, Edits, TextBuffer, ValueRef as View, quote};

use self::recent::Recent;
use self::reject::Place;
use crate::counts::Counter;
use crate::protocol::{Compiled, Rules, Tools};

/// Why several calls in the place of one are not written.
pub(crate) const SEVERAL: &str = "the arguments hold several calls, and there is room for one";

/// What a thread keeps from row to row.
#[derive(Debug)]
pub(crate) struct Desk<'r> {
    rules: &'r Rules,
    tools: Recent<Tools>,
    schemas: Recent<Compiled>,
    /// Lists of tools as JSON, by how they were written in prompts and strings.
    pub(crate) lists: Recent<Option<String>>,
    pub(crate) counter: Counter,
    pub(crate) rejects: Vec<u8>,
    /// Memory for rows, one after the other.
    pub(crate) nodes: DocumentMemory,
    room: TextBuffer,
}

/// What the calls of a row are judged under.
#[derive(Debug, Clone)]
pub(crate) enum Kit<'r> {
    /// The tools of the run. They are borrowed: counting who holds them would make all threads wait for one number.
    Run(&'r Arc<Tools>),
    /// The tools of the row.
    Own(Arc<Tools>),
    /// A schema for whatever is called.
    Schema(Arc<Compiled>),
}

impl<'r> Desk<'r> {
    /// A desk for rows that mostly have their arguments in a member of this name.
    pub(crate) fn new(rules: &'r Rules, arguments: &str) -> Self {
        Desk {
            rules,
            tools: Recent::default(),
            schemas: Recent::default(),
            lists: Recent::default(),
            counter: Counter::default(),
            rejects: Vec::new(),
            nodes: DocumentMemory::decoding(arguments),
            room: TextBuffer::default(),
        }
    }

    pub(crate) fn rules(&self) -> &'r Rules {
        self.rules
    }

    /// The row's own tools come first, then its schema, then the tools of the run: the same order as for records.
    pub(crate) fn kit(&mut self, tools: Option<&str>, schema: Option<&str>) -> Kit<'r> {
        let rules = self.rules;
        if let Some(source) = tools {
            return Kit::Own(self.tools.get(source, || rules.tools(source)));
        }
        match (rules.shared(), schema) {
            (Some(shared), None) => Kit::Run(shared),
            (_, schema) => {
                let source = schema.unwrap_or(crate::protocol::ANYTHING);
                Kit::Schema(self.schemas.get(source, || rules.schema(source)))
            }
        }
    }

    /// The tools that an output is read with.
    pub(crate) fn declared(&self, kit: &Kit<'_>) -> Arc<Tools> {
        match kit {
            Kit::Own(tools) => Arc::clone(tools),
            Kit::Run(tools) => Arc::clone(tools),
            Kit::Schema(_) => self.rules.tools(crate::protocol::NO_TOOLS),
        }
    }

    pub(crate) fn judge<'t>(kit: &Kit<'_>, tool: &str, text: &'t str, finish: Finish) -> Verdict<'t> {
        match kit {
            Kit::Own(tools) => tools.judge(tool, text, finish).verdict,
            Kit::Run(tools) => tools.judge(tool, text, finish).verdict,
            Kit::Schema(schema) => schema.judge(tool, text, finish).verdict,
        }
    }
}

/// One row while its calls are judged.
#[derive(Debug)]
pub(crate) struct Row<'a, 'r> {
    pub(crate) desk: &'a mut Desk<'r>,
    pub(crate) edits: &'a mut Edits,
    pub(crate) file: &'a str,
    pub(crate) number: u64,
    pub(crate) model: Cow<'a, str>,
    pub(crate) kit: Kit<'r>,
}

/// How a call is written in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'d> {
    pub(crate) name: Option<View<'d>>,
    /// Text or a value; absent where the call has none.
    pub(crate) arguments: Option<View<'d>>,
    /// Whether arguments must be a value here, also where they came as text.
    pub(crate) as_value: bool,
    pub(crate) finish: Finish,
}

impl Row<'_, '_> {
    /// Judges a call of a tool that the row does not name.
    pub(crate) fn call_of(
        &mut self,
        tool: &str,
        arguments: View<'_>,
        finish: Finish,
        place: impl FnOnce() -> String,
    ) {
        let call = Written { name: None, arguments: Some(arguments), as_value: false, finish };
        self.judge(&call, tool, place);
    }

    /// Judges one call. What is mended becomes edits, what is refused a line in the rejects.
    pub(crate) fn call(&mut self, call: &Written<'_>, place: impl FnOnce() -> String) -> Outcome {
        let name = call.name.and_then(View::text).unwrap_or_default();
        self.judge(call, &name, place)
    }

    fn judge(&mut self, call: &Written<'_>, name: &str, place: impl FnOnce() -> String) -> Outcome {
        let mut room = std::mem::take(&mut self.desk.room);
        let outcome = self.judge_in(&mut room, call, name, place);
        self.desk.room = room;
        outcome
    }

    fn judge_in(
        &mut self,
        room: &mut TextBuffer,
        call: &Written<'_>,
        name: &str,
        place: impl FnOnce() -> String,
    ) -> Outcome {
        let (text, is_text) = match call.arguments {
            None => ("", true),
            Some(view) => match view.text_in(room) {
                Some(text) => (text, true),
                None => (view.raw(), false),
            },
        };
        let verdict = Desk::judge(&self.kit, name, text, call.finish);
        let tool = verdict.tool().unwrap_or(name);
        self.desk.counter.count(&self.model, tool, &verdict);
        match verdict.outcome() {
            Outcome::Clean => {}
            Outcome::Mended => match verdict.json() {
                Some(json) => self.write(call, name, tool, json, is_text),
                None => self.unwritten(&place(), tool, SEVERAL, text),
            },
            _ => self.refuse(&place(), tool, &verdict, text),
        }
        verdict.outcome()
    }

    fn write(&mut self, call: &Written<'_>, name: &str, tool: &str, json: &str, is_text: bool) {
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
            // Absent arguments have no place of their own: they stand behind the name.
            (None, Some(named)) if json != "{}" => {
                let (key, tool) = (if call.as_value { "input" } else { "arguments" }, quote(tool));
                let literal = if quoted { quote(json) } else { json.to_owned() };
                self.edits.replace(named.span(), format!("{tool},\"{key}\":{literal}"));
            }
            (None, Some(named)) if name != tool => self.edits.replace_quoted(named.span(), tool),
            (None, _) => {}
        }
    }

    pub(crate) fn refuse(&mut self, at: &str, tool: &str, verdict: &Verdict<'_>, input: &str) {
        let place = Place { file: self.file, row: self.number, at };
        reject::refused(&mut self.desk.rejects, place, (&self.model, tool), verdict, input);
    }

    pub(crate) fn unwritten(&mut self, at: &str, tool: &str, why: &str, input: &str) {
        let place = Place { file: self.file, row: self.number, at };
        reject::unwritten(&mut self.desk.rejects, place, tool, why, input);
    }
}
