//! Model servers: which one a request goes to, what it speaks, and which ones run on this machine.
//!
//! Nothing here sends a client's request; the `proxy` does.

mod call_ids;
mod discover;
mod health;
mod known_protocols;
mod probe;
mod profile;
mod route;

pub(crate) use self::call_ids::IdForm;
pub use self::discover::{LocalServer, discover_local_servers};
pub(crate) use self::health::{CircuitRules, HealthChange, UpstreamHealth};
pub(crate) use self::probe::{is_missing, probe_protocols};
pub(crate) use self::profile::UpstreamProfile;
pub(crate) use self::route::Route;
