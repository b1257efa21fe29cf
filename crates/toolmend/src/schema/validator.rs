//! The JSON Schema validator: whether a value fits, and what is wrong where it does not.
//!
//! This is the only file that knows the `jsonschema` crate, so that its frequent releases touch nothing else. It
//! never repairs anything and keeps no state between values.

use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::SchemaError;
use super::check_cost::CheckCost;
use super::fault::{Fault, Wants};
use super::guide::Types;
use super::pattern_cost::BACKTRACK_LIMIT;
use crate::verdict::Violation;

/// How deep unions nested in unions are followed.
const MAX_UNIONS: usize = 32;

/// The bytes of all messages about one value. What is wrong beyond that is only named.
const MAX_MESSAGES: usize = 1 << 18;

/// A compiled validator. Remote references are never fetched.
pub(super) struct Validator {
    compiled: jsonschema::Validator,
    cost: CheckCost,
}

impl Validator {
    /// Compiles a schema of draft 4, 6, 7, 2019-09 or 2020-12.
    pub(super) fn new(source: &Value) -> Result<Self, SchemaError> {
        let cost = CheckCost::of(source)?;
        let patterns = jsonschema::PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options().with_pattern_options(patterns);
        let compiled = options.build(source).map_err(|error| SchemaError {
            path: error.instance_path().to_string(),
            message: error.to_string(),
        })?;
        Ok(Validator { compiled, cost })
    }

    /// Whether the value fits. A value that is nested too deep to be checked in time does not.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        self.cost.allows_deciding(value) && self.compiled.is_valid(value)
    }

    /// Every violation, as callers and models see it.
    pub(super) fn violations(&self, value: &Value) -> Vec<Violation> {
        if let Some(violation) = self.too_much_work(value) {
            return vec![violation];
        }
        let mut written = 0;
        let describe = |error: jsonschema::ValidationError<'_>| {
            let keyword = error.kind().keyword();
            // Thousands of values may each be compared with a list of thousands. Nobody reads that.
            let message = if written < MAX_MESSAGES {
                error.masked().to_string()
            } else {
                format!("does not fit `{keyword}`")
            };
            written += message.len();
            Violation {
                path: error.instance_path().to_string(),
                keyword: keyword.to_owned(),
                schema_path: error.schema_path().to_string(),
                message,
            }
        };
        self.compiled.iter_errors(value).map(describe).collect()
    }

    /// Every violation, as the shape layer works on it.
    pub(super) fn faults(&self, value: &Value) -> Vec<Fault> {
        if let Some(Violation { path, schema_path, .. }) = self.too_much_work(value) {
            return vec![Fault { path, schema_path, wants: Wants::Other }];
        }
        let mut out = Vec::new();
        for error in self.compiled.iter_errors(value) {
            collect_faults(&error, &mut out, MAX_UNIONS);
        }
        out
    }

    /// The only violation of a value for which the others cannot be found in time.
    fn too_much_work(&self, value: &Value) -> Option<Violation> {
        if self.cost.allows_explaining(value) || self.accepts(value) {
            return None;
        }
        let message = if self.cost.allows_deciding(value) {
            "does not fit any of the alternatives that its schema has for a value nested like this"
        } else {
            "is nested too deep to be checked against all alternatives of its schema"
        };
        Some(Violation {
            path: String::new(),
            keyword: "anyOf".to_owned(),
            schema_path: String::new(),
            message: message.to_owned(),
        })
    }
}

/// Adds the faults of one validation error; the branches of a union become faults of their own within it.
fn collect_faults(error: &jsonschema::ValidationError<'_>, out: &mut Vec<Fault>, unions: usize) {
    let fault = |wants| Fault {
        path: error.instance_path().as_str().to_owned(),
        schema_path: error.evaluation_path().as_str().to_owned(),
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
                    collect_faults(error, &mut branch, unions - 1);
                }
                branch
            });
            out.push(fault(Wants::Union(branches.collect())));
        }
        _ => out.push(fault(Wants::Other)),
    }
}
