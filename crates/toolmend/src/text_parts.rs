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

/// At most `length` bytes before a position. If that is inside a character, they end before the character.
pub(crate) fn part_before(text: &str, at: usize, length: usize) -> &str {
    last_part(first_part(text, at), length)
}

/// At most `length` bytes from a position on. If that is inside a character, they start after the character.
pub(crate) fn part_after(text: &str, at: usize, length: usize) -> &str {
    first_part(last_part(text, text.len().saturating_sub(at)), length)
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

#[test]
fn parts_beside_a_position_keep_characters_whole() {
    let parts: Vec<(&str, &str)> =
        (0..=5).map(|at| (part_before("aéb", at, 9), part_after("aéb", at, 9))).collect();
    assert_eq!(parts, [("", "aéb"), ("a", "éb"), ("a", "b"), ("aé", "b"), ("aéb", ""), ("aéb", "")]);
}
