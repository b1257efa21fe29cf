//! What shells and `man` are told is about the real command.

use std::process::Command;

#[test]
fn completions_name_commands_and_flags() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_toolmend")).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("toolmend"), "{shell}");
        for word in ["fix", "batch", "max-bytes"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn there_is_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let written =
        Command::new(env!("CARGO_BIN_EXE_toolmend")).arg("manpages").arg(folder.path()).status().unwrap();
    assert!(written.success());
    for (page, word) in
        [("toolmend.1", "toolmend"), ("toolmend-fix.1", "schema"), ("toolmend-batch.1", "chunks")]
    {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(word), "{page}");
    }
}
