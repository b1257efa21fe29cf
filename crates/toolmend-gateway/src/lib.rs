//! A proxy in front of any model server. Every client gets tool calls that run, or a reason why a call does not.
//!
//! # One request, step by step
//!
//! 1. `server` accepts a connection on a worker thread and gives the request to the `dashboard` or to the `proxy`.
//! 2. `proxy::Proxy::handle` checks the client's key and recognises the protocol by the path. Requests to other paths pass
//!    through unchanged.
//! 3. `proxy::translation` picks the server for the model (`upstream`). If the server speaks another protocol, `translate`
//!    writes the request in that protocol.
//! 4. `proxy::Proxy::mend_and_send` compiles the request's tools (`mend::ToolCache`), repairs its earlier turns
//!    (`mend::mend_request`), and sends it through the connection pool of the thread (`http::Client`).
//! 5. The answer goes through `mend::StreamMender`, or through `mend::CallJudge` if it is whole. Calls are judged by the
//!    library, and every verdict goes to `observe`: metrics, logs, traces, the journal.
//! 6. If a call is refused and nothing was sent yet, `proxy::Exchange` may ask the server again with the feedback.
//! 7. If the request was translated, the mended answer is translated back.
//!
//! # Layout
//!
//! ```text
//! config ← http ← observe ← upstream, guard, mend ← translate ← proxy ← dashboard ← server
//! ```
//!
//! The formats of the protocols are in the crate `toolmend-protocol`; the repairs are in `toolmend`.

#![forbid(unsafe_code)]

mod config;
mod dashboard;
mod demo;
mod guard;
mod http;
mod mend;
mod observe;
mod proxy;
mod server;
mod translate;
mod upstream;

pub use toolmend_protocol::Protocol;

pub use crate::config::{
    ClientKey, Config, ConfigError, JournalConfig, RefusalMode, RepairSettings, RequestLimits, Secret,
    StreamMode, TlsConfig, ToolMode, TruncationMode, Upstream, parse_listen_address, parse_protocol_or_auto,
    protocol_setting_names,
};
pub use crate::demo::{DEMO_MODEL, start_demo};
pub use crate::observe::CallCounts;
pub use crate::server::Gateway;
pub use crate::upstream::{LocalServer, discover_local_servers};
