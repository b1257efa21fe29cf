//! What Python callers pass besides text: finish reasons, policies and the names of dialects, and the error for a wrong one.
//!
//! It never looks at what a model wrote.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toolmend::{Finish, Policy};

/// Reads how the model's output ended, as servers spell it.
pub(crate) fn parse_finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

/// A `ValueError`: the caller made a mistake.
pub(crate) fn value_error(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Reads a policy from the JSON text that `_policy.py` writes.
pub(crate) fn parse_policy(text: &str) -> PyResult<Policy> {
    // Through a value, so that errors do not point into text that the caller never saw.
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(serde_json::from_value)
        .map_err(|error| value_error(format!("policy: {error}")))
}

/// Returns the names of the dialects, as `toolmend dialects` lists them.
#[pyfunction]
pub(crate) fn dialects() -> Vec<&'static str> {
    toolmend::dialects().iter().map(toolmend::Dialect::name).collect()
}
