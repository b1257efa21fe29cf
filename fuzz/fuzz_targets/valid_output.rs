//! Output is valid JSON according to another parser, and matches its schema.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{is_json, select_options, split_choice};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = split_choice(data) else { return };
    let (options, schema) = select_options(choice);
    let verdict = toolmend::fix_with(&text, &options);
    let Some(json) = verdict.json() else { return };
    assert!(is_json(json), "{json}");
    if let Some(schema) = schema {
        let value = serde_json::from_str(json).expect("numbers of a value that was validated fit a float");
        assert!(schema.accepts(&value), "{json}");
    }
});
