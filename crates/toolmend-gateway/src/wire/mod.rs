//! Bytes on the wire: JSON with places, frames of event streams, compressed bodies.

pub(crate) mod coding;
pub(crate) mod doc;
pub(crate) mod frame;

/// JSON objects, written member by member.
pub(crate) mod write {
    pub(crate) use toolmend_json::Object;
}
