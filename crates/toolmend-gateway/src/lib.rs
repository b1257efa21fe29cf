//! A proxy in front of any model server: every client gets tool calls that run, or words that say why not.
//!
//! A response takes one way, on every surface and in both stream modes:
//!
//! ```text
//! bytes ─► frame ─► decoder ─► neutral parts ─► lane ─► encoder ─► bytes
//!                                               │ judges calls, finds those in text
//!                                               └ what needs nothing leaves as it came, byte for byte
//! ```
//!
//! A surface is one decoder and one encoder; nothing else knows its wire.

#![forbid(unsafe_code)]

mod config;
mod demo;
mod discover;
mod history;
mod mend;
mod observe;
mod page;
mod proxy;
mod server;
mod stream;
mod surface;
mod tools;
mod translate;
mod turn;
mod upstream;
mod wire;

pub use crate::config::{
    Config, ConfigError, JournalConfig, PolicyName, RefusalMode, RequestLimits, Secret, StreamMode, ToolMode,
    Upstream, UpstreamSurface, read_dialects,
};
pub use crate::demo::{DEMO_MODEL, start_demo};
pub use crate::discover::{Found, discover};
pub use crate::server::Gateway;
