//! Decides in which protocol a server is spoken to, and translates if it is not the client's.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use toolmend_protocol::{Document, Protocol, error_kind_of_status, error_message_in};

use super::fallback::{ChosenRoute, mark_failed};
use super::{ClientProtocol, HiddenTools, Proxy, Setup};
use crate::config::RequestLimits;
use crate::guard::Reservation;
use crate::http::Body;
use crate::http::coding::Coding;
use crate::http::guarded_body::guard_body;
use crate::http::headers::{WARNING, headers_for_protocol, is_stream};
use crate::http::respond::{bad_gateway, bad_request, too_busy};
use crate::translate::{
    OwnConversations, ProtocolPair, StreamTranslator, TranslatedRequest, Translation, translate_request,
};
use crate::upstream::{Route, is_missing, probe_protocols};

/// Answers a request: in its own protocol if the server speaks it, otherwise in one that it does speak.
pub(super) async fn serve(
    proxy: Arc<Proxy>,
    setup: &Arc<Setup>,
    client: Protocol,
    mut parts: http::request::Parts,
    mut body: Bytes,
) -> Response<Body> {
    let limits = &setup.config.limits;
    if client.client_side().is_none() {
        return proxy.mend_and_send(setup, client, parts, body).await;
    }
    let mut doc = None;
    // With one server for all models the model does not matter, so the body need not be parsed for it.
    if !matches!(setup.routes.as_slice(), [only] if !only.profile.depends_on_model()) {
        doc = proxy.parse_request(&body, limits).await;
    }
    let model = doc.as_ref().and_then(|doc| doc.root().get_text("model")).unwrap_or_default().into_owned();
    let Some(route) = setup.chosen_route(&parts.extensions, &model) else {
        return proxy.mend_and_send(setup, client, parts, body).await;
    };
    let profile = &route.profile;
    if profile.inlines_system_prompts
        && client.may_have_inner_system_prompts(&body)
        && let Some(parsed) = proxy.parse_request(&body, limits).await
        && let Some(rewritten) = client.inline_system_prompts(parsed.root())
    {
        body = rewritten.into();
        doc = None;
        parts.headers.remove(CONTENT_LENGTH);
    }
    let prompts = profile.writes_tools_into_prompt(&model);
    let upstream = match (known_protocol(route, client), prompts) {
        (Some(protocol), false) if protocol == client && may_be_rejected(route, client) => {
            let answer = Arc::clone(&proxy).mend_and_send(setup, client, parts.clone(), body.clone()).await;
            let request = ClientRequest { parts, body };
            return retry_in_chat(proxy, setup, route, client, request, answer).await;
        }
        (Some(protocol), _) => protocol,
        (None, true) => {
            let keys = setup.has_client_keys();
            let found = probe_protocols(&setup.client, route, &parts.headers, keys, client).await;
            let Some(protocol) = found else {
                let message =
                    "the model server speaks no protocol that the gateway knows: set `surface` for it";
                return mark_failed(bad_gateway(client, message), true);
            };
            protocol
        }
        (None, false) => {
            // Nothing is kept while the server thinks.
            doc = None;
            let answer = Arc::clone(&proxy).mend_and_send(setup, client, parts.clone(), body.clone()).await;
            let other = find_other_protocol(setup, route, client, &parts.headers, answer.status()).await;
            let Some(other) = other else {
                let request = ClientRequest { parts, body };
                return retry_in_chat(proxy, setup, route, client, request, answer).await;
            };
            other
        }
    };
    let pair = ProtocolPair::new(client, upstream).filter(|_| upstream != client || prompts);
    let Some(pair) = pair else { return proxy.mend_and_send(setup, client, parts, body).await };
    if doc.is_none() {
        doc = proxy.parse_request(&body, limits).await;
    }
    let Some(doc) = doc else { return bad_request(client, "the request is not a JSON object") };
    translate_and_send(proxy, setup, route, pair, parts, doc).await
}

