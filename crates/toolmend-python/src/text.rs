//! The class `Fixer`: JSON text without tools. It only converts between Python and the library.

use pyo3::prelude::*;
use pyo3::types::PyString;
use toolmend::{FixOptions, Schema, fix_with};

use crate::inputs::{parse_finish, parse_policy, value_error};
use crate::value::{build, build_of};
use crate::verdict::Verdict;

/// From this length on, other Python threads run in the meantime. For shorter texts, releasing the interpreter and
/// acquiring it again costs more than the work.
pub(crate) const MIN_DETACHED_LEN: usize = 16 << 10;

/// A schema, a policy and a finish reason, compiled once for many texts.
#[pyclass(frozen, module = "toolmend._native")]
pub(crate) struct Fixer {
    options: FixOptions,
}

#[pymethods]
impl Fixer {
    /// Compiles a schema and a policy, which are JSON text.
    #[new]
    fn new(schema: Option<&str>, policy: &str, finish_reason: Option<&str>) -> PyResult<Self> {
        let mut options = FixOptions::new().policy(parse_policy(policy)?).finish(parse_finish(finish_reason));
        if let Some(text) = schema {
            let source = serde_json::from_str(text).map_err(value_error)?;
            options = options.schema(Schema::new(&source).map_err(value_error)?);
        }
        Ok(Fixer { options })
    }

    /// Returns the verdict on a text.
    fn fix(&self, py: Python<'_>, text: &str) -> Verdict {
        Verdict::new(self.run(py, text), true)
    }

    /// Returns the value of a text and true, or the verdict and false if it is refused.
    fn load<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let (py, source) = (text.py(), text);
        let text = text.to_str()?;
        let verdict = self.run(py, text);
        match verdict.json() {
            // A subclass of `str` may slice in its own way.
            Some(json) if std::ptr::eq(json, text) && source.is_exact_instance_of::<PyString>() => {
                Ok((build_of(source, json)?, true))
            }
            Some(json) => Ok((build(py, json)?, true)),
            None => Ok((Verdict::new(verdict, true).into_pyobject(py)?.into_any(), false)),
        }
    }

    /// Returns the JSON of a text and true, or the verdict and false if it is refused.
    fn json<'py>(&self, py: Python<'py>, text: &str) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let verdict = self.run(py, text);
        match verdict.json() {
            Some(json) => Ok((json.into_pyobject(py)?.into_any(), true)),
            None => Ok((Verdict::new(verdict, true).into_pyobject(py)?.into_any(), false)),
        }
    }
}

impl Fixer {
    pub(crate) fn options(&self) -> &FixOptions {
        &self.options
    }

    fn run<'t>(&self, py: Python<'_>, text: &'t str) -> toolmend::Verdict<'t> {
        if text.len() < MIN_DETACHED_LEN {
            return fix_with(text, &self.options);
        }
        py.detach(|| fix_with(text, &self.options))
    }
}
