//! One request and its answer, with everything that is needed to ask the server again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use toolmend_protocol::{Document, Framing, Protocol, begins_like_event_stream};

use super::Proxy;
use super::response_stream::ResponseStream;
use crate::config::{Config, RequestLimits};
use crate::guard::Reservation;
use crate::http::coding::{BoxError, ByteStream, Coding};
use crate::http::guarded_body::guard_body;
use crate::http::headers::{self, is_stream, remove_hop_by_hop};
use crate::http::respond::{bad_gateway, send_failed};
use crate::http::{Body, Client, SendError};
use crate::mend::{CallJudge, RefusedCall, ResponseReport, StreamMender, TurnRules};
use crate::observe::{Limit, Observer, log_gave_up};

/// One request, ready to be sent.
pub(crate) struct Exchange {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) client: Client,
    pub(crate) head: http::request::Parts,
    /// The body that is sent.
    pub(crate) body: Bytes,
    pub(crate) protocol: Protocol,
    pub(crate) rules: TurnRules,
    pub(crate) limits: RequestLimits,
    /// Whether the client asked for a stream.
    pub(crate) stream: bool,
    /// How often the server may be asked again.
    pub(crate) max_reprompts: u8,
    /// The time that the gateway spent on the request, without the time it waited for the server.
    pub(crate) added_time: Duration,
    /// Whether judging a short call takes no noticeable time.
    pub(crate) is_light: bool,
    /// The memory of the request.
    pub(crate) _reservation: Option<Arc<Reservation>>,
}

/// Longer answers, in bytes, are judged on another thread than that of their connection.
pub(super) const MAX_LIGHT_ANSWER: usize = 32 << 10;

impl Exchange {
    /// Returns the observer of the proxy.
    pub(crate) fn observer(&self) -> &Arc<Observer> {
        &self.proxy.observer
    }

    /// Returns how often the server may be asked again.
    pub(crate) fn max_reprompts(config: &Config, several_answers: bool) -> u8 {
        // With several answers, the good ones would be asked for again, too.
        if several_answers { 0 } else { config.reprompt_budget() }
    }

    /// Sends the request.
    async fn send(&self) -> Result<Response<Incoming>, SendError> {
        let idle = Duration::from_secs(self.limits.idle_seconds);
        let on_retry = || self.observer().metrics.count_connect_retry();
        let sent = self.client.send_with_retries(&self.head, &self.body, self.stream, on_retry);
        tokio::time::timeout(idle, sent).await.unwrap_or_else(|_| Err(SendError::timeout(idle)))
    }

    /// Sends the request, and mends the answer.
    pub(crate) async fn run(mut self) -> Response<Body> {
        let answer = match self.send().await {
            Ok(answer) => answer,
            Err(error) => return send_failed(self.protocol, &error),
        };
        let (mut head, mut body) = answer.into_parts();
        remove_hop_by_hop(&mut head.headers);
        let coding = Coding::from_headers(&head.headers);
        let (Some(coding), true) = (coding, head.status.is_success()) else {
            return Response::from_parts(head, Body::new(body));
        };
        let (mut streams, mut first) = (is_stream(&head.headers), Bytes::new());
        if self.stream && !streams && self.protocol.framing() == Framing::Sse {
            // Some servers stream with another content type.
            first = match next_piece(&mut body, self.limits).await {
                Ok(first) => first.unwrap_or_default(),
                Err(message) => return bad_gateway(self.protocol, &message),
            };
            streams = begins_like_event_stream(&first);
            if streams {
                let kind = http::HeaderValue::from_static(Framing::Sse.content_type());
                head.headers.insert(http::header::CONTENT_TYPE, kind);
            }
        }
        if streams {
            head.headers.remove(http::header::CONTENT_LENGTH);
            head.headers.remove(http::header::CONTENT_ENCODING);
            head.headers.insert(headers::SUMMARY, http::HeaderValue::from_static("stream"));
            let mender = StreamMender::new(self.protocol, self.rules.clone(), Arc::clone(self.observer()));
            let first = stream::iter((!first.is_empty()).then_some(Ok(first)));
            let rest = body.into_data_stream().map_err_boxed();
            let pieces: ByteStream = coding.decode_stream(Box::pin(first.chain(rest)));
            return Response::from_parts(
                head,
                Body::from_stream(ResponseStream::new(self, mender, pieces).into_stream()),
            );
        }
        self.mend_whole(head, first, body, coding).await
    }

