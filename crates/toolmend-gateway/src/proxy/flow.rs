//! A stream that flows: bytes of the server in, bytes for the client out, at the client's pace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, stream};
use http_body_util::BodyExt;

use super::exchange::{BoxErrors, Exchange};
use crate::observe::gave_up;
use crate::stream::StreamMender;
use crate::wire::coding::{BoxError, Pieces};

/// How long the server may take to close a stream after its end.
const LINGER: Duration = Duration::from_millis(500);

/// The state of one stream. Dropping it, because the client went away, drops the connection to the server.
pub(crate) struct Flow {
    exchange: Exchange,
    mender: StreamMender,
    pieces: Pieces,
    /// What was written and is not sent yet, because the server may have to be asked again.
    unsent: Vec<Bytes>,
    /// How long nothing came.
    silent: Duration,
    held: i64,
    over: bool,
}

impl Flow {
    pub(crate) fn new(exchange: Exchange, mender: StreamMender, pieces: Pieces) -> Self {
        exchange.observer().metrics.stream_opened();
        Flow { exchange, mender, pieces, unsent: Vec::new(), silent: Duration::ZERO, held: 0, over: false }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
        stream::unfold(self, |mut flow| async move { flow.next().await.map(|bytes| (Ok(bytes), flow)) })
    }

    /// The next bytes for the client.
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            if let Some(alive) = self.step().await {
                return Some(alive);
            }
            self.hold(i64::try_from(self.mender.held()).unwrap_or(i64::MAX));
            self.unsent.extend(self.mender.take());
            if self.wants_reprompt() && self.reprompt().await {
                continue;
            }
            // While the server may be asked again, nothing of the turn leaves.
            let sendable = self.exchange.reprompts == 0
                || self.mender.has_spoken()
                || self.mender.has_ended()
                || self.over;
            if sendable && !self.unsent.is_empty() {
                return Some(joined(std::mem::take(&mut self.unsent)));
            }
        }
        None
    }

    /// Waits for the server, and for as long as the client may be left without a byte.
    ///
    /// Gives what keeps the connection alive: it says nothing of the turn, so it does not wait with the rest.
    async fn step(&mut self) -> Option<Bytes> {
        let limits = self.exchange.limits;
        let wait = if self.mender.has_ended() {
            LINGER
        } else {
            Duration::from_secs(limits.keep_alive_seconds.max(1))
        };
        let idle = Duration::from_secs(limits.idle_seconds);
        let wait = wait.min(idle.saturating_sub(self.silent));
        match tokio::time::timeout(wait, self.pieces.next()).await {
            Ok(Some(Ok(bytes))) => {
                self.silent = Duration::ZERO;
                let started = Instant::now();
                self.mender.push(&bytes);
                self.exchange.worked += started.elapsed();
                self.over |= self.mender.has_failed();
            }
            Ok(Some(Err(error))) => {
                self.mender.fail(&format!("the server broke off: {error}"));
                self.over = true;
            }
            Ok(None) => {
                self.mender.finish();
                self.over = true;
            }
            Err(_) if self.mender.has_ended() => self.over = true,
            Err(_) => {
                self.silent += wait;
                if self.silent >= idle {
                    self.mender.fail(&format!("the server sent nothing for {} seconds", limits.idle_seconds));
                    self.over = true;
                } else if self.mender.is_holding() || !self.unsent.is_empty() {
                    self.mender.keep_alive();
                    return Some(joined(self.mender.take()));
                }
            }
        }
        None
    }

    fn wants_reprompt(&self) -> bool {
        let report = self.mender.report();
        !report.refused.is_empty()
            && report.reprompts < self.exchange.reprompts
            && !self.mender.has_failed()
            && !self.mender.spoken_before_refusal()
    }

    /// Starts again with what the server says to the feedback.
    async fn reprompt(&mut self) -> bool {
        let report = self.mender.report().clone();
        self.exchange.observer().reprompt(&self.exchange.rules.model);
        let Some((answer, coding)) = self.exchange.ask_again(&report).await else {
            // Its answer is no better: the client gets the first one.
            self.exchange.reprompts = 0;
            return false;
        };
        let observer = Arc::clone(self.exchange.observer());
        self.mender = StreamMender::new(self.mender.surface(), self.exchange.rules.clone(), observer);
        self.mender.report_mut().reprompts = report.reprompts + 1;
        self.pieces = coding.decode(Box::pin(answer.into_body().into_data_stream().map_err_boxed()));
        self.unsent.clear();
        self.over = false;
        true
    }

    /// Counts what is held.
    fn hold(&mut self, held: i64) {
        if held != self.held {
            self.exchange.observer().metrics.held(held - self.held);
            self.held = held;
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.hold(0);
        let report = self.mender.report();
        self.exchange.app.notes.keep(&report.notes);
        let observer = self.exchange.observer();
        if !report.refused.is_empty() {
            gave_up(&self.exchange.rules.model);
        }
        observer.worked(self.exchange.surface.name(), self.exchange.worked);
        observer.metrics.stream_closed();
    }
}

/// One piece of many, without a copy where there is only one.
fn joined(mut pieces: Vec<Bytes>) -> Bytes {
    if pieces.len() == 1 {
        return pieces.pop().unwrap_or_default();
    }
    let mut out = BytesMut::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in &pieces {
        out.extend_from_slice(piece);
    }
    out.freeze()
}
