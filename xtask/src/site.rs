//! `cargo xtask site`: builds the documentation as a site, with every link checked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{TaskError, print_line, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, read_file, write_file};
use crate::installs::install_python_packages;
use crate::markdown::find_links;
use crate::needs;
use crate::tidy::resolve_link;
use crate::wasm;

const PACKAGES: &[&str] = &["mkdocs-material==9.8.1"];
/// Where the files that are no pages of the site can be read.
const REPOSITORY: &str = "https://github.com/toolmend/toolmend/blob/main/";
/// The folder of the pages.
const PAGES: &str = "docs";

/// The folder of the playground, and what it needs of the package for browsers.
const PLAYGROUND: &str = "playground/toolmend";
const PLAYGROUND_FILES: [&str; 2] = ["web.mjs", "toolmend.wasm"];

/// Builds the site, with the module of the playground where it can be compiled. With `CI=true` it must be.
pub(crate) fn run() -> Result<(), TaskError> {
    let is_strict = env::var("CI").is_ok_and(|value| value == "true");
    let package = match [&needs::NODE, &needs::WASM].into_iter().try_for_each(needs::Need::ensure) {
        Ok(()) => Some(wasm::build_package()?),
        Err(missing) if is_strict => return Err(missing),
        Err(TaskError(reason)) => {
            print_line(&format!("the playground of this site will not work: {reason}"));
            None
        }
    };
    build(package.as_deref()).map(|_| ())
}

/// Copies the pages, builds the site and returns its folder. A link that leads nowhere and a page without an entry are errors.
pub(crate) fn build(package: Option<&Path>) -> Result<PathBuf, TaskError> {
    let folder = cache_folder("site")?;
    let python = install_python_packages(&folder, "mkdocs", PACKAGES)?;
    let pages = folder.join("pages");
    let _ = fs::remove_dir_all(&pages);
    copy_pages(PAGES, &pages)?;
    if let Some(package) = package {
        copy_playground(package, &pages.join(PLAYGROUND))?;
    }
    let mut build = Command::new(python.with_file_name("mkdocs"));
    build.args(["build", "--strict", "--quiet", "--config-file", "mkdocs.yml"]);
    // A message of the theme about another project, which it would show at every build.
    build.env("NO_MKDOCS_2_WARNING", "1").current_dir(workspace_root());
    run_command(&mut build)?;
    let site = folder.join("html");
    print_line(&format!("the site is in {}", site.display()));
    Ok(site)
}

fn copy_playground(package: &Path, to: &Path) -> Result<(), TaskError> {
    create_folder(to)?;
    for name in PLAYGROUND_FILES {
        let file = package.join("full").join(name);
        fs::copy(&file, to.join(name)).map_err(|error| file_error("copy", &file, &error))?;
    }
    Ok(())
}

/// Copies a folder of the project. `path` is its path there.
fn copy_pages(path: &str, to: &Path) -> Result<(), TaskError> {
    let from = workspace_root().join(path);
    create_folder(to)?;
    for entry in fs::read_dir(&from).map_err(|error| file_error("read", &from, &error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (source, copy, page) = (entry.path(), to.join(&name), format!("{path}/{name}"));
        if source.is_dir() {
            copy_pages(&page, &copy)?;
        } else if source.extension().is_some_and(|extension| extension == "md") {
            write_file(&copy, link_to_repository(&page, &read_file(&source)?))?;
        } else {
            fs::copy(&source, &copy).map_err(|error| file_error("copy", &source, &error))?;
        }
    }
    Ok(())
}

/// Makes links to files beside the pages lead to the repository.
fn link_to_repository(path: &str, page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut copied = 0;
    for link in find_links(page) {
        let (file, anchor) = link.target.split_at(link.target.find('#').unwrap_or(link.target.len()));
        let is_outside = !file.is_empty() && !file.contains("://");
        let place = resolve_link(path, file).filter(|_| is_outside);
        if let Some(place) = place.filter(|place| !place.starts_with(&format!("{PAGES}/"))) {
            out.push_str(&page[copied..link.at.start]);
            out.extend([REPOSITORY, &place, anchor]);
            copied = link.at.end;
        }
    }
    out.push_str(&page[copied..]);
    out
}

#[test]
fn only_links_out_of_the_pages_change() {
    let page = "[a](../README.md#x), [b](b.md#y) and [c](#z) [d](../crates/a) [e](https://example.com/../x)";
    let expected = format!(
        "[a]({REPOSITORY}README.md#x), [b](b.md#y) and [c](#z) [d]({REPOSITORY}crates/a) [e](https://example.com/../x)"
    );
    assert_eq!(link_to_repository("docs/a.md", page), expected);
}
