//! What the command does with text that it mends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn fix(args: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolmend")).arg("fix").args(args).arg(file).output().unwrap()
}

#[test]
fn a_file_is_replaced_completely_and_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.json");
    fs::write(&file, "{\"a\": 1,}\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    }
    let output = fix(&["--in-place"], &file);
    assert!(output.status.success());
    assert_eq!(output.stdout, b"");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("call.json"), folder.path().join("link.json"));
    fs::write(&file, "{'a': 1}").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(fix(&["--in-place"], &link).status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}", "and no newline is added");
}

#[test]
fn a_pipe_gets_no_colours() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.json");
    fs::write(&file, "{'a': 1,}").unwrap();
    for args in [&["--diff"][..], &["--explain"]] {
        let output = fix(args, &file);
        assert!(output.status.success());
        assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{args:?}");
    }
}

/// Only the schema shows that `version` is not a sibling of `content`.
#[test]
fn the_schema_decides_what_a_quote_means() {
    let folder = tempfile::tempdir().unwrap();
    let (file, schema) = (folder.path().join("call.json"), folder.path().join("schema.json"));
    fs::write(&file, r#"{"path":"p.json","content":"{"name": "x", "version": "1"}"}"#).unwrap();
    fs::write(
        &schema,
        r#"{"properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}"#,
    )
    .unwrap();
    let output = fix(&["--schema", schema.to_str().unwrap()], &file);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"path\":\"p.json\",\"content\":\"{\\\"name\\\": \\\"x\\\", \\\"version\\\": \\\"1\\\"}\"}\n"
    );
}
