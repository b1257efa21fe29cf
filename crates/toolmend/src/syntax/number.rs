//! Numbers and literals as models spell them, and their JSON spelling.
//!
//! Works on single words and digits alone. No number is ever read into a float.

use std::borrow::Cow;

use crate::json::strict;

/// A word with a meaning in JSON, Python, JavaScript or upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    True,
    False,
    Null,
    /// `NaN` and the infinities: JSON has no such number.
    NotANumber,
}

impl Literal {
    pub(super) const fn json(self) -> &'static str {
        match self {
            Literal::True => "true",
            Literal::False => "false",
            Literal::Null | Literal::NotANumber => "null",
        }
    }
}

/// The literal that a word spells, in any case.
pub(super) fn parse_literal(word: &str) -> Option<Literal> {
    const WORDS: &[(&str, Literal)] = &[
        ("true", Literal::True),
        ("false", Literal::False),
        ("null", Literal::Null),
        ("none", Literal::Null),
        ("undefined", Literal::Null),
        ("nan", Literal::NotANumber),
        ("infinity", Literal::NotANumber),
        ("inf", Literal::NotANumber),
    ];
    let unsigned = word.strip_prefix(['-', '+']);
    let found = |word: &str| WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|row| row.1);
    match unsigned {
        Some(rest) => found(rest).filter(|&literal| literal == Literal::NotANumber),
        None => found(word),
    }
}

/// Whether a word is a literal or a number, in any spelling.
pub(super) fn is_scalar(word: &str) -> bool {
    parse_literal(word).is_some() || spell_as_json(word).is_some()
}

/// Whether this is a number by the JSON grammar.
pub(crate) fn is_strict(word: &str) -> bool {
    !word.is_empty() && strict::check_number(word.as_bytes(), 0) == Ok(word.len())
}

/// The JSON spelling of a number written another way: `+5`, `.5`, `5.`, `1_000`, `0x1f`. A word with leading zeros is
/// text: `02134` is a postcode.
// Case: syntax/number-spellings
// Case: syntax/leading-zeros-are-text
pub(crate) fn spell_as_json(word: &str) -> Option<Cow<'_, str>> {
    if is_strict(word) {
        return Some(Cow::Borrowed(word));
    }
    let (sign, digits) = match word.as_bytes().first()? {
        b'+' => ("", &word[1..]),
        b'-' => ("-", &word[1..]),
        _ => ("", word),
    };
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let value = u64::from_str_radix(hex, 16).ok()?;
        return (!hex.starts_with('+')).then(|| Cow::Owned(format!("{sign}{value}")));
    }
    // Whole documents are asked about as well; the first character rules most of them out.
    let begins = digits.strip_prefix('.').unwrap_or(digits).starts_with(|ch: char| ch.is_ascii_digit());
    if !begins || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let mut plain: String = digits.chars().filter(|&ch| ch != '_').collect();
    if plain.starts_with('.') {
        plain.insert(0, '0');
    }
    if let Some(dot) = plain.find('.') {
        let after = plain.as_bytes().get(dot + 1);
        if after.is_none_or(|byte| matches!(byte, b'e' | b'E')) {
            plain.insert(dot + 1, '0');
        }
    }
    is_strict(&plain).then(|| Cow::Owned(format!("{sign}{plain}")))
}

/// A number with commas between groups of three digits, without the commas: `1,000` and `12,345.6`.
// Case: syntax/grouped-number
pub(crate) fn without_groups(word: &str) -> Option<String> {
    let (whole, fraction) = word.split_once('.').map_or((word, None), |(whole, rest)| (whole, Some(rest)));
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let mut groups = unsigned.split(',');
    let first = groups.next()?;
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = (1..=3).contains(&first.len())
        && digits(first)
        && unsigned.contains(',')
        && groups.all(|group| group.len() == 3 && digits(group));
    if !well_formed || fraction.is_some_and(|fraction| !digits(fraction)) {
        return None;
    }
    spell_as_json(&word.replace(',', "")).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_the_json_way() {
        for (word, json) in [
            ("5", Some("5")),
            ("+5", Some("5")),
            (".5", Some("0.5")),
            ("-.5", Some("-0.5")),
            ("5.", Some("5.0")),
            ("5.e3", Some("5.0e3")),
            ("1_000", Some("1000")),
            ("0x1f", Some("31")),
            ("-0x10", Some("-16")),
            ("02134", None),
            ("1.2.3", None),
            ("1e5", Some("1e5")),
            ("12a", None),
            ("", None),
            ("+", None),
            ("_1", None),
            ("1.10", Some("1.10")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("0x", None),
            ("0x+1", None),
            (".", None),
            (".e3", None),
        ] {
            assert_eq!(spell_as_json(word).as_deref(), json, "{word}");
        }
    }

    #[test]
    fn groups_of_three_are_joined() {
        for (word, json) in [
            ("1,000", Some("1000")),
            ("12,345,678.9", Some("12345678.9")),
            ("1,00", None),
            ("1000", None),
            ("12,5", None),
            (",000", None),
            ("1,000,", None),
            ("-1,000", Some("-1000")),
        ] {
            assert_eq!(without_groups(word).as_deref(), json, "{word}");
        }
    }

    #[test]
    fn literals_in_any_case() {
        assert_eq!(parse_literal("TRUE"), Some(Literal::True));
        assert_eq!(parse_literal("None"), Some(Literal::Null));
        assert_eq!(parse_literal("-Infinity"), Some(Literal::NotANumber));
        assert_eq!(parse_literal("-true"), None);
        assert_eq!(parse_literal("truest"), None);
    }
}
