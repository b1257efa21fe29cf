//! The body of a streamed answer: reads from the server, mends, and writes to the client at the client's pace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::BodyExt;
use memchr::memmem;
use toolmend_protocol::Framing;

use super::exchange::{BoxErrors, Exchange, MAX_LIGHT_ANSWER};
use super::unsent_input::UnsentInput;
use crate::guard::{Reservation, StreamHold};
use crate::http::coding::{BoxError, ByteStream, join_pieces};
use crate::mend::{StreamMender, retry_message};
use crate::observe::Limit;

/// Shorter pieces, in bytes, are not counted while they are sent.
const MAX_UNCOUNTED: usize = 64 << 10;
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
    /// What the stream holds back.
    hold: StreamHold,
    /// What was given to the connection and may not be sent yet.
    sent: Reservation,
    /// What has arrived and was not sent, in case that it has to be passed on.
    input: UnsentInput,
    /// Whether the rest is passed on without being read.
    is_passed_on: bool,
    is_over: bool,
    /// Why the connection to the server broke. The client's connection breaks too: many clients ask again after that, and not
    /// after an event that reports an error.
    broken: Option<BoxError>,
}

impl ResponseStream {
    /// Returns the stream of one answer.
    pub(super) fn new(exchange: Exchange, mender: StreamMender, pieces: ByteStream) -> Self {
        exchange.observer().metrics.count_stream_opened();
        let hold = StreamHold::new(&exchange.proxy.memory);
        let sent = Reservation::new(&exchange.proxy.memory);
        ResponseStream {
            exchange,
            mender,
            pieces,
            unsent: Vec::new(),
            silence: Duration::ZERO,
            hold,
            sent,
            input: UnsentInput::default(),
            is_passed_on: false,
            is_over: false,
            broken: None,
        }
    }

