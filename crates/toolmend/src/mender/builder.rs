//! Builds a mender from tools and a policy.

use std::sync::Arc;

use serde_json::Value;

use super::{Inner, Mender};
use crate::dialect::CustomDialects;
use crate::feedback;
use crate::name::ToolNames;
use crate::policy::Policy;
use crate::schema::Schema;
use crate::tools::{Tool, ToolsError, read_declarations};
use crate::trace::Trace;

/// Collects tools and settings for a [`Mender`].
///
/// ```
/// use toolmend::{Mender, Policy, Tier, Tool};
/// let mender = Mender::builder()
///     .tool(Tool::unconstrained("list_dir"))
///     .policy(Policy::default().max_tier(Tier::Guided))
///     .feedback_limit(400)
///     .build()
///     .unwrap();
/// assert_eq!(mender.tools().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct MenderBuilder {
    tools: Vec<Tool>,
    errors: Vec<ToolsError>,
    policy: Policy,
    dialects: CustomDialects,
    feedback_limit: usize,
    trace: Trace,
}

impl Default for MenderBuilder {
    fn default() -> Self {
        MenderBuilder {
            tools: Vec::new(),
            errors: Vec::new(),
            policy: Policy::default(),
            dialects: CustomDialects::default(),
            feedback_limit: feedback::MAX_CHARS,
            trace: Trace::default(),
        }
    }
}

impl MenderBuilder {
    /// Adds tools, in any shape that [`Mender::new`] takes.
    ///
    /// ```
    /// let tools = serde_json::json!([{"name": "get_time", "input_schema": {"type": "object"}}]);
    /// let mender = toolmend::Mender::builder().tools(&tools).build()?;
    /// assert_eq!(mender.tools()[0].name(), "get_time");
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn tools(mut self, tools: &Value) -> Self {
        let (declarations, errors) = read_declarations(tools);
        self.errors.extend(errors);
        for declaration in &declarations {
            let tool = Tool::from_declaration(declaration).unwrap_or_else(|error| {
                self.errors.push(error);
                Tool::from_declaration_without_schema(declaration)
            });
            self.push(tool, &declaration.definition_path);
        }
        self
    }

