//! Where a journal is kept.

use std::fmt;
use std::path::PathBuf;

/// Where a journal is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere.
    Off,
    /// In a file.
    Sqlite(PathBuf),
    /// In a `PostgreSQL` database, by its URL.
    Postgres(String),
}

impl Place {
    /// Reads what people write: `off`, a `PostgreSQL` URL, or a path.
    ///
    /// ```
    /// use toolmend_journal::Place;
    /// assert_eq!(Place::read("off"), Place::Off);
    /// assert_eq!(Place::read("/var/lib/toolmend.db"), Place::Sqlite("/var/lib/toolmend.db".into()));
    /// let place = Place::read("postgres://app:secret@db/toolmend");
    /// assert_eq!(place.to_string(), "postgres://app:…@db/toolmend");
    /// ```
    pub fn read(text: &str) -> Self {
        if text.eq_ignore_ascii_case("off") {
            Place::Off
        } else if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Place::Postgres(text.to_owned())
        } else {
            Place::Sqlite(text.into())
        }
    }

    /// The usual file: `toolmend/journal.db` in the folder for the state of programs, `$XDG_STATE_HOME` or
    /// `~/.local/state`. None where there is no home.
    pub fn usual() -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = folder("XDG_STATE_HOME")
            .or_else(|| folder("LOCALAPPDATA"))
            .or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
        Some(Place::Sqlite(state.join("toolmend/journal.db")))
    }
}

/// For people: the password of a URL is not shown.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Off => f.write_str("off"),
            Place::Sqlite(path) => write!(f, "{}", path.display()),
            Place::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

fn without_password(url: &str) -> String {
    let url = match url.split_once('?') {
        // A password may stand in a parameter, too.
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
            assert_eq!(Place::read(url).to_string(), shown);
        }
    }
}
