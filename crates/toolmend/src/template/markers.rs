//! Splits rendered text into markers and single characters, and compares such pieces.
//!
//! Two texts that differ inside a tag have the start of the tag in common, which means nothing. Compared by pieces, a
//! marker is either common or it is not.

/// The longest text between angle brackets that counts as a marker.
const MAX_MARKER: usize = 96;

/// The pieces of a text: markers and filled-in places whole, everything else character by character.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = marker(rest).unwrap_or(first.len_utf8());
        out.push(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The length of the marker at the start of `text`: a tag, a special token, a word in square brackets, a hole.
pub(super) fn marker(text: &str) -> Option<usize> {
    let (close, allowed): (char, fn(char) -> bool) = match text.chars().next()? {
        '<' => ('>', |ch| !matches!(ch, '<' | '\n')),
        '[' => (']', |ch| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '/' | '-' | ' ' | ':')),
        '{' => ('}', |ch| ch.is_ascii_lowercase()),
        _ => return None,
    };
    let inner = &text[1..];
    let end = inner.char_indices().take(MAX_MARKER).find(|&(_, ch)| ch == close || !allowed(ch))?;
    let is_word = inner[..end.0].chars().any(char::is_alphabetic);
    (end.1 == close && is_word).then(|| end.0 + 2)
}

/// Whether a piece is a marker in angle or square brackets.
pub(super) fn is_marker(piece: &str) -> bool {
    piece.len() > 2 && piece.starts_with(['<', '['])
}

/// How many pieces two lists have in common at their start.
pub(super) fn common_start(left: &[&str], right: &[&str]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// How many pieces two lists have in common at their end.
pub(super) fn common_end(left: &[&str], right: &[&str]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count()
}

/// How many bytes two texts have in common at their start, without a part of a marker.
pub(super) fn common_bytes(left: &str, right: &str) -> usize {
    let (left, right) = (pieces(left), pieces(right));
    left[..common_start(&left, &right)].iter().map(|piece| piece.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_whole_pieces() {
        for (text, expected) in [
            ("a<b>c", &["a", "<b>", "c"][..]),
            ("[CALL] [{\"", &["[CALL]", " ", "[", "{", "\""]),
            ("<f={name}>{key}", &["<f={name}>", "{key}"]),
            ("1 < 2 <|x|>", &["1", " ", "<", " ", "2", " ", "<|x|>"]),
            ("<｜a▁b｜>é", &["<｜a▁b｜>", "é"]),
        ] {
            assert_eq!(pieces(text), expected);
        }
    }

    #[test]
    fn half_a_marker_is_not_common() {
        assert_eq!(common_bytes("user\n<think>", "user\n<tool_call>"), 5);
        assert_eq!(common_bytes("same", "same"), 4);
    }
}
