//! What a build without features says when one is missing. A build with all features lacks nothing, so there is nothing to test.
#![cfg(not(any(feature = "files", feature = "serve", feature = "template")))]

use std::process::Command;

#[track_caller]
fn check_refusal(args: &[&str], feature: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolmend")).args(args).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&format!("`--features {feature}`")), "{message}");
}

#[test]
fn a_missing_feature_is_named() {
    check_refusal(&["serve"], "serve");
    check_refusal(&["serve", "--listen", "4242", "--help"], "serve");
    check_refusal(&["run", "--", "true"], "serve");
    check_refusal(&["journal", "list"], "serve");
    check_refusal(&["batch", "a.jsonl", "--out", "b.jsonl"], "files");
    check_refusal(&["dialects", "learn", "model"], "template");
    check_refusal(&["call", "--template", "model", "-"], "template");
}

#[test]
fn the_rest_works() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.json");
    std::fs::write(&file, "{'a': 1,}").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolmend")).arg("fix").arg(&file).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\"a\": 1}\n");
}
