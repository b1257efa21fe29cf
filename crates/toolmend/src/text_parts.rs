//! Parts of a text that end between characters, for rules that look only at what is near.

/// At most `length` bytes of the start of a text.
pub(crate) fn first_part(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// At most `length` bytes of the end of a text.
pub(crate) fn last_part(text: &str, length: usize) -> &str {
    let mut start = text.len().saturating_sub(length);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[test]
fn parts_end_between_characters() {
    let text = "aéü";
    let parts: Vec<(&str, &str)> =
        (0..=6).map(|length| (first_part(text, length), last_part(text, length))).collect();
    assert_eq!(
        parts,
        [("", ""), ("a", ""), ("a", "ü"), ("aé", "ü"), ("aé", "éü"), ("aéü", "aéü"), ("aéü", "aéü")]
    );
}
