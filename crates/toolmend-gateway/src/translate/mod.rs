//! Between surfaces: a client of one in front of a server of another.
//!
//! ```text
//! request:  client's surface ─► neutral request ─► made fit ─► server's surface ─► the usual way
//! answer:   the usual way, on the server's surface ─► neutral turn ─► client's surface
//! ```
//!
//! Calls are judged and mended on the server's side, before translation, so that every pair of surfaces gets the same
//! repairs. What cannot be carried over is refused, or dropped and named in a header.

pub(crate) mod answer;
pub(crate) mod error;
pub(crate) mod fit;
mod fold;
mod names;
pub(crate) mod probe;
mod prompt;
pub(crate) mod read;
pub(crate) mod request;
mod serve;
pub(crate) mod store;
mod stream;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderValue};

use self::answer::{Answer, Aside, Meta, Said, Usage};
use self::fit::{Can, fit};
use self::names::Names;
use self::request::{Block, Call, Losses, Message, Refused, Request, Role};
pub(crate) use self::serve::{HiddenTools, serve};
use self::store::Store;
use crate::config::{ToolMode, Upstream, UpstreamSurface};
use crate::mend::new_id;
use crate::surface::ollama::Form as OllamaForm;
use crate::surface::{Surface, chat, completions, messages, ollama, responses};
use crate::turn::ReadyCall;
use crate::wire::doc::{Doc, View};
use crate::wire::frame::Framing;

/// A surface that is translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wire {
    Chat,
    Messages,
    Responses,
    Ollama,
    Completions,
}

impl Wire {
    /// The surface of a client that can be translated. Prompts are no conversations.
    fn of_client(surface: Surface) -> Option<Wire> {
        match surface {
            Surface::Chat => Some(Wire::Chat),
            Surface::Messages => Some(Wire::Messages),
            Surface::Responses => Some(Wire::Responses),
            Surface::Ollama(OllamaForm::Chat) => Some(Wire::Ollama),
            Surface::Completions | Surface::Ollama(OllamaForm::Generate) => None,
        }
    }

    fn surface(self) -> Surface {
        match self {
            Wire::Chat => Surface::Chat,
            Wire::Messages => Surface::Messages,
            Wire::Responses => Surface::Responses,
            Wire::Ollama => Surface::Ollama(OllamaForm::Chat),
            Wire::Completions => Surface::Completions,
        }
    }

    fn framing(self) -> Framing {
        self.surface().framing()
    }

    fn path(self) -> &'static str {
        match self {
            Wire::Chat => "/v1/chat/completions",
            Wire::Messages => "/v1/messages",
            Wire::Responses => "/v1/responses",
            Wire::Ollama => "/api/chat",
            Wire::Completions => "/v1/completions",
        }
    }

    fn content_type(self) -> &'static str {
        match self.framing() {
            Framing::Sse => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
        }
    }

    fn new_id(self) -> String {
        match self {
            Wire::Chat | Wire::Completions | Wire::Ollama => new_id("chatcmpl-"),
            Wire::Messages => new_id("msg_"),
            Wire::Responses => new_id("resp_"),
        }
    }

    pub(crate) fn decode(self, root: View<'_>, losses: &mut Losses) -> Result<Request, Refused> {
        match self {
            Wire::Chat => chat::request::decode(root),
            Wire::Messages => messages::request::decode(root, losses),
            Wire::Responses => responses::request::decode(root, losses),
            Wire::Ollama => Ok(ollama::request::decode(root)),
            Wire::Completions => Err(Refused::new("a prompt is no conversation")),
        }
    }

    /// Writes a request that is fit for the surface.
    pub(crate) fn encode(self, request: &Request, vendor: bool) -> String {
        match self {
            Wire::Chat => chat::request::encode(request, vendor),
            Wire::Messages => messages::request::encode(request),
            Wire::Responses => responses::request::encode(request),
            Wire::Ollama => ollama::request::encode(request),
            Wire::Completions => template::encode(request),
        }
    }

    pub(crate) fn read(self, root: View<'_>) -> Option<Answer> {
        match self {
            Wire::Chat => chat::answer::read(root),
            Wire::Messages => messages::answer::read(root),
            Wire::Responses => responses::answer::read(root),
            Wire::Ollama => ollama::answer::read(root),
            Wire::Completions => completions::answer::read(root),
        }
    }

    pub(crate) fn write(self, answer: &Answer) -> String {
        match self {
            Wire::Chat | Wire::Completions => chat::answer::write(answer),
            Wire::Messages => messages::answer::write(answer),
            Wire::Responses => responses::answer::write(answer),
            Wire::Ollama => ollama::answer::write(answer),
        }
    }

    /// What a frame tells beside its parts.
    fn aside(self, root: View<'_>) -> Aside {
        match self {
            Wire::Chat => chat::answer::aside(root),
            Wire::Messages => messages::answer::aside(root),
            Wire::Responses => responses::answer::aside(root),
            Wire::Ollama => ollama::answer::aside(root),
            Wire::Completions => completions::answer::aside(root),
        }
    }

    fn add_counts(self, root: View<'_>, usage: &mut Usage) {
        match self {
            Wire::Chat | Wire::Completions => chat::answer::add_counts(root, usage),
            Wire::Messages => messages::answer::add_event_counts(root, usage),
            Wire::Responses => responses::answer::add_counts(root, usage),
            Wire::Ollama => ollama::answer::add_counts(root, usage),
        }
    }
}

