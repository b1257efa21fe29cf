//! `cargo xtask fuzz`: every target for a while.

use std::fs;

use crate::step::{self, Failed, nightly_cargo, root, works};

const CARGO_FUZZ: &str = "0.13.2";
/// Longer inputs find nothing that shorter ones do not, and slow the search down.
const LONGEST_INPUT: &str = "-max_len=4096";
/// One input that takes this long is a finding: there must be no input that makes the reader slow.
const SLOWEST_INPUT: &str = "-timeout=10";

/// Where the search starts from, and the words that it knows: for one target its own, for the others JSON.
const STREAMING: &str = "streaming";
const STREAMS: (&str, &str) = ("corpus/dialects", "-dict=fuzz/markers.dict");
const JSON: (&str, &str) = ("corpus/syntax", "-dict=fuzz/json.dict");

/// Runs every target under `fuzz/fuzz_targets` for that long, and stops at the first finding.
pub(crate) fn run(seconds: u64) -> Result<(), Failed> {
    if !works(&mut nightly_cargo(&["--version"])) {
        return Err(Failed(
            "fuzzing needs a nightly toolchain and there is none: rustup toolchain install nightly"
                .to_owned(),
        ));
    }
    if !works(&mut nightly_cargo(&["fuzz", "--version"])) {
        step::run(&mut nightly_cargo(&["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]))?;
    }
    for target in targets()? {
        let found = format!("fuzz/corpus/{target}");
        fs::create_dir_all(root().join(&found))
            .map_err(|error| Failed(format!("cannot make {found}: {error}")))?;
        let time = format!("-max_total_time={seconds}");
        let (seeds, words) = if target == STREAMING { STREAMS } else { JSON };
        step::run(nightly_cargo(&["fuzz", "run", &target, &found, seeds, "--", &time]).args([
            LONGEST_INPUT,
            SLOWEST_INPUT,
            words,
        ]))?;
    }
    Ok(())
}

fn targets() -> Result<Vec<String>, Failed> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder)
        .map_err(|error| Failed(format!("cannot read {}: {error}", folder.display())))?;
    let mut targets: Vec<_> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(ToOwned::to_owned))
        .collect();
    targets.sort();
    Ok(targets)
}
