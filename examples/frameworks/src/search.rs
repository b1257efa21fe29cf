//! The tool of all examples.

use schemars::JsonSchema;
use serde::Deserialize;

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Search {
    query: String,
    #[serde(default)]
    paths: Vec<String>,
}

impl Search {
    /// Returns what the tool answers.
    pub(crate) fn run(&self) -> String {
        format!("{} in {}", self.query, self.paths.join(" and "))
    }
}
