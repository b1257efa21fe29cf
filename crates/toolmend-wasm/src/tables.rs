//! The tables of repairs and dialects, as `toolmend repairs` and `toolmend dialects` print them with `--format json`.

use wasm_bindgen::prelude::*;

use crate::answers::to_json;

/// Returns every repair as JSON text.
#[wasm_bindgen(js_name = repairTable)]
pub fn repair_table() -> String {
    to_json(toolmend::REPAIRS)
}

/// Returns every dialect as JSON text.
#[cfg(feature = "full")]
#[wasm_bindgen(js_name = dialectTable)]
pub fn dialect_table() -> String {
    to_json(toolmend::dialects())
}
