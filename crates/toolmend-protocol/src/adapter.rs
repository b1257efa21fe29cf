//! What the folder of one protocol declares.
//!
//! The tables say what the gateway may ask a protocol. They never hold state: a stream's state is in its decoder and
//! encoder, and a conversation's state is in the request.

use bytes::Bytes;

use crate::answer::{Answer, AnswerMeta, FrameExtras, Usage};
use crate::capabilities::Capabilities;
use crate::extras::CallExtras;
use crate::frame::{Frame, Framing};
use crate::history::{HistoryMender, append_messages, append_turns};
use crate::json::{ValueRef, quote};
use crate::request::{Block, Call, DroppedFields, Message, Request, Role, Untranslatable};
use crate::stream::{FrameDecoder, FrameEncoder, summary_comment};
use crate::turn::{CallForm, MendedItem, Part};

/// The facts about a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtocolFacts {
    /// The name in logs, metrics and the journal.
    pub name: &'static str,
    /// The value in configuration files and flags. `None`: servers cannot be configured to speak this protocol.
    pub config_name: Option<&'static str>,
    /// The paths of its requests. The first is the one that requests are sent to.
    pub paths: &'static [&'static str],
    /// The beginning of other paths whose clients read this protocol's errors, for requests that only pass through.
    pub path_prefix: Option<&'static str>,
    /// How a stream is divided into frames.
    pub framing: Framing,
    /// What decides how its turns are mended.
    pub features: Features,
}

/// Facts about a protocol that decide how its turns are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about the protocol")]
pub struct Features {
    /// Requests can declare tools. Otherwise the tools of a request are for the gateway alone, and calls stay text.
    pub declares_tools: bool,
    /// There is a stop reason for turns that end in calls.
    pub has_stop_reason_for_calls: bool,
    /// The arguments of a call can be sent in pieces.
    pub streams_arguments: bool,
    /// Answers are streamed unless the request says otherwise.
    pub streams_by_default: bool,
    /// Agents of this protocol give up if an answer says that it ended at the token limit, whatever else it says.
    pub limit_ends_agents: bool,
}

/// Mends a turn that arrived as a whole.
///
/// The gateway implements this; a protocol only splits its answer into parts and writes the result. That keeps judgement
/// out of this crate and the wire format out of the gateway.
pub trait TurnMender {
    /// Mends the parts of one choice. The items of the result are positions in `parts`.
    fn mend_parts(&mut self, parts: Vec<Part>) -> Vec<MendedItem<usize>>;
    /// Records that the form of the answer was corrected although no call needed a repair.
    fn record_form_fix(&mut self);
}

