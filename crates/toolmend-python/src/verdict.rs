//! The classes `Verdict`, `Repair` and `Violation`. Values are built when they are asked for.
//!
//! Nothing is decided here: every attribute is one of the library.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::Serialize;
use toolmend::{Encoding, Refusal};

use crate::inputs::value_error;
use crate::value::build;

/// One change that was made.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Repair {
    inner: toolmend::Repair,
    with_position: bool,
}

impl Repair {
    /// A repair whose position is in a text that the caller has.
    pub(crate) fn of_text(inner: toolmend::Repair) -> Self {
        Repair { inner, with_position: true }
    }
}

#[pymethods]
impl Repair {
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.kind.name()
    }

    #[getter]
    fn layer(&self) -> &'static str {
        self.inner.kind.layer().name()
    }

    #[getter]
    fn tier(&self) -> &'static str {
        self.inner.kind.tier().name()
    }

    #[getter]
    fn summary(&self) -> &'static str {
        self.inner.kind.info().summary
    }

    #[getter]
    fn path(&self) -> &str {
        &self.inner.path
    }

    #[getter]
    fn at(&self) -> Option<(usize, usize)> {
        self.inner.at.as_ref().filter(|_| self.with_position).map(|at| (at.start, at.end))
    }

    /// Returns the fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_dict(py, &encoding(self.with_position).encode(&self.inner))
    }

    fn __repr__(&self) -> String {
        let position = self.at().map_or_else(String::new, |at| format!(", at={at:?}"));
        format!("Repair(kind={:?}, path={:?}{position})", self.kind(), self.path())
    }
}

/// One position at which a value does not fit its schema.
#[pyclass(frozen, get_all, module = "toolmend")]
#[derive(Clone)]
pub(crate) struct Violation {
    path: String,
    keyword: String,
    schema_path: String,
    message: String,
}

#[pymethods]
impl Violation {
    fn __repr__(&self) -> String {
        format!("Violation(path={:?}, keyword={:?})", self.path, self.keyword)
    }
}

/// The verdict on a text or a call.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Verdict {
    source: VerdictSource,
    /// Whether the input was text, so that positions in it mean something to the caller.
    is_text: bool,
}

/// Where a verdict is kept.
enum VerdictSource {
    Own(toolmend::Verdict<'static>),
    OfCall(SharedCall),
}

/// A call that several Python objects share: the call, its verdict and its turn.
#[derive(Clone)]
pub(crate) enum SharedCall {
    Single(Arc<toolmend::Call>),
    /// One of the calls of a turn, by its index.
    OfTurn(Arc<toolmend::Turn>, usize),
}

impl SharedCall {
    pub(crate) fn get(&self) -> &toolmend::Call {
        match self {
            SharedCall::Single(call) => call,
            // The index was counted over these calls, and a turn never changes.
            SharedCall::OfTurn(turn, index) => &turn.calls[*index],
        }
    }
}

impl Verdict {
    pub(crate) fn new(verdict: toolmend::Verdict<'_>, is_text: bool) -> Self {
        Verdict { source: VerdictSource::Own(verdict.into_owned()), is_text }
    }

    pub(crate) fn of_call(call: SharedCall) -> Self {
        Verdict { source: VerdictSource::OfCall(call), is_text: true }
    }

    fn inner(&self) -> &toolmend::Verdict<'static> {
        match &self.source {
            VerdictSource::Own(verdict) => verdict,
            VerdictSource::OfCall(call) => &call.get().verdict,
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        self.inner().refusal()
    }
}

/// The encoding of the batch protocol. Positions in the input mean nothing if the arguments were a value.
fn encoding<'a>(with_positions: bool) -> Encoding<'a> {
    if with_positions { Encoding::new() } else { Encoding::new().without_positions() }
}

/// Builds the Python value of something that the library encodes as JSON.
pub(crate) fn to_dict<'py>(py: Python<'py>, encoded: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    build(py, &serde_json::to_string(encoded).map_err(value_error)?)
}

fn build_shown<'py>(py: Python<'py>, texts: &[String]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    texts.iter().map(|text| shown(py, text)).collect()
}

/// Builds a value that a refusal shows: its text if that is not JSON.
fn shown<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match toolmend::fix(text).outcome() {
        toolmend::Outcome::Clean => build(py, text),
        _ => Ok(PyString::new(py, text).into_any()),
    }
}

#[pymethods]
impl Verdict {
    #[getter]
    fn outcome(&self) -> &'static str {
        self.inner().outcome().name()
    }

    #[getter]
    fn runs(&self) -> bool {
        self.inner().outcome().runs()
    }

    fn __bool__(&self) -> bool {
        self.runs()
    }

    #[getter]
    fn tool(&self) -> Option<&str> {
        self.inner().tool()
    }

    #[getter]
    fn json(&self) -> Option<&str> {
        self.inner().json()
    }

    #[getter]
    fn text(&self) -> Option<&str> {
        self.inner().json()
    }

    /// Raises an error for text that is not JSON, which the policy `off` passes on.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner().json().map(|json| build(py, json)).transpose()
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.arguments(py)
    }

    #[getter]
    fn repairs(&self) -> Vec<Repair> {
        let repairs = self.inner().repairs().iter();
        repairs.map(|repair| Repair { inner: repair.clone(), with_position: self.is_text }).collect()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        build_shown(py, self.inner().values())
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner().notes().to_vec()
    }

    #[getter]
    fn feedback(&self) -> Option<&str> {
        self.inner().feedback()
    }

    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.inner().reason().map(toolmend::Reason::name)
    }

    #[getter]
    fn message(&self) -> Option<&str> {
        self.refusal().map(|refusal| refusal.message.as_str()).filter(|message| !message.is_empty())
    }

    #[getter]
    fn readings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        build_shown(py, self.refusal().map_or(&[], |refusal| &refusal.readings))
    }

    #[getter]
    fn cut(&self) -> Option<&str> {
        self.refusal().and_then(|refusal| refusal.cut.as_deref())
    }

    #[getter]
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.refusal().and_then(|refusal| refusal.partial.as_deref()).map(|text| shown(py, text)).transpose()
    }

    #[getter]
    fn violations(&self) -> Vec<Violation> {
        let violations = self.refusal().map_or(&[][..], |refusal| &refusal.violations).iter();
        violations
            .map(|found| Violation {
                path: found.path.clone(),
                keyword: found.keyword.clone(),
                schema_path: found.schema_path.clone(),
                message: found.message.clone(),
            })
            .collect()
    }

    /// Returns the fields of the batch protocol, with the JSON under `arguments` for a call of a tool, otherwise under
    /// `value`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_dict(py, &encoding(self.is_text).encode(self.inner()))
    }

    fn __repr__(&self) -> String {
        let mut parts = vec![format!("outcome={:?}", self.outcome())];
        parts.extend(self.tool().map(|tool| format!("tool={tool:?}")));
        parts.extend(self.json().map(|json| format!("json={json:?}")));
        parts.extend(self.reason().map(|reason| format!("reason={reason:?}")));
        parts.extend(self.cut().map(|cut| format!("cut={cut:?}")));
        format!("Verdict({})", parts.join(", "))
    }
}