    /// Mends a whole answer. `first` is what was already read of the body.
    async fn mend_whole(
        &mut self,
        mut head: http::response::Parts,
        mut first: Bytes,
        body: Incoming,
        coding: Coding,
    ) -> Response<Body> {
        // A whole answer is sent as a whole.
        self.rules.delivery = toolmend::Delivery::Held;
        let mut report = ResponseReport::default();
        let mut body = body;
        let mut coding = coding;
        let mut reservation = Reservation::new(&self.proxy.memory);
        loop {
            let raw = match self.collect_body(std::mem::take(&mut first), body, &mut reservation).await {
                Ok(Collected::Whole(raw)) => raw,
                Ok(Collected::TooLong(begin, rest)) => {
                    let begin = stream::iter(begin.into_iter().map(Ok));
                    let body = Body::from_stream(begin.chain(rest.into_data_stream().map_err_boxed()));
                    return unread(head, body);
                }
                Err(message) => return bad_gateway(self.protocol, &message),
            };
            let started = Instant::now();
            let plain = coding.decode_whole(&raw, self.limits.held_bytes).await;
            let judged = self.judge_whole(plain, report.reprompts).await;
            self.added_time += started.elapsed();
            let Some((mended, new_report)) = judged else { return unread(head, Body::from(raw)) };
            report = new_report;
            if !report.refused.is_empty() && report.reprompts < self.max_reprompts {
                self.observer().report_reprompt(&self.rules.model);
                if let Some((again, its_coding)) = self.ask_again(&report).await {
                    report.reprompts += 1;
                    (head, body) = again.into_parts();
                    remove_hop_by_hop(&mut head.headers);
                    coding = its_coding;
                    continue;
                }
            }
            if !report.refused.is_empty() {
                log_gave_up(&self.rules.model);
            }
            self.proxy.notes.remember(&report.notes);
            self.observer().report_added_time(self.protocol.name(), self.added_time);
            let summary = match report.summary() {
                Cow::Borrowed(summary) => Ok(http::HeaderValue::from_static(summary)),
                Cow::Owned(summary) => summary.try_into(),
            };
            if let Ok(summary) = summary {
                head.headers.insert(headers::SUMMARY, summary);
            }
            head.headers.remove(http::header::CONTENT_LENGTH);
            let body = match mended {
                Some(text) => {
                    head.headers.remove(http::header::CONTENT_ENCODING);
                    Bytes::from(text)
                }
                None => raw,
            };
            return Response::from_parts(head, guard_body(Body::from(body), reservation));
        }
    }

    /// Mends a whole answer. Returns its new text, if it has one, and the report. `None` if that takes too long.
    async fn judge_whole(
        &self,
        plain: Option<Bytes>,
        reprompts: u8,
    ) -> Option<(Option<String>, ResponseReport)> {
        let protocol = self.protocol;
        let is_light = self.is_light && plain.as_ref().is_none_or(|plain| plain.len() <= MAX_LIGHT_ANSWER);
        let mut judge = CallJudge::new(self.rules.clone(), Arc::clone(self.observer()));
        judge.report.reprompts = reprompts;
        let work = move || {
            let doc = plain.as_ref().and_then(Document::parse);
            let mended = doc.and_then(|doc| protocol.mend_answer(doc.root(), &mut judge));
            (mended, judge.report)
        };
        if is_light {
            return Some(work());
        }
        self.proxy.work.run(Duration::from_millis(self.limits.work_millis), work).await
    }

    /// Asks the server again with the feedback on the calls that do not run. `None` if it does not answer well.
    pub(crate) async fn ask_again(
        &mut self,
        report: &ResponseReport,
    ) -> Option<(Response<Incoming>, Coding)> {
        let texts = |text: fn(&RefusedCall) -> &str, gap: &str| {
            report.refused.iter().map(text).collect::<Vec<_>>().join(gap)
        };
        let answer = texts(|refused| &refused.raw, "\n");
        let feedback = texts(|refused| &refused.feedback, "\n\n");
        let doc = Document::parse(&self.body)?;
        self.body = self.protocol.append_feedback(doc.root(), &answer, &feedback)?.into();
        let answer = self.send().await.ok()?;
        let coding = Coding::from_headers(answer.headers())?;
        (answer.status() == StatusCode::OK).then_some((answer, coding))
    }
}

/// Reads the next bytes of a body, if there are more.
async fn next_piece(body: &mut Incoming, limits: RequestLimits) -> Result<Option<Bytes>, String> {
    let idle = Duration::from_secs(limits.idle_seconds);
    loop {
        let frame = match tokio::time::timeout(idle, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Err(format!("the server broke off: {error}")),
            Err(_) => return Err(format!("the server sent nothing for {} seconds", limits.idle_seconds)),
        };
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// A body that was read.
enum Collected {
    Whole(Bytes),
    /// It is longer than the gateway holds: what was read, and the rest.
    TooLong(Vec<Bytes>, Incoming),
}

/// Returns an answer that is passed on without being read.
fn unread(mut head: http::response::Parts, body: Body) -> Response<Body> {
    head.headers.insert(headers::SUMMARY, http::HeaderValue::from_static(headers::UNREAD));
    Response::from_parts(head, body)
}

impl Exchange {
    /// Reads a whole body within the limits. `first` is what was already read of it.
    async fn collect_body(
        &self,
        first: Bytes,
        mut body: Incoming,
        reservation: &mut Reservation,
    ) -> Result<Collected, String> {
        let mut length = first.len();
        let mut pieces = Vec::from_iter((!first.is_empty()).then_some(first));
        while let Some(data) = next_piece(&mut body, self.limits).await? {
            length += data.len();
            let is_too_long = length > self.limits.held_bytes;
            if is_too_long {
                self.observer().metrics.count_limit(Limit::Held);
            }
            let fits = !is_too_long && reservation.grow(data.len());
            pieces.push(data);
            if !fits {
                return Ok(Collected::TooLong(pieces, body));
            }
        }
        // Most answers arrive in one piece, which needs no copy.
        let whole = if pieces.len() > 1 { pieces.concat().into() } else { pieces.pop().unwrap_or_default() };
        Ok(Collected::Whole(whole))
    }
}

/// Converts the errors of a stream.
pub(crate) trait BoxErrors: Sized {
    fn map_err_boxed(self) -> impl futures_util::Stream<Item = Result<Bytes, BoxError>> + Send;
}

impl<S, E> BoxErrors for S
where
    S: futures_util::Stream<Item = Result<Bytes, E>> + Send,
    E: Into<BoxError>,
{
    fn map_err_boxed(self) -> impl futures_util::Stream<Item = Result<Bytes, BoxError>> + Send {
        futures_util::TryStreamExt::map_err(self, Into::into)
    }
}
