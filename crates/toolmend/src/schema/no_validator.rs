//! Stands in for the validator in builds without the feature `schema`: no schema can be compiled, so no value is ever judged by
//! one, and the compiler drops what works with schemas.

use serde_json::Value;

use super::SchemaError;
use super::fault::Fault;
use crate::verdict::Violation;

/// A validator that cannot exist.
pub(super) enum Validator {}

impl Validator {
    pub(super) fn new(_: &Value) -> Result<Self, SchemaError> {
        let message = "this build of toolmend reads no schemas; enable its feature `schema`".to_owned();
        Err(SchemaError { path: String::new(), message })
    }

    pub(super) fn accepts(&self, _: &Value) -> bool {
        match *self {}
    }

    pub(super) fn violations(&self, _: &Value) -> Vec<Violation> {
        match *self {}
    }

    pub(super) fn faults(&self, _: &Value) -> Vec<Fault> {
        match *self {}
    }
}
