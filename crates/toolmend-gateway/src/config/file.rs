//! The configuration as a TOML text.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::Config;

/// A configuration that cannot be used, with the place.
#[derive(Debug)]
pub struct ConfigError {
    path: Option<PathBuf>,
    message: String,
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ConfigError { path: None, message: message.into() }
    }

    pub(super) fn at(path: &Path, message: String) -> Self {
        ConfigError { path: Some(path.to_owned()), message }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        f.write_str(self.message.trim_end())
    }
}

impl std::error::Error for ConfigError {}

pub(super) fn read(path: &Path) -> Result<Config, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text, Some(path)),
        Err(error) => Err(ConfigError::at(path, error.to_string())),
    }
}

pub(super) fn parse(text: &str, path: Option<&Path>) -> Result<Config, ConfigError> {
    let at = |message: String| ConfigError { path: path.map(Path::to_owned), message };
    // The reader's own message shows the line with a mark under the place.
    toml::from_str(text).map_err(|error| at(error.to_string()))
}

pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let wrong =
        |member: &'static str| move |message: String| ConfigError::new(format!("{member}: {message}"));
    check_reprompts(config.reprompts).map_err(wrong("reprompts"))?;
    for upstream in &config.upstreams {
        check_url(&upstream.url).map_err(wrong("upstreams"))?;
        upstream.api_key_env.as_deref().map_or(Ok(()), check_env).map_err(wrong("upstreams"))?;
        upstream.dialect.as_deref().map_or(Ok(()), check_dialect).map_err(wrong("upstreams"))?;
    }
    Ok(())
}

fn check_reprompts(number: u8) -> Result<(), String> {
    let message = || format!("expected a number from 0 to 5, found {number}");
    if number > 5 { Err(message()) } else { Ok(()) }
}

fn check_url(url: &str) -> Result<(), String> {
    let uri: Option<http::Uri> = url.parse().ok();
    let known = uri.as_ref().and_then(http::Uri::scheme_str).is_some_and(|it| matches!(it, "http" | "https"));
    let hosted = uri.as_ref().and_then(http::Uri::host).is_some_and(|host| !host.is_empty());
    let message = || format!("expected an address like http://127.0.0.1:8080, found {url:?}");
    if known && hosted { Ok(()) } else { Err(message()) }
}

fn check_env(name: &str) -> Result<(), String> {
    let message = || format!("expected a key in the variable {name:?} of the environment, found none");
    if std::env::var_os(name).is_none() { Err(message()) } else { Ok(()) }
}

fn check_dialect(name: &str) -> Result<(), String> {
    let message = || format!("expected a notation that `toolmend dialects` lists, found {name:?}");
    if toolmend::dialects().iter().any(|row| row.name() == name) { Ok(()) } else { Err(message()) }
}

/// Reads a member and judges it at once, so that the reader tells the line.
fn judged<'de, D, T>(from: D, check: impl Fn(&T) -> Result<(), String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = T::deserialize(from)?;
    check(&value).map_err(serde::de::Error::custom)?;
    Ok(value)
}

pub(super) fn reprompts<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    judged(from, |number| check_reprompts(*number))
}

pub(super) fn url<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    judged(from, |url: &String| check_url(url))
}

pub(super) fn env<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    judged(from, |name: &Option<String>| name.as_deref().map_or(Ok(()), check_env))
}

pub(super) fn dialect<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    judged(from, |name: &Option<String>| name.as_deref().map_or(Ok(()), check_dialect))
}

/// The configuration as a text that reads the same again, but for its keys.
pub(super) fn write(config: &Config) -> String {
    let mut shown = config.clone();
    let mut hidden = !std::mem::take(&mut shown.api_keys).is_empty();
    for upstream in &mut shown.upstreams {
        hidden |= upstream.api_key.take().is_some();
    }
    let note =
        "# Keys are not shown. Set them by TOOLMEND_API_KEY and TOOLMEND_UPSTREAM_KEY, or by api_key_env.\n";
    format!("{}{}", if hidden { note } else { "" }, toml::to_string(&shown).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_the_same_again() {
        let config = Config {
            upstreams: vec![super::super::Upstream::new("http://127.0.0.1:1")],
            ..Config::default()
        };
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, told) in [
            ("listen = \"127.0.0.1\"", "line 1"),
            ("\n\nlisten_on = 1", "line 3"),
            ("[limits]\nbody = 1", "line 2"),
            ("\nreprompts = 6", "line 2"),
            ("[[upstreams]]\nurl = \"localhost:8080\"", "line 2"),
            ("[[upstreams]]\nurl = \"http://a\"\napi_key_env = \"TOOLMEND_NO_SUCH_KEY\"", "line 3"),
        ] {
            let error = Config::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
        let error = Config::from_toml("reprompts = 6").unwrap_err().to_string();
        assert!(error.contains("from 0 to 5, found 6"), "{error}");
    }

    #[test]
    fn keys_are_never_shown() {
        let config = Config::from_toml(
            "api_keys = [\"s3cret\"]\n[[upstreams]]\nurl = \"http://a\"\napi_key = \"s3cret\"",
        )
        .unwrap();
        let shown = config.to_toml();
        assert!(!shown.contains("s3cret"));
        let again = Config::from_toml(&shown).unwrap();
        assert!(again.api_keys.is_empty() && again.upstreams[0].api_key.is_none(), "nothing opens by a mark");
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
