//! Cleaning files as a process: it survives being killed, reports progress and needs no more memory for more rows.

#[cfg(target_os = "linux")]
mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const BROKEN: &str = r#"{\"city\": 'Oslo',}"#;
const MENDED: &str = r#"{\"city\": \"Oslo\"}"#;

/// Writes a log of about this many bytes. Every fifth call is broken.
fn write_log(folder: &Path, name: &str, bytes: usize) -> PathBuf {
    let path = folder.join(name);
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    let padding = "x".repeat(20_000);
    for row in 0..bytes / 20_000 {
        let arguments = if row % 5 == 0 { BROKEN } else { MENDED };
        writeln!(
            file,
            r#"{{"row":{row},"padding":"{padding}","messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":"{arguments}"}}}}]}}]}}"#
        )
        .unwrap();
    }
    file.flush().unwrap();
    path
}

fn clean_command(input: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
    command.arg("batch").arg(input).arg("--out").arg(out).arg("--rejects").arg(out.with_extension("rejects"));
    command.args(more).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills the process once the manifest lists this many finished units. Returns whether that was in time.
fn kill_after_units(mut child: Child, manifest: &Path, units: usize) -> bool {
    loop {
        let finished = fs::read(manifest).map_or(0, |text| text.split(|byte| *byte == b'\n').count() - 1);
        if finished > units {
            child.kill().unwrap();
        }
        match child.try_wait().unwrap() {
            Some(status) => return !status.success(),
            None => std::thread::yield_now(),
        }
    }
}

#[test]
fn a_killed_process_resumes_and_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_log(folder.path(), "log.jsonl", 24 << 20);
    let whole = folder.path().join("whole.jsonl");
    assert!(clean_command(&input, &whole, &[]).status().unwrap().success());
    let expected = fs::read(&whole).unwrap();
    assert_eq!(
        String::from_utf8(expected.clone()).unwrap(),
        fs::read_to_string(&input).unwrap().replace(BROKEN, MENDED)
    );
    let out = folder.path().join("out.jsonl");
    let manifest = folder.path().join("out.jsonl.resume");
    let mut kills = 0;
    for units in [1, 2, 4, 6, 9] {
        kills += usize::from(kill_after_units(
            clean_command(&input, &out, &["--resume"]).spawn().unwrap(),
            &manifest,
            units,
        ));
    }
    assert!(kills > 0, "every run ended before it could be killed");
    assert!(clean_command(&input, &out, &["--resume"]).status().unwrap().success());
    assert!(fs::read(&out).unwrap() == expected, "killed {kills} times");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["log.jsonl", "out.jsonl", "out.rejects", "whole.jsonl", "whole.rejects"]);
}

/// Returns the most memory that the command held while it cleaned a file, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(input: &Path, out: &Path) -> u64 {
    let mut child = clean_command(input, out, &["--threads", "2"]).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(support::peak_memory_of(child.id()).unwrap_or(0));
        std::thread::yield_now();
    }
    assert!(child.wait().unwrap().success());
    most
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let peak = |name: &str, bytes: usize| {
        peak_memory(&write_log(folder.path(), name, bytes), &folder.path().join(format!("clean-{name}")))
    };
    // Both files are larger than what is in memory at one time.
    let (short, long) = (peak("short.jsonl", 40 << 20), peak("long.jsonl", 120 << 20));
    assert!(long < short + 16 * 1024, "{short} KiB for 40 MB, {long} KiB for 120 MB");
}

#[test]
fn progress_lines_show_how_far_the_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_log(folder.path(), "log.jsonl", 1 << 20);
    let mut command = clean_command(&input, &folder.path().join("out.jsonl"), &["--progress", "lines"]);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    let line = messages.lines().next().unwrap();
    assert!(
        line.starts_with("100 %, ") && line.contains("/s, 52 calls, 11 mended, ") && line.ends_with(" left"),
        "{line}"
    );
}
