//! A turn of a model in neutral terms: what each surface is read into and written from.

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stop {
    /// The model was done.
    End,
    /// It wants its calls to be run.
    Calls,
    /// The token limit cut it off.
    Length,
    /// Something that only the surface has a word for.
    Other,
}

/// Which call a piece belongs to, as far as the wire tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
}

/// Arguments as they travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// The next piece of a text.
    Piece(String),
    /// All of them, whatever came before.
    Whole(String),
}

/// One piece of a native call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallPiece {
    pub(crate) slot: Slot,
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<Arguments>,
    /// Whether the piece is written as every client reads it.
    pub(crate) exact: bool,
    /// Nothing follows for this call.
    pub(crate) last: bool,
}

/// What one item of the wire (a frame, a block, a field) means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text for the user.
    Text(String),
    /// The model's thoughts.
    Reasoning(String),
    /// A piece of a call.
    Call(CallPiece),
    /// Why the turn ended.
    Stop(Stop),
    /// Something that toolmend has no business with; it keeps its place.
    Opaque,
}

/// How a tool is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) enum Form {
    /// With arguments in an object.
    #[default]
    Function,
    /// The same, and the tool belongs to a group of that name.
    Grouped(String),
    /// With free text.
    Custom,
}

/// A call that may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReadyCall {
    /// Never empty.
    pub(crate) id: String,
    /// The declared tool.
    pub(crate) name: String,
    /// An object, as JSON text; free text where the form says so.
    pub(crate) arguments: String,
    /// The form that the client declared the tool in.
    pub(crate) form: Form,
}

/// What leaves where an item could not stay as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Made {
    Text(String),
    Reasoning(String),
    Call(ReadyCall),
    /// A call begins, with the first piece of its arguments. The others follow as pieces, the last one as the rest.
    Begin(ReadyCall),
    /// The next piece of the arguments of the call that began last.
    Piece(String),
    /// The rest of a call whose beginning was sent already, with the call in full.
    Rest(ReadyCall, String),
    Stop(Stop),
}

/// What leaves, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Out<T> {
    /// The item as it came.
    Keep(T),
    /// Something in the place of the item, or behind everything that came.
    Instead(Option<T>, Vec<Made>),
}
