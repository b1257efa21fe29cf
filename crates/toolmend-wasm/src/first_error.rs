//! Where a text stops being JSON.

use toolmend_json::strict::{self, Fault};
use wasm_bindgen::prelude::*;

/// Returns where a text stops being JSON, in UTF-16 units, or 0 if it is JSON.
#[wasm_bindgen(js_name = findFirstError)]
pub fn find_first_error(text: &str) -> u32 {
    let valid = match strict::check(text, strict::MAX_DEPTH) {
        Ok(()) => "",
        Err(Fault::Syntax(at) | Fault::Depth(at)) => text.get(..at).unwrap_or(text),
    };
    u32::try_from(valid.encode_utf16().count()).unwrap_or(u32::MAX)
}
