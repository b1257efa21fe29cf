//! Which server a request goes to, and under which address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use http::uri::{self, Authority, PathAndQuery, Scheme, Uri};

use crate::config::{ConfigError, Upstream};
use crate::translate::Way;

/// One server, ready to be sent to.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    scheme: Scheme,
    pub(crate) authority: Authority,
    /// Stands before the path of each request.
    prefix: String,
    models: Vec<String>,
    /// Its key, in the two headers that are in use.
    pub(crate) key: Option<(HeaderValue, HeaderValue)>,
    /// How it is spoken to.
    pub(crate) way: Way,
    /// Where it is, without anything secret.
    pub(crate) origin: Arc<str>,
}

impl Route {
    pub(crate) fn new(upstream: &Upstream) -> Result<Self, ConfigError> {
        let wrong = |what: &str| ConfigError::new(format!("upstreams: {what} in {:?}", upstream.url));
        let uri: Uri = upstream.url.parse().map_err(|_| wrong("no address"))?;
        let parts = uri.into_parts();
        let prefix =
            parts.path_and_query.as_ref().map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        let named = upstream.api_key_env.as_ref().and_then(|name| std::env::var(name).ok());
        let key = upstream.api_key.as_ref().map(|key| key.reveal().to_owned()).or(named);
        let key = key.map(|key| {
            let header = |text: String| {
                let mut value = HeaderValue::from_str(&text)
                    .map_err(|_| ConfigError::new("upstreams: a key with characters that no header takes"))?;
                value.set_sensitive(true);
                Ok::<_, ConfigError>(value)
            };
            Ok::<_, ConfigError>((header(format!("Bearer {key}"))?, header(key)?))
        });
        let authority = parts.authority.ok_or_else(|| wrong("no host"))?;
        let scheme = parts.scheme.ok_or_else(|| wrong("no http:// or https://"))?;
        Ok(Route {
            origin: format!("{scheme}://{authority}").into(),
            scheme,
            way: Way::new(upstream, authority.host()),
            authority,
            prefix,
            models: upstream.models.clone(),
            key: key.transpose()?,
        })
    }

    /// Whether it serves this model.
    pub(crate) fn serves(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| matches(pattern, model))
    }

    /// The address of a path on this server.
    pub(crate) fn uri(&self, path: &PathAndQuery) -> Option<Uri> {
        let mut wanted = path.as_str();
        // People give the address with the version that every path has already.
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

    /// How long it takes to connect; none where that does not work in time.
    pub(crate) async fn reach(&self, patience: Duration) -> Option<Duration> {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let port = self.authority.port_u16().unwrap_or(usual);
        let address = (self.authority.host().trim_matches(['[', ']']).to_owned(), port);
        let started = Instant::now();
        let connected = tokio::time::timeout(patience, tokio::net::TcpStream::connect(address)).await;
        matches!(connected, Ok(Ok(_))).then(|| started.elapsed())
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
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
    fn patterns() {
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
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
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
