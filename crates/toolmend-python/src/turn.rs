//! The classes `Turn`, `Call`, `Stream` and `Event`: model output, as a whole or piece by piece.
//!
//! Nothing is decided here: every attribute is one of the library.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use toolmend::{Delivery, TurnOptions};

use crate::inputs::{parse_finish, value_error};
use crate::value::build;
use crate::verdict::{Repair, SharedCall, Verdict, to_dict};

/// Which events a stream sends before a call is complete.
#[derive(Clone, Copy, Default)]
pub(crate) struct StreamDelivery {
    pub(crate) live: bool,
    pub(crate) previews: bool,
}

/// Collects what is known about an output in addition to its text.
pub(crate) fn turn_options(
    dialect: Option<&str>,
    model: Option<&str>,
    reasoning_open: bool,
    delivery: StreamDelivery,
    request: Option<&Bound<'_, PyAny>>,
) -> PyResult<TurnOptions> {
    let live = if delivery.live { Delivery::Live } else { Delivery::Held };
    let mut options = TurnOptions::new().delivery(live).previews(delivery.previews);
    if reasoning_open {
        options = options.reasoning_open(true);
    }
    let options = dialect.into_iter().fold(options, TurnOptions::dialect);
    let options = model.into_iter().fold(options, TurnOptions::model);
    let Some(request) = request else { return Ok(options) };
    let text: String = request.py().import("json")?.call_method1("dumps", (request,))?.extract()?;
    let request = serde_json::from_str(&text).map_err(value_error)?;
    Ok(options.request(&request))
}

/// One call that was found in a model's output.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Call {
    shared: SharedCall,
}

impl Call {
    fn inner(&self) -> &toolmend::Call {
        self.shared.get()
    }
}

#[pymethods]
impl Call {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn id(&self) -> Option<&str> {
        self.inner().id.as_deref()
    }

    #[getter]
    fn source(&self) -> &'static str {
        self.inner().source.name()
    }

    #[getter]
    fn dialect(&self) -> &'static str {
        self.inner().dialect
    }

    #[getter]
    fn at(&self) -> (usize, usize) {
        (self.inner().at.start, self.inner().at.end)
    }

    #[getter]
    fn raw(&self) -> &str {
        &self.inner().raw
    }

    #[getter]
    fn verdict(&self) -> Verdict {
        Verdict::of_call(self.shared.clone())
    }

    #[getter]
    fn outcome(&self) -> &'static str {
        self.inner().outcome().name()
    }

    #[getter]
    fn runs(&self) -> bool {
        self.inner().outcome().runs()
    }

    #[getter]
    fn json(&self) -> Option<&str> {
        self.inner().arguments()
    }

    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner().arguments().map(|json| build(py, json)).transpose()
    }

    /// Returns the fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_dict(py, self.inner())
    }

    fn __repr__(&self) -> String {
        let json = self.json().map_or_else(String::new, |json| format!(", json={json:?}"));
        format!("Call(name={:?}, outcome={:?}{json})", self.name(), self.outcome())
    }
}

/// A whole model output, split into content, reasoning and calls.
#[pyclass(frozen, module = "toolmend")]
pub(crate) struct Turn {
    inner: Arc<toolmend::Turn>,
}

impl Turn {
    pub(crate) fn new(turn: toolmend::Turn) -> Self {
        Turn { inner: Arc::new(turn) }
    }
}

#[pymethods]
impl Turn {
    #[getter]
    fn outcome(&self) -> &'static str {
        self.inner.outcome().name()
    }

    #[getter]
    fn content(&self) -> &str {
        &self.inner.content
    }

    #[getter]
    fn reasoning(&self) -> &str {
        &self.inner.reasoning
    }

    #[getter]
    fn calls(&self) -> Vec<Call> {
        let share = |index| Call { shared: SharedCall::OfTurn(Arc::clone(&self.inner), index) };
        (0..self.inner.calls.len()).map(share).collect()
    }

    #[getter]
    fn answer(&self) -> Option<Verdict> {
        self.inner.answer.clone().map(|verdict| Verdict::new(verdict, true))
    }

    #[getter]
    fn repairs(&self) -> Vec<Repair> {
        self.inner.repairs.iter().cloned().map(Repair::of_text).collect()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    /// Returns the fields of the batch protocol.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_dict(py, &*self.inner)
    }

    fn __repr__(&self) -> String {
        let Turn { inner: turn } = self;
        format!("Turn(outcome={:?}, content={:?}, calls={})", self.outcome(), turn.content, turn.calls.len())
    }
}

