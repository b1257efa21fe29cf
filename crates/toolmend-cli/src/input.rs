//! Input of a command: a named file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::terminal::print_message;

/// One input of a command. The path `-` is standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    pub(crate) fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" { Input::Stdin } else { Input::File(path.to_owned()) }
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Input::Stdin => "<stdin>".to_owned(),
            Input::File(path) => path.display().to_string(),
        }
    }

    /// Opens the input. Returns the number of bytes as well if it is known.
    pub(crate) fn open(&self) -> Result<(Box<dyn Read + Send>, Option<u64>), CommandError> {
        match self {
            Input::Stdin => {
                // Otherwise the program seems to hang.
                if io::stdin().is_terminal() {
                    print_message("reading from the terminal; end with Ctrl-D, or name a file");
                }
                Ok((Box::new(io::stdin()), stdin_length()))
            }
            Input::File(path) => {
                let file = File::open(path).map_err(|source| self.read_error(source))?;
                let metadata = file.metadata().map_err(|source| self.read_error(source))?;
                if metadata.is_dir() {
                    return Err(self.read_error(io::ErrorKind::IsADirectory.into()));
                }
                Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
            }
        }
    }

    /// Reads the whole input as text.
    pub(crate) fn read_text(&self) -> Result<String, CommandError> {
        let (mut reader, length) = self.open()?;
        let mut bytes = Vec::with_capacity(length.and_then(|length| length.try_into().ok()).unwrap_or(0));
        reader.read_to_end(&mut bytes).map_err(|source| self.read_error(source))?;
        String::from_utf8(bytes).map_err(|error| CommandError::NotUtf8 {
            name: self.name(),
            at: error.utf8_error().valid_up_to(),
        })
    }

    pub(crate) fn read_error(&self, source: io::Error) -> CommandError {
        CommandError::Read { name: self.name(), source }
    }

    /// Returns the error for a file that can be read but is not what it must be.
    pub(crate) fn invalid(&self, expected: &'static str, found: &impl ToString) -> CommandError {
        CommandError::Invalid { name: self.name(), expected, found: found.to_string() }
    }
}

/// Returns the length of the file that standard input is redirected from.
fn stdin_length() -> Option<u64> {
    if io::stdin().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let copy = io::stdin().as_fd().try_clone_to_owned().ok()?;
        let metadata = File::from(copy).metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    }
    #[cfg(not(unix))]
    None
}
