//! The Python module `toolmend._native`: a thin layer that gives Python the types of the library.
//!
//! It never handles what only Python can know, such as Pydantic models, callables and frameworks. That is Python code,
//! in `python/toolmend`.

mod column;
mod inputs;
mod mender;
mod preview;
mod text;
mod turn;
mod value;
mod verdict;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::column::mend_column;
    #[pymodule_export]
    use crate::inputs::dialects;
    #[pymodule_export]
    use crate::mender::Mender;
    #[pymodule_export]
    use crate::preview::Preview;
    #[pymodule_export]
    use crate::text::Fixer;
    #[pymodule_export]
    use crate::turn::{Call, Event, Stream, Turn};
    #[pymodule_export]
    use crate::verdict::{Repair, Verdict, Violation};
}
