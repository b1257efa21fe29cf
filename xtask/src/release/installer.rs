//! Whether `deploy/install.sh` installs what it downloads, and refuses an archive with another checksum.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::binary::write_checksum;
use crate::command::{TaskError, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, write_file};

const SCRIPT: &str = "deploy/install.sh";
/// The platforms that the script knows.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];

/// Installs an archive from a folder. What is in it is a script, because only the installer is tested here.
pub(super) fn check_installer() -> Result<(), TaskError> {
    let folder = cache_folder("installer")?;
    let installed = folder.join("bin/toolmend");
    let _ = fs::remove_file(&installed);
    for target in TARGETS {
        let name = format!("toolmend-{target}");
        create_folder(&folder.join(&name))?;
        write_file(&folder.join(&name).join("toolmend"), "#!/bin/sh\necho toolmend of the test\n")?;
        let archive = format!("{name}.tar.gz");
        run_command(Command::new("tar").args(["-czf", &archive, &name]).current_dir(&folder))?;
        write_checksum(&folder, &archive)?;
    }
    run_command(install(&folder).stdout(Stdio::null()))?;
    let installed_text =
        fs::read_to_string(&installed).map_err(|error| file_error("read", &installed, &error))?;
    if !installed_text.contains("toolmend of the test") {
        return Err(TaskError(format!("{SCRIPT} installed something else")));
    }
    let _ = fs::remove_file(&installed);
    for target in TARGETS {
        write_file(&folder.join(format!("toolmend-{target}.tar.gz")), "something else")?;
    }
    let output = install(&folder).output().map_err(|error| TaskError::cannot_start(SCRIPT, &error))?;
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || installed.exists() || !message.contains("the checksum of") {
        return Err(TaskError(format!("{SCRIPT} must refuse a wrong checksum; it printed {message:?}")));
    }
    Ok(())
}

fn install(folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg(workspace_root().join(SCRIPT));
    command.env("TOOLMEND_DOWNLOAD_URL", format!("file://{}", folder.display()));
    command.env("TOOLMEND_INSTALL_DIR", folder.join("bin"));
    command
}
