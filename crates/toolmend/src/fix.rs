//! The entry points for JSON text without tools.
//!
//! They run the pipeline and add feedback. What is repaired, and how, is decided there.

use crate::feedback;
use crate::pipeline::Task;
use crate::policy::Policy;
use crate::schema::Schema;
use crate::syntax::Finish;
use crate::verdict::Verdict;

/// What is known about a text in addition to its bytes.
///
/// ```
/// use toolmend::{Finish, FixOptions, Schema};
/// let schema = Schema::new(&serde_json::json!({"properties": {"path": {"type": "string"}}})).unwrap();
/// let options = FixOptions::new().schema(schema).finish(Finish::Stop);
/// assert_eq!(toolmend::fix_with("{path: /tmp/a, b}", &options).json(), Some(r#"{"path": "/tmp/a, b"}"#));
/// ```
#[derive(Debug, Clone, Default)]
pub struct FixOptions {
    schema: Option<Schema>,
    policy: Policy,
    finish: Finish,
}

impl FixOptions {
    /// No schema, the balanced policy, and an unknown finish reason.
    ///
    /// ```
    /// let verdict = toolmend::fix_with("[1,]", &toolmend::FixOptions::new());
    /// assert_eq!(verdict, toolmend::fix("[1,]"));
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the schema, which guides the reading and which the value must fit.
    ///
    /// ```
    /// let schema = toolmend::Schema::new(&serde_json::json!({"items": {"type": "integer"}}))?;
    /// let options = toolmend::FixOptions::new().schema(schema);
    /// assert_eq!(toolmend::fix_with(r#"["1"]"#, &options).json(), Some("[1]"));
    /// # Ok::<(), toolmend::SchemaError>(())
    /// ```
    #[must_use]
    pub fn schema(mut self, schema: Schema) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the policy: which repairs are allowed.
    ///
    /// ```
    /// use toolmend::{FixOptions, Outcome, Policy, Preset};
    /// let options = FixOptions::new().policy(Policy::preset(Preset::Strict));
    /// assert_eq!(toolmend::fix_with("[1,]", &options).outcome(), Outcome::Rejected);
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how the model's output ended. After `Length`, text without its closing brackets counts as truncated.
    ///
    /// ```
    /// use toolmend::{Finish, FixOptions, Outcome};
    /// let options = FixOptions::new().finish(Finish::Length);
    /// assert_eq!(toolmend::fix_with(r#"{"a": "b""#, &options).outcome(), Outcome::Truncated);
    /// ```
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}

/// Mends one JSON text.
///
/// ```
/// let verdict = toolmend::fix("```json\n{'name': 'Ada', // the first\n 'tags': [1, 2,]}\n```");
/// assert_eq!(verdict.value(), Some(serde_json::json!({"name": "Ada", "tags": [1, 2]})));
/// assert_eq!(toolmend::fix("[1, 2]").repairs(), []);
/// assert!(toolmend::fix(r#"{"text": "cut o"#).feedback().unwrap().contains("cut off inside `/text`"));
/// ```
pub fn fix(text: &str) -> Verdict<'_> {
    fix_with(text, &FixOptions::default())
}

/// Mends one JSON text with a schema, a policy or a finish reason.
///
/// ```
/// use toolmend::{FixOptions, Schema, fix_with};
/// let schema = Schema::new(&serde_json::json!({"properties": {"limit": {"type": "integer"}}}))?;
/// let options = FixOptions::new().schema(schema);
/// assert_eq!(fix_with(r#"{"limit": "10"}"#, &options).json(), Some(r#"{"limit": 10}"#));
/// # Ok::<(), toolmend::SchemaError>(())
/// ```
pub fn fix_with<'t>(text: &'t str, options: &FixOptions) -> Verdict<'t> {
    let mut verdict = Task {
        schema: options.schema.as_ref(),
        policy: &options.policy,
        finish: options.finish,
        tool: None,
        main_field: None,
        explains: true,
        allowance: None,
    }
    .run(text);
    if !verdict.outcome.runs() {
        let (schema, limits) = (options.schema.as_ref(), options.policy.limits);
        let feedback = feedback::write_plain_feedback(&verdict, schema, text, limits);
        verdict.set_feedback(feedback);
    }
    verdict
}
