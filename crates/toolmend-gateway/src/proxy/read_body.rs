//! Reads the bodies of requests, within the limits for time and memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use toolmend_protocol::Protocol;

use super::Proxy;
use crate::config::RequestLimits;
use crate::guard::Reservation;
use crate::http::Body;
use crate::http::coding::{Coding, join_pieces};
use crate::http::respond::{bad_request, error_response, too_busy};
use crate::observe::Limit;

/// The fewest bytes a second, after the time that a body may be silent. A body that arrives byte by byte would otherwise be
/// waited for without end.
const MIN_RATE: usize = 1 << 10;
/// How much memory a value takes while JSON is read, in bytes: its entry in a list that doubles when it is full.
const BYTES_PER_VALUE: usize = 72;

/// In shorter bodies, in bytes, values are not counted.
const MAX_UNCOUNTED: usize = 64 << 10;
/// As many bytes as a byte can count.
const COUNTED_TOGETHER: usize = u8::MAX as usize;
/// After how many bytes other requests have their turn.
const PAUSE_AFTER: usize = 1 << 20;

const FULL: &str = "the gateway holds as much as it can";

impl Proxy {
    /// Reads the whole body of a request, or returns an error for the client. The memory for it is reserved for as long as the
    /// request's extensions exist.
    pub(super) async fn read_body(
        &self,
        body: Body,
        extensions: &mut http::Extensions,
        protocol: Protocol,
        limits: &RequestLimits,
    ) -> Result<Bytes, Response<Body>> {
        let mut reservation = Reservation::refusable(&self.memory);
        let mut body = Limited::new(body, limits.body_bytes);
        let started = Instant::now();
        let mut pieces = Vec::new();
        loop {
            let silence = Duration::from_secs(limits.body_seconds);
            let received = reservation.bytes();
            let time = silence + Duration::from_secs((received / MIN_RATE) as u64);
            let patience = silence.min(time.saturating_sub(started.elapsed()));
            let next = tokio::select! {
                next = tokio::time::timeout(patience, body.frame()) => next,
                () = reservation.released() => return Err(too_busy(protocol, FULL)),
            };
            let frame = match next {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(error))) => return Err(self.body_error(protocol, limits, &*error)),
                Err(_) => {
                    self.observer.metrics.count_limit(Limit::BodyTime);
                    let seconds = limits.body_seconds;
                    let message = format!("the request sent nothing for {seconds} seconds, or too little");
                    let kind = "invalid_request_error";
                    return Err(error_response(protocol, StatusCode::REQUEST_TIMEOUT, kind, &message));
                }
            };
            let Ok(data) = frame.into_data() else { continue };
            if !reservation.grow(data.len()) {
                return Err(too_busy(protocol, FULL));
            }
            pieces.push(data);
        }
        // Most requests arrive in one piece, which needs no copy.
        let whole = join_pieces(pieces);
        reservation.complete();
        extensions.insert(Arc::new(reservation));
        Ok(whole)
    }

    fn body_error(
        &self,
        protocol: Protocol,
        limits: &RequestLimits,
        error: &(dyn std::error::Error + Send + Sync + 'static),
    ) -> Response<Body> {
        if error.is::<http_body_util::LengthLimitError>() {
            self.observer.metrics.count_limit(Limit::BodyBytes);
            let message =
                format!("the request is longer than {} bytes, see limits.body_bytes", limits.body_bytes);
            return error_response(protocol, StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", &message);
        }
        bad_request(protocol, &format!("the request broke off: {error}"))
    }

    /// Decompresses the body of a request, once, and reserves the memory for reading it.
    pub(super) async fn decode_request(
        &self,
        parts: &mut http::request::Parts,
        body: Bytes,
        protocol: Protocol,
        limits: &RequestLimits,
    ) -> Result<DecodedBody, Response<Body>> {
        let mut reservation = Reservation::new(&self.memory);
        let body = match Coding::from_headers(&parts.headers) {
            Some(Coding::Identity) => body,
            Some(coding) => {
                let mut is_full = false;
                let reserve = |more| {
                    is_full = !reservation.grow(more);
                    !is_full
                };
                match coding.decode_whole(&body, limits.body_bytes, reserve).await {
                    Some(plain) => {
                        parts.headers.remove(CONTENT_ENCODING);
                        parts.headers.remove(CONTENT_LENGTH);
                        plain
                    }
                    None if is_full => return Err(too_busy(protocol, FULL)),
                    // The server knows best what is wrong with it.
                    None => return Ok(DecodedBody { body, is_readable: false }),
                }
            }
            None => return Ok(DecodedBody { body, is_readable: false }),
        };
        let values = if body.len() > MAX_UNCOUNTED { memory_of_values(&body).await } else { 0 };
        if values > limits.held_bytes.max(MAX_UNCOUNTED) {
            self.observer.metrics.count_limit(Limit::Held);
            return Ok(DecodedBody { body, is_readable: false });
        }
        if !reservation.grow(values) {
            return Err(too_busy(protocol, FULL));
        }
        parts.extensions.insert(ReadingMemory { _reservation: Arc::new(reservation) });
        Ok(DecodedBody { body, is_readable: true })
    }
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct DecodedBody {
    /// Its text, or what arrived if that cannot be read.
    pub(super) body: Bytes,
    /// Whether it is not compressed any more, and reading it takes no more memory than one request may hold.
    pub(super) is_readable: bool,
}

/// What a request needs while it is read.
#[derive(Debug, Clone)]
struct ReadingMemory {
    _reservation: Arc<Reservation>,
}

/// Returns about how much memory the values in a JSON text take while it is read. Many small ones take a multiple of their text.
async fn memory_of_values(text: &[u8]) -> usize {
    let mut values = 0;
    for (number, part) in text.chunks(PAUSE_AFTER).enumerate() {
        if number > 0 {
            // Other requests of this thread wait.
            tokio::task::yield_now().await;
        }
        values += part.chunks(COUNTED_TOGETHER).map(count_beginnings).sum::<usize>();
    }
    values * BYTES_PER_VALUE
}

/// How many values begin in a few bytes. Counting in bytes lets the compiler count a vector of them at a time.
fn count_beginnings(bytes: &[u8]) -> usize {
    usize::from(bytes.iter().map(|byte| u8::from(matches!(byte, b',' | b'{' | b'['))).sum::<u8>())
}

#[tokio::test]
async fn many_small_values_take_more_memory_than_their_text() {
    let text = "0,".repeat(PAUSE_AFTER);
    assert_eq!(memory_of_values(text.as_bytes()).await, PAUSE_AFTER * BYTES_PER_VALUE);
    assert_eq!(memory_of_values("x".repeat(100).as_bytes()).await, 0);
    assert_eq!(memory_of_values(",".repeat(1000).as_bytes()).await, 1000 * BYTES_PER_VALUE);
}
