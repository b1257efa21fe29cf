//! One request and its answer, with everything that is needed to ask the server again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use toolmend::Recovery;
use toolmend_protocol::{CallWithResult, Document, Framing, Protocol, TokenCounts, begins_like_event_stream};

use super::Proxy;
use super::fallback::{Contact, is_failure, mark_failed, mark_send_failed, record_contact};
use super::response_stream::ResponseStream;
use crate::config::{Config, RequestLimits};
use crate::guard::{Lane, Reservation};
use crate::http::coding::{BoxError, ByteStream, Coding, join_pieces};
use crate::http::guarded_body::guard_body;
use crate::http::headers::{self, is_stream, remove_hop_by_hop};
use crate::http::respond::{bad_gateway, send_failed};
use crate::http::{Body, Client, SendError};
use crate::mend::{CallJudge, ResponseReport, StreamMender, TurnRules, arguments_to_show, replace_ids};
use crate::observe::{Limit, Observer, log_recovery};
use crate::translate::stream_to_whole;
use crate::upstream::Route;

/// One request, ready to be sent.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about the request")]
pub(crate) struct Exchange {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) client: Client,
    /// The server.
    pub(crate) route: Arc<Route>,
    /// How often a failed connection is tried again.
    pub(crate) connect_retries: u8,
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
    /// Whether the tools are in the prompt, so that the server knows no calls.
    pub(crate) are_tools_hidden: bool,
    /// What the generations before the last one cost.
    pub(crate) earlier_tokens: TokenCounts,
    /// The time that the gateway spent on the request, without the time it waited for the server.
    pub(crate) added_time: Duration,
    /// Whether judging a short call takes no noticeable time.
    pub(crate) is_light: bool,
    /// Whether the client wants token counts at the end of a stream.
    pub(crate) wants_usage: bool,
    /// The memory of the request.
    pub(crate) reservation: Option<Arc<Reservation>>,
}

