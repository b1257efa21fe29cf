//! Valid JSON comes back unchanged, and no other text is called clean.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend::Outcome;
use toolmend_fuzz::is_json;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let verdict = toolmend::fix(text);
    if is_json(text) {
        assert_eq!(verdict.outcome(), Outcome::Clean);
        assert_eq!(verdict.json(), Some(text));
    } else {
        assert_ne!(verdict.outcome(), Outcome::Clean);
    }
});
