//! Builds of the programs that tasks run.

use std::path::PathBuf;

use crate::command::{TaskError, cargo_command, run_command, workspace_root};

/// The profile of what is released, and of what is measured.
pub(crate) const DIST: &str = "dist";
/// Everything that the command can do.
const FULL: &str = "toolmend-cli/full";

/// Builds the command with everything that it can do.
pub(crate) fn build_toolmend(is_measured: bool) -> Result<PathBuf, TaskError> {
    let mut build = cargo_command(&["build", "--package", "toolmend-cli", "--features", FULL]);
    if is_measured {
        build.args(["--profile", DIST]);
    }
    run_command(&mut build)?;
    let profile = if is_measured { DIST } else { "debug" };
    Ok(target_folder().join(profile).join(format!("toolmend{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds the command and the programs of `bench/gateway` that run beside it while it is measured.
///
/// Builds all of them together: each selection of packages has its own features for the crates that they share, so Cargo
/// would compile most of them a second time.
pub(crate) fn build_measured<const N: usize>(
    programs: [&str; N],
) -> Result<(PathBuf, [PathBuf; N]), TaskError> {
    let packages = ["--package", "toolmend-cli", "--package", "toolmend-gateway-bench"];
    run_command(cargo_command(&["build", "--profile", DIST, "--features", FULL]).args(packages))?;
    let path =
        |name: &str| target_folder().join(DIST).join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok((path("toolmend"), programs.map(path)))
}

/// Builds the command and the program that attacks it, as quickly as possible.
pub(crate) fn build_for_siege() -> Result<(PathBuf, PathBuf), TaskError> {
    let packages = ["--package", "toolmend-cli", "--package", "toolmend-gateway-bench"];
    run_command(
        cargo_command(&["build", "--bin", "toolmend", "--bin", "siege", "--features", FULL]).args(packages),
    )?;
    let path =
        |name: &str| target_folder().join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok((path("toolmend"), path("siege")))
}

/// Builds the program that generates large files and measures the library alone.
pub(crate) fn build_scale_example() -> Result<PathBuf, TaskError> {
    let package = ["--package", "toolmend-batch", "--features", "files", "--example", "scale"];
    run_command(cargo_command(&["build", "--profile", DIST]).args(package))?;
    Ok(target_folder().join(DIST).join("examples/scale"))
}

fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from)
}
