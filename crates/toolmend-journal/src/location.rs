//! Where a journal is stored: nowhere, in a file or in a database.
//!
//! This module parses and displays locations. It never opens them.

use std::fmt;
use std::path::PathBuf;

/// Where a journal is stored.
///
/// `Display` is for people: it hides the password of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Nowhere: the journal is turned off.
    Off,
    /// In an `SQLite` file.
    Sqlite(PathBuf),
    /// In a `PostgreSQL` database, given by its URL.
    Postgres(String),
}

impl Location {
    /// Parses a setting: `off`, a `PostgreSQL` URL, or a path.
    ///
    /// ```
    /// use toolmend_journal::Location;
    /// assert_eq!(Location::parse("off"), Location::Off);
    /// assert_eq!(Location::parse("/var/lib/toolmend.db"), Location::Sqlite("/var/lib/toolmend.db".into()));
    /// let location = Location::parse("postgres://app:secret@db/toolmend");
    /// assert_eq!(location.to_string(), "postgres://app:…@db/toolmend");
    /// ```
    pub fn parse(text: &str) -> Self {
        if text.eq_ignore_ascii_case("off") {
            Location::Off
        } else if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Location::Postgres(text.to_owned())
        } else {
            Location::Sqlite(text.into())
        }
    }

    /// Returns the default file: `toolmend/journal.db` in the state folder of the user, which is `$XDG_STATE_HOME`,
    /// `%LOCALAPPDATA%` or `~/.local/state`. Returns `None` if the user has no home.
    pub fn default_file() -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = folder("XDG_STATE_HOME")
            .or_else(|| folder("LOCALAPPDATA"))
            .or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
        Some(Location::Sqlite(state.join("toolmend/journal.db")))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Off => f.write_str("off"),
            Location::Sqlite(path) => write!(f, "{}", path.display()),
            Location::Postgres(url) => f.write_str(&hide_password(url)),
        }
    }
}

/// Returns a URL without its password, whether that is part of the user or a parameter.
fn hide_password(url: &str) -> String {
    let url = match url.split_once('?') {
        Some((plain, parameters)) if parameters.contains("password") => format!("{plain}?…"),
        _ => url.to_owned(),
    };
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let authority = rest.find('/').unwrap_or(rest.len());
    let Some(at) = rest[..authority].rfind('@') else { return url };
    let user = rest[..at].split(':').next().unwrap_or_default();
    let hidden = if rest[..at].contains(':') { ":…" } else { "" };
    format!("{scheme}://{user}{hidden}{}", &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        for (url, shown) in [
            ("postgres://db/x", "postgres://db/x"),
            ("postgres://u@db/x", "postgres://u@db/x"),
            ("postgres://u:p@w@db/x?sslmode=require", "postgres://u:…@db/x?sslmode=require"),
            ("postgresql://db/x?user=u&password=p", "postgresql://db/x?…"),
        ] {
            assert_eq!(Location::parse(url).to_string(), shown);
        }
    }
}
