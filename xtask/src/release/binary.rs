//! `cargo xtask binary`: builds the command as it is released, a file that needs nothing else, and packs it.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::builds::DIST;
use crate::command::{TaskError, capture_output, cargo_command, print_line, run_command, workspace_root};
use crate::files::{cache_folder, create_folder, file_error, write_file};

/// What goes into the archive beside the command.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// The shells that completions are written for, and the names of their files.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "toolmend.bash"), ("zsh", "_toolmend"), ("fish", "toolmend.fish")];

/// What to build.
#[derive(Debug)]
pub(crate) struct Options {
    /// The platform as Rust names it, or this one.
    pub(crate) target: Option<String>,
    /// Builds quickly, with few features, and packs nothing: only whether a static binary works.
    pub(crate) is_quick: bool,
}

impl Options {
    /// Reads the arguments.
    pub(crate) fn parse(args: &[&str]) -> Result<Options, TaskError> {
        match args {
            [] => Ok(Options { target: None, is_quick: false }),
            ["--quick"] => Ok(Options { target: None, is_quick: true }),
            ["--target", target] => Ok(Options { target: Some((*target).to_owned()), is_quick: false }),
            _ => {
                Err(TaskError(format!("expected `--quick` or `--target TRIPLE`, found `{}`", args.join(" "))))
            }
        }
    }
}

/// Builds the command, checks that it starts and needs no libraries, and packs it.
pub(crate) fn build(options: &Options) -> Result<(), TaskError> {
    let host = find_host()?;
    let target = options.target.as_deref().unwrap_or(&host);
    // Flags for the linker would rebuild everything that is not built with them.
    let folder = cache_folder("binary")?;
    let mut build = cargo_command(&["build", "--locked", "--package", "toolmend-cli", "--target", target]);
    build.arg("--target-dir").arg(&folder);
    if options.is_quick {
        build.args(["--config", "profile.dev.debug=0"]);
    } else {
        build.args(["--profile", DIST, "--features", "toolmend-cli/full"]);
    }
    // Libraries of macOS are always shared.
    if !target.contains("apple") {
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        build.env("RUSTFLAGS", format!("{flags} -C target-feature=+crt-static"));
    }
    run_command(&mut build)?;
    let profile = if options.is_quick { "debug" } else { DIST };
    let suffix = if target.contains("windows") { ".exe" } else { "" };
    let binary = folder.join(target).join(profile).join(format!("toolmend{suffix}"));
    if target.contains("linux") {
        check_static(&binary)?;
    }
    // Another architecture of this system may need an emulator, which is not a reason to pack nothing.
    if target == host || target.replace("-musl", "-gnu") == host {
        check_start(&binary)?;
    }
    if options.is_quick { Ok(()) } else { pack(&binary, target) }
}

/// Returns the name of this platform.
fn find_host() -> Result<String, TaskError> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = capture_output("rustc", Command::new(rustc).arg("-vV"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| TaskError("`rustc -vV` names no host".to_owned()))
}

/// Fails if the file asks for a program that loads libraries.
fn check_static(binary: &Path) -> Result<(), TaskError> {
    let bytes = fs::read(binary).map_err(|error| file_error("read", binary, &error))?;
    match has_interpreter(&bytes) {
        Some(false) => Ok(()),
        Some(true) => Err(TaskError(format!("{} is not static: it asks for a loader", binary.display()))),
        None => Err(TaskError(format!("{} is not a 64-bit ELF file", binary.display()))),
    }
}

/// Whether one of the segments of a 64-bit little-endian ELF file is the name of a loader (`PT_INTERP`).
fn has_interpreter(file: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = file.get(at..at + length)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (offset, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let mut found = false;
    for index in 0..count {
        found |= number(offset.checked_add(index * size)?, 4)? == INTERPRETER as usize;
    }
    Some(found)
}

/// Starts the command and lets it repair a text.
fn check_start(binary: &Path) -> Result<(), TaskError> {
    let mut command = Command::new(binary);
    command.arg("fix").stdin(Stdio::piped()).stdout(Stdio::piped());
    let failed = |error| TaskError::cannot_start(binary.display(), &error);
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(b"{'a': 1,}").map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    if answer.trim_end() != r#"{"a": 1}"# {
        return Err(TaskError(format!("{} answered {answer:?} ({})", binary.display(), output.status)));
    }
    print_line(&format!("{} starts and needs no libraries", binary.display()));
    Ok(())
}

/// Writes an archive with the command, its manual pages and completions, and a file with its checksum.
fn pack(binary: &Path, target: &str) -> Result<(), TaskError> {
    let name = format!("toolmend-{target}");
    let archives = cache_folder("archives")?;
    let folder = archives.join(&name);
    let _ = fs::remove_dir_all(&folder);
    create_folder(&folder)?;
    let mut files: Vec<PathBuf> = DOCUMENTS.iter().map(|file| workspace_root().join(file)).collect();
    files.push(binary.to_owned());
    for file in &files {
        let copy = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, copy).map_err(|error| file_error("copy", file, &error))?;
    }
    // They are the same on every platform, so the command that can run here writes them.
    let writer = |args: &[&str]| {
        let mut command =
            cargo_command(&["run", "--quiet", "--package", "toolmend-cli", "--features", "full", "--"]);
        command.args(args);
        command
    };
    let manual = folder.join("man");
    create_folder(&manual)?;
    run_command(writer(&["manpages"]).arg(&manual))?;
    let completions = folder.join("completions");
    create_folder(&completions)?;
    for (shell, file) in COMPLETIONS {
        let output = capture_output("completions", &mut writer(&["completions", shell]))?;
        write_file(&completions.join(file), output.stdout)?;
    }
    let is_windows = target.contains("windows");
    let archive = format!("{name}.{}", if is_windows { "zip" } else { "tar.gz" });
    // The `tar` of Windows writes zip files by the name of the archive.
    let mode = if is_windows { "-caf" } else { "-czf" };
    run_command(Command::new("tar").args([mode, &archive, &name]).current_dir(&archives))?;
    write_checksum(&archives, &archive)?;
    print_line(&format!("{}", archives.join(archive).display()));
    Ok(())
}

/// Writes the checksum of a file as `sha256sum` does.
pub(super) fn write_checksum(folder: &Path, file: &str) -> Result<(), TaskError> {
    let programs: [&[&str]; 2] = [&["sha256sum"], &["shasum", "-a", "256"]];
    for program in programs {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(file).current_dir(folder);
        if let Ok(output) = command.output()
            && output.status.success()
        {
            return write_file(&folder.join(format!("{file}.sha256")), output.stdout);
        }
    }
    Err(TaskError("neither `sha256sum` nor `shasum` is there; install one of them".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one segment of this type.
    fn elf(kind: u8) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[32], file[54], file[56], file[64]) = (64, 56, 1, kind);
        file
    }

    #[test]
    fn a_loader_is_found() {
        assert_eq!(has_interpreter(&elf(1)), Some(false));
        assert_eq!(has_interpreter(&elf(3)), Some(true));
        assert_eq!(has_interpreter(&elf(3)[..64]), None);
        assert_eq!(has_interpreter(b"MZ"), None);
    }
}