/// Longer answers, in bytes, are judged on another thread than that of their connection.
pub(super) const MAX_LIGHT_ANSWER: usize = 16 << 10;
/// Judging longer answers, in bytes, may take a while.
const MAX_QUICK_ANSWER: usize = 256 << 10;

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
        let retries = self.connect_retries;
        let sent = self.client.send_with_retries(&self.head, &self.body, self.stream, retries, on_retry);
        let started = Instant::now();
        let sent = tokio::time::timeout(idle, sent).await.unwrap_or_else(|_| Err(SendError::timeout(idle)));
        record_contact(self.observer(), &self.route, &self.limits, Contact::of(&sent, started.elapsed()));
        sent
    }

    /// Sends the request, and mends the answer.
    pub(crate) async fn run(mut self) -> Response<Body> {
        let answer = match self.send().await {
            Ok(answer) => answer,
            Err(error) => return mark_send_failed(send_failed(self.protocol, &error), &error),
        };
        let (mut head, mut body) = answer.into_parts();
        if may_reject_ids(head.status, &self.body) {
            match self.send_with_other_ids(&head, body).await {
                Ok(answer) => (head, body) = answer.into_parts(),
                Err(body) => {
                    remove_hop_by_hop(&mut head.headers);
                    return Response::from_parts(head, body);
                }
            }
        }
        remove_hop_by_hop(&mut head.headers);
        if self.stream && !is_stream(&head.headers) {
            let body = self.body.clone();
            let asks =
                self.proxy.run_by_length(body.len(), &self.limits, move || asks_for_usage(&body)).await;
            self.wants_usage = asks.unwrap_or(false);
        }
        if self.max_reprompts == 0 {
            // The server has the request, and nobody needs it again.
            self.body = Bytes::new();
            self.reservation = None;
        }
        let coding = Coding::from_headers(&head.headers);
        if !head.status.is_success() {
            let failed = is_failure(head.status);
            let answer = Response::from_parts(head, Body::new(body));
            return if failed { mark_failed(answer, false) } else { answer };
        }
        let Some(coding) = coding else { return unread(head, Body::new(body)) };
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
        if streams && self.stream {
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

    /// Sends the request again with other ids of calls, if the error says that the server rejects them. Otherwise returns the
    /// body of the error.
    async fn send_with_other_ids(
        &mut self,
        head: &http::response::Parts,
        body: Incoming,
    ) -> Result<Response<Incoming>, Body> {
        let mut reservation = Reservation::new(&self.proxy.memory);
        let raw = match self.collect_body(Bytes::new(), body, &mut reservation).await {
            Ok(Collected::Whole(raw)) => raw,
            Ok(Collected::TooLong(begin, rest)) => return Err(rest_of_body(begin, rest)),
            Err(_) => return Err(Body::empty()),
        };
        let coding = Coding::from_headers(&head.headers).unwrap_or(Coding::Identity);
        let reserve = |more| reservation.grow(more);
        let plain = coding.decode_whole(&raw, MAX_ERROR, reserve).await.unwrap_or_default();
        let message = String::from_utf8_lossy(&plain);
        let learned = self.route.profile.known_ids.learn(&self.rules.context.model, &message);
        let doc = learned.and_then(|_| Document::parse(&self.body));
        let replaced = learned.zip(doc.as_ref()).and_then(|(ids, doc)| replace_ids(self.protocol, doc, ids));
        let Some(replaced) = replaced else { return Err(Body::from(raw)) };
        self.body = replaced.into();
        self.send().await.map_err(|_| Body::from(raw))
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
                Ok(Collected::TooLong(begin, rest)) => return unread(head, rest_of_body(begin, rest)),
                Err(message) => return bad_gateway(self.protocol, &message),
            };
            let started = Instant::now();
            let reserve = |more| reservation.grow(more);
            let plain = coding.decode_whole(&raw, self.limits.held_bytes, reserve).await;
            let converted = match &plain {
                Some(plain) => self.convert_stream(plain).await,
                None => None,
            };
            let (raw, plain) = match converted {
                Some(whole) => {
                    set_json(&mut head.headers);
                    (whole.clone(), Some(whole))
                }
                None => (raw, plain),
            };
            let judged = self.judge_whole(plain, &report).await;
            self.added_time += started.elapsed();
            let Some(Judged { text: mended, report: new_report, tokens }) = judged else {
                return unread(head, Body::from(raw));
            };
            report = new_report;
            let may_ask_again = report.has_refused() && report.reprompts < self.max_reprompts;
            if may_ask_again && let Some((again, its_coding)) = self.ask_again(&mut report).await {
                self.earlier_tokens.add(&tokens);
                (head, body) = again.into_parts();
                remove_hop_by_hop(&mut head.headers);
                coding = its_coding;
                continue;
            }
            self.log_refusals(&mut report);
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
            if let Some(stream) = self.convert_whole(&head.headers, &body, &report, &mut reservation).await {
                reservation.set(stream.len());
                let kind = http::HeaderValue::from_static(self.protocol.framing().content_type());
                head.headers.insert(http::header::CONTENT_TYPE, kind);
                head.headers.remove(http::header::CONTENT_ENCODING);
                return Response::from_parts(head, guard_body(Body::from(stream), reservation));
            }
            reservation.set(body.len());
            return Response::from_parts(head, guard_body(Body::from(body), reservation));
        }
    }

    /// Returns where an answer of this length is judged, if not on the thread of its connection.
    pub(super) fn lane(&self, length: usize) -> Lane {
        if self.is_light && length <= MAX_QUICK_ANSWER { Lane::Quick } else { Lane::Slow }
    }

    /// Mends a whole answer. `None` if it cannot be read, or not in time.
    async fn judge_whole(&self, plain: Option<Bytes>, earlier: &ResponseReport) -> Option<Judged> {
        let protocol = self.protocol;
        let plain = plain?;
        let length = plain.len();
        let mut judge = CallJudge::new(self.rules.clone(), Arc::clone(self.observer()));
        judge.report.continue_from(earlier);
        let earlier_tokens = self.earlier_tokens.clone();
        let counts_tokens = self.max_reprompts > 0;
        let work = move || {
            let doc = Document::parse(&plain)?;
            let mut text = protocol.mend_answer(doc.root(), &mut judge);
            judge.finish_report();
            let mut tokens = TokenCounts::default();
            if counts_tokens {
                tokens.read(doc.root());
            }
            if !earlier_tokens.is_empty() {
                let mended =
                    text.as_ref().and_then(|text| Document::parse(&Bytes::copy_from_slice(text.as_bytes())));
                text = earlier_tokens.add_to(mended.as_ref().unwrap_or(&doc).root()).or(text);
            }
            Some(Judged { text, report: judge.report, tokens })
        };
        if self.is_light && length <= MAX_LIGHT_ANSWER {
            return work();
        }
        let budget = Duration::from_millis(self.limits.work_millis);
        self.proxy.work.run(self.lane(length), budget, work).await.flatten()
    }

    /// Asks the server again with the feedback on the calls that do not run. `None` if it does not answer well; the report says
    /// so.
    pub(crate) async fn ask_again(
        &mut self,
        report: &mut ResponseReport,
    ) -> Option<(Response<Incoming>, Coding)> {
        self.observer().metrics.count_reprompt();
        report.reprompts += 1;
        let answer = self.send_feedback(report).await;
        match &answer {
            Some(_) => {
                let context = &self.rules.context;
                for (call, _) in report.refused() {
                    log_recovery(context, &call.tool, &call.id, Recovery::Reprompt);
                }
            }
            None => report.failed_reprompts += 1,
        }
        answer
    }

    async fn send_feedback(&mut self, report: &ResponseReport) -> Option<(Response<Incoming>, Coding)> {
        let doc = Document::parse(&self.body)?;
        self.body = self.write_feedback(&doc, report)?.into();
        let answer = self.send().await.ok()?;
        let coding = Coding::from_headers(answer.headers())?;
        (answer.status() == StatusCode::OK).then_some((answer, coding))
    }

    /// Writes the request again with the calls of the turn and the feedback on them: as calls with results that failed, which
    /// is what models know, or as text if the server knows no calls.
    fn write_feedback(&self, doc: &Document, report: &ResponseReport) -> Option<String> {
        let calls = report.calls.iter().map(|call| CallWithResult {
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: arguments_to_show(&call.written, call.is_text),
            result: call
                .refusal
                .as_ref()
                .map_or_else(|| NOT_RUN_EITHER.to_owned(), |refusal| refusal.feedback.clone()),
        });
        let calls: Vec<CallWithResult> = calls.collect();
        let are_named = calls.iter().all(|call| !call.tool.trim().is_empty());
        if are_named && !self.are_tools_hidden && !self.rules.calls_are_text {
            return self.protocol.append_calls(doc.root(), &calls);
        }
        let written = report.refused().map(|(call, _)| {
            if call.is_text { call.written.clone() } else { format!("{}({})", call.tool, call.written) }
        });
        let written: Vec<String> = written.collect();
        let feedback: Vec<&str> = report.refused().map(|(_, refusal)| refusal.feedback.as_str()).collect();
        self.protocol.append_feedback(doc.root(), &written.join("\n"), &feedback.join("\n\n"))
    }

    /// Logs how the calls of the answer that do not run are handled, once for each of them.
    pub(crate) fn log_refusals(&self, report: &mut ResponseReport) {
        for (call, recovery) in report.take_unlogged() {
            log_recovery(&self.rules.context, &call.tool, &call.id, recovery);
        }
    }
}

