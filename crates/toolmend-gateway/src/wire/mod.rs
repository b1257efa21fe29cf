//! Bytes on the wire: JSON with places, frames of event streams, compressed bodies.

pub(crate) mod coding;
pub(crate) mod doc;
pub(crate) mod frame;
pub(crate) mod write;
