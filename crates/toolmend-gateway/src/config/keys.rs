//! The keys of clients: who they belong to, and how much each may ask for.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::Secret;

/// The longest name of a key, in bytes.
const MAX_NAME: usize = 64;

/// A key of clients, with a name for logs and metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientKey {
    /// Who uses the key. Logs and metrics show it.
    pub name: String,
    /// The key itself.
    #[serde(default, skip_serializing)]
    pub key: Option<Secret>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "super::file::env")]
    pub key_env: Option<String>,
    /// The most requests in a minute. `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// The most tokens in a day, which begins at midnight UTC: those of prompts and those of answers. `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_day: Option<u64>,
}

impl ClientKey {
    /// Returns a key without limits.
    ///
    /// ```
    /// use toolmend_gateway::{ClientKey, Secret};
    ///
    /// let key = ClientKey { requests_per_minute: Some(60), ..ClientKey::new("ci", Secret::new("k")) };
    /// assert_eq!(key.name, "ci");
    /// ```
    pub fn new(name: impl Into<String>, key: Secret) -> Self {
        ClientKey {
            name: name.into(),
            key: Some(key),
            key_env: None,
            requests_per_minute: None,
            tokens_per_day: None,
        }
    }

    /// Returns the key itself, from the configuration or the environment.
    pub(crate) fn secret(&self) -> Option<Secret> {
        let from_env = || self.key_env.as_ref().and_then(|name| std::env::var(name).ok()).map(Secret::new);
        self.key.clone().or_else(from_env).filter(|key| !key.reveal().is_empty())
    }
}

/// Checks the names, and that each key exists.
pub(super) fn check_keys(keys: &[ClientKey]) -> Result<(), String> {
    let mut names = HashSet::new();
    for key in keys {
        let name = &key.name;
        if name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control) {
            return Err(format!("expected a name of 1 to {MAX_NAME} visible characters, found {name:?}"));
        }
        if !names.insert(name) {
            return Err(format!("expected different names, found {name:?} twice"));
        }
        if key.secret().is_none() {
            return Err(format!("expected `key` or `key_env` for {name:?}, found no key"));
        }
    }
    Ok(())
}

#[test]
fn names_are_different_and_keys_exist() {
    let key = |name: &str, key: &str| ClientKey::new(name, Secret::new(key));
    assert_eq!(check_keys(&[key("a", "1"), key("b", "2")]), Ok(()));
    for (keys, error) in [
        (vec![key("a", "1"), key("a", "2")], "twice"),
        (vec![key("a", "")], "no key"),
        (vec![key("", "1")], "visible"),
        (vec![key("a\u{1b}[2J", "1")], "\\u{1b}"),
    ] {
        let found = check_keys(&keys).unwrap_err();
        assert!(found.contains(error), "{found}");
    }
}
