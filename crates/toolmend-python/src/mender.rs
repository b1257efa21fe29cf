//! The class `Mender`: calls of declared tools. It only converts between Python and the library.

use pyo3::prelude::*;

use crate::inputs::{parse_finish, parse_policy, value_error};
use crate::text::MIN_DETACHED_LEN;
use crate::turn::{Stream, StreamDelivery, Turn, turn_options};
use crate::verdict::Verdict;

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
    /// Compiles tools and a policy, which are JSON text.
    #[new]
    fn new(tools: &str, policy: &str, feedback_limit: Option<usize>, lenient: bool) -> PyResult<Self> {
        let mut builder = toolmend::Mender::builder().policy(parse_policy(policy)?);
        if let Some(characters) = feedback_limit {
            builder = builder.feedback_limit(characters);
        }
        builder = builder.tools(&serde_json::from_str(tools).map_err(value_error)?);
        let (inner, notes) = if lenient {
            builder.build_lenient()
        } else {
            (builder.build().map_err(value_error)?, Vec::new())
        };
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

    /// Mends one call. The arguments are text that the model wrote, or the JSON of a value if `is_text` is false.
    fn mend_text(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: &str,
        is_text: bool,
        finish_reason: Option<&str>,
    ) -> Verdict {
        let finish = parse_finish(finish_reason);
        let verdict = if arguments.len() < MIN_DETACHED_LEN {
            self.inner.mend_finished(tool, arguments, finish)
        } else {
            py.detach(|| self.inner.mend_finished(tool, arguments, finish))
        };
        Verdict::new(verdict, is_text)
    }

    /// Judges an answer by a response format, which is JSON text.
    fn answer_text(
        &self,
        py: Python<'_>,
        text: &str,
        format: &str,
        finish_reason: Option<&str>,
    ) -> PyResult<Verdict> {
        let format = serde_json::from_str(format).map_err(value_error)?;
        let finish = parse_finish(finish_reason);
        Ok(Verdict::new(py.detach(|| self.inner.answer(text, &format, finish)), true))
    }

    #[pyo3(signature = (text, *, dialect=None, model=None, finish_reason=None, reasoning_open=false, request=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn turn(
        &self,
        py: Python<'_>,
        text: &str,
        dialect: Option<&str>,
        model: Option<&str>,
        finish_reason: Option<&str>,
        reasoning_open: bool,
        request: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Turn> {
        let options = turn_options(dialect, model, reasoning_open, StreamDelivery::default(), request)?;
        let finish = parse_finish(finish_reason);
        Ok(Turn::new(py.detach(|| self.inner.turn(text, &options, finish))))
    }

    #[pyo3(signature = (*, dialect=None, model=None, reasoning_open=false, live=false, previews=false, request=None))]
    fn stream(
        &self,
        dialect: Option<&str>,
        model: Option<&str>,
        reasoning_open: bool,
        live: bool,
        previews: bool,
        request: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Stream> {
        let options =
            turn_options(dialect, model, reasoning_open, StreamDelivery { live, previews }, request)?;
        Ok(Stream::new(self.inner.stream(&options)))
    }
}
