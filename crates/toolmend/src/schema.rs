//! A compiled JSON Schema: the validator that judges, and the guide that steers the reader.
//!
//! The only module that knows the `jsonschema` crate.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use jsonschema::error::{TypeKind, ValidationErrorKind};

use crate::guide::{Guide, Types};
use crate::shape::fault::{Fault, Wants};
use crate::shape::hints::Hints;
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
    hints: Hints,
    source: Value,
    text: OnceLock<Arc<str>>,
    /// The same schema without the demand that members are there.
    partial: OnceLock<Option<Schema>>,
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
        let hints = Hints::of(source);
        let (source, text, partial) = (source.clone(), OnceLock::new(), OnceLock::new());
        Ok(Schema { inner: Arc::new(Compiled { validator, guide, hints, source, text, partial }) })
    }

    /// The schema as it was given.
    pub fn source(&self) -> &Value {
        &self.inner.source
    }

    /// The same as JSON text, written once.
    ///
    /// ```
    /// let schema = toolmend::Schema::new(&serde_json::json!({"type": "object"})).unwrap();
    /// assert_eq!(&**schema.text(), r#"{"type":"object"}"#);
    /// ```
    pub fn text(&self) -> &Arc<str> {
        self.inner.text.get_or_init(|| self.inner.source.to_string().into())
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

    /// What the first members of a value have to fit while the others are still missing.
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

    pub(crate) fn guide(&self) -> &Guide {
        &self.inner.guide
    }

    /// The hints that the tool's author left in the schema.
    pub(crate) fn hints(&self) -> &Hints {
        &self.inner.hints
    }

    /// The violations as the shape layer works on them: what is wanted where, unions with their branches.
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        let mut out = Vec::new();
        for error in self.inner.validator.iter_errors(value) {
            faults_of(&error, &mut out, MAX_UNIONS);
        }
        out
    }
}

/// How many unions within unions are looked into.
const MAX_UNIONS: usize = 32;

fn faults_of(error: &jsonschema::ValidationError<'_>, out: &mut Vec<Fault>, unions: usize) {
    let fault = |wants| Fault {
        path: error.instance_path().as_str().to_owned(),
        place: error.evaluation_path().as_str().to_owned(),
        wants,
    };
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let mut types = Types::NONE;
            let mut fraction = false;
            let mut add = |kind: jsonschema::JsonType| {
                types = types.union(Types::named(kind.as_str()));
                fraction |= kind == jsonschema::JsonType::Number;
            };
            match kind {
                TypeKind::Single(kind) => add(*kind),
                TypeKind::Multiple(kinds) => kinds.iter().for_each(add),
            }
            out.push(fault(Wants::Type { types, fraction }));
        }
        ValidationErrorKind::Enum { options } => out.push(fault(Wants::OneOf(Arc::clone(options)))),
        ValidationErrorKind::Constant { expected_value } => {
            out.push(fault(Wants::Exactly(Arc::clone(expected_value))));
        }
        ValidationErrorKind::Required { property } => {
            out.extend(property.as_str().map(|name| fault(Wants::Key(name.to_owned()))));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            out.extend(unexpected.iter().map(|name| fault(Wants::NoKey(name.clone()))));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if unions > 0 =>
        {
            let branches = context.iter().map(|errors| {
                let mut branch = Vec::new();
                for error in errors {
                    faults_of(error, &mut branch, unions - 1);
                }
                branch
            });
            out.push(fault(Wants::Union(branches.collect())));
        }
        _ => out.push(fault(Wants::Other)),
    }
}
