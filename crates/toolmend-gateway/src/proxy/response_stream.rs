//! The body of a streamed answer: reads from the server, mends, and writes to the client at the client's pace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, stream};
use http_body_util::BodyExt;

use super::exchange::{BoxErrors, Exchange};
use crate::http::coding::{BoxError, ByteStream};
use crate::mend::StreamMender;
use crate::observe::log_gave_up;

/// How long the server may take to close a stream after its end.
const LINGER: Duration = Duration::from_millis(500);

/// The state of one stream. If the client disconnects, it is dropped, which closes the connection to the server.
pub(super) struct ResponseStream {
    exchange: Exchange,
    mender: StreamMender,
    pieces: ByteStream,
    /// Output that is not sent yet, because the server may have to be asked again.
    unsent: Vec<Bytes>,
    /// How long the server has sent nothing.
    silence: Duration,
    /// The held bytes that the metrics count for this stream.
    counted_bytes: i64,
    is_over: bool,
}

impl ResponseStream {
    /// Returns the stream of one answer.
    pub(super) fn new(exchange: Exchange, mender: StreamMender, pieces: ByteStream) -> Self {
        exchange.observer().metrics.count_stream_opened();
        ResponseStream {
            exchange,
            mender,
            pieces,
            unsent: Vec::new(),
            silence: Duration::ZERO,
            counted_bytes: 0,
            is_over: false,
        }
    }

    /// Converts it into a stream of bytes.
    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
        stream::unfold(
            self,
            |mut state| async move { state.next_bytes().await.map(|bytes| (Ok(bytes), state)) },
        )
    }

    /// Returns the next bytes for the client.
    async fn next_bytes(&mut self) -> Option<Bytes> {
        while !self.is_over {
            if let Some(keep_alive) = self.step().await {
                return Some(keep_alive);
            }
            self.count_held_bytes(i64::try_from(self.mender.held_bytes()).unwrap_or(i64::MAX));
            self.unsent.extend(self.mender.take_output());
            if self.wants_reprompt() && self.ask_again().await {
                continue;
            }
            // While the server may be asked again, nothing of the turn leaves.
            let sendable = self.exchange.max_reprompts == 0
                || self.mender.has_spoken()
                || self.mender.has_ended()
                || self.is_over;
            if sendable && !self.unsent.is_empty() {
                return Some(join_pieces(std::mem::take(&mut self.unsent)));
            }
        }
        None
    }

    /// Waits for the server, but no longer than the client may wait for a byte.
    ///
    /// Returns something that keeps the connection alive. It is not part of the turn, so it is not held back.
    async fn step(&mut self) -> Option<Bytes> {
        let limits = self.exchange.limits;
        let wait = if self.mender.has_ended() {
            LINGER
        } else {
            Duration::from_secs(limits.keep_alive_seconds.max(1))
        };
        let idle = Duration::from_secs(limits.idle_seconds);
        let wait = wait.min(idle.saturating_sub(self.silence));
        match tokio::time::timeout(wait, self.pieces.next()).await {
            Ok(Some(Ok(bytes))) => {
                self.silence = Duration::ZERO;
                let started = Instant::now();
                self.mender.push(&bytes);
                self.exchange.added_time += started.elapsed();
                self.is_over |= self.mender.has_failed();
            }
            Ok(Some(Err(error))) => {
                self.mender.fail(&format!("the server broke off: {error}"));
                self.is_over = true;
            }
            Ok(None) => {
                self.mender.finish();
                self.is_over = true;
            }
            Err(_) if self.mender.has_ended() => self.is_over = true,
            Err(_) => {
                self.silence += wait;
                if self.silence >= idle {
                    self.mender.fail(&format!("the server sent nothing for {} seconds", limits.idle_seconds));
                    self.is_over = true;
                } else if self.mender.is_holding() || !self.unsent.is_empty() {
                    self.mender.write_keep_alive();
                    return Some(join_pieces(self.mender.take_output()));
                }
            }
        }
        None
    }

    fn wants_reprompt(&self) -> bool {
        let report = self.mender.report();
        !report.refused.is_empty()
            && report.reprompts < self.exchange.max_reprompts
            && !self.mender.has_failed()
            && !self.mender.had_spoken_before_refusal()
    }

    /// Asks the server again and starts over with its new answer. Returns whether that worked.
    async fn ask_again(&mut self) -> bool {
        let report = self.mender.report().clone();
        self.exchange.observer().report_reprompt(&self.exchange.rules.model);
        let Some((answer, coding)) = self.exchange.ask_again(&report).await else {
            // The server gave no better answer: the client gets the first one.
            self.exchange.max_reprompts = 0;
            return false;
        };
        let observer = Arc::clone(self.exchange.observer());
        self.mender = StreamMender::new(self.mender.protocol(), self.exchange.rules.clone(), observer);
        self.mender.report_mut().reprompts = report.reprompts + 1;
        self.pieces = coding.decode_stream(Box::pin(answer.into_body().into_data_stream().map_err_boxed()));
        self.unsent.clear();
        self.is_over = false;
        true
    }

    /// Updates the metric of held bytes.
    fn count_held_bytes(&mut self, held: i64) {
        if held != self.counted_bytes {
            self.exchange.observer().metrics.add_held_bytes(held - self.counted_bytes);
            self.counted_bytes = held;
        }
    }
}

impl Drop for ResponseStream {
    fn drop(&mut self) {
        self.count_held_bytes(0);
        let report = self.mender.report();
        self.exchange.proxy.notes.remember(&report.notes);
        let observer = self.exchange.observer();
        if !report.refused.is_empty() {
            log_gave_up(&self.exchange.rules.model);
        }
        observer.report_added_time(self.exchange.protocol.name(), self.exchange.added_time);
        observer.metrics.count_stream_closed();
    }
}

/// Joins pieces; a single piece is not copied.
fn join_pieces(mut pieces: Vec<Bytes>) -> Bytes {
    if pieces.len() == 1 {
        return pieces.pop().unwrap_or_default();
    }
    let mut out = BytesMut::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in &pieces {
        out.extend_from_slice(piece);
    }
    out.freeze()
}
