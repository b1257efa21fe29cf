//! Which server a request goes to, and at which address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::uri::{self, Authority, PathAndQuery, Scheme, Uri};
use http_body_util::{BodyExt, Empty};

use super::{UpstreamHealth, UpstreamProfile};
use crate::config::{ConfigError, Upstream, hide_password};
use crate::http::client::RequestBody;
use crate::http::server_key::ServerKey;

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    scheme: Scheme,
    pub(crate) authority: Authority,
    /// Goes before the path of each request.
    prefix: String,
    models: Vec<String>,
    /// What the gateway authenticates with.
    pub(crate) key: Option<ServerKey>,
    /// How it has to be spoken to.
    pub(crate) profile: UpstreamProfile,
    /// Its address without path and credentials, for logs.
    pub(crate) origin: Arc<str>,
    /// Whether it works.
    pub(crate) health: Arc<UpstreamHealth>,
    /// The path that answers if it is well.
    health_path: Option<PathAndQuery>,
}

impl Route {
    /// Reads a configured server.
    pub(crate) fn new(upstream: &Upstream) -> Result<Self, ConfigError> {
        let invalid = |what: &str| {
            let url = hide_password(&upstream.url);
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
        let authority = parts.authority.ok_or_else(|| invalid("no host"))?;
        // A name and a password are for authentication, and must not be shown with the address.
        let (user_info, host) = authority.as_str().rsplit_once('@').unzip();
        let key = match (key, user_info) {
            (Some(key), _) => Some(ServerKey::bearer(&key)),
            (None, Some(user_info)) => Some(ServerKey::basic(user_info)),
            (None, None) => None,
        };
        let key = key.transpose().map_err(|_| {
            ConfigError::new("upstreams: expected a key of visible ASCII characters, found others")
        })?;
        let authority = match host {
            Some(host) => host.parse().map_err(|_| invalid("no host"))?,
            None => authority,
        };
        let scheme = parts.scheme.ok_or_else(|| invalid("no http:// or https://"))?;
        Ok(Route {
            origin: format!("{scheme}://{authority}").into(),
            scheme,
            profile: UpstreamProfile::new(upstream, authority.host()),
            authority,
            prefix,
            models: upstream.models.clone(),
            key,
            health: Arc::default(),
            health_path: upstream.health.as_deref().and_then(|path| path.parse().ok()),
        })
    }

    /// Returns the request that asks whether the server is well, if it has a path for that.
    pub(crate) fn health_request(&self) -> Option<http::Request<RequestBody>> {
        let uri = self.uri(self.health_path.as_ref()?)?;
        let mut request = http::Request::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
        *request.uri_mut() = uri;
        if let Some(key) = &self.key {
            key.replace_in(request.headers_mut(), false);
        }
        Some(request)
    }

    /// Whether both are the same address.
    pub(crate) fn is_same_server(&self, other: &Route) -> bool {
        (&self.origin, &self.prefix) == (&other.origin, &other.prefix)
    }

    /// Whether it serves this model.
    pub(crate) fn serves(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| matches_pattern(pattern, model))
    }

    /// Returns the address of a path on this server. `None` for a path that may lead out of the configured one.
    pub(crate) fn uri(&self, path: &PathAndQuery) -> Option<Uri> {
        if climbs(path.path()) || !path.as_str().starts_with('/') {
            return None;
        }
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

/// Whether a path has a segment `..`, in any spelling that a server might read as one.
fn climbs(path: &str) -> bool {
    if !path.contains("..") && !path.contains('%') {
        return false;
    }
    let mut plain = path.to_ascii_lowercase();
    // A server may decode twice.
    for _ in 0..2 {
        for (code, text) in [("%25", "%"), ("%2e", "."), ("%2f", "/"), ("%5c", "/")] {
            plain = plain.replace(code, text);
        }
    }
    plain.split(['/', '\\']).any(|segment| segment.split(';').next() == Some(".."))
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
    fn a_password_in_the_address_is_used_and_not_shown() {
        let route = Route::new(&Upstream::new("http://me:s3cret%40@h:1/v1")).unwrap();
        assert_eq!(&*route.origin, "http://h:1");
        assert_eq!(route.uri(&"/v1/models".parse().unwrap()).unwrap().to_string(), "http://h:1/v1/models");
        assert!(!format!("{route:?}").contains("s3cret"));
        let mut headers = http::HeaderMap::new();
        route.key.unwrap().replace_in(&mut headers, false);
        assert_eq!(headers["authorization"], "Basic bWU6czNjcmV0QA==");
        let error = Route::new(&Upstream::new("//me:s3cret@h:1")).unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn no_path_leads_out_of_the_configured_one() {
        let route = Route::new(&Upstream::new("http://h:1/openai")).unwrap();
        let reaches = |path: &str| route.uri(&path.parse().unwrap()).is_some();
        for path in [
            "/../admin",
            "/v1/..",
            "/v1/%2e%2e/%2E%2e/admin",
            "/v1/.%2e/x",
            "/v1/..%2fadmin",
            "/v1/..%5cadmin",
            "/v1/%252e%252e/x",
            "/v1/..;x/admin",
            "/..\\admin",
        ] {
            assert!(!reaches(path), "{path}");
        }
        for path in
            ["/v1/models", "/v1/a..b", "/v1/...", "/v1/./models", "//v1/models", "/v1/a%2fb", "/v1/x?y=../z"]
        {
            assert!(reaches(path), "{path}");
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
