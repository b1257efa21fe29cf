//! New entries, streamed to open pages.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response};
use tokio::sync::watch;
use toolmend_journal::{EntrySummary, Filter, Id};

use super::Dashboard;
use super::access::Access;
use crate::http::Body;

/// The time between two queries for new entries.
const INTERVAL: Duration = Duration::from_millis(500);
/// After how many queries without a new entry a comment is sent, so that proxies keep the connection open.
const HEARTBEAT: u32 = 30;
/// How many entries are sent together.
const MAX_SENT: usize = 50;
/// How many sent entries are remembered.
const MAX_REMEMBERED: usize = 500;

/// One open page.
struct EntryWatcher {
    dashboard: Arc<Dashboard>,
    stopping: watch::Receiver<bool>,
    seen: HashSet<Id>,
    order: VecDeque<Id>,
    queries: u32,
}

impl Dashboard {
    /// Answers with a stream of new entries.
    pub(super) fn stream_entries(self: Arc<Self>, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Read) {
            return denied;
        }
        let watcher = EntryWatcher {
            stopping: self.stopping.clone(),
            dashboard: self,
            seen: HashSet::new(),
            order: VecDeque::new(),
            queries: 0,
        };
        let events = stream::unfold(watcher, |mut watcher| async move {
            let text = watcher.next_event().await?;
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), watcher))
        });
        let mut response = Response::new(Body::from_stream(events));
        let out = response.headers_mut();
        out.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        out.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies must not buffer the events.
        out.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

impl EntryWatcher {
    /// Waits for the next event. `None` when the gateway stops.
    async fn next_event(&mut self) -> Option<String> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            let first = self.queries == 0;
            self.queries += 1;
            if !first {
                tokio::select! {
                    () = tokio::time::sleep(INTERVAL) => {}
                    _ = self.stopping.changed() => return None,
                }
            }
            // Several gateways may write into one journal, so the order of the newest entries may still change.
            let newest =
                self.dashboard.query_journal(|store| store.list(&Filter::default(), None, MAX_SENT)).await;
            let new = newest.map_or_else(|_| Vec::new(), |newest| self.take_unseen(newest.entries));
            if first || !new.is_empty() {
                let data = serde_json::to_string(&new).unwrap_or_else(|_| "[]".to_owned());
                return Some(format!("event: entries\ndata: {data}\n\n"));
            }
            if self.queries.is_multiple_of(HEARTBEAT) {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    /// Returns the entries that were not sent yet, the oldest first.
    fn take_unseen(&mut self, newest: Vec<EntrySummary>) -> Vec<EntrySummary> {
        let mut new: Vec<EntrySummary> =
            newest.into_iter().filter(|entry| self.seen.insert(entry.id)).collect();
        new.reverse();
        self.order.extend(new.iter().map(|entry| entry.id));
        while self.order.len() > MAX_REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.seen.remove(&oldest);
            }
        }
        new
    }
}
