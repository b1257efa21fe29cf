//! One request and the server that answers it, with all that is needed to ask again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
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
        let sent = self.client.send_whole(&self.head, &self.body, self.observer());
        tokio::time::timeout(idle, sent).await.unwrap_or_else(|_| Err(Refused::silent(idle)))
    }

    /// Sends the request, and mends what comes.
    pub(crate) async fn run(mut self) -> Response<Body> {
        let answer = match self.send().await {
            Ok(answer) => answer,
            Err(refused) => return respond::bad_gateway(self.surface, &refused),
        };
        let (mut head, body) = answer.into_parts();
        headers::end_to_end(&mut head.headers);
        let kind = head
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let streams = kind.starts_with("text/event-stream") || kind.starts_with("application/x-ndjson");
        let coding = Coding::of(&head.headers);
        let (Some(coding), true) = (coding, head.status == StatusCode::OK) else {
            return Response::from_parts(head, Body::new(body));
        };
        if streams {
            head.headers.remove(http::header::CONTENT_LENGTH);
            head.headers.remove(http::header::CONTENT_ENCODING);
            head.headers.insert(headers::TOLD, http::HeaderValue::from_static("stream"));
            let mender = StreamMender::new(self.surface, self.rules.clone(), Arc::clone(self.observer()));
            let pieces: Pieces = coding.decode(Box::pin(body.into_data_stream().map_err_boxed()));
            return Response::from_parts(
                head,
                Body::from_stream(Flow::new(self, mender, pieces).into_stream()),
            );
        }
        self.whole(head, body, coding).await
    }

    async fn whole(
        &mut self,
        mut head: http::response::Parts,
        body: Incoming,
        coding: Coding,
    ) -> Response<Body> {
        // What comes at once is sent at once.
        self.rules.delivery = toolmend::Delivery::Held;
        let mut report = Report::default();
        let mut body = body;
        let mut coding = coding;
        loop {
            let raw = match collect(body, self.limits).await {
                Ok(raw) => raw,
                Err(message) => {
                    return respond::error(self.surface, StatusCode::BAD_GATEWAY, "upstream_error", &message);
                }
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
            if let Ok(value) = report.summary().parse() {
                head.headers.insert(headers::TOLD, value);
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

/// The whole body, within the limits.
async fn collect(mut body: Incoming, limits: RequestLimits) -> Result<Bytes, String> {
    let idle = Duration::from_secs(limits.idle_seconds);
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    loop {
        let frame = match tokio::time::timeout(idle, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Err(format!("the server broke off: {error}")),
            Err(_) => return Err(format!("the server sent nothing for {} seconds", limits.idle_seconds)),
        };
        let Ok(data) = frame.into_data() else { continue };
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
