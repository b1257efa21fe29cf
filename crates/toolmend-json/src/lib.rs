//! JSON as text with positions: a strict check, spans, a tree, escapes, edits and SIMD scanning.
//!
//! Everything here keeps the text as it is spelled. There is one reader, one escaper and one unescaper:
//!
//! | module or type | what it is for |
//! |---|---|
//! | [`strict`] | the reader: checks text against RFC 8259 and reports what it meets to a [`Visitor`](strict::Visitor) |
//! | [`Tree`](tree::Tree) | strict text as nodes with parents and JSON pointers, for repairs that go back and forth in a value |
//! | [`Document`], [`ValueRef`] | any JSON text as compact nodes, for code that forwards rows or messages and changes parts of them |
//! | [`value`] | text to `serde_json` values |
//! | [`text`] | strings between their spelling and their meaning; JSON on one line |
//! | [`Edits`] | replacements in text that leave the rest as it is |
//! | [`Object`], [`array()`] | JSON that is written piece by piece |
//! | [`mod@pointer`] | JSON pointers |
//! | [`scan`] | SIMD search in text |
//!
//! ```
//! use toolmend_json::{Document, Edits};
//!
//! let row = r#"{"id": 1.50, "call": {"arguments": "{a: 1}"}}"#;
//! let document = Document::parse(&row).unwrap();
//! let arguments = document.root().get("call").and_then(|call| call.get("arguments")).unwrap();
//! assert_eq!(arguments.text().unwrap(), "{a: 1}");
//!
//! let mut edits = Edits::default();
//! edits.replace_quoted(arguments.span(), "{\"a\": 1}");
//! assert_eq!(edits.apply(row), r#"{"id": 1.50, "call": {"arguments": "{\"a\": 1}"}}"#);
//! ```
//!
//! The modules depend on each other in one direction: `strict` on `scan` and `kind`; `text` on `strict`; `value`, `document`,
//! `edit` and `write` on `text`; `tree` on `value` and `pointer`.

#![forbid(unsafe_code)]

mod document;
mod edit;
mod kind;
pub mod pointer;
pub mod scan;
pub mod strict;
pub mod text;
pub mod tree;
pub mod value;
mod write;

pub use crate::{
    document::{BYTE_ORDER_MARK, Document, DocumentMemory, ValueRef},
    edit::{Checkpoint, Edits},
    kind::Kind,
    text::{TextBuffer, quote},
    write::{Object, array},
};
