//! Model output for Python: turns, calls, and streams with their events.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use toolmend::{Delivery, TurnOptions};

use crate::finish;
use crate::verdict::Verdict;

/// What is known about an output beside its bytes.
pub(crate) fn options(
    dialect: Option<&str>,
    model: Option<&str>,
    reasoning_open: bool,
    live: bool,
) -> TurnOptions {
    let delivery = if live { Delivery::Live } else { Delivery::Held };
    let options = TurnOptions::new().reasoning_open(reasoning_open).delivery(delivery);
    let options = dialect.into_iter().fold(options, TurnOptions::dialect);
    model.into_iter().fold(options, TurnOptions::model)
}

/// One call that was found in a model's output.
#[pyclass(frozen, get_all, module = "toolmend")]
pub(crate) struct Call {
    name: String,
    id: Option<String>,
    source: &'static str,
    dialect: &'static str,
    at: (usize, usize),
    raw: String,
    verdict: Py<Verdict>,
}

impl Call {
    fn new(py: Python<'_>, call: toolmend::Call) -> PyResult<Self> {
        Ok(Call {
            name: call.name,
            id: call.id,
            source: call.source.name(),
            dialect: call.dialect,
            at: (call.at.start, call.at.end),
            raw: call.raw,
            verdict: Py::new(py, Verdict::new(call.verdict, true))?,
        })
    }
}

#[pymethods]
impl Call {
    #[getter]
    fn outcome(&self) -> &'static str {
        self.verdict.get().inner().outcome().name()
    }

    #[getter]
    fn runs(&self) -> bool {
        self.verdict.get().inner().outcome().runs()
    }

    #[getter]
    fn json(&self) -> Option<&str> {
        self.verdict.get().inner().json()
    }

    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.verdict.bind(py).getattr("arguments")
    }

    /// The fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("name", &self.name)?;
        if let Some(id) = &self.id {
            fields.set_item("id", id)?;
        }
        fields.set_item("outcome", self.outcome())?;
        fields.set_item("source", self.source)?;
        fields.set_item("dialect", self.dialect)?;
        self.verdict.get().add_to(&fields, "arguments", &self.raw)?;
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        let json = self.json().map_or_else(String::new, |json| format!(", json={json:?}"));
        format!("Call(name={:?}, outcome={:?}{json})", self.name, self.outcome())
    }
}

/// A whole model output, taken apart.
#[pyclass(frozen, get_all, module = "toolmend")]
pub(crate) struct Turn {
    outcome: &'static str,
    content: String,
    reasoning: String,
    calls: Vec<Py<Call>>,
    notes: Vec<String>,
}

impl Turn {
    pub(crate) fn new(py: Python<'_>, turn: toolmend::Turn) -> PyResult<Self> {
        let outcome = turn.outcome().name();
        let calls = turn.calls.into_iter().map(|call| Py::new(py, Call::new(py, call)?));
        Ok(Turn {
            outcome,
            content: turn.content,
            reasoning: turn.reasoning,
            calls: calls.collect::<PyResult<_>>()?,
            notes: turn.notes,
        })
    }
}

#[pymethods]
impl Turn {
    /// The fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("outcome", self.outcome)?;
        fields.set_item("content", &self.content)?;
        if !self.reasoning.is_empty() {
            fields.set_item("reasoning", &self.reasoning)?;
        }
        let calls = self.calls.iter().map(|call| call.get().to_dict(py)).collect::<PyResult<Vec<_>>>()?;
        fields.set_item("calls", calls)?;
        if !self.notes.is_empty() {
            fields.set_item("notes", &self.notes)?;
        }
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        format!("Turn(outcome={:?}, content={:?}, calls={})", self.outcome, self.content, self.calls.len())
    }
}

/// What a stream tells while it reads. Fields that an event of its type does not have are `None`.
#[pyclass(frozen, get_all, module = "toolmend")]
#[derive(Default)]
pub(crate) struct Event {
    r#type: &'static str,
    text: Option<String>,
    index: Option<usize>,
    name: Option<String>,
    id: Option<String>,
    call: Option<Py<Call>>,
}

impl Event {
    fn new(py: Python<'_>, event: toolmend::Event) -> PyResult<Self> {
        let told = |r#type, text| Event { r#type, text: Some(text), ..Event::default() };
        let ended = |r#type, index, call: Box<toolmend::Call>| -> PyResult<Event> {
            let call = Call::new(py, *call)?;
            let (name, id) = (Some(call.name.clone()), call.id.clone());
            Ok(Event { r#type, index: Some(index), name, id, call: Some(Py::new(py, call)?), text: None })
        };
        Ok(match event {
            toolmend::Event::Content(text) => told("content", text),
            toolmend::Event::Reasoning(text) => told("reasoning", text),
            toolmend::Event::Note(text) => told("note", text),
            toolmend::Event::CallStart { index, name, id } => {
                Event { r#type: "call_start", index: Some(index), name: Some(name), id, ..Event::default() }
            }
            toolmend::Event::ArgumentsDelta { index, text } => {
                Event { index: Some(index), ..told("arguments_delta", text) }
            }
            toolmend::Event::CallEnd { index, call } => ended("call_end", index, call)?,
            toolmend::Event::CallCut { index, call } => ended("call_cut", index, call)?,
            toolmend::Event::CallRejected { index, call } => ended("call_rejected", index, call)?,
            other => told("note", format!("{other:?}")),
        })
    }
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let mut parts = vec![format!("{:?}", self.r#type)];
        parts.extend(self.index.map(|index| format!("index={index}")));
        parts.extend(self.name.as_ref().map(|name| format!("name={name:?}")));
        parts.extend(self.text.as_ref().map(|text| format!("text={text:?}")));
        format!("Event({})", parts.join(", "))
    }
}

/// Reads an output piece by piece.
#[pyclass(frozen, module = "toolmend._native")]
pub(crate) struct Stream {
    inner: Mutex<toolmend::Stream>,
}

impl Stream {
    pub(crate) fn new(stream: toolmend::Stream) -> Self {
        Stream { inner: Mutex::new(stream) }
    }

    fn tell(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mut toolmend::Stream) -> Vec<toolmend::Event>,
    ) -> PyResult<Vec<Event>> {
        let events = read(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        events.into_iter().map(|event| Event::new(py, event)).collect()
    }
}

#[pymethods]
impl Stream {
    /// Takes the next piece: text, or bytes that were cut anywhere.
    fn push(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<Vec<Event>> {
        if let Ok(bytes) = piece.cast::<PyBytes>() {
            return self.tell(py, |stream| stream.push(bytes.as_bytes()));
        }
        let text = piece.cast::<PyString>()?.to_str()?;
        self.tell(py, |stream| stream.push(text))
    }

    /// Ends the output.
    #[pyo3(signature = (finish_reason=None))]
    fn finish(&self, py: Python<'_>, finish_reason: Option<&str>) -> PyResult<Vec<Event>> {
        self.tell(py, |stream| stream.finish(finish(finish_reason)))
    }
}
