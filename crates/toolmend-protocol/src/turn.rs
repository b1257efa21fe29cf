//! A turn of a model in neutral terms: what decoders produce and encoders write.
//!
//! Parts come in, [`MendedItem`]s go out. Nothing here knows how a protocol spells any of it.

use crate::extras::CallExtras;

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The model was finished.
    End,
    /// The model wants its calls to be run.
    Calls,
    /// The token limit truncated the turn.
    Length,
    /// A reason that only the protocol itself has a word for.
    Other,
}

/// Which call a piece belongs to, as far as the server says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallKey {
    /// The position of the call in its turn.
    pub index: Option<u64>,
    /// The id of the call.
    pub id: Option<String>,
}

/// Arguments of a call, as they travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// The next piece of the argument text.
    Piece(String),
    /// The complete arguments; they replace all earlier pieces.
    Whole(String),
}

/// One piece of a call that the server recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallPiece {
    /// The call that it belongs to.
    pub key: CallKey,
    /// The name of the tool, if the piece has one.
    pub name: Option<String>,
    /// Arguments, if the piece has any.
    pub arguments: Option<Arguments>,
    /// Whether the piece is written in the form that every client reads.
    pub exact: bool,
    /// Whether this is the last piece of its call.
    pub last: bool,
    /// What else the piece carries.
    pub extras: CallExtras,
}

/// What one item of the wire (a frame, a block, a member) means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text for the user.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A piece of a call.
    Call(CallPiece),
    /// The end of the turn.
    Stop(StopReason),
    /// Something that is not mended; it keeps its position.
    Opaque,
}

/// How a tool is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum CallForm {
    /// With an object of arguments.
    #[default]
    Function,
    /// With an object of arguments; the tool belongs to the group of this name.
    Grouped(String),
    /// With free text.
    Custom,
}

/// A call that may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadyCall {
    /// Its id, which is never empty once the call leaves the gateway.
    pub id: String,
    /// The name of the declared tool.
    pub name: String,
    /// A JSON object as text, or free text if `form` says so.
    pub arguments: String,
    /// The form in which the client declared the tool.
    pub form: CallForm,
    /// What else the server's call carried.
    pub extras: CallExtras,
}

/// What an encoder writes in place of an item that could not stay unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutgoingPart {
    /// Text for the user.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A complete call.
    Call(ReadyCall),
    /// The start of a call with the first piece of its arguments. More pieces follow, then the end.
    CallStart(ReadyCall),
    /// The next piece of the arguments of the call that was started last.
    CallArguments(String),
    /// The end of a started call: the complete call, and the arguments that are still unsent.
    CallEnd(ReadyCall, String),
    /// The end of the turn.
    Stop(StopReason),
}

/// What leaves for one item, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MendedItem<T> {
    /// The item as it arrived.
    Unchanged(T),
    /// Parts that replace the item, or that follow everything that arrived.
    Rewritten(Option<T>, Vec<OutgoingPart>),
}
