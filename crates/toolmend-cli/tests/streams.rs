//! What no transcript can show: pipes, bytes that are not text, files that change.

#[cfg(target_os = "linux")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

fn toolmend(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command with this input.
fn run(args: &[&str], input: impl FnOnce(&mut dyn Write) + Send + 'static) -> Output {
    let mut child = toolmend(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || input(&mut stdin));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[track_caller]
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn many_lines_keep_their_order() {
    const LINES: usize = 50_000;
    let output = run(&["batch"], |stdin| {
        for id in 0..LINES {
            // The lines differ a lot in cost, so a faster thread would get ahead.
            let items = "1,".repeat(if id % 97 == 0 { 2000 } else { id % 7 });
            writeln!(stdin, r#"{{"id":"{id}","json":"[{items}{id}]"}}"#).unwrap();
        }
    });
    assert!(output.status.success());
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines.len(), LINES);
    for (id, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!(r#"{{"id":"{id}","outcome":"clean","#)), "line {id}: {line:.80}");
        assert!(line.ends_with(&format!(r#"{id}],"repairs":[]}}"#)), "line {id}");
    }
}

#[test]
fn a_peer_that_waits_gets_its_answer() {
    let mut child = toolmend(&["batch"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in ["one", "two"] {
        writeln!(stdin, r#"{{"id":"{id}","json":"[]"}}"#).unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.starts_with(&format!(r#"{{"id":"{id}","outcome":"clean""#)), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_overlong_line_is_an_error_and_the_run_continues() {
    let output = run(&["batch", "--max-line-bytes", "1000"], |stdin| {
        writeln!(stdin, r#"{{"id":"before","json":"[]"}}"#).unwrap();
        let piece = "x".repeat(1 << 20);
        write!(stdin, r#"{{"id":"long","json":""#).unwrap();
        for _ in 0..64 {
            stdin.write_all(piece.as_bytes()).unwrap();
        }
        stdin.write_all(b"\"}\n{\"id\":\"after\",\"json\":\"[]\"}\n").unwrap();
    });
    assert!(output.status.success());
    assert_eq!(
        text(&output.stdout).lines().collect::<Vec<_>>(),
        [
            r#"{"id":"before","outcome":"clean","value":[],"repairs":[]}"#,
            r#"{"id":null,"error":"line 2: longer than 1000 bytes; raise --max-line-bytes to read it"}"#,
            r#"{"id":"after","outcome":"clean","value":[],"repairs":[]}"#,
        ]
    );
}

/// Returns the most memory that the command held, in KiB, after it had answered this many lines.
#[cfg(target_os = "linux")]
fn peak_memory(lines: usize) -> u64 {
    let mut child = toolmend(&["batch"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        let text = "x".repeat(10_000);
        for _ in 0..lines {
            writeln!(stdin, r#"{{"id":"","json":"[\"{text}\"]"}}"#).unwrap();
        }
        writeln!(stdin, r#"{{"id":"last","json":"[]"}}"#).unwrap();
        stdin
    });
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(answers.map(Result::unwrap).any(|line| line.starts_with(r#"{"id":"last""#)));
    let peak = support::peak_memory_of(child.id()).unwrap();
    drop(writer.join().unwrap());
    child.wait().unwrap();
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let (short, long) = (peak_memory(1_000), peak_memory(6_000));
    assert!(long < short + 16 * 1024, "{short} KiB after 10 MB, {long} KiB after 60 MB");
}

#[test]
fn bytes_that_are_not_text_are_an_error_and_the_run_continues() {
    let output = run(&["batch"], |stdin| {
        stdin.write_all(b"{\"id\":\"1\",\"json\":\"\xff\"}\n{\"id\":\"2\",\"json\":\"[]\"}").unwrap();
    });
    assert!(output.status.success());
    assert_eq!(
        text(&output.stdout).lines().collect::<Vec<_>>(),
        [
            r#"{"id":null,"error":"line 1: not UTF-8 at byte 18"}"#,
            r#"{"id":"2","outcome":"clean","value":[],"repairs":[]}"#,
        ]
    );
}

#[test]
fn a_closed_pipe_ends_the_run_silently() {
    for args in
        [&["batch"][..], &["repairs"], &["repairs", "--format", "json"], &["fix"], &["call"], &["dialects"]]
    {
        let mut child = toolmend(args).spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // The command may end before it has read everything; that is what this tests.
        let _ = stdin.write_all(b"{\"id\":\"1\",\"json\":\"[]\"}\n");
        drop(stdin);
        let mut messages = String::new();
        child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        assert_eq!(messages, "", "{args:?}");
        assert!(child.wait().unwrap().success(), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for args in [&["batch"][..], &["fix"], &["call"], &["repairs"], &["dialects"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = toolmend(args).stdout(full).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"{\"id\":\"1\",\"json\":\"[]\"}\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).starts_with("toolmend: cannot write the output"), "{args:?}");
    }
}

#[test]
fn a_refused_file_is_never_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.json");
    fs::write(&file, "{\"path\": \"a.t").unwrap();
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let output = run(&["fix", "--in-place", file.to_str().unwrap()], |_| ());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"path\": \"a.t");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
}
