//! Text to JSON, without tools: the front door of the syntax layer.

use crate::feedback;
use crate::pipeline::Task;
use crate::policy::Policy;
use crate::schema::Schema;
use crate::syntax::Finish;
use crate::verdict::Verdict;

/// What is known about a text beside its bytes.
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
    /// No schema, the balanced policy, nothing known about the end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads and judges the text under this schema.
    #[must_use]
    pub fn schema(mut self, schema: Schema) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets what may be repaired.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Says how the model's output ended.
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

/// Mends one JSON text with what is known about it.
pub fn fix_with<'t>(text: &'t str, options: &FixOptions) -> Verdict<'t> {
    let mut verdict = Task {
        schema: options.schema.as_ref(),
        policy: &options.policy,
        finish: options.finish,
        tool: None,
        main_field: None,
    }
    .run(text);
    if !verdict.outcome.runs() {
        let context = feedback::CallContext {
            called: "",
            tool: None,
            schema: options.schema.as_ref(),
            sent: text,
            value: serde_json::from_str(text).ok(),
            declared: &[],
            is_plain_json: true,
            limits: options.policy.limits,
            max_chars: feedback::MAX_CHARS,
        };
        let feedback = feedback::write_feedback(&verdict, &context);
        verdict.set_feedback(feedback);
    }
    verdict
}
