//! Model outputs that arrive in pieces.

use toolmend::Event;
use wasm_bindgen::prelude::*;

use crate::answers::{encoding, to_json};
use crate::options::parse_finish;

/// Reads a model output piece by piece.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Stream {
    inner: toolmend::Stream,
}

impl Stream {
    pub(crate) fn new(inner: toolmend::Stream) -> Self {
        Stream { inner }
    }
}

#[wasm_bindgen]
impl Stream {
    /// Reads the next piece, a string or bytes, and returns the events that it completes, as JSON text.
    pub fn push(&mut self, piece: &JsValue) -> String {
        write_events(&match piece.as_string() {
            Some(text) => self.inner.push(&text),
            None => self.inner.push(&js_sys::Uint8Array::new(piece).to_vec()[..]),
        })
    }

    /// Ends the output and returns the remaining events as JSON text.
    pub fn finish(&mut self, finish_reason: Option<String>) -> String {
        write_events(&self.inner.finish(parse_finish(finish_reason.as_deref())))
    }
}

fn write_events(events: &[Event]) -> String {
    to_json(&events.iter().map(|event| encoding(true).encode(event)).collect::<Vec<_>>())
}
