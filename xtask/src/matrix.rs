//! `cargo xtask matrix`: outputs of many model families, replayed over HTTP on every surface.

use crate::step::{self, Failed, cargo};

/// The cases are tests of the gateway; this prints their table.
pub(crate) fn run() -> Result<(), Failed> {
    step::run(&mut cargo(&["test", "--package", "toolmend-gateway", "--test", "matrix", "--", "--nocapture"]))
}