    /// Converts it into a stream of bytes.
    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
        stream::unfold(self, |mut state| async move {
            let next = state.next_bytes().await.map(Ok).or_else(|| state.broken.take().map(Err));
            next.map(|next| (next, state))
        })
    }

    /// Returns the next bytes for the client.
    async fn next_bytes(&mut self) -> Option<Bytes> {
        // The connection asks for more when it has little left to send.
        self.sent.set(0);
        while !self.is_over {
            if let Some(keep_alive) = self.step().await {
                return Some(keep_alive);
            }
            let output = self.mender.take_output();
            self.input.remove_sent(&output);
            self.unsent.extend(output);
            self.check_hold();
            let wants_reprompt = self.wants_reprompt();
            if !wants_reprompt {
                self.exchange.log_refusals(self.mender.report_mut());
            }
            // The end of the stream says what it cost.
            let is_complete = self.mender.has_ended() || self.is_over;
            if wants_reprompt && is_complete && self.ask_again().await {
                continue;
            }
            // While the server may be asked again, nothing of the turn leaves.
            let sendable = is_complete
                || self.is_passed_on
                || self.exchange.max_reprompts == 0
                || (self.mender.has_spoken() && !wants_reprompt);
            if sendable && !self.unsent.is_empty() {
                let bytes = join_pieces(std::mem::take(&mut self.unsent));
                if bytes.len() > MAX_UNCOUNTED {
                    self.sent.set(bytes.len());
                }
                return Some(bytes);
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
        let next = tokio::select! {
            next = tokio::time::timeout(wait, self.pieces.next()) => next,
            () = self.hold.released(), if !self.is_passed_on => {
                self.pass_on();
                return None;
            }
        };
        match next {
            Ok(Some(Ok(bytes))) if self.is_passed_on => {
                self.silence = Duration::ZERO;
                self.unsent.push(bytes);
            }
            Ok(Some(Ok(bytes))) => {
                self.silence = Duration::ZERO;
                let started = Instant::now();
                self.mend(Some(bytes)).await;
                self.exchange.added_time += started.elapsed();
                self.is_over |= self.mender.has_failed();
            }
            Ok(None) if self.is_passed_on => {
                if self.mender.protocol().framing() == Framing::Sse {
                    self.unsent.push(Bytes::from_static(b": toolmend unread\n\n"));
                }
                self.is_over = true;
            }
            Ok(Some(Err(error))) => {
                self.mender.break_off();
                self.broken = Some(error);
                self.is_over = true;
            }
            Ok(None) => {
                self.mend(None).await;
                self.is_over = true;
            }
            Err(_) if self.mender.has_ended() => self.is_over = true,
            Err(_) => {
                self.silence += wait;
                if self.silence >= idle {
                    let what = format!("the server sent nothing for {} seconds", limits.idle_seconds);
                    self.mender.fail(&retry_message(&what));
                    self.is_over = true;
                } else if self.mender.is_holding() || !self.unsent.is_empty() {
                    self.mender.write_keep_alive();
                    return Some(join_pieces(self.mender.take_output()));
                }
            }
        }
        None
    }

    /// Gives bytes to the mender, or the end: on this thread if that takes no noticeable time, otherwise on another.
    async fn mend(&mut self, bytes: Option<Bytes>) {
        if let Some(bytes) = &bytes {
            self.input.add(bytes);
        }
        let length = self.mender.held_bytes() + bytes.as_ref().map_or(0, Bytes::len);
        let work = move |mender: &mut StreamMender| match &bytes {
            Some(bytes) => mender.push(bytes),
            None => mender.finish(),
        };
        if self.exchange.is_light && length <= MAX_LIGHT_ANSWER {
            work(&mut self.mender);
            return;
        }
        let unused = self.new_mender();
        let mut mender = std::mem::replace(&mut self.mender, unused);
        let budget = Duration::from_millis(self.exchange.limits.work_millis);
        let work = move || {
            work(&mut mender);
            mender
        };
        match self.exchange.proxy.work.run(self.exchange.lane(length), budget, work).await {
            Some(mender) => self.mender = mender,
            None => self.pass_on(),
        }
    }

    fn new_mender(&self) -> StreamMender {
        let observer = Arc::clone(self.exchange.observer());
        StreamMender::new(self.exchange.protocol, self.exchange.rules.clone(), observer)
    }

    /// Passes everything on if the stream holds too much.
    fn check_hold(&mut self) {
        let held = if self.is_passed_on { 0 } else { self.mender.held_bytes() };
        let unsent: usize = self.unsent.iter().map(Bytes::len).sum();
        let memory = if self.is_passed_on { 0 } else { self.mender.memory() + self.input.bytes() };
        self.hold.set(memory + unsent);
        if held > self.exchange.limits.held_bytes {
            self.exchange.observer().metrics.count_limit(Limit::Held);
            self.pass_on();
        } else if !self.is_passed_on && self.hold.is_released() {
            self.pass_on();
        }
    }

    /// Passes on what is held and everything that follows, without reading it. If the client has already received something
    /// other than what the server sent, the rest would not fit, and the stream ends with an error.
    fn pass_on(&mut self) {
        // What was decided stays decided.
        self.exchange.log_refusals(self.mender.report_mut());
        self.exchange.proxy.notes.remember(&self.mender.report().notes);
        self.mender = self.new_mender();
        self.hold.set(0);
        self.is_passed_on = true;
        if let Some(pieces) = self.input.take() {
            self.unsent.extend(pieces);
        } else {
            self.mender.fail("the answer is more than the gateway can hold or read in time");
            self.unsent.extend(self.mender.take_output());
            self.is_over = true;
        }
    }

    fn wants_reprompt(&self) -> bool {
        let report = self.mender.report();
        report.has_refused()
            && report.reprompts < self.exchange.max_reprompts
            && !self.mender.has_failed()
            && !self.mender.had_spoken_before_refusal()
    }

    /// Asks the server again and starts over with its new answer. Returns whether that worked.
    async fn ask_again(&mut self) -> bool {
        let mut report = self.mender.report().clone();
        let Some((answer, coding)) = self.exchange.ask_again(&mut report).await else {
            // The server gave no better answer: the client gets the first one.
            self.exchange.max_reprompts = 0;
            let before = self.mender.report().summary();
            self.mender.record_failed_reprompt(&report);
            replace_summary(&mut self.unsent, &before, &self.mender.report().summary());
            return false;
        };
        self.exchange.earlier_tokens.add(self.mender.tokens());
        self.mender = self.new_mender();
        self.input = UnsentInput::default();
        self.mender.continue_from(&report, self.exchange.earlier_tokens.clone());
        self.pieces = coding.decode_stream(Box::pin(answer.into_body().into_data_stream().map_err_boxed()));
        self.unsent.clear();
        self.is_over = false;
        true
    }
}

impl Drop for ResponseStream {
    fn drop(&mut self) {
        self.exchange.log_refusals(self.mender.report_mut());
        self.exchange.proxy.notes.remember(&self.mender.report().notes);
        let observer = self.exchange.observer();
        observer.report_added_time(self.exchange.protocol.name(), self.exchange.added_time);
        observer.metrics.count_stream_closed();
    }
}

/// Replaces the summary in output that was not sent yet.
fn replace_summary(unsent: &mut [Bytes], before: &str, after: &str) {
    let pieces = unsent.iter_mut().rev().filter(|piece| memmem::find(piece, b"toolmend").is_some());
    for piece in pieces {
        if let Some(at) = memmem::find(piece, before.as_bytes()) {
            let rest = &piece[at + before.len()..];
            *piece = [&piece[..at], after.as_bytes(), rest].concat().into();
            return;
        }
    }
}
