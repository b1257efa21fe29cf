//! JSON strings between their spelling and their meaning, and JSON on one line.
//!
//! [`quote`] and its relatives are the one escaper of the workspace, [`unquote`] and [`TextBuffer`] the one unescaper. Both
//! work a block at a time. This module changes spelling only. It never decides whether text is JSON.

mod compact;
mod escape;
mod tolerant;
mod unescape;

pub(crate) use self::tolerant::unescape_tolerantly;
pub(crate) use self::unescape::{MAX_KEPT_BYTES, unescape, unescape_to_string};
pub use self::{
    compact::{compact_into, compact_json},
    escape::{escape_byte, escape_into, quote, quote_into, quote_into_bytes},
    unescape::{TextBuffer, unquote},
};

/// Makes a string of bytes that were assembled from whole characters.
///
/// ```
/// assert_eq!(toolmend_json::text::string_from_bytes(b"abc".to_vec()), "abc");
/// ```
pub fn string_from_bytes(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        for text in ["", "plain", "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}😀é"] {
            assert_eq!(unquote(&quote(text)), text);
            assert_eq!(serde_json::from_str::<String>(&quote(text)).unwrap(), text);
        }
        assert_eq!(unquote("\"\\ud83d\\ude00\\u00e9\\/\""), "😀é/");
    }
}
