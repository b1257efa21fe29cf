//! JSON text without tools.

use pyo3::prelude::*;
use pyo3::types::PyString;
use toolmend::{FixOptions, Schema, fix_with};

use crate::value::{build, build_of};
use crate::verdict::Verdict;
use crate::{Rules, finish, refused};

/// From this length on other threads may run meanwhile; below it, letting go and taking hold again costs more.
pub(crate) const LONG: usize = 16 << 10;

/// What a text is mended under, compiled once.
#[pyclass(frozen, module = "toolmend._native")]
pub(crate) struct Fixer {
    options: FixOptions,
}

#[pymethods]
impl Fixer {
    /// The schema is JSON text.
    #[new]
    fn new(schema: Option<&str>, rules: Rules, finish_reason: Option<&str>) -> PyResult<Self> {
        let mut options = FixOptions::new().policy(rules.policy()?).finish(finish(finish_reason));
        if let Some(text) = schema {
            let source = serde_json::from_str(text).map_err(refused)?;
            options = options.schema(Schema::new(&source).map_err(refused)?);
        }
        Ok(Fixer { options })
    }

    /// The verdict on a text.
    fn fix(&self, py: Python<'_>, text: &str) -> Verdict {
        Verdict::new(self.run(py, text), true)
    }

    /// The value of a text, or the verdict where it has none.
    fn load<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let (py, source) = (text.py(), text);
        let text = text.to_str()?;
        let verdict = self.run(py, text);
        match verdict.json() {
            // A class of one's own may cut as it likes.
            Some(json) if std::ptr::eq(json, text) && source.is_exact_instance_of::<PyString>() => {
                Ok((build_of(source, json)?, true))
            }
            Some(json) => Ok((build(py, json)?, true)),
            None => Ok((Verdict::new(verdict, true).into_pyobject(py)?.into_any(), false)),
        }
    }

    /// The JSON of a text, or the verdict where it has none.
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
        if text.len() < LONG {
            return fix_with(text, &self.options);
        }
        py.detach(|| fix_with(text, &self.options))
    }
}
