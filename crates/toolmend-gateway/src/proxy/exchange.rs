//! One request and the server that answers it, with all that is needed to ask again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::flow::Flow;
use super::{App, Body, headers, respond};
use crate::config::{Config, RequestLimits};
use crate::mend::judge::{Judge, Rules};
use crate::mend::report::Report;
use crate::observe::{Observer, gave_up};
use crate::stream::StreamMender;
use crate::surface::{Surface, request};
use crate::upstream::{Client, Refused};
use crate::wire::coding::{BoxError, Coding, Pieces};
use crate::wire::doc::Doc;
use crate::wire::frame::{self, Framing};

/// One request on its way.
pub(crate) struct Exchange {
    pub(crate) app: Arc<App>,
    pub(crate) client: Client,
    pub(crate) head: http::request::Parts,
    /// The body as it was sent.
    pub(crate) body: Bytes,
    pub(crate) surface: Surface,
    pub(crate) rules: Rules,
    pub(crate) limits: RequestLimits,
    /// Whether the client asked for a stream.
    pub(crate) stream: bool,
    /// How often the server may be asked again.
    pub(crate) reprompts: u8,
    /// When work on the request began, less the waiting.
    pub(crate) worked: Duration,
}

impl Exchange {
    pub(crate) fn observer(&self) -> &Arc<Observer> {
        &self.app.observer
    }

    pub(crate) fn reprompts_allowed(config: &Config, several: bool) -> u8 {
        // With several answers the others would be asked for again, too.
        if several { 0 } else { config.reprompt_budget() }
    }

    pub(crate) async fn send(&self) -> Result<Response<Incoming>, Refused> {
        let idle = Duration::from_secs(self.limits.idle_seconds);
        let sent = self.client.send_whole(&self.head, &self.body, self.stream, self.observer());
        tokio::time::timeout(idle, sent).await.unwrap_or_else(|_| Err(Refused::silent(idle)))
    }

    /// Sends the request, and mends what comes.
    pub(crate) async fn run(mut self) -> Response<Body> {
        let answer = match self.send().await {
            Ok(answer) => answer,
            Err(refused) => return respond::bad_gateway(self.surface, &refused),
        };
        let (mut head, mut body) = answer.into_parts();
        headers::end_to_end(&mut head.headers);
        let coding = Coding::of(&head.headers);
        let (Some(coding), true) = (coding, head.status.is_success()) else {
            return Response::from_parts(head, Body::new(body));
        };
        let (mut streams, mut first) = (headers::streams(&head.headers), Bytes::new());
        if self.stream && !streams && self.surface.framing() == Framing::Sse {
            // Some servers stream under another name.
            first = match piece(&mut body, self.limits).await {
                Ok(first) => first.unwrap_or_default(),
                Err(message) => return self.broke_off(&message),
            };
            streams = frame::begins_events(&first);
            if streams {
                let kind = http::HeaderValue::from_static("text/event-stream");
                head.headers.insert(http::header::CONTENT_TYPE, kind);
            }
        }
        if streams {
            head.headers.remove(http::header::CONTENT_LENGTH);
            head.headers.remove(http::header::CONTENT_ENCODING);
            head.headers.insert(headers::TOLD, http::HeaderValue::from_static("stream"));
            let mender = StreamMender::new(self.surface, self.rules.clone(), Arc::clone(self.observer()));
            let first = stream::iter((!first.is_empty()).then_some(Ok(first)));
            let rest = body.into_data_stream().map_err_boxed();
            let pieces: Pieces = coding.decode(Box::pin(first.chain(rest)));
            return Response::from_parts(
                head,
                Body::from_stream(Flow::new(self, mender, pieces).into_stream()),
            );
        }
        self.whole(head, first, body, coding).await
    }

    fn broke_off(&self, message: &str) -> Response<Body> {
        respond::error(self.surface, StatusCode::BAD_GATEWAY, "upstream_error", message)
    }

    /// `first` is what was read of the body already.
    async fn whole(
        &mut self,
        mut head: http::response::Parts,
        mut first: Bytes,
        body: Incoming,
        coding: Coding,
    ) -> Response<Body> {
        // What comes at once is sent at once.
        self.rules.delivery = toolmend::Delivery::Held;
        let mut report = Report::default();
        let mut body = body;
        let mut coding = coding;
        loop {
            let raw = match collect(std::mem::take(&mut first), body, self.limits).await {
                Ok(raw) => raw,
                Err(message) => return self.broke_off(&message),
            };
            let started = Instant::now();
            let plain = coding.decode_whole(&raw, self.limits.held_bytes).await;
            let doc = plain.as_ref().and_then(Doc::parse);
            let mut judge = Judge::new(self.rules.clone(), Arc::clone(self.observer()));
            judge.report.reprompts = report.reprompts;
            let mended = doc.and_then(|doc| self.surface.mend_whole(&doc, &mut judge));
            self.worked += started.elapsed();
            report = judge.report;
            if !report.refused.is_empty() && report.reprompts < self.reprompts {
                self.observer().reprompt(&self.rules.model);
                if let Some((again, its_coding)) = self.ask_again(&report).await {
                    report.reprompts += 1;
                    (head, body) = again.into_parts();
                    headers::end_to_end(&mut head.headers);
                    coding = its_coding;
                    continue;
                }
            }
            if !report.refused.is_empty() {
                gave_up(&self.rules.model);
            }
            self.app.notes.keep(&report.notes);
            self.observer().worked(self.surface.name(), self.worked);
            let told = match report.summary() {
                Cow::Borrowed(told) => Ok(http::HeaderValue::from_static(told)),
                Cow::Owned(told) => told.try_into(),
            };
            if let Ok(told) = told {
                head.headers.insert(headers::TOLD, told);
            }
            head.headers.remove(http::header::CONTENT_LENGTH);
            let body = match mended {
                Some(text) => {
                    head.headers.remove(http::header::CONTENT_ENCODING);
                    Bytes::from(text)
                }
                None => raw,
            };
            return Response::from_parts(head, Body::from(body));
        }
    }

    /// Asks the server again with the feedback on the calls that do not run. None where it does not answer well.
    pub(crate) async fn ask_again(&mut self, report: &Report) -> Option<(Response<Incoming>, Coding)> {
        self.body = request::reprompt(self.surface, &self.body, &report.refused)?;
        let answer = self.send().await.ok()?;
        let coding = Coding::of(answer.headers())?;
        (answer.status() == StatusCode::OK).then_some((answer, coding))
    }
}

/// The next bytes of a body, if there are more.
async fn piece(body: &mut Incoming, limits: RequestLimits) -> Result<Option<Bytes>, String> {
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

/// The whole body, within the limits, behind what was read of it already.
async fn collect(mut first: Bytes, mut body: Incoming, limits: RequestLimits) -> Result<Bytes, String> {
    let mut all = BytesMut::new();
    while let Some(data) = piece(&mut body, limits).await? {
        if first.len().max(all.len()) + data.len() > limits.held_bytes {
            return Err(format!("the server's answer is longer than {} bytes", limits.held_bytes));
        }
        // Most answers come in one piece, which is used as it is.
        if first.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// Errors of a stream as errors of anything.
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
