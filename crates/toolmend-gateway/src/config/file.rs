//! The configuration as a TOML text.

use std::fmt;
use std::path::{Path, PathBuf};

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
    let config: Config = toml::from_str(text).map_err(|error| at(error.to_string()))?;
    check(&config).map_err(|error| at(error.message))?;
    Ok(config)
}

pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    if config.reprompts > 5 {
        let message = format!("reprompts: expected a number from 0 to 5, found {}", config.reprompts);
        return Err(ConfigError::new(message));
    }
    for upstream in &config.upstreams {
        let url = &upstream.url;
        let uri: Result<http::Uri, _> = url.parse();
        let scheme = uri.as_ref().ok().and_then(http::Uri::scheme_str);
        if !matches!(scheme, Some("http" | "https"))
            || uri.is_ok_and(|uri| uri.host().is_none_or(str::is_empty))
        {
            let message = format!("upstreams: expected an address like http://127.0.0.1:8080, found {url:?}");
            return Err(ConfigError::new(message));
        }
        if let Some(name) = &upstream.api_key_env
            && std::env::var_os(name).is_none()
        {
            let message =
                format!("upstreams: the environment has no variable {name:?} with the key of {url}");
            return Err(ConfigError::new(message));
        }
    }
    Ok(())
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
            ("reprompts = 6", "from 0 to 5"),
            ("[[upstreams]]\nurl = \"localhost:8080\"", "http://127.0.0.1:8080"),
            (
                "[[upstreams]]\nurl = \"http://a\"\napi_key_env = \"TOOLMEND_NO_SUCH_KEY\"",
                "TOOLMEND_NO_SUCH_KEY",
            ),
        ] {
            let error = Config::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn keys_are_never_shown() {
        let config = Config::from_toml(
            "api_keys = [\"s3cret\"]\n[[upstreams]]\nurl = \"http://a\"\napi_key = \"s3cret\"",
        )
        .unwrap();
        assert!(!config.to_toml().contains("s3cret"));
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
