//! The Python module `toolmend._native`: the library for Python, as thin as it can be.
//!
//! What only Python can know (Pydantic models, callables, frameworks) is Python code around this module.

mod column;
mod mender;
mod text;
mod turn;
mod value;
mod verdict;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toolmend::{Finish, Policy, Preset, RepairKind, Tier};

/// How the model's output ended, as servers write it.
fn finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

/// An error of the caller.
fn refused(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// What may be repaired, as the Python side writes it down.
#[derive(Debug, Default, FromPyObject)]
#[pyo3(from_item_all)]
struct Rules {
    preset: Option<String>,
    max_tier: Option<String>,
    tiers: Vec<(String, String)>,
    on: Vec<String>,
    off: Vec<String>,
    max_bytes: Option<usize>,
    max_depth: Option<usize>,
}

impl Rules {
    fn policy(&self) -> PyResult<Policy> {
        let preset = match self.preset.as_deref() {
            None => Preset::default(),
            Some(name) => Preset::from_name(name).ok_or_else(|| {
                refused(format!(
                    "policy: expected \"off\", \"strict\", \"balanced\" or \"eager\", found {name:?}"
                ))
            })?,
        };
        let mut policy = Policy::preset(preset);
        if let Some(name) = &self.max_tier {
            policy = policy.max_tier(tier(name)?);
        }
        for (tool, name) in &self.tiers {
            policy = policy.max_tier_for(tool, tier(name)?);
        }
        for name in &self.on {
            policy = policy.with(kind(name)?);
        }
        for name in &self.off {
            policy = policy.without(kind(name)?);
        }
        let mut limits = toolmend::Limits::default();
        limits.bytes = self.max_bytes.unwrap_or(limits.bytes);
        limits.depth = self.max_depth.unwrap_or(limits.depth);
        Ok(policy.limits(limits))
    }
}

fn tier(name: &str) -> PyResult<Tier> {
    Tier::from_name(name).ok_or_else(|| {
        refused(format!("tier: expected \"lossless\", \"guided\" or \"assumed\", found {name:?}"))
    })
}

fn kind(name: &str) -> PyResult<RepairKind> {
    RepairKind::from_name(name)
        .ok_or_else(|| refused(format!("no repair is called {name:?}; `toolmend repairs` lists them")))
}

/// The names of the dialects, as `toolmend dialects` lists them.
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