/// Everything that is specific to one protocol.
///
/// A table of the functions in the protocol's folder. The methods call them.
#[derive(Debug)]
pub struct ProtocolAdapter {
    /// The facts about the protocol.
    pub(crate) facts: ProtocolFacts,
    /// Writes an error body from its kind and its message.
    pub(crate) error_body: fn(&str, &str) -> String,
    pub(crate) decoder: fn() -> Box<dyn FrameDecoder>,
    pub(crate) encoder: fn() -> Box<dyn FrameEncoder>,
    pub(crate) mend_answer: fn(ValueRef<'_>, &mut dyn TurnMender) -> Option<String>,
    /// Writes a whole answer as the frames of a stream; the last argument says whether the client asked for token counts. The function
    /// returns `None` if the document is not an answer. `None`: a whole answer is a stream already.
    pub(crate) write_frames: Option<fn(ValueRef<'_>, bool) -> Option<AnswerFrames>>,
    pub(crate) conversation: Conversation,
    /// `None`: system prompts between other messages stay where they are.
    pub(crate) inner_system_prompts: Option<InnerSystemPrompts>,
    /// `None`: requests of clients cannot be translated.
    pub(crate) client_side: Option<&'static ClientSide>,
    /// `None`: requests are never translated to this protocol.
    pub(crate) upstream_side: Option<&'static UpstreamSide>,
}

/// How a request holds its conversation.
#[derive(Debug)]
pub(crate) enum Conversation {
    /// A list of turns.
    Turns {
        /// The member of the request that is the list.
        member: &'static str,
        /// Repairs the list, which is the second argument; the first is the request. `None`: it stays as it is.
        repair: fn(ValueRef<'_>, ValueRef<'_>, &dyn HistoryMender) -> Option<String>,
        /// Writes a turn as items of the list.
        write: fn(&Message, &mut Vec<String>),
    },
    /// A prompt, whose turns cannot be told apart.
    Prompt {
        /// Returns the prompt of the request with the model's answer and feedback on it at its end. `None` if it is unknown
        /// how the prompt continues.
        append: fn(ValueRef<'_>, &str, &str) -> Option<String>,
    },
}

/// How system prompts between other messages are found and moved.
#[derive(Debug)]
pub(crate) struct InnerSystemPrompts {
    /// Whether a body may hold one, as far as a quick check can tell.
    pub(crate) may_exist: fn(&[u8]) -> bool,
    /// Writes a request without them. `None`: there are none.
    pub(crate) inline: fn(ValueRef<'_>) -> Option<String>,
}

impl ProtocolAdapter {
    /// Returns the facts about the protocol.
    pub fn facts(&self) -> &ProtocolFacts {
        &self.facts
    }

    /// Returns the name in logs, metrics and the journal.
    pub fn name(&self) -> &'static str {
        self.facts.name
    }

    /// Returns the value in configuration files and flags, if servers can be configured to speak this protocol.
    pub fn config_name(&self) -> Option<&'static str> {
        self.facts.config_name
    }

    /// Returns the paths of its requests. The first is the one that requests are sent to.
    pub fn paths(&self) -> &'static [&'static str] {
        self.facts.paths
    }

    /// Returns how a stream is divided into frames.
    pub fn framing(&self) -> Framing {
        self.facts.framing
    }

    /// Returns what decides how its turns are mended.
    pub fn features(&self) -> Features {
        self.facts.features
    }

    /// Writes an error body in the form that clients of this protocol read.
    pub fn error_body(&self, kind: &str, message: &str) -> String {
        (self.error_body)(kind, message)
    }

    /// Returns a decoder for one stream.
    pub fn decoder(&self) -> Box<dyn FrameDecoder> {
        (self.decoder)()
    }

    /// Returns an encoder for one stream.
    pub fn encoder(&self) -> Box<dyn FrameEncoder> {
        (self.encoder)()
    }

    /// Mends a whole answer. `None`: it stays as it is.
    pub fn mend_answer(&self, root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
        (self.mend_answer)(root, mender)
    }

    /// Writes a whole answer as a stream; `summary` says what was mended. `None` if the document is not an answer, or is a stream already.
    pub fn write_as_stream(
        &self,
        root: ValueRef<'_>,
        wants_usage: bool,
        summary: Option<&str>,
    ) -> Option<Bytes> {
        let AnswerFrames { frames, end } = (self.write_frames?)(root, wants_usage)?;
        let mut out: Vec<Bytes> = frames.into_iter().map(|frame| frame.raw).collect();
        out.extend(summary.map(summary_comment));
        out.push(end.raw);
        Some(out.concat().into())
    }

    /// Repairs the earlier turns of a request. Returns the member that changes and its new value.
    pub fn repair_history(
        &self,
        root: ValueRef<'_>,
        mender: &dyn HistoryMender,
    ) -> Option<(&'static str, String)> {
        match self.conversation {
            Conversation::Turns { member, repair, .. } => {
                Some((member, repair(root, root.get(member)?, mender)?))
            }
            Conversation::Prompt { .. } => None,
        }
    }

    /// Writes the request again with the model's answer and feedback on it as the next two turns. `None` if it is unknown
    /// how the conversation continues.
    pub fn append_feedback(&self, root: ValueRef<'_>, answer: &str, feedback: &str) -> Option<String> {
        match self.conversation {
            Conversation::Turns { member, .. } => append_turns(root, member, answer, feedback),
            Conversation::Prompt { append } => {
                let prompt = append(root, answer, feedback)?;
                Some(root.with(&[("prompt", Some(quote(&prompt)))]))
            }
        }
    }

    /// Writes the request again with a turn of calls and the results of the calls as the next two turns. `None` if its
    /// conversation has no place for calls.
    pub fn append_calls(&self, root: ValueRef<'_>, calls: &[CallWithResult]) -> Option<String> {
        let Conversation::Turns { member, write, .. } = self.conversation else { return None };
        let written = calls.iter().map(|CallWithResult { id, tool, arguments, .. }| {
            let (id, name, arguments) = (id.clone(), tool.clone(), arguments.clone());
            Block::Call(Call { id, name, arguments, form: CallForm::Function, extras: CallExtras::default() })
        });
        let results = calls.iter().map(|call| Block::Result {
            id: call.id.clone(),
            name: Some(call.tool.clone()),
            content: vec![Block::Text(call.result.clone())],
            error: true,
            custom: false,
        });
        let mut items = Vec::new();
        write(&Message::new(Role::Assistant, written.collect()), &mut items);
        write(&Message::new(Role::Tool, results.collect()), &mut items);
        append_messages(root, member, items)
    }

    /// Whether a request may hold system prompts between other messages, which [`Self::inline_system_prompts`] would move. A
    /// quick check: most requests are not parsed for this.
    pub fn may_have_inner_system_prompts(&self, body: &[u8]) -> bool {
        self.inner_system_prompts.as_ref().is_some_and(|prompts| (prompts.may_exist)(body))
    }

    /// Rewrites system prompts between other messages as reminders in the user's turns. `None`: there are none.
    pub fn inline_system_prompts(&self, root: ValueRef<'_>) -> Option<String> {
        (self.inner_system_prompts.as_ref()?.inline)(root)
    }

    /// Returns what translation needs if a client speaks this protocol. `None`: such requests cannot be translated.
    pub fn client_side(&self) -> Option<&'static ClientSide> {
        self.client_side
    }

