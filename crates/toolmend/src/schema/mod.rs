//! A tool's JSON Schema, compiled once.
//!
//! One schema has three readers. The [`validator`] judges whole values. The [`guide`] answers the questions that the
//! syntax and shape layers have about one position: which keys and types are possible there. The [`hints`] are what
//! the tool's author says beyond JSON Schema. [`fault`] describes a violation in the terms that repairs work with.
//!
//! Before any of them, [`check_cost`] counts how much work the schema could make. One that no value could be checked against
//! in time is reported like a broken one, so that its tool is unconstrained.
//!
//! The guide may be wrong, because it merges the branches of unions. The validator has the last word: nothing
//! leaves the library as mended that it did not accept. This module never changes a value.

#[cfg(feature = "schema")]
mod check_cost;
pub(crate) mod fault;
pub(crate) mod guide;
pub(crate) mod hints;
#[cfg(feature = "schema")]
mod pattern_cost;
mod references;
#[cfg_attr(not(feature = "schema"), path = "no_validator.rs")]
mod validator;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::verdict::Violation;

use self::fault::Fault;
use self::guide::Guide;
use self::hints::Hints;
use self::validator::Validator;

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
    validator: Validator,
    guide: Guide,
    hints: Hints,
    source: Value,
    text: OnceLock<Arc<str>>,
    /// The same schema without the demand that members are present.
    partial: OnceLock<Option<Schema>>,
}

/// A schema that cannot be compiled. The tool's author is at fault, not the model.
///
/// ```
/// let error = toolmend::Schema::new(&serde_json::json!({"type": "objekt"})).unwrap_err();
/// assert_eq!(error.path, "/type");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// JSON pointer into the schema, to the part that is broken.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "broken schema at {path}: {}", self.message)
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
    /// If the schema is broken, or if values could not be checked against it in reasonable time. The error says where.
    ///
    /// ```
    /// use toolmend::Schema;
    /// assert!(Schema::new(&serde_json::json!({"type": "integer"})).is_ok());
    /// let error = Schema::new(&serde_json::json!({"items": {"type": "integre"}})).unwrap_err();
    /// assert!(error.to_string().starts_with("broken schema at /items/type"), "{error}");
    /// ```
    pub fn new(source: &Value) -> Result<Self, SchemaError> {
        let validator = Validator::new(source)?;
        let guide = Guide::new(source);
        let hints = Hints::of(source);
        let (source, text, partial) = (source.clone(), OnceLock::new(), OnceLock::new());
        Ok(Schema { inner: Arc::new(Compiled { validator, guide, hints, source, text, partial }) })
    }

    /// The schema as it was given.
    ///
    /// ```
    /// let source = serde_json::json!({"type": "object"});
    /// assert_eq!(toolmend::Schema::new(&source).unwrap().source(), &source);
    /// ```
    pub fn source(&self) -> &Value {
        &self.inner.source
    }

    /// The schema as compact JSON text, written once and then shared.
    ///
    /// ```
    /// let schema = toolmend::Schema::new(&serde_json::json!({"type": "object"})).unwrap();
    /// assert_eq!(&**schema.text(), r#"{"type":"object"}"#);
    /// ```
    pub fn text(&self) -> &Arc<str> {
        self.inner.text.get_or_init(|| self.inner.source.to_string().into())
    }

    /// Whether the value fits.
    ///
    /// ```
    /// let schema = toolmend::Schema::new(&serde_json::json!({"type": "integer"})).unwrap();
    /// assert!(schema.accepts(&serde_json::json!(1)));
    /// assert!(!schema.accepts(&serde_json::json!("1")));
    /// ```
    pub fn accepts(&self, value: &Value) -> bool {
        self.inner.validator.accepts(value)
    }

    /// Every violation of the schema, in the order in which the validator finds them.
    ///
    /// ```
    /// let schema = toolmend::Schema::new(&serde_json::json!({"properties": {"n": {"type": "integer"}}})).unwrap();
    /// let violations = schema.violations(&serde_json::json!({"n": "many"}));
    /// assert_eq!((violations[0].path.as_str(), violations[0].keyword.as_str()), ("/n", "type"));
    /// ```
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        self.inner.validator.violations(value)
    }

    /// The schema for the first members of an object, while the others have not arrived yet.
    pub(crate) fn partial(&self) -> Option<&Schema> {
        let relaxed = || {
            let mut source = self.inner.source.clone();
            for keyword in ["required", "minProperties", "dependentRequired", "dependencies", "default"] {
                source.as_object_mut()?.remove(keyword);
            }
            Schema::new(&source).ok()
        };
        self.inner.partial.get_or_init(relaxed).as_ref()
    }

    /// What the syntax and shape layers know about each position.
    pub(crate) fn guide(&self) -> &Guide {
        &self.inner.guide
    }

    /// The hints that the tool's author left in the schema.
    pub(crate) fn hints(&self) -> &Hints {
        &self.inner.hints
    }

    /// The violations in the terms of the shape layer: what is wanted where, with the branches of unions.
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        self.inner.validator.faults(value)
    }
}
