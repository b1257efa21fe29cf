//! Calls of declared tools.

use pyo3::prelude::*;

use crate::text::LONG;
use crate::turn::{Stream, Turn, options};
use crate::verdict::Verdict;
use crate::{Rules, finish, refused};

/// Mends the calls of a set of tools.
#[pyclass(frozen, subclass, module = "toolmend._native")]
pub(crate) struct Mender {
    inner: toolmend::Mender,
    notes: Vec<String>,
}

impl Mender {
    pub(crate) fn inner(&self) -> &toolmend::Mender {
        &self.inner
    }
}

#[pymethods]
impl Mender {
    /// The tools are JSON text.
    #[new]
    fn new(tools: &str, rules: Rules, feedback_limit: Option<usize>, lenient: bool) -> PyResult<Self> {
        let mut builder = toolmend::Mender::builder().policy(rules.policy()?);
        if let Some(characters) = feedback_limit {
            builder = builder.feedback_limit(characters);
        }
        builder = builder.tools(&serde_json::from_str(tools).map_err(refused)?);
        let (inner, notes) =
            if lenient { builder.build_lenient() } else { (builder.build().map_err(refused)?, Vec::new()) };
        Ok(Mender { inner, notes })
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn tool_names(&self) -> Vec<&str> {
        self.inner.tools().iter().map(toolmend::Tool::name).collect()
    }

    /// Arguments as text, or as the text of a value that the caller had.
    fn mend_text(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: &str,
        is_text: bool,
        finish_reason: Option<&str>,
    ) -> Verdict {
        let finish = finish(finish_reason);
        let verdict = if arguments.len() < LONG {
            self.inner.mend_finished(tool, arguments, finish)
        } else {
            py.detach(|| self.inner.mend_finished(tool, arguments, finish))
        };
        Verdict::new(verdict, is_text)
    }

    #[pyo3(signature = (text, *, dialect=None, model=None, finish_reason=None, reasoning_open=false))]
    fn turn(
        &self,
        py: Python<'_>,
        text: &str,
        dialect: Option<&str>,
        model: Option<&str>,
        finish_reason: Option<&str>,
        reasoning_open: bool,
    ) -> PyResult<Turn> {
        let options = options(dialect, model, reasoning_open, false);
        let finish = finish(finish_reason);
        Turn::new(py, py.detach(|| self.inner.turn(text, &options, finish)))
    }

    #[pyo3(signature = (*, dialect=None, model=None, reasoning_open=false, live=false))]
    fn stream(&self, dialect: Option<&str>, model: Option<&str>, reasoning_open: bool, live: bool) -> Stream {
        Stream::new(self.inner.stream(&options(dialect, model, reasoning_open, live)))
    }
}
