//! The API surfaces of model servers, without HTTP.
//!
//! A *protocol* is one way to talk to a model: chat completions, messages, responses, and so on. This crate reads and
//! writes each of them, and it knows one set of neutral types that all of them are read into and written from. It
//! never opens a connection, never judges a tool call and never decides what a client may see; the gateway does.
//!
//! # One request, step by step
//!
//! 1. [`Protocol::from_path`] names the protocol that a request is written in, and [`RequestSummary::read`] extracts the
//!    few members that every request shares: model, tools, whether to stream.
//! 2. [`ProtocolAdapter::repair_history`] walks through the earlier turns and asks a [`HistoryMender`] about every call
//!    and every result in them.
//! 3. If the server speaks another protocol, [`ClientSide::decode_request`] reads the request into the neutral
//!    [`Request`], and the server's [`UpstreamSide::encode_request`] writes it again.
//! 4. The bytes of a stream go through a [`FrameSplitter`], which cuts them into [`Frame`]s. A [`FrameDecoder`] says what each
//!    frame means: a [`DecodedFrame`] with neutral [`Part`]s. Whatever mends the turn answers with [`MendedItem`]s, and a
//!    [`FrameEncoder`] writes those. A frame that needs no change leaves as the bytes that arrived.
//! 5. A whole answer takes the same path in one step: [`ProtocolAdapter::mend_answer`] splits it into parts, hands them to a
//!    [`TurnMender`] and writes the outcome.
//! 6. If client and server speak different protocols, [`UpstreamSide::read_answer`] and [`ClientSide::write_answer`] carry
//!    the finished [`Answer`] across; for streams, the server's decoder feeds the client's encoder.
//!
//! # Layout
//!
//! ```text
//! ids, json, registry, turn ← answer, frame, history, protocol ← request, stream ← adapter ← surfaces/{chat, …}
//! ```
//!
//! [`Protocol`] is a plain `Copy` enum, because configuration, metrics and routing need a value to compare and print. It
//! dereferences to its [`ProtocolAdapter`], so `protocol.framing()` works without one forwarding method per question. The
//! adapter is a table of functions and not an enum with `match` arms, so that everything about one surface is in one folder;
//! and it is not a trait, because each implementation would only forward to a function of its folder. Translation is
//! described by two further tables, [`ClientSide`] and [`UpstreamSide`], because some protocols can only be one of the two: a prompt is not a conversation, so requests to
//! `/v1/completions` are never translated, but a server that only completes text can still serve chat clients.
//!
//! # Adding a surface
//!
//! Create a folder in `src/surfaces`, declare it in `src/surfaces/mod.rs` and add one row to `src/registry.rs`. The
//! compiler asks for the rest; a folder without a row fails the test `every_folder_is_registered`.
//!
//! ```
//! use toolmend_protocol::Protocol;
//!
//! let protocol = Protocol::from_path("/v1/messages").unwrap();
//! assert_eq!(protocol, Protocol::Messages);
//! assert_eq!(protocol.name(), "messages");
//! assert_eq!("ollama".parse(), Ok(Protocol::OllamaChat));
//! ```

#![forbid(unsafe_code)]

mod adapter;
mod answer;
mod capabilities;
mod error;
mod extras;
mod fields;
mod frame;
mod history;
mod ids;
mod json;
mod protocol;
mod registry;
mod request;
mod request_summary;
mod stream;
mod surfaces;
mod surrogates;
mod template;
mod token_counts;
mod turn;

pub use crate::{
    adapter::{
        CallWithResult, ClientSide, ClosingFrames, Credentials, Features, ProtocolAdapter, ProtocolFacts,
        TurnMender, UpstreamHeaders, UpstreamSide,
    },
    answer::{Answer, AnswerEnd, AnswerMeta, AnswerPart, FrameExtras, Usage},
    capabilities::{Capabilities, DocumentSupport, ThinkingControl},
    error::{error_kind_of_status, error_message_in},
    extras::{CallExtras, ExtraMembers},
    frame::{Frame, FrameRole, FrameSplitter, FrameTooLong, Framing, begins_like_event_stream},
    history::{HistoryMender, UNPARSED_INPUT, UNREADABLE_ARGUMENTS},
    ids::{escape_id, new_id, short_id, unescape_id},
    json::Document,
    protocol::Protocol,
    request::{
        Block, Call, DroppedFields, Format, Media, Message, ReasoningSignature, Request, Role, Source,
        Thinking, Tool, ToolChoice, ToolGroup, Untranslatable, join_texts,
    },
    request_summary::RequestSummary,
    stream::{DecodedFrame, FrameDecoder, FrameEncoder, Replacement, SUMMARY_COMMENT},
    surfaces::UnknownProtocol,
    surrogates::SurrogateJoiner,
    token_counts::TokenCounts,
    turn::{Arguments, CallForm, CallKey, CallPiece, MendedItem, OutgoingPart, Part, ReadyCall, StopReason},
};