/// How a server is to be spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    /// The surface that is configured; none where it has to be found out.
    wire: Option<Wire>,
    tools: ToolMode,
    /// Models that take no tools, whatever the others do.
    prompt_models: Vec<String>,
    dialect: Option<String>,
    pub(crate) known: Arc<probe::Known>,
    /// The server is a vendor's own.
    vendor: bool,
    /// Whether system prompts in the middle of conversations are folded into turns of the user.
    folds: bool,
}

impl Way {
    pub(crate) fn new(upstream: &Upstream, host: &str) -> Self {
        let wire = match upstream.surface {
            UpstreamSurface::Auto => None,
            UpstreamSurface::Chat => Some(Wire::Chat),
            UpstreamSurface::Messages => Some(Wire::Messages),
            UpstreamSurface::Responses => Some(Wire::Responses),
            UpstreamSurface::Ollama => Some(Wire::Ollama),
            UpstreamSurface::Completions => Some(Wire::Completions),
        };
        let vendor = ["api.openai.com", "api.anthropic.com"].contains(&host);
        Way {
            wire,
            folds: upstream.fold_system.unwrap_or(!vendor),
            tools: upstream.tools,
            prompt_models: upstream.prompt_models.clone(),
            dialect: upstream.dialect.clone(),
            known: Arc::default(),
            vendor,
        }
    }

    /// Whether the tools of this model are written into its prompt.
    fn prompts(&self, model: &str) -> bool {
        let named = self.prompt_models.iter().any(|pattern| crate::upstream::matches(pattern, model));
        self.tools == ToolMode::Prompt || self.wire == Some(Wire::Completions) || named
    }
}

/// How one request is translated, and its answer.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    client: Wire,
    upstream: Wire,
    names: Names,
    /// As the client calls it.
    model: String,
    /// Whether the client wants counts at the end of a stream.
    counts: bool,
    losses: Losses,
    /// Where the conversation is kept, what was said before, and how many are kept.
    store: Option<(Arc<Store>, Vec<Message>, usize)>,
}

impl Plan {
    fn meta(&self) -> Meta {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Meta { id: self.client.new_id(), model: self.model.clone(), created }
    }

    /// Whether what is said has to be remembered.
    fn keeps(&self) -> bool {
        self.store.is_some()
    }

    /// A call as the client has to get it. Text where its arguments are none that the surface could carry.
    fn call(&self, call: ReadyCall) -> Result<ReadyCall, String> {
        let mut call = self.names.back(call);
        if call.form != crate::turn::Form::Custom && call.arguments.trim().is_empty() {
            "{}".clone_into(&mut call.arguments);
        }
        let embedded = matches!(self.client, Wire::Messages | Wire::Ollama);
        if embedded && serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_err() {
            return Err(format!("{}({})", call.name, call.arguments));
        }
        let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if call.id.is_empty() {
            call.id = new_id("call_");
        } else if self.client == Wire::Messages && !call.id.bytes().all(word) {
            call.id = format!("toolu_{}", crate::history::short_id(&call.id));
        }
        Ok(call)
    }

