//! Which host a request names, and which page it comes from.
//!
//! A page in a browser can send requests to this machine, and a foreign name can resolve to its address. Both are recognised by
//! headers that pages cannot change.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Method, Request, Version};

/// Marks requests that arrived over TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverTls;

/// Allows everything, as an entry of a list.
const ANY: &str = "*";
/// The headers in which browsers say where a request comes from, and what for.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// What is allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OriginRules<'c> {
    /// Whether only this machine can reach the gateway.
    pub(crate) is_local: bool,
    /// Names in addition to those of this machine.
    pub(crate) hosts: &'c [String],
    /// Origins in addition to the gateway's own.
    pub(crate) origins: &'c [String],
}

impl OriginRules<'_> {
    /// Returns why a request is not allowed. Every host and every origin that it names has to be allowed, because nobody knows
    /// which of them the next program believes.
    pub(crate) fn check<B>(self, request: &Request<B>) -> Result<(), String> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let in_address = uri.authority().map(http::uri::Authority::as_str);
        let hosts: Vec<&str> = in_address.into_iter().chain(texts_of(headers, &HOST)).collect();
        // Without hosts in the configuration, a gateway that others can reach does not know its names.
        let checks_host = self.is_local || !self.hosts.is_empty();
        // Only the oldest version of HTTP does without.
        if hosts.is_empty() && checks_host && !lists(self.hosts, ANY) && request.version() > Version::HTTP_10
        {
            return Err("the request names no host".to_owned());
        }
        let is_allowed =
            |host: &str| is_this_machine(host) || name_of(host).is_some_and(|name| lists(self.hosts, name));
        if let Some(host) =
            hosts.iter().find(|host| checks_host && !lists(self.hosts, ANY) && !is_allowed(host))
        {
            return Err(format!(
                "this gateway is not called {host:?}: add the name to `hosts` in its configuration"
            ));
        }
        let mut has_origin = false;
        for origin in texts_of(headers, &ORIGIN) {
            has_origin = true;
            if !self.allows_origin(origin, hosts.first().copied()) {
                return Err(format!(
                    "pages of {origin:?} may not use this gateway: add the origin to `origins` in its configuration"
                ));
            }
        }
        // Images and scripts are requested without an origin. People may still follow a link to the dashboard.
        let follows_link = *method == Method::GET && texts_of(headers, &FETCH_MODE).eq(["navigate"]);
        let is_foreign =
            texts_of(headers, &FETCH_SITE).any(|site| matches!(site, "cross-site" | "same-site"));
        if is_foreign && !has_origin && !follows_link && !lists(self.origins, ANY) {
            return Err("pages of other sites may not use this gateway".to_owned());
        }
        Ok(())
    }

    fn allows_origin(self, origin: &str, host: Option<&str>) -> bool {
        if lists(self.origins, origin) {
            return true;
        }
        let Some((scheme, place)) = origin.split_once("://") else { return false };
        // Other schemes are those of editors and desktop programs; no page of a website has such an origin.
        if !["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name)) {
            return true;
        }
        host.is_some_and(|host| host.eq_ignore_ascii_case(place)) || self.is_local && is_this_machine(place)
    }
}

/// Returns every value of a header; one that is not text is a question mark.
fn texts_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"))
}

fn lists(allowed: &[String], wanted: &str) -> bool {
    allowed.iter().any(|entry| entry == ANY || entry.eq_ignore_ascii_case(wanted))
}

/// Returns the name in an authority that is nothing but a name and perhaps a port.
fn name_of(authority: &str) -> Option<&str> {
    let (name, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && (rest.is_empty() || rest.starts_with(':')) && !name.contains('@')).then_some(name)
}

