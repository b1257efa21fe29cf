//! JSON with places, over bytes that are shared with the message that they came in.

use bytes::Bytes;
pub(crate) use toolmend_json::{Kind, ValueRef as View, array, quote};

/// A document that shares its bytes.
pub(crate) type Doc = toolmend_json::Document<Bytes>;
