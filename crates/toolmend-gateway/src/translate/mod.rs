//! Translation: a client of one protocol in front of a server that speaks another.
//!
//! ```text
//! request:  decode_request ─► Request ─► restrict ─► encode_request ─► mended and sent like any other request
//! answer:   read_answer or FrameDecoder ─► neutral parts ─► write_answer or FrameEncoder
//! ```
//!
//! - **Around, not inside.** Translation happens before and after the path that every request takes. Calls are judged on
//!   the server's side, so a repair, a refusal and a second try are the same for every pair of protocols, and a request
//!   that needs no translation is not touched.
//! - **`restrict` is the only place that loses anything.** What the server's protocol cannot express is expressed in
//!   another way, dropped by name (`x-toolmend-warning`), or rejected.
//! - **Names have a table for each request** (`names`). Ids that one side does not accept are escaped, so that the
//!   other side gets its own ids back: some models depend on them.
//! - **Tools in prompts** (`tool_prompt`) are written after the restriction, in the dialect of the model.
//!
//! Nothing here sends or receives; `proxy` does.

mod form;
mod names;
mod restrict;
mod store;
mod stream;
#[cfg(test)]
mod tests;
mod tool_prompt;

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use toolmend_json::ValueRef;
use toolmend_protocol::{
    Answer, AnswerMeta, AnswerPart, Block, Call, CallForm, ClientSide, Document, DroppedFields, Message,
    Protocol, ReadyCall, Role, Untranslatable, UpstreamHeaders, UpstreamSide, escape_id, new_id, unescape_id,
};

pub(crate) use self::form::stream_to_whole;
pub(crate) use self::store::{ConversationStore, OwnConversations};
pub(crate) use self::stream::StreamTranslator;

use self::names::ToolNames;
use self::restrict::restrict_request;
use crate::upstream::UpstreamProfile;

/// The two protocols of a translation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProtocolPair {
    pub(crate) client: Protocol,
    pub(crate) upstream: Protocol,
    client_side: &'static ClientSide,
    upstream_side: &'static UpstreamSide,
}

impl ProtocolPair {
    /// Returns the pair, if requests can be translated between the two.
    pub(crate) fn new(client: Protocol, upstream: Protocol) -> Option<ProtocolPair> {
        let (client_side, upstream_side) = (client.client_side()?, upstream.upstream_side()?);
        Some(ProtocolPair { client, upstream, client_side, upstream_side })
    }
}

/// Where a conversation is kept for requests that continue it.
#[derive(Debug, Clone)]
struct KeptConversation {
    store: OwnConversations,
    /// The conversation before the answer.
    messages: Vec<Message>,
}

/// How one request was translated, and how its answer has to be.
#[derive(Debug, Clone)]
pub(crate) struct Translation {
    pub(crate) protocols: ProtocolPair,
    names: ToolNames,
    /// The model, as the client calls it.
    model: String,
    /// Whether the client wants token counts at the end of a stream.
    wants_usage: bool,
    /// What was dropped.
    pub(crate) dropped: DroppedFields,
    conversation: Option<KeptConversation>,
}

impl Translation {
    /// Returns the translation of an answer that stays in its protocol and only arrives in another form.
    pub(crate) fn within(protocol: Protocol, wants_usage: bool) -> Option<Self> {
        Some(Translation {
            protocols: ProtocolPair::new(protocol, protocol)?,
            names: ToolNames::default(),
            model: String::new(),
            wants_usage,
            dropped: DroppedFields::default(),
            conversation: None,
        })
    }

    /// Whether both sides speak the same protocol, so that nothing of a call has to change.
    fn is_within_protocol(&self) -> bool {
        self.protocols.client == self.protocols.upstream
    }

    /// Returns the headers that the server expects.
    pub(crate) fn upstream_headers(&self) -> UpstreamHeaders {
        self.protocols.upstream_side.headers
    }

    /// Returns what a new answer says about itself.
    fn new_meta(&self) -> AnswerMeta {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let id = new_id(self.protocols.client_side.answer_id_prefix);
        AnswerMeta { id, model: self.model.clone(), created }
    }

    /// Whether the answer has to be remembered.
    fn keeps_conversation(&self) -> bool {
        self.conversation.is_some()
    }

