//! Where text comes from: a named file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// One input of the command. `-` means standard input, as everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_owned()) }
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::Stdin => "<stdin>".to_owned(),
            Source::File(path) => path.display().to_string(),
        }
    }

    /// Opens it for reading. The second part is how many bytes there are, where that is known.
    pub(crate) fn open(&self) -> Result<(Box<dyn Read + Send>, Option<u64>), Failure> {
        match self {
            Source::Stdin => Ok((Box::new(io::stdin()), stdin_length())),
            Source::File(path) => {
                let file = File::open(path).map_err(|source| self.unreadable(source))?;
                let about = file.metadata().map_err(|source| self.unreadable(source))?;
                if about.is_dir() {
                    return Err(self.unreadable(io::ErrorKind::IsADirectory.into()));
                }
                Ok((Box::new(file), about.is_file().then_some(about.len())))
            }
        }
    }

    /// All of it, as text.
    pub(crate) fn read(&self) -> Result<String, Failure> {
        let (mut reader, length) = self.open()?;
        let mut bytes = Vec::with_capacity(length.and_then(|length| length.try_into().ok()).unwrap_or(0));
        reader.read_to_end(&mut bytes).map_err(|source| self.unreadable(source))?;
        String::from_utf8(bytes)
            .map_err(|error| Failure::NotUtf8 { name: self.name(), at: error.utf8_error().valid_up_to() })
    }

    pub(crate) fn unreadable(&self, source: io::Error) -> Failure {
        Failure::Read { name: self.name(), source }
    }
}

/// The length of a file that standard input is redirected from.
fn stdin_length() -> Option<u64> {
    if io::stdin().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let copy = io::stdin().as_fd().try_clone_to_owned().ok()?;
        let about = File::from(copy).metadata().ok()?;
        about.is_file().then_some(about.len())
    }
    #[cfg(not(unix))]
    None
}
