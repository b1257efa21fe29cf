//! Any text gets an answer in bounded time and memory, and the range of every repair is inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend_fuzz::{select_options, split_choice};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = split_choice(data) else { return };
    let (options, _) = select_options(choice);
    let verdict = toolmend::fix_with(&text, &options);
    assert_eq!(verdict.repairs().is_empty(), !verdict.outcome().runs() || verdict.json() == Some(&text));
    for repair in verdict.repairs() {
        if let Some(at) = &repair.at {
            assert!(text.get(at.clone()).is_some(), "{repair:?} is not a range of the text");
        }
    }
});
