//! The keys of clients, compared in constant time.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::config::Secret;

/// Whether a request carries one of the keys. Without keys every request is allowed.
pub(crate) fn has_valid_key(headers: &HeaderMap, keys: &[Secret]) -> bool {
    keys.is_empty() || find_key(headers, &keys.iter()).is_some()
}

/// Returns the position of the key that a request carries.
pub(crate) fn find_key<'k>(
    headers: &HeaderMap,
    keys: &(impl Iterator<Item = &'k Secret> + Clone),
) -> Option<usize> {
    let bearer = headers.get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
    let bearer = bearer.and_then(|value| {
        value.get(..7).filter(|head| head.eq_ignore_ascii_case(b"bearer ")).map(|_| &value[7..])
    });
    let plain = headers.get("x-api-key").map(http::HeaderValue::as_bytes);
    let mut found = None;
    // Every key is compared with every header, so that the time does not show which one came close.
    for given in [bearer, plain].into_iter().flatten() {
        for (at, key) in keys.clone().enumerate() {
            if equals_key(given.trim_ascii(), key.reveal().as_bytes()) {
                found = found.or(Some(at));
            }
        }
    }
    found
}

/// Compares in a time that depends only on the length of the given bytes.
pub(crate) fn equals_key(given: &[u8], key: &[u8]) -> bool {
    let mut differences = u8::from(given.len() != key.len()) | u8::from(key.is_empty());
    for (at, byte) in given.iter().enumerate() {
        differences |= byte ^ key.get(at % key.len().max(1)).copied().unwrap_or(0);
    }
    std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_valid_key_in_either_header_is_enough() {
        let keys = [Secret::new("alpha"), Secret::new("beta")];
        let found = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            find_key(&headers, &keys.iter())
        };
        assert_eq!(found("authorization", "Bearer alpha"), Some(0));
        assert_eq!(found("authorization", "bearer beta"), Some(1));
        assert_eq!(found("x-api-key", "beta"), Some(1));
        for wrong in ["Bearer", "Bearer ", "Bearer alph", "Bearer alphaalpha", "Basic alpha", "alpha"] {
            assert_eq!(found("authorization", wrong), None, "{wrong}");
        }
        assert!(!has_valid_key(&HeaderMap::new(), &keys));
        assert!(has_valid_key(&HeaderMap::new(), &[]));
        assert!(!equals_key(b"", b""), "an empty key opens nothing");
    }
}
