//! A request and its answer, on their way between surfaces.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};

use super::stream::Translator;
use super::{Plan, Translated, Wire, error, fold, headers_for, probe, translate};
use crate::config::PolicyName;
use crate::proxy::headers::streams;
use crate::proxy::{App, Body, Setup, read, respond};
use crate::surface::Surface;
use crate::surface::request::Asked;
use crate::upstream::Route;
use crate::wire::coding::Coding;
use crate::wire::doc::Doc;

/// What was left out on the way, by name.
const WARNING: HeaderName = HeaderName::from_static("x-toolmend-warning");

/// Tools that only the gateway knows, because they stand in the prompt for the server.
#[derive(Debug, Clone)]
pub(crate) struct HiddenTools(pub(crate) Bytes);

/// Answers a request: on its own surface where its server speaks it, else on one that it does.
pub(crate) async fn serve(
    app: Arc<App>,
    setup: &Setup,
    surface: Surface,
    request: Request<Body>,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let mut body = match read(body, surface, setup.config.limits.body_bytes).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let Some(client) = Wire::of_client(surface) else { return app.mend(setup, surface, parts, body).await };
    let limit = setup.config.limits.body_bytes;
    let mut doc = None;
    // One server for all models: nobody has to look which one is asked for.
    if !matches!(setup.routes.as_slice(), [only] if only.way.prompt_models.is_empty()) {
        doc = read_doc(&parts.headers, &body, limit).await;
    }
    let model = doc.as_ref().and_then(|doc| doc.root().get_text("model")).unwrap_or_default().into_owned();
    let Some(route) = setup.route(&model) else {
        return app.mend(setup, surface, parts, body).await;
    };
    let way = &route.way;
    let prompts = way.prompts(&model);
    if client == Wire::Messages
        && way.folds
        && fold::is_likely(&body)
        && let Some(read) = read_doc(&parts.headers, &body, limit).await
        && let Some(folded) = fold::fold(read.root())
    {
        body = folded.into();
        doc = None;
        parts.headers.remove(CONTENT_ENCODING);
        parts.headers.remove(CONTENT_LENGTH);
    }
    let known = match way.wire {
        Some(wire) => Some(wire),
        None => match way.known.get(client) {
            Some(true) => Some(client),
            Some(false) => way.known.first(),
            None => None,
        },
    };
    let wire = match known {
        Some(wire) => wire,
        None if prompts => {
            if let Some(wire) = probe::probe(setup, route, &parts.headers, client).await {
                wire
            } else {
                let message = "the model server speaks no surface that is known here: set `surface` for it";
                return respond::error(surface, StatusCode::BAD_GATEWAY, "upstream_error", message);
            }
        }
        None => {
            let answer = Arc::clone(&app).mend(setup, surface, parts.clone(), body.clone()).await;
            match find(setup, route, client, &parts.headers, answer.status()).await {
                Some(wire) => wire,
                None => return answer,
            }
        }
    };
    if wire == client && !prompts {
        return app.mend(setup, surface, parts, body).await;
    }
    if doc.is_none() {
        doc = read_doc(&parts.headers, &body, limit).await;
    }
    let Some(doc) = doc else {
        let message = "the request is no JSON object";
        return respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", message);
    };
    let doc = mended(&app, setup, surface, doc);
    let store = (client == Wire::Responses && setup.config.response_store > 0)
        .then_some((&app.store, setup.config.response_store));
    match translate(client, wire, doc.root(), way, store) {
        Ok(translated) => exchange(app, setup, parts, translated).await,
        Err(refused) => respond::error(surface, StatusCode::BAD_REQUEST, "invalid_request_error", &refused.0),
    }
}

/// The request as JSON, if it is an object.
async fn read_doc(headers: &HeaderMap, body: &Bytes, limit: usize) -> Option<Doc> {
    let plain = Coding::of(headers)?.decode_whole(body, limit).await?;
    Doc::parse(&plain).filter(|doc| doc.root().is_object())
}

