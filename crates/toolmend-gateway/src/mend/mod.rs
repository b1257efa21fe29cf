//! Mending: what happens to the calls of a turn between its server and its client.
//!
//! A response takes the same path in every protocol and in both stream modes:
//!
//! ```text
//! bytes ─► FrameSplitter ─► FrameDecoder ─► parts ─► ChoiceMender ─► FrameEncoder ─► bytes
//!                                                     │ judges calls, finds those in text
//!                                                     └ an item that needs no change leaves as it arrived
//! ```
//!
//! - **Items wait in line** (`choice`). A frame, a block or a member of a whole answer is an item with the parts that it
//!   carries. It leaves when every part is decided: unchanged if all parts stay, otherwise rewritten by the encoder.
//! - **Text is compared, not copied** (`text_scan`). It goes through the library's stream. As long as the same text comes
//!   back, frames stay; from the first difference on they are rewritten.
//! - **Native calls wait for their end** (`assembly`). Until then a name can grow, an index can turn out to be wrong, and
//!   arguments can begin again. Comments keep the connection alive in the meantime.
//! - **The library judges every call** (`judge`), and every verdict is reported.
//! - **Arguments may be sent early** (`live_arguments`) as far as they cannot change any more.
//! - **Earlier turns of requests are repaired** (`history`), because servers parse them again.
//!
//! This module never opens a connection and never writes a protocol's format; `toolmend-protocol` does the latter.

mod assembly;
mod choice;
mod history;
mod judge;
mod live_arguments;
mod notes;
mod report;
mod stream;
mod stub;
mod text_calls;
mod text_scan;
mod tools;
mod whole_answer;

pub(crate) use self::assembly::is_object;
pub(crate) use self::history::{MendedRequest, mend_request, repair_arguments, replace_ids};
pub(crate) use self::judge::{CallJudge, TurnRules};
pub(crate) use self::notes::CallNotes;
pub(crate) use self::report::ResponseReport;
pub(crate) use self::stream::{StreamMender, retry_message};
pub(crate) use self::stub::arguments_to_show;
pub(crate) use self::tools::{CompiledTools, ToolCache, compiles_quickly};
