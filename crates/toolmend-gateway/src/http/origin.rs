//! Which host a request names, and which page it comes from.
//!
//! A page in a browser can send requests to this machine, and a foreign name can resolve to its address. Both are recognised by
//! headers that pages cannot change.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

/// Marks requests that arrived over TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverTls;

/// Allows everything, as an entry of a list.
const ANY: &str = "*";

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
    /// Returns why a request is not allowed.
    pub(crate) fn check(self, uri: &Uri, headers: &HeaderMap) -> Result<(), String> {
        let host = uri.authority().map(http::uri::Authority::as_str).or_else(|| text_of(headers.get(HOST)));
        // Without hosts in the configuration, a gateway that others can reach does not know its names.
        let checks_host = self.is_local || !self.hosts.is_empty();
        if let Some(host) = host
            && checks_host
            && !(is_this_machine(host) || lists(self.hosts, name_of(host)))
        {
            let name = name_of(host);
            return Err(format!(
                "this gateway is not called {name:?}: add the name to `hosts` in its configuration"
            ));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = text_of(Some(origin)).unwrap_or("null");
        if self.allows_origin(origin, host) {
            return Ok(());
        }
        Err(format!(
            "pages of {origin:?} may not use this gateway: add the origin to `origins` in its configuration"
        ))
    }

    fn allows_origin(self, origin: &str, host: Option<&str>) -> bool {
        if lists(self.origins, origin) {
            return true;
        }
        match origin.split_once("://") {
            Some(("http" | "https", place)) => host == Some(place) || self.is_local && is_this_machine(place),
            // Editors and desktop programs; no page of a website has such an origin.
            Some(_) => true,
            None => false,
        }
    }
}

fn text_of(value: Option<&http::HeaderValue>) -> Option<&str> {
    value.map(|value| value.to_str().unwrap_or("?"))
}

fn lists(allowed: &[String], wanted: &str) -> bool {
    allowed.iter().any(|entry| entry == ANY || entry.eq_ignore_ascii_case(wanted))
}

/// Returns the name in an authority, without its port.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// Whether an authority names this machine. A foreign name that resolves to this machine belongs to a page that tries to read
/// what it should not.
pub(crate) fn is_this_machine(authority: &str) -> bool {
    let name = name_of(authority);
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            rules.check(&Uri::from_static("/v1/models"), &headers).is_ok()
        };
        let local = |host, origin| allowed(true, &[], &[], host, origin);
        assert!(local("127.0.0.1:4242", "") && local("localhost:4242", "http://localhost:3000"));
        assert!(local("localhost:4242", "vscode-webview://abc"));
        for origin in ["https://evil.example", "http://localhost.evil.example", "null", "http://10.0.0.7"] {
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
}
