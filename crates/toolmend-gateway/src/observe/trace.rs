//! Traces: one span per request, with an event for each call and each repair, sent to a collector.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HeaderInjector, HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;

use super::CallEvent;
use crate::config::{Config, ConfigError, split_user_info};
use crate::http::Client;
use crate::http::server_key::ServerKey;

/// How long the collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer of a collector, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The path at which collectors accept traces.
const PATH: &str = "/v1/traces";

/// Creates spans and sends them.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

impl Traces {
    /// Starts sending traces to the configured collector. `None` if there is none.
    pub(crate) fn start(config: &Config) -> Result<Option<Self>, ConfigError> {
        let Some(endpoint) = config.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty()) else {
            return Ok(None);
        };
        let invalid = |why: String| ConfigError::new(format!("otlp_endpoint: {why}"));
        let runtime = Handle::try_current().map_err(|error| invalid(error.to_string()))?;
        // Nobody who reports errors may see the password.
        let (endpoint, user_info) = match split_user_info(endpoint) {
            Some((scheme, user_info, place)) => (format!("{scheme}{place}"), Some(user_info)),
            None => (endpoint.to_owned(), None),
        };
        let endpoint = endpoint.trim_end_matches('/');
        let key = user_info.map(ServerKey::basic).transpose().map_err(|error| invalid(error.to_string()))?;
        let endpoint =
            if endpoint.ends_with(PATH) { endpoint.to_owned() } else { format!("{endpoint}{PATH}") };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(SpanSender { client: Client::new(config)?, key, runtime })
            .with_endpoint(endpoint)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| invalid(error.to_string()))?;
        let name = std::env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "toolmend".to_owned());
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(Resource::builder().with_service_name(name).build())
            .build();
        let tracer = provider.tracer("toolmend");
        Ok(Some(Traces { provider, tracer, propagator: TraceContextPropagator::new() }))
    }

    /// Starts the span of a request. It continues a trace that the client began.
    pub(crate) fn start_request(
        &self,
        headers: &HeaderMap,
        protocol: &'static str,
        model: &str,
        server: &str,
    ) -> Span {
        let parent = self.propagator.extract(&HeaderExtractor(headers));
        let span = self
            .tracer
            .span_builder(format!("{protocol} {model}"))
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("toolmend.surface", protocol),
                KeyValue::new("gen_ai.request.model", model.to_owned()),
                KeyValue::new("server.address", server.to_owned()),
            ])
            .start_with_context(&self.tracer, &parent);
        Span { context: parent.with_span(span), propagator: self.propagator.clone() }
    }

    /// Sends the remaining spans and waits for the collector.
    pub(crate) fn flush(&self) {
        if let Err(error) = self.provider.force_flush() {
            tracing::warn!("the last traces were not sent: {error}");
        }
    }
}

/// The span of one request. It ends when it is dropped.
pub(crate) struct Span {
    context: Context,
    propagator: TraceContextPropagator,
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.span().span_context().fmt(f)
    }
}

impl Span {
    /// Adds the headers that say which trace the server's work belongs to.
    pub(crate) fn inject_into(&self, headers: &mut HeaderMap) {
        self.propagator.inject_context(&self.context, &mut HeaderInjector(headers));
    }

    /// Records a judged call.
    pub(crate) fn record_call(&self, event: &CallEvent<'_>) {
        let span = self.context.span();
        let tool = || KeyValue::new("gen_ai.tool.name", event.tool.to_owned());
        let repairs = event.repairs.iter().map(|repair| (repair.kind.name(), repair.path.clone()));
        for (kind, path) in repairs.chain(event.delivery_fix.map(|kind| (kind, String::new()))) {
            span.add_event(
                "toolmend.repair",
                vec![
                    tool(),
                    KeyValue::new("toolmend.repair.kind", kind),
                    KeyValue::new("toolmend.repair.path", path),
                ],
            );
        }
        let mut attributes = vec![
            tool(),
            KeyValue::new("gen_ai.tool.call.id", event.call_id.to_owned()),
            KeyValue::new("toolmend.outcome", event.outcome.name()),
        ];
        attributes.extend(event.reason.map(|reason| KeyValue::new("toolmend.reason", reason.name())));
        span.add_event("toolmend.call", attributes);
    }

    /// Records the status of the answer.
    pub(crate) fn record_status(&self, status: u16) {
        let span = self.context.span();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            span.set_status(Status::error(""));
        }
    }
}

/// Sends spans to the collector through the gateway's own client.
#[derive(Debug)]
struct SpanSender {
    client: Client,
    /// What the collector's address says about authentication.
    key: Option<ServerKey>,
    /// Spans are sent from a thread without a runtime of its own.
    runtime: Handle,
}

type Sending<'s> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 's>>;

impl HttpClient for SpanSender {
    fn send_bytes<'s, 'a>(&'s self, mut request: Request<Bytes>) -> Sending<'a>
    where
        's: 'a,
        Self: 'a,
    {
        let client = self.client.clone();
        if let Some(key) = &self.key {
            key.replace_in(request.headers_mut(), false);
        }
        let sent = self.runtime.spawn(async move {
            let request = request.map(|body| Full::new(body).map_err(|never| match never {}).boxed_unsync());
            let answer = client.send(request).await.map_err(|error| error.to_string())?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| error.to_string())?;
            Ok::<_, String>(Response::from_parts(head, body.to_bytes()))
        });
        Box::pin(async move { Ok(sent.await??) })
    }
}
