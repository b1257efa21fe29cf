//! Limits for requests, connections and memory.

use serde::{Deserialize, Serialize};

/// Limits for requests, connections and memory. `toolmend_limits_total` counts how often each was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RequestLimits {
    /// The most connections of clients. The one that has waited longest without a request makes room for a new one.
    pub connections: usize,
    /// The longest time that a connection stays open without a request, in seconds.
    pub connection_seconds: u64,
    /// The longest head of a request, in bytes.
    pub header_bytes: usize,
    /// The longest time from the first byte of a request to the end of its head, in seconds.
    pub header_seconds: u64,
    /// The longest request body, in bytes.
    pub body_bytes: usize,
    /// The longest time without a byte of a request body, in seconds.
    pub body_seconds: u64,
    /// The longest time in which a client reads nothing of its answer, in seconds.
    pub write_seconds: u64,
    /// The most requests that are served at the same time.
    pub requests: usize,
    /// The most requests that wait until others are finished.
    pub queue: usize,
    /// The longest time that a request waits, in seconds.
    pub queue_seconds: u64,
    /// The longest time that reading and mending a request, an answer or a piece of a stream may take, in milliseconds.
    pub work_millis: u64,
    /// The longest answer that is read as a whole, and the most bytes that a stream holds back.
    pub held_bytes: usize,
    /// The most bytes of requests and answers that are held at the same time.
    pub held_total_bytes: usize,
    /// The longest time without a byte from the server, in seconds.
    pub idle_seconds: u64,
    /// The longest time to connect to the server, in seconds.
    pub connect_seconds: u64,
    /// How often a failed connection is tried again.
    pub connect_retries: u8,
    /// How many failures in a row make the other servers go first.
    pub circuit_failures: u32,
    /// The time until a server that failed goes first again, with one request, in seconds.
    pub circuit_seconds: u64,
    /// The time between two checks of a server with `health`, in seconds.
    pub health_seconds: u64,
    /// The time between comments while a call is held, in seconds.
    pub keep_alive_seconds: u64,
    /// The time for open streams to finish when the gateway stops, in seconds.
    pub shutdown_seconds: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        RequestLimits {
            connections: 8192,
            connection_seconds: 120,
            header_bytes: 64 << 10,
            header_seconds: 15,
            body_bytes: 64 << 20,
            body_seconds: 30,
            write_seconds: 120,
            requests: 4096,
            queue: 256,
            queue_seconds: 5,
            work_millis: 2000,
            held_bytes: 32 << 20,
            held_total_bytes: 96 << 20,
            idle_seconds: 600,
            connect_seconds: 10,
            connect_retries: 2,
            circuit_failures: 5,
            circuit_seconds: 15,
            health_seconds: 10,
            keep_alive_seconds: 10,
            shutdown_seconds: 30,
        }
    }
}
