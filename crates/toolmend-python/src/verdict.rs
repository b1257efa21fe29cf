//! A verdict for Python. Values are built when they are asked for.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use toolmend::Refusal;

use crate::value::build;

/// One change that was made.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Repair {
    inner: toolmend::Repair,
    with_place: bool,
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
        self.inner.at.as_ref().filter(|_| self.with_place).map(|at| (at.start, at.end))
    }

    /// The fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("kind", self.kind())?;
        fields.set_item("path", self.path())?;
        if let Some((start, end)) = self.at() {
            fields.set_item("at", [start, end])?;
        }
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        let place = self.at().map_or_else(String::new, |at| format!(", at={at:?}"));
        format!("Repair(kind={:?}, path={:?}{place})", self.kind(), self.path())
    }
}

/// One place where a value does not fit its schema.
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

/// What became of a text or a call.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Verdict {
    inner: toolmend::Verdict<'static>,
    /// Whether the input was text, so that places in it mean something to the caller.
    is_text: bool,
}

impl Verdict {
    pub(crate) fn new(verdict: toolmend::Verdict<'_>, is_text: bool) -> Self {
        Verdict { inner: verdict.into_owned(), is_text }
    }

    pub(crate) fn inner(&self) -> &toolmend::Verdict<'static> {
        &self.inner
    }

    fn refusal(&self) -> Option<&Refusal> {
        self.inner.refusal()
    }

    /// Adds what every answer of the batch protocol has: the JSON under this name, the repairs, and where nothing runs
    /// the reasons and the bytes that the model wrote.
    pub(crate) fn add_to(&self, fields: &Bound<'_, PyDict>, name: &str, raw: &str) -> PyResult<()> {
        let py = fields.py();
        if let Some(value) = self.arguments(py)? {
            fields.set_item(name, value)?;
        }
        let repairs = self.repairs();
        let repairs = repairs.iter().map(|repair| repair.to_dict(py)).collect::<PyResult<Vec<_>>>()?;
        fields.set_item("repairs", repairs)?;
        if !self.notes().is_empty() {
            fields.set_item("notes", self.notes())?;
        }
        let Some(refusal) = self.refusal() else { return Ok(()) };
        if let Some(reason) = self.reason() {
            fields.set_item("reason", reason)?;
        }
        for (name, texts) in [("values", self.inner.values()), ("readings", &refusal.readings)] {
            if !texts.is_empty() {
                fields.set_item(name, Self::built(py, texts)?)?;
            }
        }
        if let Some(cut) = self.cut() {
            fields.set_item("cut", cut)?;
        }
        if let Some(partial) = self.partial(py)? {
            fields.set_item("partial", partial)?;
        }
        if let Some(feedback) = self.feedback().or(self.message()) {
            fields.set_item("feedback", feedback)?;
        }
        fields.set_item("raw", raw)
    }

    fn built<'py>(py: Python<'py>, texts: &[String]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        texts.iter().map(|text| shown(py, text)).collect()
    }
}

/// A value that a refusal shows: its text where it is no JSON.
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
        self.inner.outcome().name()
    }

    #[getter]
    fn runs(&self) -> bool {
        self.inner.outcome().runs()
    }

    fn __bool__(&self) -> bool {
        self.runs()
    }

    #[getter]
    fn tool(&self) -> Option<&str> {
        self.inner.tool()
    }

    #[getter]
    fn json(&self) -> Option<&str> {
        self.inner.json()
    }

    #[getter]
    fn text(&self) -> &str {
        self.inner.text()
    }

    /// The policy `off` passes what is no JSON; that has a text and no value.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner.json().map(|json| build(py, json)).transpose()
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.arguments(py)
    }

    #[getter]
    fn repairs(&self) -> Vec<Repair> {
        let repairs = self.inner.repairs().iter();
        repairs.map(|repair| Repair { inner: repair.clone(), with_place: self.is_text }).collect()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        Self::built(py, self.inner.values())
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    #[getter]
    fn feedback(&self) -> Option<&str> {
        self.inner.feedback()
    }

    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.inner.reason().map(toolmend::Reason::name)
    }

    #[getter]
    fn message(&self) -> Option<&str> {
        self.refusal().map(|refusal| refusal.message.as_str()).filter(|message| !message.is_empty())
    }

    #[getter]
    fn readings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        Self::built(py, self.refusal().map_or(&[], |refusal| &refusal.readings))
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

    /// The fields of the batch protocol, with the JSON under `arguments` where there is a tool, else under `value`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("outcome", self.outcome())?;
        if let Some(tool) = self.tool() {
            fields.set_item("tool", tool)?;
        }
        let name = if self.tool().is_some() { "arguments" } else { "value" };
        if self.runs() && !self.inner.values().is_empty() {
            let calls = self.values(py)?.into_iter().map(|value| {
                let call = PyDict::new(py);
                if let Some(tool) = self.tool() {
                    call.set_item("name", tool)?;
                }
                call.set_item("arguments", value)?;
                call.set_item("outcome", self.outcome())?;
                Ok(call)
            });
            fields.set_item("calls", calls.collect::<PyResult<Vec<_>>>()?)?;
        }
        self.add_to(&fields, name, self.inner.text())?;
        Ok(fields)
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
