//! JSON documents over shared bytes. The parser and the writer are those of `toolmend-json`.

use bytes::Bytes;
pub(crate) use toolmend_json::{Kind, Object, View, array, quote};

/// A JSON document that shares its bytes with the message that it arrived in.
pub type Doc = toolmend_json::Doc<Bytes>;

/// Changes to an object's members; `None` removes a member.
pub(crate) type Changes<'n> = Vec<(&'n str, Option<String>)>;
