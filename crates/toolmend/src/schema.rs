//! A compiled JSON Schema: the validator that judges, and the guide that steers the reader.
//!
//! The only module that knows the `jsonschema` crate.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::guide::Guide;
use crate::verdict::Violation;

/// A JSON Schema, compiled once and cheap to clone. Remote references are never fetched.
///
/// ```
/// let schema = toolmend::Schema::new(&serde_json::json!({"type": "object", "required": ["a"]})).unwrap();
/// assert!(schema.accepts(&serde_json::json!({"a": 1})));
/// assert!(toolmend::Schema::new(&serde_json::json!({"type": "objekt"})).is_err());
/// ```
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Compiled>,
}

struct Compiled {
    validator: jsonschema::Validator,
    guide: Guide,
    source: Value,
}

/// A schema that cannot be compiled: the tool's author is at fault, not the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON pointer of the place in the schema.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "broken schema at {place}: {}", self.message)
    }
}

impl std::error::Error for SchemaError {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.inner.source).finish()
    }
}

impl Schema {
    /// Compiles a schema of draft 4, 6, 7, 2019-09 or 2020-12.
    ///
    /// # Errors
    /// Where the schema is broken, with the place.
    pub fn new(source: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::options().build(source).map_err(|error| SchemaError {
            path: error.instance_path().to_string(),
            message: error.to_string(),
        })?;
        let guide = Guide::new(source);
        Ok(Schema { inner: Arc::new(Compiled { validator, guide, source: source.clone() }) })
    }

    /// The schema as it was given.
    pub fn source(&self) -> &Value {
        &self.inner.source
    }

    /// Whether the value fits.
    pub fn accepts(&self, value: &Value) -> bool {
        self.inner.validator.is_valid(value)
    }

    /// Every place where the value does not fit.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        self.inner
            .validator
            .iter_errors(value)
            .map(|error| Violation {
                path: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
                schema_path: error.schema_path().to_string(),
                message: error.masked().to_string(),
            })
            .collect()
    }

    pub(crate) fn guide(&self) -> &Guide {
        &self.inner.guide
    }
}
