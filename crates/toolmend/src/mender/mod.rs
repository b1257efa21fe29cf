//! Judges one call: the declared tools and a policy in, a verdict out.
//!
//! The mender resolves the tool, hands the arguments to the pipeline, and adds feedback for calls that do not run. It
//! never splits output; `stream` does, on top of it.

mod answer;
mod arguments;
mod builder;
pub(crate) mod call_verdict;
mod infer;
mod partial_arguments;
mod swallowed_call;
mod tagged_arguments;
mod tool_queries;

use std::sync::Arc;

use serde_json::Value;

use self::arguments::{is_blank, is_null, mend_glued_arguments, mend_or_fill, prepend_repairs};
pub use self::builder::MenderBuilder;
use crate::dialect::CustomDialects;
use crate::feedback;
use crate::name::{NameMatch, ResolvedName, ToolNames};
use crate::pipeline::Task;
use crate::policy::{Policy, Preset};
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::syntax::{Allowance, Finish};
use crate::tools::{Tool, ToolsError};
use crate::trace::Trace;
use crate::turn::Event;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

/// Judges and mends the calls of a set of tools. It is compiled once, cheap to clone, and can be shared between threads.
///
/// [`mend`](Mender::mend) judges one call, [`turn`](Mender::turn) finds the calls in a whole output, and [`stream`](Mender::stream) in
/// pieces of one. Around it:
///
/// - [`Policy`] says what may be repaired, and [`MenderBuilder::trace`] reports repairs as events;
/// - [`Reprompt`](crate::Reprompt) says when to send a call back, and [`Stats`](crate::Stats) counts verdicts;
/// - `Tool::for_type` (feature `schemars`) declares a Rust type as a tool, and [`Lenient`](crate::Lenient) and
///   [`from_str`](crate::from_str()) read into Rust types without a schema;
/// - [`with_contract_hints`](crate::with_contract_hints) adds advice to the descriptions of tools;
/// - [`CustomDialects`](crate::CustomDialects) adds notations of calls.
///
/// In the project, `docs/rust.md` shows all of it up to an agent loop, `docs/hints.md` documents what a schema can say beyond JSON
/// Schema, and `docs/coming-from.md` is for users of similar systems.
///
/// ```
/// use serde_json::json;
/// use toolmend::{Mender, Outcome, Reason};
///
/// let mender = Mender::new(&json!([{
///     "name": "read_file",
///     "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
/// }])).unwrap();
///
/// let verdict = mender.mend("functions.ReadFile", r#"{"path": "a.txt"}"#);
/// assert_eq!((verdict.outcome(), verdict.tool()), (Outcome::Mended, Some("read_file")));
/// assert_eq!(verdict.json(), Some(r#"{"path": "a.txt"}"#));
///
/// let verdict = mender.mend("read_files", "{}");
/// assert_eq!(verdict.reason(), Some(Reason::UnknownTool));
/// assert!(verdict.feedback().unwrap().contains("read_file"));
/// ```
#[derive(Debug, Clone)]
pub struct Mender {
    inner: Arc<Inner>,
    /// What the texts that this copy of the mender judges may spend together. A stream limits it.
    allowance: Option<Arc<Allowance>>,
}

#[derive(Debug)]
struct Inner {
    tools: Vec<Tool>,
    /// The policy for each tool, in their order.
    policies: Vec<Policy>,
    names: ToolNames,
    /// The schema of arguments if nothing else is known: an object.
    object: Option<Schema>,
    policy: Policy,
    dialects: CustomDialects,
    feedback_limit: usize,
    trace: Trace,
}

