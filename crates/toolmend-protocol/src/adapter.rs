//! What the folder of one protocol implements.
//!
//! The trait and the tables say what the gateway may ask a protocol. They never hold state: a stream's state is in its decoder and
//! encoder, and a conversation's state is in the request.

use crate::answer::{Answer, AnswerMeta, FrameExtras, Usage};
use crate::capabilities::Capabilities;
use crate::frame::{Frame, Framing};
use crate::history::HistoryMender;
use crate::json::ValueRef;
use crate::request::{DroppedFields, Request, Untranslatable};
use crate::stream::{FrameDecoder, FrameEncoder};
use crate::turn::{MendedItem, Part};

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
pub trait ProtocolAdapter: Sync {
    /// Returns the facts about the protocol.
    fn facts(&self) -> &'static ProtocolFacts;
    /// Returns the name in logs, metrics and the journal.
    fn name(&self) -> &'static str {
        self.facts().name
    }
    /// Returns the value in configuration files and flags, if servers can be configured to speak this protocol.
    fn config_name(&self) -> Option<&'static str> {
        self.facts().config_name
    }
    /// Returns the paths of its requests. The first is the one that requests are sent to.
    fn paths(&self) -> &'static [&'static str] {
        self.facts().paths
    }
    /// Returns how a stream is divided into frames.
    fn framing(&self) -> Framing {
        self.facts().framing
    }
    /// Returns what decides how its turns are mended.
    fn features(&self) -> Features {
        self.facts().features
    }

    /// Writes an error body in the form that clients of this protocol read.
    fn error_body(&self, kind: &str, message: &str) -> String;
    /// Returns a decoder for one stream.
    fn decoder(&self) -> Box<dyn FrameDecoder>;
    /// Returns an encoder for one stream.
    fn encoder(&self) -> Box<dyn FrameEncoder>;

    /// Mends a whole answer. `None`: it stays as it is.
    fn mend_answer(&self, root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String>;
    /// Repairs the earlier turns of a request. Returns the member that changes and its new value.
    fn repair_history(
        &self,
        root: ValueRef<'_>,
        mender: &dyn HistoryMender,
    ) -> Option<(&'static str, String)>;
    /// Writes the request again with the model's answer and feedback on it as the next two turns. `None` if it is unknown
    /// how the conversation continues.
    fn append_feedback(&self, root: ValueRef<'_>, answer: &str, feedback: &str) -> Option<String>;
    /// Whether a request may hold system prompts between other messages, which [`Self::inline_system_prompts`] would move. A
    /// quick check: most requests are not parsed for this.
    fn may_have_inner_system_prompts(&self, _body: &[u8]) -> bool {
        false
    }
    /// Rewrites system prompts between other messages as reminders in the user's turns. `None`: there are none.
    fn inline_system_prompts(&self, _root: ValueRef<'_>) -> Option<String> {
        None
    }

    /// Returns what translation needs if a client speaks this protocol. `None`: such requests cannot be translated.
    fn client_side(&self) -> Option<&'static ClientSide>;
    /// Returns what translation needs if a server speaks this protocol. `None`: requests are never translated to it.
    fn upstream_side(&self) -> Option<&'static UpstreamSide>;
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
