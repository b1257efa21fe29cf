//! The access log: one event for each request when it ends, and the time to its first byte.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};

use super::Observer;
use crate::http::Body;
use crate::http::guarded_body::{BodyWatcher, watch_body};
use crate::http::headers::SUMMARY;
use crate::http::request_id::{RequestId, RequestIds};

/// The status of a request whose client left before the answer began, as nginx logs it.
const CLIENT_LEFT: u16 = 499;

/// What the parts that serve a request find out about it. Each adds what it knows to the extensions of the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessNotes {
    /// The name of the client's key.
    pub(crate) key: Option<Arc<str>>,
    /// The name of the protocol. Empty if no server was involved.
    pub(crate) surface: &'static str,
    /// The server that answered, without credentials.
    pub(crate) upstream: Option<Arc<str>>,
    pub(crate) model: Option<Arc<str>>,
}

impl AccessNotes {
    /// Adds something to the notes of an answer.
    pub(crate) fn add_to(answer: &mut Response<Body>, add: impl FnOnce(&mut AccessNotes)) {
        let mut notes: AccessNotes = answer.extensions_mut().remove().unwrap_or_default();
        add(&mut notes);
        answer.extensions_mut().insert(notes);
    }
}

/// One request, until its answer is sent or its client leaves.
#[derive(Debug)]
pub(crate) struct AccessRecord {
    observer: Arc<Observer>,
    started: Instant,
    /// What the log says about the request, if there is a log.
    line: Option<Line>,
    id: Option<HeaderValue>,
    notes: AccessNotes,
    status: u16,
    bytes: u64,
    first_byte: Option<Duration>,
    is_complete: bool,
}

#[derive(Debug)]
struct Line {
    method: Method,
    path: String,
    /// What was mended, as the client's header says it.
    summary: Option<HeaderValue>,
}

impl AccessRecord {
    /// Begins the record of a request, and gives it an id.
    pub(crate) fn begin(
        observer: &Arc<Observer>,
        ids: &RequestIds,
        request: &mut Request<Body>,
        is_logged: bool,
    ) -> (Self, RequestId) {
        let id = ids.assign(request.headers_mut());
        let line = is_logged.then(|| Line {
            method: request.method().clone(),
            // Queries may hold keys.
            path: request.uri().path().to_owned(),
            summary: None,
        });
        let record = AccessRecord {
            observer: Arc::clone(observer),
            started: Instant::now(),
            line,
            id: None,
            notes: AccessNotes::default(),
            status: CLIENT_LEFT,
            bytes: 0,
            first_byte: None,
            is_complete: false,
        };
        (record, id)
    }

    /// Follows an answer to its end.
    pub(crate) fn follow(mut self, id: RequestId, mut answer: Response<Body>) -> Response<Body> {
        self.id = Some(id.put_into(answer.headers_mut()));
        self.status = answer.status().as_u16();
        self.notes = answer.extensions_mut().remove().unwrap_or_default();
        if let Some(line) = &mut self.line {
            line.summary = answer.headers().get(SUMMARY).cloned();
        }
        answer.map(|body| watch_body(body, self))
    }
}

impl BodyWatcher for AccessRecord {
    fn see_data(&mut self, data: &Bytes) {
        if self.first_byte.is_none() {
            let time = self.started.elapsed();
            self.first_byte = Some(time);
            if !self.notes.surface.is_empty() {
                self.observer.metrics.traffic.observe_first_byte(self.notes.surface, time);
            }
        }
        self.bytes = self.bytes.saturating_add(data.len() as u64);
    }

    fn see_end(&mut self) {
        self.is_complete = true;
    }
}

impl Drop for AccessRecord {
    fn drop(&mut self) {
        let Some(line) = &self.line else { return };
        let text = |value: &Option<HeaderValue>| {
            value.as_ref().and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Texts are recorded as texts, so that the log escapes what is in them.
        tracing::info!(
            target: "access",
            request_id = text(&self.id),
            key = self.notes.key.as_deref(),
            method = line.method.as_str(),
            path = line.path.as_str(),
            status = self.status,
            surface = Some(self.notes.surface).filter(|surface| !surface.is_empty()),
            upstream = self.notes.upstream.as_deref(),
            model = self.notes.model.as_deref(),
            toolmend = text(&line.summary),
            bytes = self.bytes,
            first_byte_micros = self.first_byte.map(micros),
            micros = micros(self.started.elapsed()),
            complete = self.is_complete,
            "request"
        );
    }
}
