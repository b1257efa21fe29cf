//! The files of the page, compiled in from the folder `web`.

use std::hash::{DefaultHasher, Hash, Hasher};

use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::http::Body;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../../web/", $name)))),*]
    };
}

const FILES: &[(&str, &str, &str)] = files! {
    "index.html": HTML,
    "style.css": STYLE,
    "icon.svg": IMAGE,
    "app.js": SCRIPT,
    "dom.js": SCRIPT,
    "api.js": SCRIPT,
    "format.js": SCRIPT,
    "chart.js": SCRIPT,
    "diff.js": SCRIPT,
    "calls.js": SCRIPT,
    "call.js": SCRIPT,
    "rates.js": SCRIPT,
    "playground.js": SCRIPT,
    "tables.js": SCRIPT,
    "upstreams.js": SCRIPT,
};

/// Nothing is loaded from elsewhere, no inline script runs, and no other page may frame this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HARDENING: [(HeaderName, &str); 4] = [
    (HeaderName::from_static("content-security-policy"), POLICY),
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Answers with one of the files.
pub(super) fn answer_file(name: &str, headers: &HeaderMap) -> Response<Body> {
    let Some((_, kind, text)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        let mut response = Response::new(Body::from("there is no such file\n"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = headers.get(IF_NONE_MATCH).is_some_and(|given| given.as_bytes() == tag.as_bytes());
    let mut response = Response::new(if known { Body::empty() } else { Body::from(*text) });
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // Browsers check for a new version every time, so that a new program never runs with an old page.
    out.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = tag.parse() {
        out.insert(ETAG, tag);
    }
    for (name, value) in HARDENING {
        out.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served_and_every_imported_module_exists() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let mut known: Vec<_> = FILES.iter().map(|(name, _, _)| (*name).to_owned()).collect();
        known.sort();
        assert_eq!(names, known);
        for (name, _, text) in FILES {
            for import in text.lines().filter_map(|line| line.split_once("from \"./")) {
                let module = import.1.split('"').next().unwrap();
                assert!(known.iter().any(|name| name == module), "{name} asks for {module}");
            }
            assert!(loads_nothing_foreign(text), "{name}");
        }
    }

    /// Whether URLs appear only in examples and namespaces.
    fn loads_nothing_foreign(text: &str) -> bool {
        text.match_indices("://").all(|(at, _)| {
            let rest = &text[at + 3..];
            ["127.0.0.1", "www.w3.org/2000/svg"].iter().any(|known| rest.starts_with(known))
        })
    }
}
