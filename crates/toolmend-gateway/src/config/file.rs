//! The configuration as TOML: parsing, checking, writing.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize as _};

use toolmend_dialect_files::DialectFileError;
use toolmend_protocol::{Protocol, UnknownProtocol};

use super::Config;

/// The value of `surface` that lets the gateway find out the protocol of a server.
const AUTO: &str = "auto";

/// The error for a configuration that cannot be used. The message names the file and the line.
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

impl From<DialectFileError> for ConfigError {
    fn from(error: DialectFileError) -> Self {
        ConfigError::new(error.to_string())
    }
}

pub(super) fn read(path: &Path) -> Result<Config, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) if path.extension().is_some_and(|ending| ending == "json") => parse_json(&text, path),
        Ok(text) => parse(&text, Some(path)),
        Err(error) => Err(ConfigError::at(path, error.to_string())),
    }
}

pub(super) fn parse(text: &str, path: Option<&Path>) -> Result<Config, ConfigError> {
    let at = |message: String| ConfigError { path: path.map(Path::to_owned), message };
    // The parser's own message shows the line and marks the position.
    toml::from_str(text).map_err(|error| at(error.to_string()))
}

/// Reads the same settings as JSON, or the capabilities of an agent of everruns.
fn parse_json(text: &str, path: &Path) -> Result<Config, ConfigError> {
    let at = |error: serde_json::Error| ConfigError::at(path, error.to_string());
    let file: serde_json::Value = serde_json::from_str(text).map_err(at)?;
    if file.get("capabilities").is_none() {
        return serde_json::from_value(file).map_err(at);
    }
    let capabilities = serde_json::from_value(file).map_err(at)?;
    Ok(Config::from_capabilities(&capabilities))
}

pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let invalid =
        |member: &'static str| move |message: String| ConfigError::new(format!("{member}: {message}"));
    check_reprompts(config.reprompts).map_err(invalid("reprompts"))?;
    super::keys::check_keys(&config.keys).map_err(invalid("keys"))?;
    for upstream in &config.upstreams {
        upstream.health.as_deref().map_or(Ok(()), check_path).map_err(invalid("upstreams"))?;
        check_url(&upstream.url).map_err(invalid("upstreams"))?;
        upstream.api_key_env.as_deref().map_or(Ok(()), check_env).map_err(invalid("upstreams"))?;
        upstream.dialect.as_deref().map_or(Ok(()), check_dialect).map_err(invalid("upstreams"))?;
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
    let message =
        || format!("expected an address like http://127.0.0.1:8080, found {:?}", hide_password(url));
    if known && hosted { Ok(()) } else { Err(message()) }
}

fn check_path(path: &str) -> Result<(), String> {
    let is_path = path.starts_with('/') && path.parse::<http::uri::PathAndQuery>().is_ok();
    if is_path { Ok(()) } else { Err(format!("expected a path like /health, found {path:?}")) }
}

fn check_env(name: &str) -> Result<(), String> {
    let message = || format!("expected a key in the environment variable {name:?}, found none");
    if std::env::var_os(name).is_none() { Err(message()) } else { Ok(()) }
}

fn check_dialect(name: &str) -> Result<(), String> {
    let message = || format!("expected a dialect that `toolmend dialects` lists, found {name:?}");
    if toolmend::dialects().iter().any(|row| row.name() == name) { Ok(()) } else { Err(message()) }
}

/// Reads a member and checks it immediately, so that the parser can name the line.
fn read_checked<'de, D, T>(from: D, check: impl Fn(&T) -> Result<(), String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = T::deserialize(from)?;
    check(&value).map_err(serde::de::Error::custom)?;
    Ok(value)
}

pub(super) fn reprompts<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    read_checked(from, |number| check_reprompts(*number))
}

/// Reads the address to listen on.
pub(super) fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<std::net::SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    super::parse_listen_address(&text).map_err(serde::de::Error::custom)
}

pub(super) fn url<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    read_checked(from, |url: &String| check_url(url))
}

pub(super) fn env<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_checked(from, |name: &Option<String>| name.as_deref().map_or(Ok(()), check_env))
}

pub(super) fn dialect<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_checked(from, |name: &Option<String>| name.as_deref().map_or(Ok(()), check_dialect))
}

/// Reads the protocol of a server; `auto` stands for none.
pub(super) fn protocol_or_auto<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Protocol>, D::Error> {
    let name = String::deserialize(from)?;
    parse_protocol_or_auto(&name).map_err(serde::de::Error::custom)
}

/// Reads the value of the setting `surface`: the name of a protocol, or `auto`, which stands for none.
///
/// ```
/// use toolmend_gateway::{Protocol, parse_protocol_or_auto};
///
/// assert_eq!(parse_protocol_or_auto("auto"), Ok(None));
/// assert_eq!(parse_protocol_or_auto("chat"), Ok(Some(Protocol::Chat)));
/// ```
///
/// # Errors
/// If the name is neither.
pub fn parse_protocol_or_auto(name: &str) -> Result<Option<Protocol>, UnknownProtocol> {
    if name == AUTO { Ok(None) } else { name.parse().map(Some) }
}

/// Returns the values of the setting `surface`.
///
/// ```
/// assert_eq!(toolmend_gateway::protocol_setting_names()[..2], ["auto", "chat"]);
/// ```
pub fn protocol_setting_names() -> Vec<&'static str> {
    [AUTO].into_iter().chain(Protocol::configurable().filter_map(|protocol| protocol.config_name())).collect()
}

