//! A valid document that is truncated inside a string never runs.
//!
//! The string is the last value of the document. Otherwise a quote in the middle of the text could be taken for its end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{select_options, split_choice};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = split_choice(data) else { return };
    let Some((&at, text)) = text.as_bytes().split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let document = format!("{{\"a\":\"x\",\"path\":\"p\",\"content\":{}}}", serde_json::json!(text));
    // Somewhere between the quotes of the last string.
    let key = "\"content\":\"";
    let Some(open) = document.find(key).map(|start| start + key.len()) else { return };
    let close = document.len() - 2;
    let cut = document.floor_char_boundary(open + usize::from(at) * (close - open) / 256).max(open);
    // Text that ends with a closer looks like a string that lost its quote. A fence or a special token after it means that the model
    // had finished.
    let end = document[..cut].trim_end();
    let end = if end.ends_with("```") { end.trim_end_matches('`').trim_end() } else { end };
    if end.ends_with(['}', ']']) || end.ends_with('>') && end.contains("<|") {
        return;
    }
    let (options, _) = select_options(choice);
    let verdict = toolmend::fix_with(&document[..cut], &options);
    assert!(!verdict.outcome().runs(), "{:?} became {:?}", &document[..cut], verdict.json());
});
