//! Words of markup that are text in a value.
//!
//! One family writes a mark of no width after the `<` of such a word, and where the text already has such marks, twice as
//! many and one more.

/// The mark.
pub(crate) const MARK: char = '\u{200B}';

/// The value as it is meant: half as many marks, rounded down, after each `<` before one of these words.
// Case: dialects/dsml_v4/escaped-words
pub(super) fn unescape(text: String, words: &[&str]) -> String {
    if words.is_empty() || !text.contains(MARK) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        let word = after.trim_start_matches(MARK);
        let marks = (after.len() - word.len()) / MARK.len_utf8();
        let kept = if words.iter().any(|begin| word.starts_with(begin)) { marks / 2 } else { marks };
        out.extend(std::iter::repeat_n(MARK, kept));
        rest = word;
    }
    out.push_str(rest);
    out
}
