//! Clients that behave: each asks for a stream, reads it, and checks every byte of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use toolmend_gateway_bench::checked_stream::check_stream;

use super::{Siege, print_line};

#[derive(Debug, Default)]
pub(crate) struct Counts {
    started: AtomicU64,
    correct: AtomicU64,
    wrong: AtomicU64,
}

impl Counts {
    /// Returns how many streams were started, and how many of them were correct.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.started.load(Ordering::Relaxed), self.correct.load(Ordering::Relaxed))
    }
}

/// Asks for one stream after the other until the siege is over.
pub(crate) async fn repeat_streams(siege: Arc<Siege>, worker: u64) {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    // Real clients do not all start at the same moment either.
    tokio::time::sleep(Duration::from_millis(worker * 7 % 1000)).await;
    while !siege.is_over() {
        let number = siege.honest.started.fetch_add(1, Ordering::Relaxed);
        match check_stream(&client, siege.gateway, number).await {
            Ok(()) => {
                siege.honest.correct.fetch_add(1, Ordering::Relaxed);
            }
            Err(problem) => {
                if siege.honest.wrong.fetch_add(1, Ordering::Relaxed) < 10 {
                    print_line(&format!("stream {number}: {problem}"));
                }
            }
        }
    }
}
