//! Entries as they come, for pages that are open.

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

/// How often it is looked for new entries.
const PACE: Duration = Duration::from_millis(500);
/// How often something is said so that nobody takes the connection for dead, in turns.
const HEARTBEAT: u32 = 30;
/// How many entries are told at once, and how many are remembered.
const NEWEST: usize = 50;
const REMEMBERED: usize = 500;

/// One page that is open.
struct Watcher {
    page: Arc<Dashboard>,
    stopping: watch::Receiver<bool>,
    seen: HashSet<Id>,
    order: VecDeque<Id>,
    turns: u32,
}

impl Dashboard {
    /// A stream of entries.
    pub(super) fn live(self: Arc<Self>, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Look) {
            return refused;
        }
        let watcher = Watcher {
            stopping: self.stopping.clone(),
            page: self,
            seen: HashSet::new(),
            order: VecDeque::new(),
            turns: 0,
        };
        let events = stream::unfold(watcher, |mut watcher| async move {
            let text = watcher.next().await?;
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), watcher))
        });
        let mut response = Response::new(Body::from_stream(events));
        let out = response.headers_mut();
        out.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        out.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies in between must not collect events.
        out.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

impl Watcher {
    /// The next event; none when the gateway stops.
    async fn next(&mut self) -> Option<String> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            let first = self.turns == 0;
            self.turns += 1;
            if !first {
                tokio::select! {
                    () = tokio::time::sleep(PACE) => {}
                    _ = self.stopping.changed() => return None,
                }
            }
            // Several gateways may write into one journal, so the newest are looked at whoever wrote them, and their
            // order may change while they come in.
            let newest = self.page.ask(|store| store.list(&Filter::default(), None, NEWEST)).await;
            let new = newest.map_or_else(|_| Vec::new(), |newest| self.unseen(newest.entries));
            if first || !new.is_empty() {
                let data = serde_json::to_string(&new).unwrap_or_else(|_| "[]".to_owned());
                return Some(format!("event: entries\ndata: {data}\n\n"));
            }
            if self.turns.is_multiple_of(HEARTBEAT) {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    /// Those that were not told yet, the oldest first.
    fn unseen(&mut self, newest: Vec<EntrySummary>) -> Vec<EntrySummary> {
        let mut new: Vec<EntrySummary> =
            newest.into_iter().filter(|entry| self.seen.insert(entry.id)).collect();
        new.reverse();
        self.order.extend(new.iter().map(|entry| entry.id));
        while self.order.len() > REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.seen.remove(&oldest);
            }
        }
        new
    }
}
