//! `cargo xtask fuzz`: runs every fuzz target for some time.

use crate::command::{TaskError, nightly_cargo_command, run_command, succeeds, workspace_root};
use crate::files::{create_folder, list_files};

const CARGO_FUZZ: &str = "0.13.2";
/// Longer inputs slow the search down and find nothing that shorter ones do not.
const LONGEST_INPUT: &str = "-max_len=4096";
/// An input that takes this long is a finding: no input may make the parser slow.
const SLOWEST_INPUT: &str = "-timeout=10";

/// The target for streams has seeds and a dictionary of its own; the others use those for JSON.
const STREAM_TARGET: &str = "streaming";
const STREAM_SEEDS: (&str, &str) = ("corpus/dialects", "-dict=fuzz/markers.dict");
const JSON_SEEDS: (&str, &str) = ("corpus/syntax", "-dict=fuzz/json.dict");

/// Runs every target in `fuzz/fuzz_targets` for this time, and stops at the first finding.
pub(crate) fn run(seconds: u64) -> Result<(), TaskError> {
    if !succeeds(&mut nightly_cargo_command(&["--version"])) {
        return Err(TaskError(
            "fuzzing needs a nightly toolchain; run: rustup toolchain install nightly".to_owned(),
        ));
    }
    if !succeeds(&mut nightly_cargo_command(&["fuzz", "--version"])) {
        run_command(&mut nightly_cargo_command(&[
            "install",
            "cargo-fuzz",
            "--locked",
            "--version",
            CARGO_FUZZ,
        ]))?;
    }
    for target in list_targets()? {
        let findings = format!("fuzz/corpus/{target}");
        create_folder(&workspace_root().join(&findings))?;
        let time = format!("-max_total_time={seconds}");
        let (seeds, dictionary) = if target == STREAM_TARGET { STREAM_SEEDS } else { JSON_SEEDS };
        run_command(nightly_cargo_command(&["fuzz", "run", &target, &findings, seeds, "--", &time]).args([
            LONGEST_INPUT,
            SLOWEST_INPUT,
            dictionary,
        ]))?;
    }
    Ok(())
}

fn list_targets() -> Result<Vec<String>, TaskError> {
    let files = list_files(&workspace_root().join("fuzz/fuzz_targets"))?;
    Ok(files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect())
}
