//! HTTP without meaning: bodies and their compression, headers, keys, connections to servers, answers of the gateway itself.
//!
//! Nothing here knows what a tool call is or decides where a request goes.

pub(crate) mod auth;
pub(crate) mod client;
pub(crate) mod coding;
pub(crate) mod connection_claim;
pub(crate) mod guarded_body;
pub(crate) mod headers;
pub(crate) mod key_guesses;
pub(crate) mod origin;
pub(crate) mod request_id;
pub(crate) mod respond;
pub(crate) mod server_key;
pub(crate) mod token_usage;

pub(crate) use axum::body::Body;

pub(crate) use self::client::{BrokenRequest, Client, SendError};
