//! `cargo xtask page`: tests the page of the gateway in a real browser.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::builds::build_toolmend;
use crate::command::{TaskError, print_line, run_command, workspace_root};
use crate::files::{cache_folder, create_folder};
use crate::installs::install_node_packages;
use crate::needs;
use crate::servers::{free_port, start_gateway_with};

const PACKAGES: &[&str] = &["playwright-core@1", "axe-core@4"];

/// Opens every view, uses it and takes screenshots. Anything unexpected is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("page")?;
    install_node_packages(&folder, PACKAGES)?;
    let browser = find_browser()?;
    let binary = build_toolmend(false)?;
    let screenshots = folder.join("screenshots");
    let journal = folder.join("journal.db");
    for old in [journal.clone(), folder.join("journal.db-wal"), folder.join("journal.db-shm")] {
        let _ = fs::remove_file(old);
    }
    create_folder(&screenshots)?;
    let (upstream, port) = (free_port()?, free_port()?);
    let journal = journal.display().to_string();
    let flags = ["--upstream-key", "hidden", "--admin-key", "open sesame", "--journal", &journal];
    let _gateway = start_gateway_with(&binary, upstream, port, &flags)?;
    let script = workspace_root().join("crates/toolmend-gateway/tests/page/page.mjs");
    let mut node = Command::new("node");
    node.arg(script).args([upstream.to_string(), format!("http://127.0.0.1:{port}")]);
    run_command(node.arg(&screenshots).arg(&browser).current_dir(&folder))?;
    print_line(&format!("screenshots: {}", screenshots.display()));
    Ok(())
}

/// Returns the browser, and installs it if it is missing.
pub(crate) fn find_browser() -> Result<PathBuf, TaskError> {
    needs::CHROMIUM.ensure()?;
    needs::find_browser().ok_or_else(|| TaskError("Chromium is missing".to_owned()))
}
