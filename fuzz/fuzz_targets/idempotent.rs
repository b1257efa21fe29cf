//! Mending a mended value changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend::Outcome;
use toolmend_fuzz::{select_options, split_choice};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = split_choice(data) else { return };
    let (options, _) = select_options(choice);
    let verdict = toolmend::fix_with(&text, &options);
    let Some(json) = verdict.json() else { return };
    let again = toolmend::fix_with(json, &options);
    assert_eq!(again.outcome(), Outcome::Clean, "{json}");
    assert_eq!(again.json(), Some(json));
});
