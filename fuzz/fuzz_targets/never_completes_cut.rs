//! A valid document that is cut inside a string never runs.
//!
//! The string is the last thing in the document, so that what is left has no other end: a quote in the middle of
//! the text could otherwise be taken for one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{choice_and_text, options};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else { return };
    let Some((&at, text)) = text.as_bytes().split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let document = format!("{{\"a\":\"x\",\"path\":\"p\",\"content\":{}}}", serde_json::json!(text));
    // Somewhere behind the opening quote of the last string, and before its closing one.
    let key = "\"content\":\"";
    let Some(open) = document.find(key).map(|start| start + key.len()) else { return };
    let close = document.len() - 2;
    let cut = document.floor_char_boundary(open + usize::from(at) * (close - open) / 256).max(open);
    // What ends with a closer cannot be told from a string that lost its quote; a fence or a special token behind it says that the
    // model had ended.
    let end = document[..cut].trim_end();
    let end = if end.ends_with("```") { end.trim_end_matches('`').trim_end() } else { end };
    if end.ends_with(['}', ']']) || end.ends_with('>') && end.contains("<|") {
        return;
    }
    let (options, _) = options(choice);
    let verdict = toolmend::fix_with(&document[..cut], &options);
    assert!(!verdict.outcome().runs(), "{:?} became {:?}", &document[..cut], verdict.json());
});
