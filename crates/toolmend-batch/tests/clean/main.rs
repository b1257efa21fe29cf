//! Whole runs: formats, layouts, what is broken, and runs that are stopped.

mod formats;
mod kit;
mod layouts;
mod resume;