/// Translates a request, sends it, and translates the answer.
async fn translate_and_send(
    proxy: Arc<Proxy>,
    setup: &Arc<Setup>,
    route: &Arc<Route>,
    pair: ProtocolPair,
    parts: http::request::Parts,
    doc: Document,
) -> Response<Body> {
    let chosen = parts.extensions.get::<ChosenRoute>().map(|chosen| chosen.index);
    let doc = proxy.repair_history(setup, pair.client, chosen, doc).await;
    let conversations = OwnConversations {
        store: Arc::clone(&proxy.conversations),
        max_entries: setup.config.response_store,
        owner: proxy.conversations.owner_of(&parts.headers),
    };
    let route = Arc::clone(route);
    let length = doc.source().len();
    let translate = move || {
        let store = Some(&conversations).filter(|conversations| conversations.max_entries > 0);
        translate_request(pair, doc.root(), &route.profile, store)
    };
    match proxy.run_by_length(length, &setup.config.limits, translate).await {
        Some(Ok(translated)) => send_translated(proxy, setup, parts, translated).await,
        Some(Err(error)) => bad_request(pair.client, &error.0),
        None => too_busy(pair.client, "the request could not be translated in time"),
    }
}

/// A request of a client, kept in case that it has to be sent in another way.
struct ClientRequest {
    parts: http::request::Parts,
    body: Bytes,
}

/// Whether a server may speak the client's protocol and still reject what its clients send. Chat completions is the protocol that
/// all servers have in common, so there is nothing to fall back to.
fn may_be_rejected(route: &Route, client: Protocol) -> bool {
    let profile = &route.profile;
    client != Protocol::Chat && profile.protocol.is_none() && !profile.is_vendor
}

