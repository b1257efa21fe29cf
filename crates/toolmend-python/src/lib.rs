//! The Python module `toolmend._native`: a thin layer that gives Python the types of the library.
//!
//! It never handles what only Python can know, such as Pydantic models, callables and frameworks. That is Python code,
//! in `python/toolmend`.

mod column;
mod mender;
mod text;
mod turn;
mod value;
mod verdict;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toolmend::{Finish, Policy};

/// Reads how the model's output ended, as servers spell it.
fn parse_finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

/// A `ValueError`: the caller made a mistake.
fn value_error(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Reads a policy from the JSON text that `_policy.py` writes.
fn parse_policy(text: &str) -> PyResult<Policy> {
    // Through a value, so that errors do not point into text that the caller never saw.
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(serde_json::from_value)
        .map_err(|error| value_error(format!("policy: {error}")))
}

/// Returns the names of the dialects, as `toolmend dialects` lists them.
#[pyfunction]
fn dialects() -> Vec<&'static str> {
    toolmend::dialects().iter().map(toolmend::Dialect::name).collect()
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::dialects;
    #[pymodule_export]
    use crate::column::mend_column;
    #[pymodule_export]
    use crate::mender::Mender;
    #[pymodule_export]
    use crate::text::Fixer;
    #[pymodule_export]
    use crate::turn::{Call, Event, Stream, Turn};
    #[pymodule_export]
    use crate::verdict::{Repair, Verdict, Violation};
}
