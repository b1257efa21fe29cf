//! `cargo xtask page`: the page of the gateway in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab;
use crate::step::{self, Failed, root, say};

const PACKAGES: &[&str] = &["playwright-core@1", "axe-core@4"];

/// Opens every view, uses it, and keeps pictures. Anything unexpected is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("page")?;
    lab::node(&folder, PACKAGES)?;
    let browser = browser()?;
    let binary = lab::toolmend(false)?;
    let pictures = folder.join("pictures");
    let journal = folder.join("journal.db");
    for old in [journal.clone(), folder.join("journal.db-wal"), folder.join("journal.db-shm")] {
        let _ = fs::remove_file(old);
    }
    fs::create_dir_all(&pictures).map_err(|error| Failed(format!("cannot make a folder: {error}")))?;
    let (upstream, port) = (lab::free_port()?, lab::free_port()?);
    let place = journal.display().to_string();
    let flags = ["--upstream-key", "hidden", "--admin-key", "open sesame", "--journal", &place];
    let _gateway = lab::gateway_with(&binary, upstream, port, &flags)?;
    let script = root().join("crates/toolmend-gateway/tests/page/page.mjs");
    let mut node = Command::new("node");
    node.arg(script).args([upstream.to_string(), format!("http://127.0.0.1:{port}")]);
    step::run(node.arg(&pictures).arg(&browser).current_dir(&folder))?;
    say(&format!("pictures: {}", pictures.display()));
    Ok(())
}

/// Debian's Chromium, installed where it is missing and can be.
fn browser() -> Result<PathBuf, Failed> {
    let path = Path::new("/usr/bin/chromium");
    if !path.exists() {
        lab::install("chromium")?;
    }
    if path.exists() {
        Ok(path.to_owned())
    } else {
        Err(Failed("Chromium is installed, and not where Debian puts it".to_owned()))
    }
}