/// The arguments of a call in the form that the caller has.
#[derive(Clone, Copy)]
enum Arguments<'t> {
    Text(&'t str),
    Value(&'t Value),
}

/// Why no tool may be called, and the tool that is meant if one is known.
struct Unresolved {
    index: Option<usize>,
    refusal: Refusal,
}

fn refusal(reason: Reason, message: String) -> Refusal {
    Refusal { reason: Some(reason), message, ..Refusal::default() }
}

impl Mender {
    /// Reads tools and compiles a mender with the default policy.
    ///
    /// Tools come in any common shape: definitions for Chat Completions, Responses, Anthropic, MCP, Gemini or Bedrock,
    /// alone, in a list or in a response that contains the list; a map of names to schemas; or a bare JSON Schema,
    /// which then applies to every tool.
    ///
    /// # Errors
    /// If the tools cannot be read or a schema is broken. The error names the tool and the position.
    ///
    /// ```
    /// let tools = serde_json::json!({"get_weather": {"properties": {"days": {"type": "integer"}}}});
    /// let mender = toolmend::Mender::new(&tools)?;
    /// assert_eq!(mender.mend("get_weather", "{'days': '3'}").json(), Some(r#"{"days": 3}"#));
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    pub fn new(tools: &Value) -> Result<Self, ToolsError> {
        Mender::builder().tools(tools).build()
    }

    /// Reads tools that may be broken. Every error becomes a note, and a tool with a broken schema is unconstrained.
    ///
    /// ```
    /// let tools = serde_json::json!([{"name": "f", "parameters": {"type": "objekt"}}]);
    /// let (mender, notes) = toolmend::Mender::lenient(&tools);
    /// assert_eq!(notes.len(), 1);
    /// assert_eq!(mender.mend("f", r#"{"any": "thing"}"#).outcome(), toolmend::Outcome::Clean);
    /// ```
    pub fn lenient(tools: &Value) -> (Self, Vec<String>) {
        Mender::builder().tools(tools).build_lenient()
    }

    /// Starts a mender with its own policy, tools or dialects.
    ///
    /// ```
    /// use toolmend::{Mender, Policy, Preset};
    /// let strict = Mender::builder().policy(Policy::preset(Preset::Strict)).build().unwrap();
    /// assert!(strict.tools().is_empty());
    /// ```
    pub fn builder() -> MenderBuilder {
        MenderBuilder::default()
    }

    /// Compiles a mender for arguments of this type, for every tool name.
    ///
    /// ```
    /// #[derive(schemars::JsonSchema)]
    /// struct Search { query: String, limit: Option<u32> }
    ///
    /// let mender = toolmend::Mender::for_type::<Search>()?;
    /// let verdict = mender.mend("search", r#"{"query": "rust", "limit": "5"}"#);
    /// assert_eq!(verdict.json(), Some(r#"{"query": "rust", "limit": 5}"#));
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    ///
    /// # Errors
    /// If the type's schema is broken.
    #[cfg(feature = "schemars")]
    pub fn for_type<T: schemars::JsonSchema>() -> Result<Self, ToolsError> {
        Mender::builder().tool(Tool::for_type::<T>("")?).build()
    }

    /// The user's custom dialects.
    pub(crate) fn dialects(&self) -> &CustomDialects {
        &self.inner.dialects
    }

    /// The declared tools, in their order.
    ///
    /// ```
    /// let mender = toolmend::Mender::new(&serde_json::json!(["list_dir", "get_time"])).unwrap();
    /// let names: Vec<_> = mender.tools().iter().map(toolmend::Tool::name).collect();
    /// assert_eq!(names, ["list_dir", "get_time"]);
    /// ```
    pub fn tools(&self) -> &[Tool] {
        &self.inner.tools
    }

    /// The declared tool with exactly this name.
    ///
    /// ```
    /// let mender = toolmend::Mender::new(&serde_json::json!(["list_dir"])).unwrap();
    /// assert!(mender.tool("list_dir").is_some());
    /// assert!(mender.tool("ListDir").is_none());
    /// ```
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.inner.names.exact(name).and_then(|index| self.inner.tools.get(index))
    }

    /// Judges and mends one call with its arguments as text.
    ///
    /// ```
    /// use toolmend::{Mender, Outcome};
    /// let mender = Mender::new(&serde_json::json!(["list_dir"])).unwrap();
    /// let verdict = mender.mend("list_dir", "{'path': '/tmp',}");
    /// assert_eq!((verdict.outcome(), verdict.json()), (Outcome::Mended, Some(r#"{"path": "/tmp"}"#)));
    /// ```
    pub fn mend<'t>(&self, tool: &str, arguments: &'t str) -> Verdict<'t> {
        self.mend_finished(tool, arguments, Finish::Unknown)
    }

    /// Does the same as [`Mender::mend`] if it is known how the model's output ended.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, Outcome};
    /// let mender = Mender::new(&serde_json::json!(["list_dir"])).unwrap();
    /// assert_eq!(mender.mend("list_dir", "").json(), Some("{}"));
    /// assert_eq!(mender.mend_finished("list_dir", "", Finish::Length).outcome(), Outcome::Truncated);
    /// ```
    pub fn mend_finished<'t>(&self, tool: &str, arguments: &'t str, finish: Finish) -> Verdict<'t> {
        let verdict = self.judge_text(tool, arguments, finish);
        self.inner.trace.report_verdict(tool, &verdict);
        verdict
    }

    /// The verdict on one call with its arguments as text. Nothing is reported: whoever asks may ask again.
    pub(crate) fn judge_text<'t>(&self, tool: &str, arguments: &'t str, finish: Finish) -> Verdict<'t> {
        if self.inner.policy.preset == Preset::Off {
            let known = self.inner.is_unnamed() || self.tool(tool).is_some();
            let named = (known && !tool.is_empty()).then(|| tool.to_owned());
            return Verdict { tool: named, ..Verdict::clean(arguments) };
        }
        let (index, mut verdict) = match self.resolve(tool, Arguments::Text(arguments)) {
            Ok(resolved) => (Some(resolved.index), self.mend_resolved(tool, &resolved, arguments, finish)),
            Err(refusal) => (refusal.index, Verdict::refused(arguments, Outcome::Rejected, refusal.refusal)),
        };
        if let (Some(_), Outcome::Rejected) = (index, verdict.outcome())
            && let Some(tagged) = tagged_arguments::judge(self, tool, arguments, finish)
        {
            return tagged;
        }
        self.label(&mut verdict, index, tool, arguments);
        verdict
    }

    /// Judges and mends one call whose arguments are already parsed. Its repairs have no positions.
    ///
    /// ```
    /// use serde_json::json;
    /// let mender = toolmend::Mender::new(&json!({"type": "object", "required": ["a"]})).unwrap();
    /// assert_eq!(mender.mend_value("any", &json!({"a": 1})).value(), Some(json!({"a": 1})));
    /// assert!(mender.mend_value("any", &json!({})).feedback().is_some());
    /// ```
    pub fn mend_value(&self, tool: &str, arguments: &Value) -> Verdict<'static> {
        let verdict = self.judge_value(tool, arguments);
        self.inner.trace.report_verdict(tool, &verdict);
        verdict
    }

    fn judge_value(&self, tool: &str, arguments: &Value) -> Verdict<'static> {
        let written = arguments.to_string();
        if self.inner.policy.preset == Preset::Off {
            return self.judge_text(tool, &written, Finish::Unknown).into_owned();
        }
        let (index, mut verdict) = match self.resolve(tool, Arguments::Value(arguments)) {
            Ok(resolved) => {
                (Some(resolved.index), self.mend_resolved_value(tool, &resolved, arguments, &written))
            }
            Err(refusal) => (refusal.index, Verdict::refused(&written, Outcome::Rejected, refusal.refusal)),
        };
        for repair in &mut verdict.repairs {
            repair.at = None;
        }
        self.label(&mut verdict, index, tool, arguments.as_str().unwrap_or(&written));
        verdict.into_owned()
    }

    /// The tool that is meant, or why there is none.
    fn resolve(&self, name: &str, arguments: Arguments<'_>) -> Result<ResolvedName, Box<Unresolved>> {
        let inner = &*self.inner;
        if inner.is_unnamed() {
            return Ok(ResolvedName { index: 0, kinds: Vec::new(), glued: None });
        }
        let resolved = match inner.names.resolve_tool_name(name) {
            NameMatch::One(resolved) => resolved,
            NameMatch::Several(all) => {
                let message = format!("the name {name:?} fits {} declared tools", all.len());
                let names = all.iter().filter_map(|&index| inner.tools.get(index)).map(Tool::name);
                let readings = names.map(|name| Value::from(name).to_string()).collect();
                let refusal = Refusal { readings, ..refusal(Reason::Ambiguous, message) };
                return Err(Box::new(Unresolved { index: None, refusal }));
            }
            NameMatch::Unknown => {
                let inferred = name.trim().is_empty().then(|| self.infer(arguments)).flatten();
                inferred.ok_or_else(|| {
                    let message = format!("no declared tool is called {name:?}");
                    Box::new(Unresolved { index: None, refusal: refusal(Reason::UnknownTool, message) })
                })?
            }
        };
        let policy = &inner.policies[resolved.index];
        match resolved.kinds.iter().find(|&&kind| !policy.allows(kind)) {
            Some(kind) => {
                let refusal = refusal(Reason::Policy, format!("the policy forbids the repair {kind}"));
                Err(Box::new(Unresolved { index: Some(resolved.index), refusal }))
            }
            None => Ok(resolved),
        }
    }

    fn mend_resolved<'t>(
        &self,
        name: &str,
        resolved: &ResolvedName,
        arguments: &'t str,
        finish: Finish,
    ) -> Verdict<'t> {
        let task = self.task(name, resolved.index, finish);
        let object = self.inner.object.as_ref();
        let verdict = match &resolved.glued {
            Some(glued) => mend_glued_arguments(&task, object, glued, arguments),
            None => mend_or_fill(&task, object, arguments),
        };
        prepend_repairs(verdict, &resolved.kinds, None)
    }

    fn mend_resolved_value<'t>(
        &self,
        name: &str,
        resolved: &ResolvedName,
        arguments: &'t Value,
        written: &'t str,
    ) -> Verdict<'t> {
        let policy = &self.inner.policies[resolved.index];
        let schema = self.inner.tools[resolved.index].schema();
        match arguments {
            // A framework did not parse this text. It is the arguments, unless the schema wants a string.
            Value::String(text)
                if !schema.is_some_and(|schema| schema.accepts(arguments))
                    && policy.allows(RepairKind::DoubleEncodingRemoved) =>
            {
                let unpacked = !is_blank(text) && !is_null(text);
                let verdict = self.mend_resolved(name, resolved, text, Finish::Unknown);
                let kinds: &[_] = if unpacked { &[RepairKind::DoubleEncodingRemoved] } else { &[] };
                prepend_repairs(verdict, kinds, None)
            }
            _ => self.mend_resolved(name, resolved, written, Finish::Unknown),
        }
    }
}

