//! Cleaning files as a process: it is killed, it is watched, it takes no more memory for more rows.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const BROKEN: &str = r#"{\"city\": 'Oslo',}"#;
const MENDED: &str = r#"{\"city\": \"Oslo\"}"#;

/// A log of about so many bytes, with a broken call now and then.
fn log(folder: &Path, name: &str, bytes: usize) -> PathBuf {
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

fn clean(input: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
    command.arg("batch").arg(input).arg("--out").arg(out).arg("--rejects").arg(out.with_extension("rejects"));
    command.args(more).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills the process when so many units are told to be finished. Says whether it was in time.
fn killed(mut child: Child, manifest: &Path, units: usize) -> bool {
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
fn a_process_that_is_killed_goes_on_and_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let input = log(folder.path(), "log.jsonl", 24 << 20);
    let whole = folder.path().join("whole.jsonl");
    assert!(clean(&input, &whole, &[]).status().unwrap().success());
    let expected = fs::read(&whole).unwrap();
    assert_eq!(
        String::from_utf8(expected.clone()).unwrap(),
        fs::read_to_string(&input).unwrap().replace(BROKEN, MENDED)
    );
    let out = folder.path().join("out.jsonl");
    let manifest = folder.path().join("out.jsonl.resume");
    let mut kills = 0;
    for units in [1, 2, 4, 6, 9] {
        kills += usize::from(killed(clean(&input, &out, &["--resume"]).spawn().unwrap(), &manifest, units));
    }
    assert!(kills > 0, "the machine was too fast to be stopped");
    assert!(clean(&input, &out, &["--resume"]).status().unwrap().success());
    assert!(fs::read(&out).unwrap() == expected, "killed {kills} times");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["log.jsonl", "out.jsonl", "out.rejects", "whole.jsonl", "whole.rejects"]);
}

/// The most memory that the command held while it cleaned a file, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(input: &Path, out: &Path) -> u64 {
    let mut child = clean(input, out, &["--threads", "2"]).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(peak.unwrap_or(0));
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
        peak_memory(&log(folder.path(), name, bytes), &folder.path().join(format!("clean-{name}")))
    };
    // Each holds more than is in memory at a time.
    let (short, long) = (peak("short.jsonl", 40 << 20), peak("long.jsonl", 120 << 20));
    assert!(long < short + 16 * 1024, "{short} KiB for 40 MB, {long} KiB for 120 MB");
}

#[test]
fn whoever_reads_a_log_is_told_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let input = log(folder.path(), "log.jsonl", 1 << 20);
    let mut command = clean(&input, &folder.path().join("out.jsonl"), &["--progress", "lines"]);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let line = told.lines().next().unwrap();
    assert!(
        line.starts_with("100 %, ") && line.contains("/s, 52 calls, 11 mended, ") && line.ends_with(" left"),
        "{line}"
    );
}
