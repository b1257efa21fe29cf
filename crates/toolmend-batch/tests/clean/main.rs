//! Whole runs: all formats and layouts, broken input, and runs that are stopped and resumed.

mod formats;
mod layouts;
mod resume;
mod support;
