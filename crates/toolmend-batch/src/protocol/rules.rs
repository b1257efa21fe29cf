//! What a record's arguments are mended under: its own tools or schema, or those of the whole run.

use std::sync::Arc;

use serde_json::Value;
use toolmend::{Finish, FixOptions, Mender, MenderBuilder, Policy, Schema, Tool, Turn, TurnOptions, Verdict};

use super::cache::Cache;
use super::record::Record;

/// The schema of a call that nothing is known about.
pub(crate) const ANYTHING: &str = "{}";
/// The tools of an output that nothing is known about.
pub(crate) const NO_TOOLS: &str = "[]";

/// Everything that records share.
#[derive(Debug)]
pub struct Rules {
    policy: Policy,
    /// The policy and the dialects of the run, for every set of tools.
    base: MenderBuilder,
    schemas: Cache<Compiled>,
    tools: Cache<Tools>,
    shared: Option<Arc<Tools>>,
}

/// A schema that may be broken: then there is a note, and no constraint.
#[derive(Debug)]
pub(crate) struct Compiled {
    schema: Option<Schema>,
    /// The schema as that of whatever tool is called.
    mender: Mender,
    notes: Vec<String>,
}

/// Declared tools. What is broken in them becomes a note, and the tool is unconstrained.
#[derive(Debug)]
pub struct Tools {
    mender: Mender,
    notes: Vec<String>,
}

/// A verdict, and what the tools' author should know.
#[derive(Debug)]
pub(crate) struct Judged<'t> {
    pub(crate) verdict: Verdict<'t>,
    pub(crate) notes: Vec<String>,
}

impl Compiled {
    fn new(text: &str, base: &MenderBuilder) -> Self {
        let source = serde_json::from_str::<Value>(text);
        let compiled =
            source.map_err(|error| format!("the schema cannot be read: {error}")).and_then(|source| {
                let schema = Schema::new(&source).map_err(|error| error.to_string())?;
                let tool = Tool::new("", &source).map_err(|error| error.to_string())?;
                Ok((schema, tool))
            });
        match compiled {
            Ok((schema, tool)) => {
                Compiled { schema: Some(schema), mender: only(tool, base), notes: Vec::new() }
            }
            Err(note) => {
                Compiled { schema: None, mender: only(Tool::unconstrained(""), base), notes: vec![note] }
            }
        }
    }
}

/// A mender for one tool, whatever it is called.
fn only(tool: Tool, base: &MenderBuilder) -> Mender {
    base.clone().tool(tool).build_lenient().0
}

impl Tools {
    /// Reads tools in any of the shapes that people have.
    pub fn new(text: &str, base: &MenderBuilder) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(tools) => {
                let (mender, notes) = base.clone().tools(&tools).build_lenient();
                Tools { mender, notes }
            }
            Err(error) => Tools {
                mender: base.clone().build_lenient().0,
                notes: vec![format!("the tools cannot be read: {error}")],
            },
        }
    }

    /// What stands in the way of using these tools for a whole run.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn judge<'t>(&self, tool: &str, text: &'t str, finish: Finish) -> Judged<'t> {
        Judged { verdict: self.mender.mend_finished(tool, text, finish), notes: self.notes.clone() }
    }

    /// Finds the calls in an output that came in these pieces.
    pub(crate) fn take_apart(
        &self,
        pieces: &[String],
        options: &TurnOptions,
        finish: Finish,
    ) -> (Turn, Vec<String>) {
        let mut stream = self.mender.stream(options);
        let mut turn = Turn::default();
        for piece in pieces {
            stream.push_to(piece, &mut turn);
        }
        turn.extend(stream.finish(finish));
        (turn, self.notes.clone())
    }
}

impl Compiled {
    /// Mends the arguments of a call of whatever tool under this schema.
    pub(crate) fn judge<'t>(&self, tool: &str, text: &'t str, finish: Finish) -> Judged<'t> {
        Judged { verdict: self.mender.mend_finished(tool, text, finish), notes: self.notes.clone() }
    }
}

impl Rules {
    /// What all records have in common: the policy, a builder with it and with the dialects, and tools for those that bring none.
    pub fn new(policy: Policy, base: MenderBuilder, shared: Option<Tools>) -> Self {
        Rules {
            policy,
            base,
            schemas: Cache::default(),
            tools: Cache::default(),
            shared: shared.map(Arc::new),
        }
    }

    /// The tools of the whole run.
    pub(crate) fn shared(&self) -> Option<&Arc<Tools>> {
        self.shared.as_ref()
    }

    /// These tools, compiled once however often they come.
    pub(crate) fn tools(&self, source: &str) -> Arc<Tools> {
        self.tools.get(source, || Tools::new(source, &self.base))
    }

    /// This schema, compiled once however often it comes.
    pub(crate) fn schema(&self, source: &str) -> Arc<Compiled> {
        self.schemas.get(source, || Compiled::new(source, &self.base))
    }

    /// Mends a JSON text under the schema, given as JSON text.
    pub(crate) fn judge_json<'t>(&self, text: &'t str, schema: Option<&str>, finish: Finish) -> Judged<'t> {
        let options = FixOptions::new().policy(self.policy.clone()).finish(finish);
        let Some(source) = schema else {
            return Judged { verdict: toolmend::fix_with(text, &options), notes: Vec::new() };
        };
        let compiled = self.schema(source);
        let options = match &compiled.schema {
            Some(schema) => options.schema(schema.clone()),
            None => options,
        };
        Judged { verdict: toolmend::fix_with(text, &options), notes: compiled.notes.clone() }
    }

    /// Finds the calls in a model's output, with the record's own tools or those of the whole run.
    pub(crate) fn take_apart(
        &self,
        pieces: &[String],
        record: &Record<'_>,
        finish: Finish,
    ) -> (Turn, Vec<String>) {
        let mut options = TurnOptions::new().reasoning_open(record.reasoning_open);
        if let Some(dialect) = &record.dialect {
            options = options.dialect(dialect.as_ref());
        }
        if let Some(model) = &record.model {
            options = options.model(model.as_ref());
        }
        match (record.tools, &self.shared) {
            (None, Some(shared)) => shared.take_apart(pieces, &options, finish),
            (tools, _) => self.tools(tools.unwrap_or(NO_TOOLS)).take_apart(pieces, &options, finish),
        }
    }

    /// Mends the arguments of a call. The record's own tools come first, then its schema, then the tools of the
    /// whole run; without any of them the call is unconstrained.
    pub(crate) fn judge_arguments<'t>(
        &self,
        tool: &str,
        text: &'t str,
        tools: Option<&str>,
        schema: Option<&str>,
        finish: Finish,
    ) -> Judged<'t> {
        if let Some(source) = tools {
            return self.tools(source).judge(tool, text, finish);
        }
        match (&self.shared, schema) {
            (Some(shared), None) => shared.judge(tool, text, finish),
            (_, schema) => self.schema(schema.unwrap_or(ANYTHING)).judge(tool, text, finish),
        }
    }
}
