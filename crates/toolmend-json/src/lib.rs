//! JSON as text with positions: a strict check, the spans of every value, escapes, and edits that leave the rest of a
//! text as it is.
//!
//! ```
//! use toolmend_json::{Doc, Edits};
//!
//! let row = r#"{"id": 1.50, "call": {"arguments": "{a: 1}"}}"#;
//! let doc = Doc::parse(&row).unwrap();
//! let arguments = doc.root().get("call").and_then(|call| call.get("arguments")).unwrap();
//! assert_eq!(arguments.text().unwrap(), "{a: 1}");
//!
//! let mut edits = Edits::default();
//! edits.replace_quoted(arguments.span(), "{\"a\": 1}");
//! assert_eq!(edits.apply(row), r#"{"id": 1.50, "call": {"arguments": "{\"a\": 1}"}}"#);
//! ```

#![forbid(unsafe_code)]

mod block;
mod doc;
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
    doc::{BYTE_ORDER_MARK, Doc, Kind, Nodes, View, array, quote},
    edit::{Before, Edits},
    escape::Room,
    write::Object,
};
