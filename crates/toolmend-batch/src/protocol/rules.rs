//! What calls are mended under: the tools or the schema of a record, or those of the whole run.

use std::sync::Arc;

use serde_json::Value;
use toolmend::{Finish, FixOptions, Mender, MenderBuilder, Policy, Schema, Tool, Turn, TurnOptions, Verdict};

use super::record::Record;
use super::shared_cache::SharedCache;

/// The schema of a call of an unknown tool.
pub(crate) const UNCONSTRAINED: &str = "{}";
/// The tools of an output of unknown tools.
pub(crate) const NO_TOOLS: &str = "[]";

/// What all records of a run have in common: the policy, the dialects and the tools.
///
/// ```
/// use toolmend_batch::protocol::{Rules, Tools};
/// let base = toolmend::Mender::builder();
/// let tools = Tools::new(r#"[{"name": "search", "parameters": {"type": "object"}}]"#, &base);
/// assert!(tools.notes().is_empty());
/// let rules = Rules::new(toolmend::Policy::default(), base, Some(tools));
/// ```
#[derive(Debug)]
pub struct Rules {
    policy: Policy,
    /// The policy and the dialects of the run, for every set of tools.
    base: MenderBuilder,
    schemas: SharedCache<CompiledSchema>,
    tools: SharedCache<Tools>,
    shared: Option<Arc<Tools>>,
}

/// A compiled schema. If the schema is broken, it constrains nothing, and a note says why.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    schema: Option<Schema>,
    /// Mends calls of any tool under this schema.
    mender: Mender,
    notes: Vec<String>,
}

/// Declared tools. A tool with a broken schema is unconstrained, and a note says why.
#[derive(Debug)]
pub struct Tools {
    mender: Mender,
    notes: Vec<String>,
}

/// A verdict, and notes for the author of the tools.
#[derive(Debug)]
pub(crate) struct NotedVerdict<'t> {
    pub(crate) verdict: Verdict<'t>,
    pub(crate) notes: Vec<String>,
}

impl CompiledSchema {
    fn new(text: &str, base: &MenderBuilder) -> Self {
        let source = serde_json::from_str::<Value>(text);
        let compiled =
            source.map_err(|error| format!("the schema cannot be read: {error}")).and_then(|source| {
                let schema = Schema::new(&source).map_err(|error| error.to_string())?;
                let tool = Tool::new("", &source).map_err(|error| error.to_string())?;
                Ok((schema, tool))
            });
        let (schema, tool, notes) = match compiled {
            Ok((schema, tool)) => (Some(schema), tool, Vec::new()),
            Err(note) => (None, Tool::unconstrained(""), vec![note]),
        };
        // A mender with one tool applies it to calls of any name.
        CompiledSchema { schema, mender: base.clone().tool(tool).build_lenient().0, notes }
    }

    /// Mends the arguments of a call of any tool under this schema.
    pub(crate) fn mend_arguments<'t>(&self, tool: &str, text: &'t str, finish: Finish) -> Verdict<'t> {
        self.mender.mend_finished(tool, text, finish)
    }
}

impl Tools {
    /// Reads tools from JSON, in any format that [`MenderBuilder::tools`] accepts.
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

    /// Returns what is wrong with the tools. Empty if nothing is.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Mends the arguments of a call.
    pub(crate) fn mend_arguments<'t>(&self, tool: &str, text: &'t str, finish: Finish) -> Verdict<'t> {
        self.mender.mend_finished(tool, text, finish)
    }

    /// Finds the calls in an output that arrived in these pieces.
    pub(crate) fn read_output(&self, pieces: &[String], options: &TurnOptions, finish: Finish) -> Turn {
        let mut stream = self.mender.stream(options);
        let mut turn = Turn::default();
        for piece in pieces {
            stream.push_to(piece, &mut turn);
        }
        turn.extend(stream.finish(finish));
        self.mender.settle_answer(&mut turn, options, finish);
        turn
    }
}

impl Rules {
    /// Creates rules from the policy, a builder with this policy and the dialects, and the tools for records without tools of
    /// their own.
    pub fn new(policy: Policy, base: MenderBuilder, shared: Option<Tools>) -> Self {
        Rules {
            policy,
            base,
            schemas: SharedCache::default(),
            tools: SharedCache::default(),
            shared: shared.map(Arc::new),
        }
    }

    /// Returns the tools of the whole run.
    #[cfg(feature = "files")]
    pub(crate) fn shared_tools(&self) -> Option<&Arc<Tools>> {
        self.shared.as_ref()
    }

    /// Compiles tools, or returns them from the cache.
    pub(crate) fn compile_tools(&self, source: &str) -> Arc<Tools> {
        self.tools.get_or_compile(source, || Tools::new(source, &self.base))
    }

    /// Compiles a schema, or returns it from the cache.
    pub(crate) fn compile_schema(&self, source: &str) -> Arc<CompiledSchema> {
        self.schemas.get_or_compile(source, || CompiledSchema::new(source, &self.base))
    }

    /// Mends JSON text under a schema.
    pub(crate) fn mend_json<'t>(
        &self,
        text: &'t str,
        schema: Option<&str>,
        finish: Finish,
    ) -> NotedVerdict<'t> {
        let options = FixOptions::new().policy(self.policy.clone()).finish(finish);
        let Some(source) = schema else {
            return NotedVerdict { verdict: toolmend::fix_with(text, &options), notes: Vec::new() };
        };
        let compiled = self.compile_schema(source);
        let options = match &compiled.schema {
            Some(schema) => options.schema(schema.clone()),
            None => options,
        };
        NotedVerdict { verdict: toolmend::fix_with(text, &options), notes: compiled.notes.clone() }
    }

    /// Finds the calls in the output of a model, with the tools of the record or those of the run. Also returns notes for the
    /// author of the tools.
    pub(crate) fn read_output(
        &self,
        pieces: &[String],
        record: &Record<'_>,
        finish: Finish,
    ) -> (Turn, Vec<String>) {
        let options = record.turn_options();
        let with_tools = |tools: &Tools| (tools.read_output(pieces, &options, finish), tools.notes.clone());
        match (record.tools, &self.shared) {
            // The shared tools are borrowed: all threads would wait for their reference count.
            (None, Some(shared)) => with_tools(shared),
            (tools, _) => with_tools(&self.compile_tools(tools.unwrap_or(NO_TOOLS))),
        }
    }

    /// Mends the arguments of a call under the tools of the record if it has any, then its schema, then the tools of the run.
    /// Without any of them, the call is unconstrained.
    pub(crate) fn mend_arguments<'t>(
        &self,
        tool: &str,
        text: &'t str,
        tools: Option<&str>,
        schema: Option<&str>,
        finish: Finish,
    ) -> NotedVerdict<'t> {
        let with_tools = |tools: &Tools| NotedVerdict {
            verdict: tools.mend_arguments(tool, text, finish),
            notes: tools.notes.clone(),
        };
        match (tools, &self.shared, schema) {
            (Some(source), _, _) => with_tools(&self.compile_tools(source)),
            (None, Some(shared), None) => with_tools(shared),
            (None, _, schema) => {
                let schema = self.compile_schema(schema.unwrap_or(UNCONSTRAINED));
                NotedVerdict {
                    verdict: schema.mend_arguments(tool, text, finish),
                    notes: schema.notes.clone(),
                }
            }
        }
    }
}
