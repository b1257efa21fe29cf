//! Reads custom dialects from files: rows in TOML, and chat templates from which rows are learned.
//!
//! The library works on texts; this crate opens the files, for the command and the gateway. It never judges a dialect:
//! [`CustomDialects`](toolmend::CustomDialects) does.

#![forbid(unsafe_code)]

mod error;
mod rows;
#[cfg(feature = "template")]
mod template;

pub use crate::error::DialectFileError;
pub use crate::rows::read_dialects;
#[cfg(feature = "template")]
pub use crate::template::{learn_template, name_of_template};
