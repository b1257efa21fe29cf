//! Servers: which one a request goes to, and the connections to them.

mod client;
mod route;

pub(crate) use self::client::{Client, Refused};
pub(crate) use self::route::{Route, matches};
