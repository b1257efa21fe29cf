//! A run that is stopped anywhere and resumed has the same output as a run that is not stopped.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use toolmend_batch::{Compression, Failure, Format, Job};

use crate::formats::{gzip, lines, write_parquet};
use crate::support::{TestFolder, run};

/// Runs a job and stops it after this many units. Returns whether it was stopped, or complete before.
fn stop_after(job: &Job, units: usize) -> bool {
    let mut seen = 0;
    let result = job.run(&mut |_| {
        seen += 1;
        if seen == units { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match result {
        Err(Failure::Stopped) => true,
        Err(other) => panic!("{other}"),
        Ok(_) => false,
    }
}

/// Appends what a process leaves that is killed in the middle of a write.
fn append_torn_writes(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            append_torn_writes(&path);
        } else if path.extension().is_some_and(|end| end == "part" || end == "resume") {
            OpenOptions::new()
                .append(true)
                .open(&path)
                .unwrap()
                .write_all(b"{\"unit\":{\"file\":0,\"ma")
                .unwrap();
        }
    }
}

/// Reads all files in a folder, with their names.
fn read_all(folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read_all(&path, out);
        } else {
            out.push((path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()));
        }
    }
}

/// Stops a job after each of its units in turn, resumes it until it is complete, and compares the outputs.
fn assert_resumable(input: &Path, format: Option<Format>) {
    let whole = TestFolder::new();
    let job = |folder: &TestFolder, resume: bool| {
        let mut job = folder.job(input, "out/files");
        job.format = format;
        job.rejects = Some(folder.path("out/rejects.jsonl"));
        job.unit_bytes = 1500;
        job.fields.tool = Some("get_weather".into());
        job.resume = resume;
        job
    };
    let summary = run(&job(&whole, false)).unwrap();
    let mut expected = Vec::new();
    read_all(&whole.path("out"), &mut expected);
    assert!(summary.counts.outcomes()[1] > 0 && summary.counts.outcomes()[2] > 0);
    let mut most = 0;
    for units in 1.. {
        let folder = TestFolder::new();
        if !stop_after(&job(&folder, false), units) {
            break;
        }
        most = units;
        append_torn_writes(&folder.path("out"));
        // Stop again after three more units, then run to the end.
        if stop_after(&job(&folder, true), 3) {
            append_torn_writes(&folder.path("out"));
        }
        let resumed = run(&job(&folder, true)).unwrap();
        let mut found = Vec::new();
        read_all(&folder.path("out"), &mut found);
        let names =
            |list: &[(String, Vec<u8>)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "stopped after unit {units}");
        assert!(found == expected, "stopped after unit {units}");
        assert_eq!(resumed.counts, summary.counts, "stopped after unit {units}");
    }
    assert!(most >= 5, "there were only {most} units");
}

/// Lines of calls, some of them truncated.
fn truncated_lines(rows: usize) -> String {
    lines(rows).replace("5\\\",}", "5")
}

#[test]
fn plain_lines_can_be_resumed() {
    let folder = TestFolder::new();
    assert_resumable(&folder.write("a.jsonl", truncated_lines(80)), None);
}

#[test]
fn compressed_lines_can_be_resumed() {
    let folder = TestFolder::new();
    assert_resumable(&folder.write("a.jsonl.gz", gzip(truncated_lines(80).as_bytes())), None);
    assert_resumable(&folder.write("b.jsonl", truncated_lines(80)), Some(Format::Lines(Compression::Zstd)));
}

#[test]
fn folders_can_be_resumed() {
    let folder = TestFolder::new();
    folder.write("in/a.jsonl", truncated_lines(30));
    folder.write("in/b/c.jsonl", truncated_lines(40));
    folder.write("in/d.jsonl", truncated_lines(3));
    folder.write("in/empty.jsonl", "");
    assert_resumable(&folder.path("in"), None);
}

/// Writes a Parquet file of several row groups.
fn write_table(folder: &TestFolder) -> std::path::PathBuf {
    let path = folder.path("a.parquet");
    let rows = |from: usize| {
        let column = (from..from + 300).map(|row| match row % 50 {
            0 => format!("{{\"city\": \"Os{row}"),
            1..20 => format!("{{city: 'Oslo {row}'}}"),
            _ => format!("{{\"city\": \"Oslo {row}\"}}"),
        });
        let column: arrow_array::ArrayRef =
            std::sync::Arc::new(arrow_array::StringArray::from_iter_values(column));
        arrow_array::RecordBatch::try_from_iter([("arguments", column)]).unwrap()
    };
    let batches: Vec<_> = (0..6).map(|part| rows(part * 300)).collect();
    write_parquet(&path, &batches);
    path
}

#[test]
fn row_groups_can_be_resumed() {
    let folder = TestFolder::new();
    assert_resumable(&write_table(&folder), None);
}

#[test]
fn record_batches_can_be_resumed() {
    let folder = TestFolder::new();
    assert_resumable(&write_table(&folder), Some(Format::ArrowFile));
    assert_resumable(&write_table(&folder), Some(Format::ArrowStream));
}

#[test]
fn lost_bytes_are_written_again() {
    let folder = TestFolder::new();
    let input = folder.write("a.jsonl", truncated_lines(80));
    let whole = folder.job(&input, "whole.jsonl");
    run(&whole).unwrap();
    let mut job = folder.job(&input, "out.jsonl");
    assert!(stop_after(&job, 5));
    // After a crash of the machine, the lines of the manifest may exist although the bytes are lost.
    let part = folder.path("out.jsonl.part");
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0);
    fs::write(&part, bytes).unwrap();
    job.resume = true;
    let summary = run(&job).unwrap();
    assert!(summary.resumed > 0, "intact units are not cleaned again");
    assert_eq!(folder.read("out.jsonl"), folder.read("whole.jsonl"));
}

#[test]
fn only_the_same_run_can_be_resumed() {
    let folder = TestFolder::new();
    let input = folder.write("a.jsonl", truncated_lines(80));
    let mut job = folder.job(&input, "out.jsonl");
    assert!(stop_after(&job, 2));
    job.resume = true;
    job.longest_line = 7;
    let message = run(&job).unwrap_err().to_string();
    assert!(message.contains("other settings") && message.contains("without --resume"), "{message}");
    job.longest_line = 64 << 20;
    folder.write("a.jsonl", truncated_lines(79));
    let message = run(&job).unwrap_err().to_string();
    assert!(message.contains("has changed"), "{message}");
    job.resume = false;
    run(&job).unwrap();
    assert!(!folder.path("out.jsonl.resume").exists() && !folder.path("out.jsonl.part").exists());
    job.resume = true;
    run(&job).unwrap();
}
