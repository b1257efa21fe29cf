//! Declared tools: names, compiled schemas and hints.
//!
//! This module reads declarations. It never looks at calls.

mod declaration;
mod hints;

use std::fmt;

use serde_json::Value;

pub(crate) use self::declaration::{ToolDeclaration, read_declarations};
pub(crate) use self::hints::ToolHints;
use crate::schema::{Schema, SchemaError};

/// The error for tool declarations that cannot be read. Their author has to correct them, not the model.
///
/// ```
/// let tools = serde_json::json!([{"name": "f", "parameters": "{}"}]);
/// let error = toolmend::Mender::new(&tools).unwrap_err();
/// assert_eq!(error.to_string(), "tool \"f\": at /0/parameters: expected a JSON Schema, found a string");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsError {
    /// The name of the tool, if it has one.
    pub tool: Option<String>,
    /// JSON pointer of the error in the declarations.
    pub path: String,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "tool {tool:?}: ")?;
        }
        let position = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "at {position}: {}", self.message)
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
    /// ```
    /// let schema = serde_json::json!({"type": "objekt"});
    /// assert_eq!(toolmend::Tool::new("f", &schema).unwrap_err().path, "/type");
    /// ```
    ///
    /// # Errors
    /// If the schema is broken, with the position in it.
    pub fn new(name: impl AsRef<str>, schema: &Value) -> Result<Self, ToolsError> {
        Tool::from_declaration(&ToolDeclaration::from_schema(name.as_ref(), schema))
    }

    /// A tool whose arguments have this type.
    ///
    /// ```
    /// #[derive(schemars::JsonSchema)]
    /// struct Search { query: String }
    ///
    /// let tool = toolmend::Tool::for_type::<Search>("search")?;
    /// assert!(tool.schema().is_some());
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    ///
    /// # Errors
    /// If the schema of the type is broken.
    #[cfg(feature = "schemars")]
    pub fn for_type<T: schemars::JsonSchema>(name: impl AsRef<str>) -> Result<Self, ToolsError> {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        Tool::new(name, schema.as_value())
    }

    /// A tool whose arguments can be any object.
    ///
    /// ```
    /// assert!(toolmend::Tool::unconstrained("list_dir").schema().is_none());
    /// ```
    pub fn unconstrained(name: impl AsRef<str>) -> Self {
        Tool { name: name.as_ref().into(), schema: None, destructive: false, main_field: None }
    }

    /// Marks a tool whose calls cannot be undone. Repairs of the tier `assumed` are then refused, unless the policy sets
    /// a tier for this tool.
    ///
    /// ```
    /// assert!(toolmend::Tool::unconstrained("delete").destructive(true).is_destructive());
    /// ```
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = destructive;
        self
    }

    /// Returns the name that the model uses. It is empty if only a schema was given.
    ///
    /// ```
    /// assert_eq!(toolmend::Tool::unconstrained("list_dir").name(), "list_dir");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the schema that the arguments must fit, or `None` if any object does.
    ///
    /// ```
    /// let schema = serde_json::json!({"required": ["path"]});
    /// let tool = toolmend::Tool::new("read", &schema)?;
    /// assert_eq!(tool.schema().unwrap().source(), &schema);
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Returns whether the author marked the tool as destructive.
    ///
    /// ```
    /// let schema = serde_json::json!({"type": "object", "x-toolmend": {"destructive": true}});
    /// assert!(toolmend::Tool::new("delete", &schema)?.is_destructive());
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    pub fn is_destructive(&self) -> bool {
        self.destructive
    }

    /// Returns the field for arguments that are a plain value.
    pub(crate) fn main_field(&self) -> Option<&str> {
        self.main_field.as_deref()
    }

    /// Compiles a declaration.
    pub(crate) fn from_declaration(declaration: &ToolDeclaration<'_>) -> Result<Self, ToolsError> {
        // A schema that accepts everything is no constraint.
        let constraint =
            declaration.schema.filter(|schema| **schema != Value::Bool(true) && !is_empty(schema));
        let schema = constraint.map(Schema::new).transpose().map_err(|SchemaError { path, message }| {
            let path = format!("{}{path}", declaration.schema_path);
            ToolsError::new(&declaration.name, &path, format!("broken schema: {message}"))
        })?;
        Ok(Tool { schema, ..Tool::from_declaration_without_schema(declaration) })
    }

    /// The declared tool with its hints and without its schema, for schemas that are broken.
    pub(crate) fn from_declaration_without_schema(declaration: &ToolDeclaration<'_>) -> Self {
        let hints = ToolHints::of(declaration);
        Tool {
            name: declaration.name.as_str().into(),
            schema: None,
            destructive: hints.destructive,
            main_field: hints.main_field.map(Into::into),
        }
    }
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(serde_json::Map::is_empty)
}
