//! Folders with files to clean, and jobs that clean them.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolmend::{Mender, Policy};
use toolmend_batch::protocol::{Rules, Tools};
use toolmend_batch::{Failure, Job, Summary};

pub(crate) const TOOLS: &str = r#"[{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}]"#;

/// A temporary folder.
pub(crate) struct TestFolder {
    root: TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        TestFolder { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Creates a job with one tool, small units and a file of rejects.
    pub(crate) fn job(&self, input: &Path, out: &str) -> Job {
        Job {
            rejects: Some(self.path("rejects.jsonl")),
            unit_bytes: 2000,
            threads: Some(3),
            ..Job::new(vec![input.to_owned()], self.path(out), rules(Some(TOOLS)))
        }
    }

    /// Cleans one file. Returns its output and the number of calls with each outcome.
    pub(crate) fn clean(&self, input: &str, change: impl FnOnce(&mut Job)) -> (String, [u64; 4]) {
        let path = self.write("in.jsonl", input);
        let mut job = self.job(&path, "out.jsonl");
        change(&mut job);
        let summary = run(&job).unwrap();
        (self.read("out.jsonl"), summary.counts.outcomes())
    }

    /// Reads the rejects.
    pub(crate) fn read_rejects(&self) -> Vec<serde_json::Value> {
        self.read("rejects.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn rules(tools: Option<&str>) -> Rules {
    let base = Mender::builder();
    let tools = tools.map(|tools| Tools::new(tools, &base));
    Rules::new(Policy::default(), base, tools)
}

pub(crate) fn run(job: &Job) -> Result<Summary, Failure> {
    job.run(&mut |_| ControlFlow::Continue(()))
}
