//! Where the calls of a response come from.

use std::sync::Arc;
use std::time::Instant;

use super::Span;

/// One request, for those who tell or write down what became of its calls.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) surface: &'static str,
    /// The server that answers, without anything secret.
    pub(crate) upstream: Arc<str>,
    pub(crate) model: Arc<str>,
    pub(crate) started: Instant,
    pub(crate) span: Option<Span>,
}

impl About {
    /// Microseconds since the request came.
    pub(crate) fn micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