/// Whether an authority names this machine. A foreign name that resolves to this machine belongs to a page that tries to read
/// what it should not.
pub(crate) fn is_this_machine(authority: &str) -> bool {
    name_of(authority).is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost")
            || name.to_ascii_lowercase().ends_with(".localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// The headers that proxies add to what they forward.
const FORWARDED: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Whether a proxy forwarded a request. It arrives from this machine if the proxy runs here, and often with its name.
pub(crate) fn was_forwarded(headers: &HeaderMap) -> bool {
    FORWARDED.iter().any(|name| headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(uri: &'static str, headers: HeaderMap) -> Request<()> {
        let mut request = Request::get(uri).body(()).unwrap();
        *request.headers_mut() = headers;
        request
    }

    #[test]
    fn a_request_names_a_host_unless_its_version_has_none() {
        let check = |hosts: &[String], is_local: bool, version: Version| {
            let mut request = request("/v1/models", HeaderMap::new());
            *request.version_mut() = version;
            OriginRules { is_local, hosts, origins: &[] }.check(&request).is_ok()
        };
        assert!(!check(&[], true, Version::HTTP_11) && !check(&[], true, Version::HTTP_2));
        assert!(!check(&["models.example".to_owned()], false, Version::HTTP_11));
        assert!(check(&[], true, Version::HTTP_10) && check(&[], false, Version::HTTP_11));
        assert!(check(&["*".to_owned()], true, Version::HTTP_11));
    }

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        for (host, own) in [
            ("127.0.0.1:4242", true),
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("page.localhost:4242", true),
            ("[::1]:4242", true),
            ("evil.example:4242", false),
            ("127.0.0.1.evil.example", false),
            ("10.0.0.7:4242", false),
            ("localhost:80@evil.example", false),
            ("localhost@evil.example", false),
            ("[::1]evil.example", false),
            ("[::1", false),
            ("localhost:4242.evil.example", false),
            ("localhost:123456", false),
            ("localhost/x", false),
            ("", false),
        ] {
            assert_eq!(is_this_machine(host), own, "{host}");
        }
    }

    #[test]
    fn foreign_hosts_and_pages_are_refused_unless_they_are_listed() {
        let allowed = |is_local: bool, hosts: &[&str], origins: &[&str], host: &str, origin: &str| {
            let own = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
            let (hosts, origins) = (own(hosts), own(origins));
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            if !origin.is_empty() {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            let rules = OriginRules { is_local, hosts: &hosts, origins: &origins };
            rules.check(&request("/v1/models", headers)).is_ok()
        };
        let local = |host, origin| allowed(true, &[], &[], host, origin);
        assert!(local("127.0.0.1:4242", "") && local("localhost:4242", "http://localhost:3000"));
        assert!(local("localhost:4242", "vscode-webview://abc"));
        for origin in [
            "https://evil.example",
            "HTTPS://EVIL.EXAMPLE",
            "http://localhost.evil.example",
            "http://localhost:3000@evil.example",
            "null",
            "http://10.0.0.7",
        ] {
            assert!(!local("localhost:4242", origin), "{origin}");
        }
        assert!(!local("evil.example", ""));
        assert!(allowed(true, &["models.example"], &[], "models.example:443", ""));
        assert!(allowed(true, &["*"], &["*"], "evil.example", "https://evil.example"));
        assert!(allowed(false, &[], &[], "models.example", "https://models.example"));
        assert!(!allowed(false, &[], &[], "models.example", "http://localhost:3000"));
        assert!(allowed(false, &[], &["https://app.example"], "models.example", "https://app.example"));
        assert!(!allowed(false, &["a.example"], &[], "b.example", ""));
    }

    #[test]
    fn every_host_and_every_origin_counts() {
        let allowed = |uri: &'static str, fields: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, value.parse().unwrap());
            }
            let rules = OriginRules { is_local: true, hosts: &[], origins: &[] };
            rules.check(&request(uri, headers)).is_ok()
        };
        let (own, foreign) = (("host", "localhost"), ("host", "evil.example"));
        assert!(allowed("/", &[own]) && allowed("http://localhost/", &[own]));
        for (uri, fields) in [
            ("/", vec![own, foreign]),
            ("/", vec![foreign, own]),
            ("http://localhost/", vec![foreign]),
            ("http://evil.example/", vec![own]),
            ("/", vec![own, ("origin", "http://localhost"), ("origin", "https://evil.example")]),
            ("/", vec![own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]),
            ("/", vec![own, ("sec-fetch-site", "same-site")]),
        ] {
            assert!(!allowed(uri, &fields), "{uri} {fields:?}");
        }
        assert!(allowed("/", &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(allowed("/", &[own, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]));
    }
}
