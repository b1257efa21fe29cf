//! `cargo xtask cluster`: checks that Spark, Ray, `DuckDB` and Polars give the same answers as the command.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::builds::{build_scale_example, build_toolmend};
use crate::command::{TaskError, run_command, succeeds, workspace_root};
use crate::files::{cache_folder, create_file};
use crate::installs::install_python_packages;
use crate::packages::install_wheel;

/// Versions that were tested together.
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
/// The size of the file that each engine gets.
const MEGABYTES: &str = "24";

/// Installs the engines, cleans the same calls with the command and with each of them, and compares every row.
pub(crate) fn run() -> Result<(), TaskError> {
    if !succeeds(Command::new("java").arg("-version")) {
        return Err(TaskError("`java` is missing; install version 17 or later for Spark".to_owned()));
    }
    let folder = cache_folder("cluster")?;
    let python = install_python_packages(&folder, "python", PACKAGES)?;
    install_wheel(&folder, &python, "dev")?;
    let binary = build_toolmend(true)?;
    let calls = cache_folder("cluster/calls")?;
    write_expected_answers(&binary, &calls)?;
    for script in ["one_machine.py", "on_ray.py", "on_spark.py"] {
        let mut engine = Command::new(&python);
        engine.arg(workspace_root().join(SCRIPTS).join(script)).arg(&calls).current_dir(&calls);
        // Without these, workers use another interpreter.
        engine
            .env("PYSPARK_PYTHON", &python)
            .env("PYSPARK_DRIVER_PYTHON", &python)
            .env("PYTHONWARNINGS", "ignore");
        engine.env("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0").env("RAY_USAGE_STATS_ENABLED", "0");
        run_command(&mut engine)?;
    }
    Ok(())
}

/// Writes the calls and the answers of the command, once as a cleaned file and once record by record.
fn write_expected_answers(binary: &Path, folder: &Path) -> Result<(), TaskError> {
    let scale = build_scale_example()?;
    let file = |name: &str| folder.join(name);
    run_command(Command::new(&scale).arg("tools").stdout(Stdio::from(create_file(&file("tools.json"))?)))?;
    let generate = |kind: &str, name: &str| {
        let mut command = Command::new(&scale);
        command.args(["generate", kind, MEGABYTES]).arg(file(name)).stdout(Stdio::null());
        run_command(&mut command)
    };
    generate("parquet", "calls.parquet")?;
    let mut clean = Command::new(binary);
    clean
        .arg("batch")
        .arg(file("calls.parquet"))
        .args(["--layout", "column", "--tools"])
        .arg(file("tools.json"));
    clean.arg("--rejects").arg(file("rejects.jsonl")).arg("--out").arg(file("clean.parquet"));
    run_command(&mut clean)?;
    // The same calls as records.
    generate("jsonl", "calls.jsonl")?;
    let mut records = Command::new(binary);
    records.arg("batch").arg("--tools").arg(file("tools.json")).arg(file("calls.jsonl"));
    run_command(records.stdout(Stdio::from(create_file(&file("answers.jsonl"))?)))
}
