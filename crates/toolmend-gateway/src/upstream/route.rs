//! Which server a request goes to, and at which address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use http::uri::{self, Authority, PathAndQuery, Scheme, Uri};

use super::UpstreamProfile;
use crate::config::{ConfigError, Upstream};

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    scheme: Scheme,
    pub(crate) authority: Authority,
    /// Goes before the path of each request.
    prefix: String,
    models: Vec<String>,
    /// Its key, as a bearer token and as plain text.
    pub(crate) key: Option<(HeaderValue, HeaderValue)>,
    /// How it has to be spoken to.
    pub(crate) profile: UpstreamProfile,
    /// Its address without path and credentials, for logs.
    pub(crate) origin: Arc<str>,
}

impl Route {
    /// Reads a configured server.
    pub(crate) fn new(upstream: &Upstream) -> Result<Self, ConfigError> {
        let invalid = |what: &str| {
            let url = &upstream.url;
            ConfigError::new(format!(
                "upstreams: expected a URL like http://127.0.0.1:8080, found {url:?} with {what}"
            ))
        };
        let uri: Uri = upstream.url.parse().map_err(|_| invalid("no address"))?;
        let parts = uri.into_parts();
        let prefix =
            parts.path_and_query.as_ref().map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        let from_env = upstream.api_key_env.as_ref().and_then(|name| std::env::var(name).ok());
        let key = upstream.api_key.as_ref().map(|key| key.reveal().to_owned()).or(from_env);
        let key = key.map(|key| {
            let header = |text: String| {
                let mut value = HeaderValue::from_str(&text).map_err(|_| {
                    ConfigError::new("upstreams: expected a key of visible ASCII characters, found others")
                })?;
                value.set_sensitive(true);
                Ok::<_, ConfigError>(value)
            };
            Ok::<_, ConfigError>((header(format!("Bearer {key}"))?, header(key)?))
        });
        let authority = parts.authority.ok_or_else(|| invalid("no host"))?;
        let scheme = parts.scheme.ok_or_else(|| invalid("no http:// or https://"))?;
        Ok(Route {
            origin: format!("{scheme}://{authority}").into(),
            scheme,
            profile: UpstreamProfile::new(upstream, authority.host()),
            authority,
            prefix,
            models: upstream.models.clone(),
            key: key.transpose()?,
        })
    }

    /// Whether it serves this model.
    pub(crate) fn serves(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| matches_pattern(pattern, model))
    }

    /// Returns the address of a path on this server.
    pub(crate) fn uri(&self, path: &PathAndQuery) -> Option<Uri> {
        let mut wanted = path.as_str();
        // Many people configure the address with the version that every path already has.
        if let Some(rest) = wanted.strip_prefix("/v1").filter(|rest| rest.starts_with('/'))
            && self.prefix.ends_with("/v1")
        {
            wanted = rest;
        }
        let path = if self.prefix.is_empty() {
            path.clone()
        } else {
            PathAndQuery::from_maybe_shared(format!("{}{wanted}", self.prefix)).ok()?
        };
        let mut parts = uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }

    /// Measures how long it takes to connect. `None` if that fails or takes longer than `timeout`.
    pub(crate) async fn measure_connect_time(&self, timeout: Duration) -> Option<Duration> {
        let default_port = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let port = self.authority.port_u16().unwrap_or(default_port);
        let address = (self.authority.host().trim_matches(['[', ']']).to_owned(), port);
        let started = Instant::now();
        let connected = tokio::time::timeout(timeout, tokio::net::TcpStream::connect(address)).await;
        matches!(connected, Ok(Ok(_))).then(|| started.elapsed())
    }
}

/// Whether a name matches a pattern in which `*` stands for anything.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            match rest.find(before) {
                Some(at) => rest = &rest[at + before.len()..],
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_pattern_matches_anything() {
        for (pattern, name, fits) in [
            ("qwen3", "qwen3", true),
            ("qwen3", "qwen3:8b", false),
            ("qwen*", "qwen3:8b", true),
            ("*/coder*", "a/coder-7b", true),
            ("*coder", "decoder-x", false),
            ("*", "", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn paths_are_joined_without_a_second_version() {
        for (url, path, expected) in [
            ("http://h:1", "/v1/models?x=1", "http://h:1/v1/models?x=1"),
            ("http://h:1/v1", "/v1/models", "http://h:1/v1/models"),
            ("http://h:1/v1/", "/api/chat", "http://h:1/v1/api/chat"),
            ("https://h/openai", "/v1/models", "https://h/openai/v1/models"),
        ] {
            let route = Route::new(&Upstream::new(url)).unwrap();
            assert_eq!(route.uri(&path.parse().unwrap()).unwrap().to_string(), expected);
        }
    }
}
