//! JSON texts with the places of their values, so that a part can be replaced and all the rest stays as it came.
//!
//! ```
//! use toolmend_places::{Doc, Edits};
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
mod texts;
mod write;

pub use crate::{
    doc::{BYTE_ORDER_MARK, Doc, Kind, Nodes, View, array, quote},
    edit::{Before, Edits},
    escape::Room,
    write::Object,
};