/// An event of a stream. Fields that events of its type do not have are `None`.
#[pyclass(frozen, get_all, module = "toolmend")]
#[derive(Default)]
pub(crate) struct Event {
    r#type: &'static str,
    text: Option<String>,
    index: Option<usize>,
    name: Option<String>,
    id: Option<String>,
    call: Option<Py<Call>>,
    /// The arguments so far, as JSON. Their value is built when it is asked for.
    partial_json: Option<String>,
}

impl Event {
    fn new(py: Python<'_>, event: toolmend::Event) -> PyResult<Self> {
        let with_text = |r#type, text| Event { r#type, text: Some(text), ..Event::default() };
        let ended = |r#type, index, call: Box<toolmend::Call>| -> PyResult<Event> {
            let (name, id) = (Some(call.name.clone()), call.id.clone());
            let call = Call { shared: SharedCall::Single(call.into()) };
            Ok(Event {
                r#type,
                index: Some(index),
                name,
                id,
                call: Some(Py::new(py, call)?),
                ..Event::default()
            })
        };
        Ok(match event {
            toolmend::Event::Content(text) => with_text("content", text),
            toolmend::Event::Reasoning(text) => with_text("reasoning", text),
            toolmend::Event::Note(text) => with_text("note", text),
            toolmend::Event::CallStart { index, name, id } => {
                Event { r#type: "call_start", index: Some(index), name: Some(name), id, ..Event::default() }
            }
            toolmend::Event::ArgumentsDelta { index, text } => {
                Event { index: Some(index), ..with_text("arguments_delta", text) }
            }
            toolmend::Event::CallEnd { index, call } => ended("call_end", index, call)?,
            toolmend::Event::CallCut { index, call } => ended("call_cut", index, call)?,
            toolmend::Event::CallRejected { index, call } => ended("call_rejected", index, call)?,
            toolmend::Event::Preview { index, name, json } => Event {
                r#type: "preview",
                index: Some(index),
                name: Some(name),
                partial_json: Some(json),
                ..Event::default()
            },
            toolmend::Event::Removed(repair) => with_text("removed", repair.kind.name().to_owned()),
            other => with_text("note", format!("{other:?}")),
        })
    }
}

#[pymethods]
impl Event {
    #[getter]
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.partial_json.as_ref().map(|json| build(py, json)).transpose()
    }

    /// Whether the arguments are only what was written so far.
    #[getter]
    fn incomplete(&self) -> bool {
        self.partial_json.is_some()
    }

    fn __repr__(&self) -> String {
        let mut parts = vec![format!("{:?}", self.r#type)];
        parts.extend(self.index.map(|index| format!("index={index}")));
        parts.extend(self.name.as_ref().map(|name| format!("name={name:?}")));
        parts.extend(self.partial_json.as_ref().map(|json| format!("partial_json={json:?}")));
        parts.extend(self.text.as_ref().map(|text| format!("text={text:?}")));
        format!("Event({})", parts.join(", "))
    }
}

/// Reads a model output piece by piece.
#[pyclass(frozen, module = "toolmend._native")]
pub(crate) struct Stream {
    inner: Mutex<toolmend::Stream>,
}

impl Stream {
    pub(crate) fn new(stream: toolmend::Stream) -> Self {
        Stream { inner: Mutex::new(stream) }
    }

    fn collect_events(
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
    /// Reads the next piece: text, or bytes that may be split anywhere.
    fn push(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<Vec<Event>> {
        if let Ok(bytes) = piece.cast::<PyBytes>() {
            return self.collect_events(py, |stream| stream.push(bytes.as_bytes()));
        }
        let text = piece.cast::<PyString>()?.to_str()?;
        self.collect_events(py, |stream| stream.push(text))
    }

    /// Ends the output.
    #[pyo3(signature = (finish_reason=None))]
    fn finish(&self, py: Python<'_>, finish_reason: Option<&str>) -> PyResult<Vec<Event>> {
        self.collect_events(py, |stream| stream.finish(parse_finish(finish_reason)))
    }
}
