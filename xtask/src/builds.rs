//! Builds of the programs that tasks run.

use std::path::PathBuf;

use crate::command::{TaskError, cargo_command, run_command, workspace_root};

/// Builds the command.
pub(crate) fn build_toolmend(release: bool) -> Result<PathBuf, TaskError> {
    let mut build = cargo_command(&["build", "--package", "toolmend-cli"]);
    if release {
        build.arg("--release");
    }
    run_command(&mut build)?;
    let profile = if release { "release" } else { "debug" };
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
    run_command(cargo_command(&["build", "--release"]).args(packages))?;
    let path =
        |name: &str| target_folder().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok((path("toolmend"), programs.map(path)))
}

/// Builds the command and the program that attacks it, as quickly as possible.
pub(crate) fn build_for_siege() -> Result<(PathBuf, PathBuf), TaskError> {
    let packages = ["--package", "toolmend-cli", "--package", "toolmend-gateway-bench"];
    run_command(cargo_command(&["build", "--bin", "toolmend", "--bin", "siege"]).args(packages))?;
    let path =
        |name: &str| target_folder().join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok((path("toolmend"), path("siege")))
}

/// Builds the program that generates large files and measures the library alone.
pub(crate) fn build_scale_example() -> Result<PathBuf, TaskError> {
    let build = ["build", "--release", "--package", "toolmend-batch", "--example", "scale"];
    run_command(&mut cargo_command(&build))?;
    Ok(target_folder().join("release/examples/scale"))
}

fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from)
}