    /// A whole answer, in the client's words. None where it is none.
    fn answer(&self, body: &Bytes) -> Option<String> {
        let doc = Doc::parse(body)?;
        let mut answer = self.upstream.read(doc.root())?;
        let model = std::mem::take(&mut answer.meta.model);
        answer.meta = self.meta();
        if !model.is_empty() {
            answer.meta.model = model;
        }
        let said = std::mem::take(&mut answer.said);
        answer.said = said
            .into_iter()
            .map(|said| match said {
                Said::Call(call) => self.call(call).map_or_else(Said::Text, Said::Call),
                other => other,
            })
            .collect();
        let calls = answer.calls().next().is_some();
        answer.end = std::mem::take(&mut answer.end).with_calls(calls);
        self.keep(&answer);
        Some(self.client.write(&answer))
    }

    /// Keeps what was said for requests that go on from here.
    fn keep(&self, answer: &Answer) {
        let Some((store, before, most)) = &self.store else { return };
        let blocks = answer.said.iter().map(|said| match said {
            Said::Text(text) => Block::Text(text.clone()),
            Said::Reasoning(text) => Block::Reasoning { text: text.clone(), seal: None },
            Said::Call(call) => Block::Call(Call {
                id: call.id.clone(),
                name: call.name.clone(),
                form: call.form.clone(),
                arguments: call.arguments.clone(),
            }),
        });
        let turn = Message::new(Role::Assistant, blocks.collect());
        let messages = before.iter().cloned().chain([turn]).collect();
        store.keep(&answer.meta.id, messages, *most);
    }
}

/// The headers of a request for a server of this surface.
pub(crate) fn headers_for(wire: Wire, headers: &HeaderMap) -> HeaderMap {
    let mut out = headers.clone();
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let plain = headers.get("x-api-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
    if wire == Wire::Messages {
        out.entry("anthropic-version").or_insert(HeaderValue::from_static("2023-06-01"));
        if let (None, Some(Ok(key))) = (&plain, bearer.map(|key| key.parse())) {
            out.insert("x-api-key", key);
        }
    } else {
        let vendors: Vec<_> =
            out.keys().filter(|name| name.as_str().starts_with("anthropic-")).cloned().collect();
        for name in vendors {
            out.remove(name);
        }
        out.remove("x-api-key");
        if let (None, Some(Ok(key))) = (bearer, plain.map(|key| format!("Bearer {key}").parse())) {
            out.insert(AUTHORIZATION, key);
        }
    }
    out.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    out.remove(CONTENT_ENCODING);
    out
}

/// A request on its way to a server of another surface.
struct Translated {
    plan: Plan,
    body: String,
    /// The tools, where only the gateway may know them.
    tools: Option<Bytes>,
}

/// Translates a request.
fn translate(
    client: Wire,
    upstream: Wire,
    root: View<'_>,
    way: &Way,
    store: Option<(&Arc<Store>, usize)>,
) -> Result<Translated, Refused> {
    let mut losses = Losses::default();
    let mut request = client.decode(root, &mut losses)?;
    if let Some((store, _)) = store
        && let Some(id) = request.previous.take()
    {
        let before = store.get(&id).ok_or_else(|| {
            Refused::new(format!(
                "previous_response_id: no answer {id:?} is kept here; send the whole conversation as `input`"
            ))
        })?;
        // Instructions are not carried over from one response to the next.
        let own = request.messages.iter().take_while(|message| message.role == Role::System).count().min(1);
        let kept = before.iter().filter(|message| message.role != Role::System).cloned();
        request.messages.splice(own..own, kept.collect::<Vec<_>>());
    }
    let store = store.map(|(store, most)| (Arc::clone(store), request.messages.clone(), most));
    let can = Can::of(upstream);
    let can = if way.vendor { can.vendor() } else { can };
    let can = Can { mid_system: !way.folds && upstream != Wire::Completions, ..can };
    let (model, counts) = (request.model.clone(), request.counts);
    let (mut fitted, names) = fit(request, &can, &mut losses)?;
    let mut tools = None;
    if way.prompts(&model) && prompt::is_needed(&fitted) {
        tools = prompt::write_tools(&mut fitted, way.dialect.as_deref());
        (fitted, _) = fit(fitted, &can, &mut losses)?;
    }
    let body = upstream.encode(&fitted, way.vendor);
    Ok(Translated { plan: Plan { client, upstream, names, model, counts, losses, store }, body, tools })
}