impl Exchange {
    /// Returns a stream as a whole answer, if the client did not ask for a stream.
    async fn convert_stream(&self, plain: &Bytes) -> Option<Bytes> {
        if self.stream {
            return None;
        }
        let (protocol, limit, text) = (self.protocol, self.limits.held_bytes, plain.clone());
        let convert = move || {
            let is_stream = match protocol.framing() {
                Framing::Sse => begins_like_event_stream(&text),
                Framing::Lines => Document::parse(&text).is_none(),
            };
            if is_stream { stream_to_whole(protocol, &text, limit) } else { None }
        };
        let whole = self.proxy.run_by_length(plain.len(), &self.limits, convert).await;
        whole.flatten().map(Bytes::from)
    }

    /// Returns a whole answer as a stream, if the client asked for one.
    async fn convert_whole(
        &self,
        headers: &http::HeaderMap,
        body: &Bytes,
        report: &ResponseReport,
        reservation: &mut Reservation,
    ) -> Option<Bytes> {
        if !self.stream || self.protocol.framing() != Framing::Sse {
            return None;
        }
        let (coding, limit) = (Coding::from_headers(headers)?, self.limits.held_bytes);
        let plain = coding.decode_whole(body, limit, |more| reservation.grow(more)).await?;
        let (protocol, wants_usage, summary) = (self.protocol, self.wants_usage, report.summary());
        let length = plain.len();
        let convert = move || {
            let summary = Some(summary.as_ref()).filter(|name| *name != toolmend::Outcome::Clean.name());
            protocol.write_as_stream(Document::parse(&plain)?.root(), wants_usage, summary)
        };
        self.proxy.run_by_length(length, &self.limits, convert).await.flatten()
    }
}

/// Whether a request asks for token counts at the end of a stream.
fn asks_for_usage(request: &Bytes) -> bool {
    let Some(doc) = Document::parse(request) else { return false };
    let options = doc.root().get_non_null("stream_options");
    options.and_then(|options| options.get("include_usage")).is_some_and(toolmend_json::ValueRef::is_true)
}

/// The longest error of a server that is read, in bytes.
const MAX_ERROR: usize = 1 << 20;

/// Whether an error may be about the ids of calls in the request.
fn may_reject_ids(status: StatusCode, request: &[u8]) -> bool {
    let statuses =
        [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::INTERNAL_SERVER_ERROR];
    let has_ids = || {
        let names = ["tool_call_id", "tool_use_id", "call_id"];
        names.iter().any(|name| memchr::memmem::find(request, name.as_bytes()).is_some())
    };
    statuses.contains(&status) && has_ids()
}

/// Returns a body of which a part was read.
fn rest_of_body(begin: Vec<Bytes>, rest: Incoming) -> Body {
    let begin = stream::iter(begin.into_iter().map(Ok));
    Body::from_stream(begin.chain(rest.into_data_stream().map_err_boxed()))
}

/// Changes headers to those of a JSON body.
fn set_json(headers: &mut http::HeaderMap) {
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    headers.remove(http::header::CONTENT_ENCODING);
}

/// The result of a call that is fine, beside one that is not.
const NOT_RUN_EITHER: &str = "This call was not run, because another call of the same turn failed. Send it again with the corrected one.";

/// A whole answer that was mended.
struct Judged {
    /// Its new text. `None`: it stays as it is.
    text: Option<String>,
    report: ResponseReport,
    /// What it says that it cost.
    tokens: TokenCounts,
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
        Ok(Collected::Whole(join_pieces(pieces)))
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
