//! What a record's arguments are mended under: its own tools or schema, or those of the whole run.

use serde_json::Value;
use toolmend::{Finish, FixOptions, Policy, Schema, Verdict};

use super::cache::Cache;

/// Everything that records share.
#[derive(Debug)]
pub(crate) struct Rules {
    policy: Policy,
    schemas: Cache<Compiled>,
    tools: Cache<Tools>,
    shared: Option<Tools>,
}

/// A schema that may be broken: then there is a note, and no constraint.
#[derive(Debug, Default)]
struct Compiled {
    schema: Option<Schema>,
    note: Option<String>,
}

/// Declared tools, by name.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    by_name: Vec<(String, Compiled)>,
    notes: Vec<String>,
}

/// A verdict on arguments, and what the tools' author should know.
#[derive(Debug)]
pub(crate) struct Judged<'t> {
    pub(crate) verdict: Option<Verdict<'t>>,
    pub(crate) notes: Vec<String>,
}

impl Compiled {
    fn new(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(source) => Compiled::of(&source),
            Err(error) => {
                Compiled { schema: None, note: Some(format!("the schema cannot be read: {error}")) }
            }
        }
    }

    fn of(source: &Value) -> Self {
        match Schema::new(source) {
            Ok(schema) => Compiled { schema: Some(schema), note: None },
            Err(error) => Compiled { schema: None, note: Some(error.to_string()) },
        }
    }
}

impl Tools {
    /// Reads tools in the shapes that model servers take. What is no tool becomes a note.
    pub(crate) fn new(text: &str) -> Self {
        let list = match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(list)) => list,
            Ok(one @ Value::Object(_)) => vec![one],
            Ok(_) => return Tools::broken("the tools are neither an array nor an object".to_owned()),
            Err(error) => return Tools::broken(format!("the tools cannot be read: {error}")),
        };
        let mut tools = Tools::default();
        for (index, entry) in list.iter().enumerate() {
            let entry = entry.get("function").unwrap_or(entry);
            let Some(name) = entry.get("name").and_then(Value::as_str) else {
                tools.notes.push(format!("tool {index} has no name"));
                continue;
            };
            let schema = ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| entry.get(key));
            tools.by_name.push((name.to_owned(), schema.map(Compiled::of).unwrap_or_default()));
        }
        tools
    }

    fn broken(note: String) -> Self {
        Tools { notes: vec![note], ..Tools::default() }
    }

    /// What stands in the way of using these tools for a whole run.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Rules {
    pub(crate) fn new(policy: Policy, shared: Option<Tools>) -> Self {
        Rules { policy, schemas: Cache::default(), tools: Cache::default(), shared }
    }

    /// Mends a JSON text under the schema, given as JSON text.
    pub(crate) fn judge_json<'t>(&self, text: &'t str, schema: Option<&str>, finish: Finish) -> Judged<'t> {
        match schema {
            Some(source) => {
                let compiled = self.schemas.get(source, || Compiled::new(source));
                self.judge(text, &compiled, finish)
            }
            None => self.judge(text, &Compiled::default(), finish),
        }
    }

    /// Mends the arguments of a call. No verdict where the tool is not among the declared ones.
    pub(crate) fn judge_arguments<'t>(
        &self,
        tool: Option<&str>,
        text: &'t str,
        tools: Option<&str>,
        schema: Option<&str>,
        finish: Finish,
    ) -> Judged<'t> {
        if let Some(source) = tools {
            let tools = self.tools.get(source, || Tools::new(source));
            return self.judge_call(tool, text, &tools, finish);
        }
        match (&self.shared, schema) {
            (Some(shared), None) => self.judge_call(tool, text, shared, finish),
            _ => self.judge_json(text, schema, finish),
        }
    }

    fn judge_call<'t>(&self, tool: Option<&str>, text: &'t str, tools: &Tools, finish: Finish) -> Judged<'t> {
        let declared = tools.by_name.iter().find(|(name, _)| Some(&**name) == tool);
        let mut judged = match declared {
            Some((_, compiled)) => self.judge(text, compiled, finish),
            None => Judged { verdict: None, notes: Vec::new() },
        };
        judged.notes.extend_from_slice(&tools.notes);
        judged
    }

    fn judge<'t>(&self, text: &'t str, compiled: &Compiled, finish: Finish) -> Judged<'t> {
        let mut options = FixOptions::new().policy(self.policy.clone()).finish(finish);
        if let Some(schema) = &compiled.schema {
            options = options.schema(schema.clone());
        }
        Judged {
            verdict: Some(toolmend::fix_with(text, &options)),
            notes: compiled.note.clone().into_iter().collect(),
        }
    }
}
