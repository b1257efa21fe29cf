//! Ids for calls, items and answers. Never parses an id: ids are opaque to this crate.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a new id with this prefix, for something that arrived without one.
///
/// ```
/// assert!(toolmend_protocol::new_id("call_").starts_with("call_"));
/// ```
pub fn new_id(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Two hashes with fresh random keys: the next id cannot be guessed, and the counter keeps ids apart.
    let (left, right) = (RandomState::new().hash_one(count), RandomState::new().hash_one(!count));
    format!("{prefix}{left:016x}{:08x}", right >> 32)
}

/// What escaped ids begin with, after the prefix of their protocol.
const ESCAPED: &str = "tm-";

/// Returns an id of letters, digits, `_` and `-` from which [`unescape_id`] restores `id`. Some models depend on the ids that they
/// wrote themselves.
///
/// ```
/// use toolmend_protocol::{escape_id, unescape_id};
///
/// let escaped = escape_id("toolu_", "functions.get_weather:0");
/// assert_eq!(escaped, "toolu_tm-functions_2eget_5fweather_3a0");
/// assert_eq!(unescape_id(&escaped).as_deref(), Some("functions.get_weather:0"));
/// assert_eq!(unescape_id("toolu_01A"), None);
/// ```
pub fn escape_id(prefix: &str, id: &str) -> String {
    let mut out = format!("{prefix}{ESCAPED}");
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            out.push(char::from(byte));
        } else {
            out.push('_');
            out.extend(
                [byte >> 4, byte & 15].iter().filter_map(|digit| char::from_digit((*digit).into(), 16)),
            );
        }
    }
    out
}

/// Restores an id that was escaped. `None` if it was not.
pub fn unescape_id(id: &str) -> Option<String> {
    let (_, escaped) = id.split_once('_')?;
    let mut parts = escaped.strip_prefix(ESCAPED)?.split('_');
    let mut out = parts.next()?.as_bytes().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        out.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(out).ok()
}

/// Returns nine letters and digits that depend on `id` alone, so that a call and its result still match.
///
/// ```
/// use toolmend_protocol::short_id;
///
/// assert_eq!(short_id("functions.read:0").len(), 9);
/// assert_eq!(short_id("a"), short_id("a"));
/// ```
pub fn short_id(id: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // FNV-1a, because the same id must map to the same text in every process.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let digit = |_| {
        let digit = DIGITS[usize::try_from(hash % 36).unwrap_or(0)];
        hash /= 36;
        char::from(digit)
    };
    (0..9).map(digit).collect()
}
