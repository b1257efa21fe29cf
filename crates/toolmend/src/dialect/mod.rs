//! Dialects: how model families write calls, and how such calls are read.
//!
//! Three things work together.
//!
//! 1. **A row** (`table`) describes one dialect as data: the markers around a call, templates for a call and an
//!    argument, the form of the notation, and its properties. `custom` holds rows that a user adds, and `models` maps
//!    model ids to rows. `render` fills the templates of a row to write calls.
//! 2. **A reader** knows one form, not a family. It gets an [`input::Input`] (text, and whether more may come) and
//!    answers with a [`input::Step`]: `Got`, `No`, or `More`. What it reads is a [`raw_call::RawCall`]: a name and
//!    arguments in the notation of the model, with their positions. Nothing is resolved or validated yet.
//! 3. **The machine** (`crate::stream`) holds the output that is not decided, asks readers about it, hands raw calls to
//!    the mender, and reports events. It is not part of this module: `dialect` knows neither the machine nor the mender.
//!
//! | form | reader |
//! |---|---|
//! | frames around calls: markers, tags, list brackets, fences | `block` |
//! | a JSON object with the name | `envelope`, `block::json` |
//! | a name, then JSON | `block::named` |
//! | arguments in their own tags | `tagged` |
//! | Python, Gemma | `python`, `gemma`, `value_literals` |
//! | sections, hashes with arrows, corner brackets | `section`, `arrow_hash`, `corner_brackets` |
//! | attributes in brackets, actions on a screen | `attribute_list`, `screen_action` |
//! | messages with a header | `message_header`, `call_message` |
//! | calls without a marker | `inferred`, `opt_in` |
//!
//! All readers share one table of markers (`token`) and one reader of tags (`tag`). A frame does not decide how its
//! content is read; the content does. A family that borrows another's wrapper is therefore still understood.
//!
//! # Rules for readers
//!
//! - **An answer other than `More` is final.** It would be the same however the text continued, so the size of the
//!   pieces cannot change the result.
//! - **The earliest opening marker owns its body.** As long as quotes make sense, markers inside strings are text. A
//!   string that never ends takes the rest of the output, because what looks like another call may be its text.
//! - **A closing tag counts if what follows it can follow.** Tags that are opened and closed inside a value stay inside.
//!   A closing tag is treated as missing only in a complete output, and then the call needs the finish reason `stop`.
//! - **A value that may have swallowed its neighbour is refused** (`tagged::ambiguity`, and the same for Gemma and
//!   sections). `tests/markup.rs` damages every marker of every row: the calls that were written run, or none does.
//! - **Values keep their text until the schema types them** (`untyped_values`).
//! - **What is final can be asked for** (`Input::stable_only`): live delivery and truncated calls report only that.
//!
//! # What a row must never do
//!
//! - contain code, parse JSON, or decide whether a call runs;
//! - write a call that it does not read back;
//! - use a marker that another row gives another meaning;
//! - be known by its name anywhere else. If a reader must treat a row specially, the row gets a property for it, or a
//!   [`table::Recognition`], and the reader asks for that.
//!
//! # Adding a dialect
//!
//! 1. Add a row to a file in `table/`, before more general rows of the same form.
//! 2. Add its markers to `token/table.rs` if they are new: special tokens to `TOKENS`, words of tags to `WORDS`.
//! 3. Add the ids of its models to `models.rs`.
//! 4. Add at least four cases to `corpus/dialects/<name>/`: `single`, `parallel`, `malformed` and `truncated`.
//!
//! Tests fail for every step that is missing and name the file to change (`tests/coverage.rs`, `tests/rendering.rs`).

pub(crate) mod arrow_hash;
mod attribute_list;
mod begun_again;
mod beside_arguments;
pub(crate) mod block;
pub(crate) mod call_message;
pub(crate) mod corner_brackets;
pub(crate) mod custom;
pub(crate) mod envelope;
pub(crate) mod escaped_words;
pub(crate) mod gemma;
pub(crate) mod inferred;
mod inner_quotes;
pub(crate) mod input;
pub(crate) mod json_extent;
mod marker_remains;
pub(crate) mod message_header;
pub(crate) mod models;
mod opt_in;
mod plain_body;
pub(crate) mod python;
mod python_expression;
pub(crate) mod python_string;
pub(crate) mod raw_call;
mod render;
mod row_json;
mod screen_action;
pub(crate) mod section;
pub(crate) mod table;
pub(crate) mod tag;
pub(crate) mod tagged;
pub(crate) mod token;
pub(crate) mod untyped_values;
mod value_literals;

pub use self::custom::{CustomDialects, DialectError};
pub use self::models::dialect_of;
pub use self::render::CallToRender;
pub use self::table::{Dialect, dialects};