/// Returns what comes before the name and the password in an address, these, and the rest. `None` if it has none.
pub(crate) fn split_user_info(url: &str) -> Option<(&str, &str, &str)> {
    let start = url.find("//").map_or(0, |at| at + 2);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let at = start + url[start..end].rfind('@')?;
    Some((&url[..start], &url[start..at], &url[at + 1..]))
}

/// Returns an address without the password in it.
pub(crate) fn hide_password(url: &str) -> String {
    match split_user_info(url) {
        Some((scheme, _, place)) => format!("{scheme}***@{place}"),
        None => url.to_owned(),
    }
}

/// Writes an address without the password in it.
pub(super) fn without_password<S: serde::Serializer>(url: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hide_password(url))
}

/// Writes an address, if there is one, without the password in it.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
pub(super) fn optional_without_password<S: serde::Serializer>(
    url: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    url.as_deref().map(hide_password).serialize(serializer)
}

/// Writes the configuration without its keys.
pub(super) fn write(config: &Config) -> String {
    let mut shown = config.clone();
    let mut hidden = !std::mem::take(&mut shown.api_keys).is_empty();
    hidden |= shown.keys.iter().any(|key| key.key.is_some());
    for upstream in &mut shown.upstreams {
        hidden |= upstream.api_key.take().is_some();
    }
    let note = "# Keys are not shown. Set them with TOOLMEND_API_KEY and TOOLMEND_UPSTREAM_KEY, or with api_key_env and key_env.\n";
    format!("{}{}", if hidden { note } else { "" }, toml::to_string(&shown).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_everruns_is_read_as_it_is() {
        use crate::config::RefusalMode;
        use toolmend::Preset;
        let read = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("agent.json");
            std::fs::write(&path, text).unwrap();
            read(&path)
        };
        let config = read(
            r#"{"name": "a", "capabilities": ["web_fetch", {"ref": "tool_call_repair", "config": {"max_reprompts": 2}}]}"#,
        )
        .unwrap();
        let settings = (config.policy, config.refusal, config.reprompts, config.repairs.max_bytes);
        assert_eq!(settings, (Preset::Balanced, RefusalMode::Reprompt, 2, 256 << 10));
        let config =
            read(r#"{"capabilities": [{"ref": "tool_call_repair", "config": {"max_reprompts": 0}}]}"#);
        assert_eq!(config.unwrap().refusal, RefusalMode::Auto);
        assert_eq!(read(r#"{"capabilities": []}"#).unwrap().policy, Preset::Off);
        let error =
            read(r#"{"capabilities": [{"ref": "tool_call_repair", "config": {"max_reprompts": 6}}]}"#);
        assert!(error.unwrap_err().to_string().contains("expected at most 5 re-prompts"));
        assert_eq!(read(r#"{"policy": "strict"}"#).unwrap().policy, Preset::Strict);
        assert!(read(r#"{"polcy": "strict"}"#).unwrap_err().to_string().contains("polcy"));
    }

    #[test]
    fn a_written_configuration_parses_to_the_same() {
        let config = Config {
            upstreams: vec![super::super::Upstream::new("http://127.0.0.1:1")],
            ..Config::default()
        };
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [
            ("listen = \"127.0.0.1\"", "line 1"),
            ("\n\nlisten_on = 1", "line 3"),
            ("[limits]\nbody = 1", "line 2"),
            ("\nreprompts = 6", "line 2"),
            ("[[upstreams]]\nurl = \"localhost:8080\"", "line 2"),
            ("[[upstreams]]\nurl = \"http://a\"\napi_key_env = \"TOOLMEND_NO_SUCH_KEY\"", "line 3"),
        ] {
            let error = Config::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(line), "{text}: {error}");
        }
        let error = Config::from_toml("reprompts = 6").unwrap_err().to_string();
        assert!(error.contains("from 0 to 5, found 6"), "{error}");
    }

    #[test]
    fn protocols_are_named_as_in_the_flags() {
        let read = |name: &str| {
            let text = format!("[[upstreams]]\nurl = \"http://a\"\nsurface = \"{name}\"");
            Config::from_toml(&text).map(|config| config.upstreams[0].surface)
        };
        assert_eq!(read("auto").unwrap(), None);
        assert_eq!(read("ollama").unwrap(), Some(Protocol::OllamaChat));
        let error = read("ollama_generate").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("`completions`"), "{error}");
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
        assert!(
            again.api_keys.is_empty() && again.upstreams[0].api_key.is_none(),
            "a hidden key is not a key"
        );
        assert!(!format!("{config:?}").contains("s3cret"));
        for url in ["http://me:s3cret@h:1/v1", "http://s3cret@h", "http://a@s3cret@h"] {
            let config = Config { upstreams: vec![super::super::Upstream::new(url)], ..Config::default() };
            assert!(!config.to_toml().contains("s3cret"), "{url}");
            assert!(!format!("{config:?}").contains("s3cret"), "{url}");
        }
        for text in ["[[upstreams]]\nurl = \"ftp://me:s3cret@h\"", "[[upstreams]]\nurl = \"me:s3cret@h\""] {
            let error = Config::from_toml(text).unwrap_err().to_string();
            assert!(error.contains("***"), "{error}");
        }
    }
}
