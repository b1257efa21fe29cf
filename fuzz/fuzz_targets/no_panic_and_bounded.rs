//! Any text: an answer, in bounded time and memory, and every repair stands inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{choice_and_text, options};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else { return };
    let (options, _) = options(choice);
    let verdict = toolmend::fix_with(&text, &options);
    assert_eq!(verdict.repairs().is_empty(), !verdict.outcome().runs() || verdict.json() == Some(&text));
    for repair in verdict.repairs() {
        if let Some(at) = &repair.at {
            assert!(text.get(at.clone()).is_some(), "{repair:?} is not a range of the text");
        }
    }
});