/// Another surface to ask on, where the server does not know the client's. The request itself was the first try, so
/// that nothing is asked of servers that do.
async fn find(
    setup: &Setup,
    route: &Route,
    client: Wire,
    headers: &HeaderMap,
    status: StatusCode,
) -> Option<Wire> {
    if status.is_success() {
        route.way.known.set(client, true);
    }
    if !probe::is_missing(status) {
        return None;
    }
    // Where the path is there after all, something else is not.
    probe::probe(setup, route, headers, client).await.filter(|wire| *wire != client)
}

/// The request with the calls of its history mended, so that they can be carried over.
fn mended(app: &App, setup: &Setup, surface: Surface, doc: Doc) -> Doc {
    let asked = Asked::read(surface, &doc);
    let tools = setup.tools.get(&asked.tools, PolicyName::Balanced);
    let sent = crate::history::mend(surface, &doc, &tools, &app.notes, &setup.config);
    sent.and_then(|text| Doc::parse(&Bytes::from(text))).unwrap_or(doc)
}

/// Sends what was translated, and translates what comes.
async fn exchange(
    app: Arc<App>,
    setup: &Setup,
    mut parts: http::request::Parts,
    translated: Translated,
) -> Response<Body> {
    let Translated { plan, body, tools } = translated;
    parts.headers = headers_for(plan.upstream, &parts.headers);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(CONTENT_LENGTH);
    parts.uri = http::Uri::from_static(plan.upstream.path());
    if let Some(tools) = tools {
        parts.extensions.insert(HiddenTools(tools));
    }
    let answer = app.mend(setup, plan.upstream.surface(), parts, Bytes::from(body)).await;
    let (mut head, body) = answer.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    let losses = plan.losses.0.join(", ");
    if let (false, Ok(value)) = (losses.is_empty(), format!("dropped: {}", visible(&losses)).parse()) {
        head.headers.insert(WARNING, value);
    }
    let limit = setup.config.limits.held_bytes;
    if head.status.is_success() && streams(&head.headers) {
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(plan.client.content_type()));
        return Response::from_parts(head, streamed(plan, body, limit));
    }
    whole(&plan, head, body, limit).await
}

/// Header values are ASCII.
fn visible(text: &str) -> String {
    text.chars().map(|char| if char.is_ascii_graphic() || char == ' ' { char } else { '?' }).collect()
}

fn streamed(plan: Plan, body: Body, limit: usize) -> Body {
    let state = (Translator::new(plan, limit), body.into_data_stream(), false);
    Body::from_stream(stream::unfold(state, |(mut translator, mut pieces, mut closed)| async move {
        loop {
            let out = translator.take();
            if !out.is_empty() {
                return Some((
                    Ok::<Bytes, std::convert::Infallible>(out.concat().into()),
                    (translator, pieces, closed),
                ));
            }
            if closed {
                return None;
            }
            match pieces.next().await {
                Some(Ok(piece)) => translator.push(&piece),
                Some(Err(error)) => translator.fail(&format!("the server broke off: {error}")),
                None => translator.finish(),
            }
            closed = translator.is_over();
        }
    }))
}

/// An answer that comes at once, or an error.
async fn whole(plan: &Plan, mut head: http::response::Parts, body: Body, limit: usize) -> Response<Body> {
    let client = plan.client.surface();
    let collected = Limited::new(body, limit).collect().await;
    let Ok(raw) = collected.map(http_body_util::Collected::to_bytes) else {
        let message = "the server's answer broke off, or is longer than the gateway holds";
        return respond::error(client, StatusCode::BAD_GATEWAY, "upstream_error", message);
    };
    let raw = match Coding::of(&head.headers) {
        Some(coding) => coding.decode_whole(&raw, limit).await.unwrap_or(raw),
        None => raw,
    };
    head.headers.remove(CONTENT_ENCODING);
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = if head.status.is_success() {
        if let Some(body) = plan.answer(&raw) {
            body
        } else {
            head.status = StatusCode::BAD_GATEWAY;
            let message = format!("the server's answer is none of its surface: {}", error::message_of(&raw));
            client.error_body("api_error", &message)
        }
    } else {
        client.error_body(error::kind_of(head.status), &error::message_of(&raw))
    };
    Response::from_parts(head, Body::from(body))
}
