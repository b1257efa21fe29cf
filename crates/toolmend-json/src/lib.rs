//! JSON as text with positions: a strict check, the spans of every value, escapes, and edits that leave the rest of a
//! text as it is.
//!
//! ```
//! use toolmend_json::{Document, Edits};
//!
//! let row = r#"{"id": 1.50, "call": {"arguments": "{a: 1}"}}"#;
//! let doc = Document::parse(&row).unwrap();
//! let arguments = doc.root().get("call").and_then(|call| call.get("arguments")).unwrap();
//! assert_eq!(arguments.text().unwrap(), "{a: 1}");
//!
//! let mut edits = Edits::default();
//! edits.replace_quoted(arguments.span(), "{\"a\": 1}");
//! assert_eq!(edits.apply(row), r#"{"id": 1.50, "call": {"arguments": "{\"a\": 1}"}}"#);
//! ```

#![forbid(unsafe_code)]

mod block;
mod document;
mod edit;
mod escape;
pub mod pointer;
pub mod scan;
pub mod strict;
pub mod text;
mod texts;
pub mod tree;
pub mod value;
mod write;

pub use crate::{
    document::{BYTE_ORDER_MARK, Document, DocumentMemory, Kind, ValueRef, array, quote},
    edit::{Checkpoint, Edits},
    escape::TextBuffer,
    write::Object,
};
