//! A run that was stopped anywhere goes on, and what comes out is what would have come out.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use toolmend_batch::{Failure, Format, Job, Packing};

use crate::formats::{gzip, lines, write_parquet};
use crate::kit::{Place, run};

/// Runs until so many units are written.
fn stopped(job: &Job, units: usize) -> bool {
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

/// What a process that is killed in the middle of a write leaves behind.
fn tear(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tear(&path);
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

/// Everything below a folder, by name.
fn contents(folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            contents(&path, out);
        } else {
            out.push((path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()));
        }
    }
}

/// Stops the job behind every unit in turn, and each time again and again until it is done.
fn goes_on_from_everywhere(input: &Path, format: Option<Format>) {
    let whole = Place::new();
    let job = |place: &Place, resume: bool| {
        let mut job = place.job(input, "out/files");
        job.format = format;
        job.rejects = Some(place.path("out/rejects.jsonl"));
        job.unit_bytes = 1500;
        job.fields.tool = Some("get_weather".into());
        job.resume = resume;
        job
    };
    let summary = run(&job(&whole, false)).unwrap();
    let mut expected = Vec::new();
    contents(&whole.path("out"), &mut expected);
    assert!(summary.tally.outcomes()[1] > 0 && summary.tally.outcomes()[2] > 0);
    let mut most = 0;
    for units in 1.. {
        let place = Place::new();
        if !stopped(&job(&place, false), units) {
            break;
        }
        most = units;
        tear(&place.path("out"));
        // Three more units, then the rest.
        if stopped(&job(&place, true), 3) {
            tear(&place.path("out"));
        }
        let resumed = run(&job(&place, true)).unwrap();
        let mut found = Vec::new();
        contents(&place.path("out"), &mut found);
        let names =
            |list: &[(String, Vec<u8>)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "stopped behind unit {units}");
        assert!(found == expected, "stopped behind unit {units}");
        assert_eq!(resumed.tally, summary.tally, "stopped behind unit {units}");
    }
    assert!(most >= 5, "there were only {most} units");
}

/// Calls, some of them cut off.
fn text(rows: usize) -> String {
    lines(rows).replace("5\\\",}", "5")
}

#[test]
fn plain_lines() {
    let place = Place::new();
    goes_on_from_everywhere(&place.write("a.jsonl", text(80)), None);
}

#[test]
fn compressed_lines() {
    let place = Place::new();
    goes_on_from_everywhere(&place.write("a.jsonl.gz", gzip(text(80).as_bytes())), None);
    goes_on_from_everywhere(&place.write("b.jsonl", text(80)), Some(Format::Lines(Packing::Zstd)));
}

#[test]
fn folders() {
    let place = Place::new();
    place.write("in/a.jsonl", text(30));
    place.write("in/b/c.jsonl", text(40));
    place.write("in/d.jsonl", text(3));
    place.write("in/empty.jsonl", "");
    goes_on_from_everywhere(&place.path("in"), None);
}

/// The same rows as a table of several row groups.
fn table(place: &Place) -> std::path::PathBuf {
    let path = place.path("a.parquet");
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
fn row_groups() {
    let place = Place::new();
    goes_on_from_everywhere(&table(&place), None);
}

#[test]
fn record_batches() {
    let place = Place::new();
    goes_on_from_everywhere(&table(&place), Some(Format::ArrowFile));
    goes_on_from_everywhere(&table(&place), Some(Format::ArrowStream));
}

#[test]
fn bytes_that_were_lost_are_written_again() {
    let place = Place::new();
    let input = place.write("a.jsonl", text(80));
    let whole = place.job(&input, "whole.jsonl");
    run(&whole).unwrap();
    let mut job = place.job(&input, "out.jsonl");
    assert!(stopped(&job, 5));
    // After a crash of the machine the lines may be there and the bytes not.
    let part = place.path("out.jsonl.part");
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0);
    fs::write(&part, bytes).unwrap();
    job.resume = true;
    let summary = run(&job).unwrap();
    assert!(summary.resumed > 0, "what was whole is not done again");
    assert_eq!(place.read("out.jsonl"), place.read("whole.jsonl"));
}

#[test]
fn only_the_same_run_goes_on() {
    let place = Place::new();
    let input = place.write("a.jsonl", text(80));
    let mut job = place.job(&input, "out.jsonl");
    assert!(stopped(&job, 2));
    job.resume = true;
    job.longest_line = 7;
    let message = run(&job).unwrap_err().to_string();
    assert!(message.contains("other settings") && message.contains("without --resume"), "{message}");
    job.longest_line = 64 << 20;
    place.write("a.jsonl", text(79));
    let message = run(&job).unwrap_err().to_string();
    assert!(message.contains("has changed"), "{message}");
    job.resume = false;
    run(&job).unwrap();
    assert!(!place.path("out.jsonl.resume").exists() && !place.path("out.jsonl.part").exists());
    job.resume = true;
    run(&job).unwrap();
}
