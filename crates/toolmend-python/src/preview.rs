//! The class `Preview`: what can be shown of JSON that is still being written. It only converts between Python and the library.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::value::build;

/// Reads JSON piece by piece, for display.
#[pyclass(frozen, module = "toolmend._native")]
pub(crate) struct Preview {
    inner: Mutex<toolmend::Preview>,
}

impl Preview {
    fn lock(&self) -> MutexGuard<'_, toolmend::Preview> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Preview {
    #[new]
    #[pyo3(signature = (text=""))]
    fn new(text: &str) -> Self {
        let mut preview = toolmend::Preview::new();
        preview.push(text);
        Preview { inner: Mutex::new(preview) }
    }

    fn push(&self, piece: &str) {
        self.lock().push(piece);
    }

    #[getter]
    fn json(&self) -> Option<String> {
        self.lock().json()
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.json().map(|json| build(py, &json)).transpose()
    }
}