    /// Adds one tool.
    ///
    /// ```
    /// use toolmend::{Mender, Tool};
    /// let mender = Mender::builder().tool(Tool::unconstrained("list_dir")).build()?;
    /// assert!(mender.mend("list_dir", "{path: '.'}").json().is_some());
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.push(tool, "");
        self
    }

    /// Sets which repairs are allowed.
    ///
    /// ```
    /// use toolmend::{Mender, Policy, Preset};
    /// let strict = Policy::preset(Preset::Strict);
    /// let mender = Mender::builder().tools(&serde_json::json!(["list_dir"])).policy(strict).build()?;
    /// assert_eq!(mender.mend("list_dir", "{path: '.'}").json(), None);
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the custom dialects, which are read before the built-in ones.
    ///
    /// ```
    /// use toolmend::{CustomDialects, Finish, Mender, TurnOptions};
    /// let file = serde_json::json!({"dialect": [{"name": "acme", "call": "<|act|>{name}<|with|>{arguments}<|/act|>"}]});
    /// let own: CustomDialects = serde_json::from_value(file).unwrap();
    /// let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).dialects(own).build()?;
    /// let turn = mender.turn("<|act|>get_time<|with|>{}<|/act|>", &TurnOptions::new(), Finish::Stop);
    /// assert_eq!(turn.calls[0].name, "get_time");
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn dialects(mut self, own: CustomDialects) -> Self {
        self.dialects = own;
        self
    }

    /// The custom dialects that were set.
    #[cfg(feature = "template")]
    pub(crate) fn custom_dialects(&self) -> &CustomDialects {
        &self.dialects
    }

    /// Sets the maximum length of feedback in characters. The default is 1,200.
    ///
    /// ```
    /// use toolmend::Mender;
    /// let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).feedback_limit(200).build()?;
    /// let verdict = mender.mend("get_time", r#"{"zone": "#);
    /// assert!(verdict.feedback().unwrap().chars().count() <= 200);
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn feedback_limit(mut self, characters: usize) -> Self {
        self.feedback_limit = characters;
        self
    }

    /// Reports every repair and every call that does not run as events for `tracing`.
    ///
    /// | Event | Target | Level | Fields |
    /// |---|---|---|---|
    /// | `tool_input_repaired`, for each repair | `tool_repair` | info | `tool`, `model`, `repair_kind`, `path` |
    /// | `tool_input_invalid`, for each call that does not run | `tool_input_invalid` | warn | `tool`, `model`, `outcome`, `reason`, `error` |
    ///
    /// [`Reprompt::trace`](crate::Reprompt::trace) adds one event for each malformed call, and
    /// [`Snapshot::trace`](crate::Snapshot::trace) one at the end of a run.
    ///
    /// ```
    /// let tools = serde_json::json!(["list_dir"]);
    /// let mender = toolmend::Mender::builder().tools(&tools).trace("some-model").build()?;
    /// mender.mend("ListDir", "{}"); // tool_input_repaired: name_respelled
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn trace(mut self, model: &str) -> Self {
        self.trace = Trace::of_model(model);
        self
    }

    /// Compiles the mender.
    ///
    /// # Errors
    /// If the tools cannot be read or a schema is broken. The error names the tool and the position.
    ///
    /// ```
    /// use toolmend::Mender;
    /// let broken = serde_json::json!([{"name": "f", "parameters": {"type": "objekt"}}]);
    /// let error = Mender::builder().tools(&broken).build().unwrap_err();
    /// assert!(error.to_string().contains("objekt"), "{error}");
    /// ```
    pub fn build(mut self) -> Result<Mender, ToolsError> {
        if self.errors.is_empty() { Ok(self.compile()) } else { Err(self.errors.swap_remove(0)) }
    }

    /// Compiles the mender, and turns every error into a note. A tool with a broken schema is unconstrained.
    ///
    /// ```
    /// use toolmend::Mender;
    /// let broken = serde_json::json!([{"name": "f", "parameters": {"type": "objekt"}}]);
    /// let (mender, notes) = Mender::builder().tools(&broken).build_lenient();
    /// assert_eq!((mender.tools().len(), notes.len()), (1, 1));
    /// ```
    pub fn build_lenient(mut self) -> (Mender, Vec<String>) {
        let notes = self.errors.iter().map(ToString::to_string).collect();
        if self.tools.is_empty() && !self.errors.is_empty() {
            // If nothing could be read, nothing is known about what may be called.
            self.tools.push(Tool::unconstrained(""));
        }
        (self.compile(), notes)
    }

    /// Adds a tool. The same tool twice counts once; two different tools with one name are an error.
    fn push(&mut self, tool: Tool, place: &str) {
        let source = |tool: &Tool| tool.schema().map(|schema| schema.source().clone());
        match self.tools.iter().find(|known| known.name() == tool.name()) {
            None => self.tools.push(tool),
            Some(known) if source(known) == source(&tool) => {}
            Some(known) => {
                let message = "another tool has the same name but a different schema";
                let error = ToolsError::new(known.name(), place, message);
                self.errors.push(error);
            }
        }
    }

    fn compile(self) -> Mender {
        let policies =
            self.tools.iter().map(|tool| self.policy.for_tool(tool.name(), tool.is_destructive())).collect();
        let names = ToolNames::new(self.tools.iter().map(Tool::name));
        let object = Schema::new(&serde_json::json!({"type": "object"})).ok();
        Mender {
            inner: Arc::new(Inner {
                object,
                policies,
                names,
                tools: self.tools,
                policy: self.policy,
                dialects: self.dialects,
                feedback_limit: self.feedback_limit,
                trace: self.trace,
            }),
            allowance: None,
        }
    }
}
