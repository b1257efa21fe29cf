//! What runs is strict JSON by the judgement of another parser, and fits its schema.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{choice_and_text, is_json, options};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else { return };
    let (options, schema) = options(choice);
    let verdict = toolmend::fix_with(&text, &options);
    let Some(json) = verdict.json() else { return };
    assert!(is_json(json), "{json}");
    if let Some(schema) = schema {
        let value = serde_json::from_str(json).expect("what fits a schema has numbers that can be held");
        assert!(schema.accepts(&value), "{json}");
    }
});
