//! The claim of a request on its connection: a connection with a request never makes room for another one, unless the request only
//! waits for a refusal.

use std::fmt::Debug;
use std::sync::Arc;

/// What knows whether a connection has requests.
pub(crate) trait Claimed: Debug + Send + Sync {
    /// One request more or less keeps the connection from being closed.
    fn set_claim(&self, is_claimed: bool);
}

/// The claim of one request.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionClaim(pub(crate) Arc<dyn Claimed>);

impl ConnectionClaim {
    /// Gives the claim up until the returned value is dropped.
    pub(crate) fn give_up(&self) -> GivenUp<'_> {
        self.0.set_claim(false);
        GivenUp(self)
    }
}

/// A claim that does not count while this exists.
#[derive(Debug)]
pub(crate) struct GivenUp<'c>(&'c ConnectionClaim);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.0.set_claim(true);
    }
}
