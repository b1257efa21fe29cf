//! The npm package with both builds, in the folder `target/wasm/package`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::toolchain::{self, TARGET};
use crate::command::{TaskError, cargo_command, print_line, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, read_file, write_file};
use crate::installs::install_node_packages;
use crate::needs;

const CRATE: &str = "crates/toolmend-wasm";
const PROFILE: &str = "wasm";
const PACKAGES: &[&str] = &["esbuild@0.28.2"];

/// One of the two builds.
struct Build {
    name: &'static str,
    features: &'static [&'static str],
    /// The most kilobytes that a browser loads, compressed with brotli.
    limit: u64,
}

const BUILDS: [Build; 2] = [
    Build { name: "light", features: &[], limit: 250 },
    Build { name: "full", features: &["--features", "full"], limit: 800 },
];

/// Types of the Node package, and under which name they are published here.
const NODE_TYPES: [(&str, &str); 2] =
    [("index.d.cts", "api.d.mts"), ("jsonrepair.d.cts", "jsonrepair.d.mts")];

/// Builds the package and returns its folder. A build that is too large is an error.
pub(crate) fn build_package() -> Result<PathBuf, TaskError> {
    needs::NODE.ensure()?;
    needs::WASM.ensure()?;
    let folder = cache_folder("wasm")?;
    let tools = cache_folder("wasm/tools")?;
    install_node_packages(&tools, PACKAGES)?;
    let package = folder.join("package");
    let _ = fs::remove_dir_all(&package);
    create_folder(&package.join("types"))?;
    for build in &BUILDS {
        let module = compile(build)?;
        let generated = folder.join("generated").join(build.name);
        generate_script(&folder, &module, &generated)?;
        let mut bundle = Command::new("node");
        bundle.arg(workspace_root().join(CRATE).join("build.mjs")).arg(build.name);
        bundle.arg(generated.join("toolmend_bg.wasm")).arg(generated.join("toolmend.js")).arg(&package);
        run_command(bundle.current_dir(&tools))?;
    }
    copy_files(&package)?;
    check_sizes(&package)?;
    print_line(&format!("the package is in {}", package.display()));
    Ok(package)
}

/// Compiles the module. Each build has a folder of its own, because both files have the same name.
fn compile(build: &Build) -> Result<PathBuf, TaskError> {
    let toolchain =
        toolchain::find().ok_or_else(|| TaskError("nothing can compile for WebAssembly".to_owned()))?;
    let folder = cache_folder(&format!("wasm/{}", build.name))?;
    let mut cargo =
        toolchain.cargo(&["build", "--locked", "--package", "toolmend-wasm", "--profile", PROFILE])?;
    cargo.args(build.features).arg("--target-dir").arg(&folder);
    run_command(&mut cargo)?;
    Ok(folder.join(TARGET).join(PROFILE).join("toolmend_wasm.wasm"))
}

/// Writes the JavaScript that `wasm-bindgen` generates for a module, with the program in `bindgen`.
fn generate_script(folder: &Path, module: &Path, to: &Path) -> Result<(), TaskError> {
    let target = folder.join("bindgen");
    let manifest = workspace_root().join(CRATE).join("bindgen/Cargo.toml");
    let mut build = cargo_command(&["build", "--quiet", "--locked", "--manifest-path"]);
    run_command(build.arg(manifest).arg("--target-dir").arg(&target))?;
    let program = format!("debug/toolmend-wasm-bindgen{}", env::consts::EXE_SUFFIX);
    run_command(Command::new(target.join(program)).arg(module).arg("toolmend").arg(to))
}

/// Copies what needs no building.
fn copy_files(package: &Path) -> Result<(), TaskError> {
    let root = workspace_root();
    let copy = |from: PathBuf, to: PathBuf| {
        fs::copy(&from, to).map(|_| ()).map_err(|error| file_error("copy", &from, &error))
    };
    for name in ["package.json", "README.md"] {
        copy(root.join(CRATE).join(name), package.join(name))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(root.join(name), package.join(name))?;
    }
    for name in ["full.d.mts", "light.d.mts"] {
        copy(root.join(CRATE).join("js").join(name), package.join("types").join(name))?;
    }
    for (name, published) in NODE_TYPES {
        let types = read_file(&root.join("crates/toolmend-node/js").join(name))?;
        // One imports the other.
        let types = types.replace("'./index.cjs'", "'./api.mjs'");
        write_file(&package.join("types").join(published), types)?;
    }
    Ok(())
}

/// Compresses the modules as a server does, and compares them with their limits.
fn check_sizes(package: &Path) -> Result<(), TaskError> {
    let compress = "const { brotliCompressSync } = require('node:zlib'); \
        const file = require('node:fs').readFileSync(process.argv[1]); console.log(brotliCompressSync(file).length)";
    let mut too_large = Vec::new();
    for Build { name, limit, .. } in BUILDS {
        let module = package.join(name).join("toolmend.wasm");
        let output = Command::new("node").args(["--eval", compress]).arg(&module).output();
        let output = output.map_err(|error| TaskError::cannot_start("node", &error))?;
        let bytes: Option<u64> = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        let bytes = bytes.ok_or_else(|| TaskError(format!("cannot compress {}", module.display())))?;
        let whole = fs::metadata(&module).map_err(|error| file_error("read", &module, &error))?.len();
        print_line(&format!(
            "{name}: {} KB, with brotli {} KB of {limit} KB",
            whole / 1000,
            bytes.div_ceil(1000)
        ));
        if bytes > limit * 1000 {
            too_large.push(format!("the {name} build has {bytes} bytes, and at most {limit} KB are allowed"));
        }
    }
    TaskError::from_missed(&too_large)
}
