//! Files and folders, with errors that name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::{TaskError, workspace_root};

/// Returns the error of an operation on a path; `action` is a verb such as `read`.
pub(crate) fn file_error(action: &str, path: &Path, error: &io::Error) -> TaskError {
    TaskError(format!("cannot {action} {}: {error}", path.display()))
}

pub(crate) fn read_file(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|error| file_error("read", path, &error))
}

pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), TaskError> {
    fs::write(path, contents).map_err(|error| file_error("write", path, &error))
}

pub(crate) fn create_file(path: &Path) -> Result<fs::File, TaskError> {
    fs::File::create(path).map_err(|error| file_error("write", path, &error))
}

pub(crate) fn create_folder(path: &Path) -> Result<(), TaskError> {
    fs::create_dir_all(path).map_err(|error| file_error("create", path, &error))
}

/// Returns the files of a folder, sorted.
pub(crate) fn list_files(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let entries = fs::read_dir(folder).map_err(|error| file_error("read", folder, &error))?;
    let mut files: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

/// Creates a folder for packages and measurements that are kept between runs.
pub(crate) fn cache_folder(name: &str) -> Result<PathBuf, TaskError> {
    let folder = workspace_root().join("target").join(name);
    create_folder(&folder)?;
    Ok(folder)
}