    /// Returns a call as the client has to receive it. If the client's protocol cannot carry its arguments, returns text.
    fn restore_call(&self, call: ReadyCall) -> Result<ReadyCall, String> {
        let mut call = self.names.restore_call(call);
        if !self.is_within_protocol() {
            call.extras = std::mem::take(&mut call.extras).into_portable();
        }
        if call.form != CallForm::Custom && call.arguments.trim().is_empty() {
            "{}".clone_into(&mut call.arguments);
        }
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
        if self.protocols.client_side.embeds_arguments && !is_json() {
            return Err(format!("{}({})", call.name, call.arguments));
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if call.id.is_empty() {
            call.id = new_id("call_");
        } else if let Some(prefix) = self.protocols.client_side.restricted_call_id_prefix
            && !call.id.bytes().all(is_word)
            && !self.is_within_protocol()
        {
            call.id = escape_id(prefix, &call.id);
        }
        Ok(call)
    }

    /// Translates a whole answer. `None` if the body is not an answer of the server's protocol.
    pub(crate) fn translate_answer(&self, body: &Bytes) -> Option<String> {
        let doc = Document::parse(body)?;
        let mut answer = (self.protocols.upstream_side.read_answer)(doc.root())?;
        let model = std::mem::take(&mut answer.meta.model);
        answer.meta = self.new_meta();
        if !model.is_empty() {
            answer.meta.model = model;
        }
        let restored = std::mem::take(&mut answer.parts).into_iter().map(|part| match part {
            AnswerPart::Call(call) => self.restore_call(call).map_or_else(AnswerPart::Text, AnswerPart::Call),
            other => other,
        });
        answer.parts = restored.collect();
        let has_calls = answer.calls().next().is_some();
        answer.end = std::mem::take(&mut answer.end).with_calls(has_calls);
        self.keep_conversation(&answer);
        Some((self.protocols.client_side.write_answer)(&answer))
    }

    /// Keeps the conversation with its answer, for requests that continue it.
    fn keep_conversation(&self, answer: &Answer) {
        let Some(KeptConversation { store, messages }) = &self.conversation else { return };
        let blocks = answer.parts.iter().map(|part| match part {
            AnswerPart::Text(text) => Block::Text(text.clone()),
            AnswerPart::Reasoning(text) => Block::Reasoning { text: text.clone(), seal: None },
            AnswerPart::Call(call) => Block::Call(Call {
                id: call.id.clone(),
                name: call.name.clone(),
                form: call.form.clone(),
                arguments: call.arguments.clone(),
                extras: call.extras.clone(),
            }),
        });
        let turn = Message::new(Role::Assistant, blocks.collect());
        let messages = messages.iter().cloned().chain([turn]).collect();
        store.keep(&answer.meta.id, messages);
    }
}

/// Restores the ids that the server wrote, where the client knows them by another one.
fn restore_ids(messages: &mut [Message]) {
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Block::Call(Call { id, .. }) | Block::Result { id, .. } = block
            && let Some(original) = unescape_id(id)
        {
            *id = original;
        }
    }
}

/// A translated request.
pub(crate) struct TranslatedRequest {
    pub(crate) translation: Translation,
    pub(crate) body: String,
    /// The tools, if they are in the prompt and only the gateway may know them.
    pub(crate) hidden_tools: Option<Bytes>,
}

/// Translates a request. `store` keeps conversations that can be continued.
pub(crate) fn translate_request(
    protocols: ProtocolPair,
    root: ValueRef<'_>,
    profile: &UpstreamProfile,
    store: Option<&OwnConversations>,
) -> Result<TranslatedRequest, Untranslatable> {
    let ProtocolPair { client_side, upstream_side, .. } = protocols;
    let store = store.filter(|_| client_side.continues_earlier_answers);
    let mut dropped = DroppedFields::default();
    let mut request = (client_side.decode_request)(root, &mut dropped)?;
    restore_ids(&mut request.messages);
    if let Some(store) = store
        && let Some(id) = request.previous_answer.take()
    {
        let before = store.get(&id).ok_or_else(|| {
            Untranslatable::new(format!(
                "previous_response_id: no answer {id:?} is stored here; send the whole conversation as `input`"
            ))
        })?;
        // Instructions are not carried over from one response to the next.
        let own = request.messages.iter().take_while(|message| message.role == Role::System).count().min(1);
        let kept = before.iter().filter(|message| message.role != Role::System).cloned();
        request.messages.splice(own..own, kept.collect::<Vec<_>>());
    }
    let conversation =
        store.map(|store| KeptConversation { store: store.clone(), messages: request.messages.clone() });
    let mut target = upstream_side.capabilities;
    if profile.is_vendor {
        target = target.for_vendor();
    }
    target.inner_system_prompts &= !profile.inlines_system_prompts;
    let (model, wants_usage) = (request.model.clone(), request.wants_usage);
    let (mut request, names) = restrict_request(request, &target, &mut dropped)?;
    let mut hidden_tools = None;
    if profile.writes_tools_into_prompt(&model) && tool_prompt::is_needed(&request) {
        hidden_tools = tool_prompt::write_tools_into_prompt(&mut request, profile.dialect.as_deref());
        (request, _) = restrict_request(request, &target, &mut dropped)?;
    }
    let body = (upstream_side.encode_request)(&request, profile.is_vendor);
    let translation = Translation { protocols, names, model, wants_usage, dropped, conversation };
    Ok(TranslatedRequest { translation, body, hidden_tools })
}
