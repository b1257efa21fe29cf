//! A declared tool: its name, its schema, and what its author says about it.

mod declared;
mod hints;

use std::fmt;

use serde_json::Value;

pub(crate) use self::declared::{Declared, declared};
pub(crate) use self::hints::Said;
use crate::schema::{Schema, SchemaError};

/// Tools that cannot be read: their author is at fault, not the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsError {
    /// The tool, where it has a name.
    pub tool: Option<String>,
    /// JSON pointer of the place in the tools as they were given.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "tool {tool:?}: ")?;
        }
        let place = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "at {place}: {}", self.message)
    }
}

impl std::error::Error for ToolsError {}

impl ToolsError {
    pub(crate) fn new(tool: &str, path: &str, message: impl Into<String>) -> Self {
        let tool = (!tool.is_empty()).then(|| tool.to_owned());
        ToolsError { tool, path: path.to_owned(), message: message.into() }
    }
}

/// A tool that a model may call.
///
/// ```
/// use toolmend::Tool;
/// let schema = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
/// let tool = Tool::new("read_file", &schema).unwrap();
/// assert_eq!(tool.name(), "read_file");
/// assert!(!tool.is_destructive());
/// ```
#[derive(Debug, Clone)]
pub struct Tool {
    name: Box<str>,
    schema: Option<Schema>,
    destructive: bool,
    main_field: Option<Box<str>>,
}

impl Tool {
    /// A tool whose arguments must fit this JSON Schema. Hints in the schema are read.
    ///
    /// # Errors
    /// Where the schema is broken, with the place in it.
    pub fn new(name: impl AsRef<str>, schema: &Value) -> Result<Self, ToolsError> {
        Tool::declare(&Declared::bare(name.as_ref(), schema))
    }

    /// A tool whose arguments are of this type.
    ///
    /// # Errors
    /// Where the type's schema is broken.
    #[cfg(feature = "schemars")]
    pub fn for_type<T: schemars::JsonSchema>(name: impl AsRef<str>) -> Result<Self, ToolsError> {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        Tool::new(name, schema.as_value())
    }

    /// A tool about whose arguments nothing is known but that they are an object.
    pub fn unconstrained(name: impl AsRef<str>) -> Self {
        Tool { name: name.as_ref().into(), schema: None, destructive: false, main_field: None }
    }

    /// Marks a tool whose calls cannot be undone: repairs that have another reading are then refused unless the
    /// policy names the tool.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = destructive;
        self
    }

    /// The name that the model calls it by. Empty where only a schema was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the arguments must fit. Absent where any object does.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Whether its author marked it as destructive.
    pub fn is_destructive(&self) -> bool {
        self.destructive
    }

    /// The field that a plain value goes to.
    pub(crate) fn main_field(&self) -> Option<&str> {
        self.main_field.as_deref()
    }

    pub(crate) fn declare(declared: &Declared<'_>) -> Result<Self, ToolsError> {
        // A schema that takes everything says nothing.
        let telling = declared.schema.filter(|schema| **schema != Value::Bool(true) && !is_empty(schema));
        let schema = telling.map(Schema::new).transpose().map_err(|SchemaError { path, message }| {
            let place = format!("{}{path}", declared.schema_place);
            ToolsError::new(&declared.name, &place, format!("broken schema: {message}"))
        })?;
        Ok(Tool { schema, ..Tool::declare_open(declared) })
    }

    /// The tool with its hints and without its schema.
    pub(crate) fn declare_open(declared: &Declared<'_>) -> Self {
        let said = Said::about(declared);
        Tool {
            name: declared.name.as_str().into(),
            schema: None,
            destructive: said.destructive,
            main_field: said.main_field.map(Into::into),
        }
    }
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(serde_json::Map::is_empty)
}
