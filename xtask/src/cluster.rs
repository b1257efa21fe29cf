//! `cargo xtask cluster`: real Spark, Ray, `DuckDB` and Polars give the answers of the command.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::{self, Failed, cargo, root, works};
use crate::{lab, packages};

/// From the registry, in versions that were tried together.
const PACKAGES: &[&str] = &[
    "duckdb==2.0.0",
    "maturin>=1.16,<2",
    "mypy>=1.18",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "pyspark==4.3.0",
    "ray[data]==2.60.0",
];
const SCRIPTS: &str = "crates/toolmend-python/tests/cluster";
/// How many megabytes of calls each engine gets.
const MEGABYTES: &str = "24";

/// Installs the engines, cleans the same calls with the command and with each of them, and compares every row.
pub(crate) fn run() -> Result<(), Failed> {
    if !works(Command::new("java").arg("-version")) {
        return Err(Failed("`java` is missing: Spark runs in it (17 or later)".to_owned()));
    }
    let folder = lab::cache("cluster")?;
    let python = lab::python(&folder, "python", PACKAGES)?;
    packages::install_wheel(&folder, &python, "dev")?;
    let binary = lab::toolmend(true)?;
    let calls = lab::cache("cluster/calls")?;
    answers(&binary, &calls)?;
    for script in ["one_machine.py", "on_ray.py", "on_spark.py"] {
        let mut engine = Command::new(&python);
        engine.arg(root().join(SCRIPTS).join(script)).arg(&calls).current_dir(&calls);
        // Workers take the interpreter that they are told of.
        engine
            .env("PYSPARK_PYTHON", &python)
            .env("PYSPARK_DRIVER_PYTHON", &python)
            .env("PYTHONWARNINGS", "ignore");
        engine.env("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0").env("RAY_USAGE_STATS_ENABLED", "0");
        step::run(&mut engine)?;
    }
    Ok(())
}

/// The calls, and what the command makes of them: as a file, and record by record.
fn answers(binary: &Path, folder: &Path) -> Result<(), Failed> {
    step::run(&mut cargo(&["build", "--release", "--package", "toolmend-batch", "--example", "scale"]))?;
    let scale = lab::target().join("release/examples/scale");
    let file = |name: &str| folder.join(name);
    let write = |name: &str| {
        fs::File::create(file(name)).map_err(|error| Failed(format!("cannot write {name}: {error}")))
    };
    step::run(Command::new(&scale).arg("tools").stdout(Stdio::from(write("tools.json")?)))?;
    let generate = |kind: &str, name: &str| {
        let mut command = Command::new(&scale);
        command.args(["generate", kind, MEGABYTES]).arg(file(name)).stdout(Stdio::null());
        step::run(&mut command)
    };
    generate("parquet", "calls.parquet")?;
    let mut clean = Command::new(binary);
    clean
        .arg("batch")
        .arg(file("calls.parquet"))
        .args(["--layout", "column", "--tools"])
        .arg(file("tools.json"));
    clean.arg("--rejects").arg(file("rejects.jsonl")).arg("--out").arg(file("clean.parquet"));
    step::run(&mut clean)?;
    // The same calls as records.
    generate("jsonl", "calls.jsonl")?;
    let mut records = Command::new(binary);
    records.arg("batch").arg("--tools").arg(file("tools.json")).arg(file("calls.jsonl"));
    step::run(records.stdout(Stdio::from(write("answers.jsonl")?)))
}
