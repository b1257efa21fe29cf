//! JSON documents over shared bytes. The parser and the writer are those of `toolmend-json`.

use bytes::Bytes;
pub(crate) use toolmend_json::{Kind, Object, ValueRef, array, quote};

/// A JSON document that shares its bytes with the message that it arrived in.
pub type Document = toolmend_json::Document<Bytes>;

/// Changes to an object's members; `None` removes a member.
pub(crate) type Changes<'n> = Vec<(&'n str, Option<String>)>;
