//! The request that calls belong to.

use std::sync::Arc;
use std::time::Instant;

use super::Span;

/// What logs, metrics, traces and the journal say about a request.
#[derive(Debug)]
pub(crate) struct RequestContext {
    /// The name of the protocol.
    pub(crate) protocol: &'static str,
    /// The server that answers, without credentials.
    pub(crate) upstream: Arc<str>,
    pub(crate) model: Arc<str>,
    pub(crate) started: Instant,
    pub(crate) span: Option<Span>,
}

impl RequestContext {
    /// Returns the microseconds since the request arrived.
    pub(crate) fn elapsed_micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