/// Sends a request again as chat completions if the server rejected it: servers that speak several protocols often know only a
/// part of the newer ones, and reject the history that their clients send with the second turn. If that does not help, the client
/// gets the first answer.
async fn retry_in_chat(
    proxy: Arc<Proxy>,
    setup: &Arc<Setup>,
    route: &Arc<Route>,
    client: Protocol,
    request: ClientRequest,
    answer: Response<Body>,
) -> Response<Body> {
    let is_rejected = matches!(answer.status(), StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
    if !is_rejected || !may_be_rejected(route, client) {
        return answer;
    }
    let ClientRequest { parts, body } = request;
    let (chat, keys) = (Protocol::Chat, setup.has_client_keys());
    let found = probe_protocols(&setup.client, route, &parts.headers, keys, chat).await;
    let pair = found.filter(|found| *found == chat).and_then(|_| ProtocolPair::new(client, chat));
    let doc = proxy.parse_request(&body, &setup.config.limits).await;
    let Some((pair, doc)) = pair.zip(doc) else { return answer };
    let second = translate_and_send(proxy, setup, route, pair, parts, doc).await;
    if !second.status().is_success() {
        return answer;
    }
    tracing::warn!(
        upstream = &*route.origin,
        "the server rejects requests to {}, so they are sent to {} from now on",
        client.paths().first().unwrap_or(&""),
        chat.paths().first().unwrap_or(&"")
    );
    route.profile.known_protocols.set(client, false);
    second
}

/// Returns the protocol to use, if it is configured or known.
fn known_protocol(route: &Route, client: Protocol) -> Option<Protocol> {
    let profile = &route.profile;
    profile.protocol.or_else(|| {
        let is_spoken = profile.known_protocols.get(client)?;
        if is_spoken { Some(client) } else { profile.known_protocols.preferred() }
    })
}

/// Returns another protocol to use if the server does not know the client's. The request itself was the first try, so that
/// servers that do know it are never probed.
async fn find_other_protocol(
    setup: &Setup,
    route: &Route,
    client: Protocol,
    headers: &HeaderMap,
    status: StatusCode,
) -> Option<Protocol> {
    if status.is_success() {
        route.profile.known_protocols.set(client, true);
    }
    if !is_missing(status) {
        return None;
    }
    let keys = setup.has_client_keys();
    let found = probe_protocols(&setup.client, route, headers, keys, client).await;
    // If the server knows the path after all, something else was not found.
    found.filter(|protocol| *protocol != client)
}

/// Sends a translated request, and translates the answer.
async fn send_translated(
    proxy: Arc<Proxy>,
    setup: &Arc<Setup>,
    mut parts: http::request::Parts,
    translated: TranslatedRequest,
) -> Response<Body> {
    let TranslatedRequest { translation, body, hidden_tools } = translated;
    let upstream = translation.protocols.upstream;
    parts.headers = headers_for_protocol(upstream, translation.upstream_headers(), &parts.headers);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(CONTENT_LENGTH);
    if let Some(path) = upstream.paths().first() {
        parts.uri = http::Uri::from_static(path);
    }
    parts.extensions.insert(ClientProtocol(translation.protocols.client));
    if let Some(tools) = hidden_tools {
        parts.extensions.insert(HiddenTools(tools));
    }
    let answer = Arc::clone(&proxy).mend_and_send(setup, upstream, parts, Bytes::from(body)).await;
    let (mut head, body) = answer.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    let dropped = &translation.dropped;
    if let (false, Ok(value)) =
        (dropped.is_empty(), format!("dropped: {}", to_ascii(&dropped.to_string())).parse())
    {
        head.headers.insert(WARNING, value);
    }
    let limits = &setup.config.limits;
    if head.status.is_success() && is_stream(&head.headers) {
        let content_type = translation.protocols.client.framing().content_type();
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        return Response::from_parts(head, translate_stream(translation, body, limits.held_bytes));
    }
    translate_whole(&proxy, limits, translation, head, body).await
}

/// Replaces characters that header values cannot have.
fn to_ascii(text: &str) -> String {
    text.chars().map(|char| if char.is_ascii_graphic() || char == ' ' { char } else { '?' }).collect()
}

fn translate_stream(translation: Translation, body: Body, limit: usize) -> Body {
    let state = (StreamTranslator::new(translation, limit), body.into_data_stream(), false);
    Body::from_stream(stream::unfold(state, |(mut translator, mut pieces, mut closed)| async move {
        loop {
            let out = translator.take_output();
            if !out.is_empty() {
                return Some((Ok(Bytes::from(out.concat())), (translator, pieces, closed)));
            }
            if closed {
                return None;
            }
            match pieces.next().await {
                Some(Ok(piece)) => translator.push(&piece),
                // The client's connection breaks like the one to the server.
                Some(Err(error)) => return Some((Err(error), (translator, pieces, true))),
                None => translator.finish(),
            }
            closed = translator.is_over();
        }
    }))
}

/// Translates a whole answer, or an error.
async fn translate_whole(
    proxy: &Proxy,
    limits: &RequestLimits,
    translation: Translation,
    mut head: http::response::Parts,
    body: Body,
) -> Response<Body> {
    let client = translation.protocols.client;
    let collected = Limited::new(body, limits.held_bytes).collect().await;
    let Ok(raw) = collected.map(http_body_util::Collected::to_bytes) else {
        return bad_gateway(client, "the server's answer broke off, or is longer than the gateway holds");
    };
    let mut reservation = Reservation::new(&proxy.memory);
    let reserve = |more| reservation.grow(more);
    let raw = match Coding::from_headers(&head.headers) {
        Some(coding) => coding.decode_whole(&raw, limits.held_bytes, reserve).await.unwrap_or(raw),
        None => raw,
    };
    reservation.set(raw.len());
    head.headers.remove(CONTENT_ENCODING);
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let translate = {
        let (raw, is_success) = (raw.clone(), head.status.is_success());
        move || if is_success { translation.translate_answer(&raw) } else { None }
    };
    let translated = proxy.run_by_length(raw.len(), limits, translate).await.flatten();
    let body = if let Some(body) = translated {
        body
    } else if !head.status.is_success() {
        client.error_body(error_kind_of_status(head.status.as_u16()), &error_message_in(&raw))
    } else {
        head.status = StatusCode::BAD_GATEWAY;
        let message = format!("the server's answer is not one of its protocol: {}", error_message_in(&raw));
        client.error_body("api_error", &message)
    };
    reservation.set(body.len());
    Response::from_parts(head, guard_body(Body::from(body), reservation))
}