impl Inner {
    /// Whether there is one schema for every name.
    fn is_unnamed(&self) -> bool {
        matches!(self.tools.as_slice(), [only] if only.name().is_empty())
    }
}

impl Mender {
    /// Reports the call that a stream hands out with this event.
    pub(crate) fn report_event(&self, event: &Event) {
        if let Some(call) = event.ended_call() {
            self.inner.trace.report_verdict(&call.name, &call.verdict);
        }
    }

    /// A copy that judges within what the returned allowance has left.
    pub(crate) fn within_allowance(&self, units: usize) -> (Self, Arc<Allowance>) {
        let allowance = Arc::new(Allowance::new(units));
        (Mender { inner: self.inner.clone(), allowance: Some(allowance.clone()) }, allowance)
    }

    fn task<'a>(&'a self, called: &'a str, index: usize, finish: Finish) -> Task<'a> {
        let tool = &self.inner.tools[index];
        Task {
            schema: tool.schema(),
            policy: &self.inner.policies[index],
            tool: Some(if tool.name().is_empty() { called } else { tool.name() }),
            main_field: tool.main_field(),
            explains: true,
            ..self.unconstrained_task(finish)
        }
    }

    /// A task without a tool.
    fn unconstrained_task(&self, finish: Finish) -> Task<'_> {
        Task {
            schema: None,
            policy: &self.inner.policy,
            finish,
            tool: None,
            main_field: None,
            explains: false,
            allowance: self.allowance.as_deref(),
        }
    }

    /// Records the tool, and the feedback if the call does not run.
    fn label(&self, verdict: &mut Verdict<'_>, index: Option<usize>, called: &str, sent: &str) {
        let tool = index.and_then(|index| self.inner.tools.get(index));
        let name = match tool.map(Tool::name) {
            Some("") => called,
            Some(name) => name,
            None => "",
        };
        verdict.tool = (!name.is_empty()).then(|| name.to_owned());
        if !verdict.outcome.runs() {
            // Only violations of the schema are explained by the value.
            let is_unfit = verdict.reason() == Some(Reason::Schema);
            let context = feedback::CallContext {
                called,
                tool,
                sent,
                value: if is_unfit { self.read(sent) } else { None },
                schema: tool.and_then(Tool::schema).or(self.inner.object.as_ref()),
                declared: &self.inner.tools,
                is_plain_json: false,
                limits: self.inner.policy.limits,
                max_chars: self.inner.feedback_limit,
            };
            verdict.set_feedback(feedback::write_feedback(verdict, &context));
        }
    }
}

#[cfg(test)]
mod tests;