    /// Returns what translation needs if a server speaks this protocol. `None`: requests are never translated to it.
    pub fn upstream_side(&self) -> Option<&'static UpstreamSide> {
        self.upstream_side
    }
}

/// A call that failed, with the result that says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallWithResult {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// A JSON object as text.
    pub arguments: String,
    /// What the model is told.
    pub result: String,
}

/// What translation needs from the client's protocol.
#[derive(Debug, Clone, Copy)]
pub struct ClientSide {
    /// Reads a request into neutral terms. Fails if it holds something that no other protocol can express.
    pub decode_request: fn(ValueRef<'_>, &mut DroppedFields) -> Result<Request, Untranslatable>,
    /// Writes a whole answer.
    pub write_answer: fn(&Answer) -> String,
    /// Returns the frames that a stream begins with.
    pub opening_frames: fn(&AnswerMeta, Usage) -> Vec<Frame>,
    /// Returns the frames that the stream of this answer ends with. The last argument says whether the client asked for
    /// token counts.
    pub closing_frames: fn(&Answer, bool) -> ClosingFrames,
    /// The prefix of the ids of its answers.
    pub answer_id_prefix: &'static str,
    /// Whether arguments are JSON inside of the answer, so that text that is not JSON would break it.
    pub embeds_arguments: bool,
    /// The prefix of replacement ids, if call ids may only have letters, digits, `_` and `-`.
    pub restricted_call_id_prefix: Option<&'static str>,
    /// Whether requests may refer to an earlier answer by its id.
    pub continues_earlier_answers: bool,
}

/// A whole answer as the frames of a stream.
#[derive(Debug)]
pub(crate) struct AnswerFrames {
    /// All frames but the last.
    pub(crate) frames: Vec<Frame>,
    /// The last frame.
    pub(crate) end: Frame,
}

/// The frames that a stream ends with.
#[derive(Debug)]
pub struct ClosingFrames {
    /// Frames before the end.
    pub frames: Vec<Frame>,
    /// The frame of the end itself, if it repeats what was said.
    pub end: Option<Frame>,
}

/// What translation needs from the server's protocol.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamSide {
    /// What requests can express.
    pub capabilities: Capabilities,
    /// The headers that its servers expect.
    pub headers: UpstreamHeaders,
    /// Writes a request that holds nothing beyond the capabilities. The last argument says whether the server is the vendor's
    /// own.
    pub encode_request: fn(&Request, bool) -> String,
    /// Reads a whole answer. `None`: the document is not an answer of this protocol.
    pub read_answer: fn(ValueRef<'_>) -> Option<Answer>,
    /// Reads what a frame carries beside the parts that the decoder finds in it.
    pub read_frame_extras: fn(ValueRef<'_>) -> FrameExtras,
    /// Adds the token counts of an answer or a frame.
    pub add_usage: fn(ValueRef<'_>, &mut Usage),
}

/// The headers that servers of a protocol expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpstreamHeaders {
    /// Where the key goes.
    pub credentials: Credentials,
    /// The beginning of the names of headers that only these servers know; others never get them.
    pub vendor_prefix: Option<&'static str>,
    /// Headers that are added if the client did not send them.
    pub defaults: &'static [(&'static str, &'static str)],
}

impl UpstreamHeaders {
    /// A bearer token, and nothing that only one vendor knows.
    pub const BEARER: UpstreamHeaders =
        UpstreamHeaders { credentials: Credentials::Bearer, vendor_prefix: None, defaults: &[] };
}

/// The header that a key is sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// `authorization: Bearer …`
    Bearer,
    /// `x-api-key: …`
    ApiKey,
}
