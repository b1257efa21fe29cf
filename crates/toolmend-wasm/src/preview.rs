//! JSON that is shown while it arrives.

use wasm_bindgen::prelude::*;

/// Reads JSON piece by piece, for display.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Preview {
    inner: toolmend::Preview,
}

#[wasm_bindgen]
impl Preview {
    /// Begins a text.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Preview {
        Preview::default()
    }

    /// Reads the next piece.
    pub fn push(&mut self, piece: &str) {
        self.inner.push(piece);
    }

    /// Returns the value so far as JSON text, or `undefined` before its first bracket.
    pub fn json(&self) -> Option<String> {
        self.inner.json()
    }
}
