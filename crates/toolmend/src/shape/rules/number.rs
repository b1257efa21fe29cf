//! Numbers from text, by their spelling. No float is ever involved, so every digit survives.

use std::borrow::Cow;

use crate::json::strict;

/// The longest exponent that is written out.
const MAX_EXPONENT: usize = 30;

/// The JSON number that a string spells; a whole one if `fraction` is false.
pub(super) fn from_text(text: &str, fraction: bool) -> Option<String> {
    let text = text.trim();
    if strict::check_number(text.as_bytes(), 0) == Ok(text.len()) {
        return if fraction { Some(text.to_owned()) } else { whole(text) };
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = ungrouped(digits)?;
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let digits = if digits.len() > 1 { digits.strip_suffix('.').unwrap_or(&digits) } else { &digits };
    let number = format!("{sign}{zero}{digits}");
    let is_number = number.ends_with(|last: char| last.is_ascii_digit())
        && strict::check_number(number.as_bytes(), 0) == Ok(number.len());
    if !is_number {
        return None;
    }
    if fraction { Some(number) } else { whole(&number) }
}

/// A JSON number as an integer without fraction and exponent, if it is whole.
pub(super) fn whole(number: &str) -> Option<String> {
    if !number.contains(['.', 'e', 'E']) {
        return Some(number.to_owned());
    }
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.strip_prefix('+').unwrap_or(exponent).parse::<usize>().ok()?)
        }
        None => (rest, 0),
    };
    if exponent > MAX_EXPONENT {
        return None;
    }
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    if after.len() > exponent {
        return None;
    }
    let digits = format!("{before}{after}{}", "0".repeat(exponent - after.len()));
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") })
}

/// The digits without thousands separators. One group of three is one thousand to some and one point zero to others, so
/// only a number with two groups, or a group and a decimal point, shows what its commas mean.
fn ungrouped(digits: &str) -> Option<Cow<'_, str>> {
    if !digits.contains(',') {
        return Some(Cow::Borrowed(digits));
    }
    let (before, after) =
        digits.split_once('.').map_or((digits, None), |(before, after)| (before, Some(after)));
    let mut groups = before.split(',');
    let first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && !group.starts_with('0'));
    let rest: Vec<&str> = groups.collect();
    let clear = first && rest.iter().all(|group| group.len() == 3) && (rest.len() > 1 || after.is_some());
    clear.then(|| Cow::Owned(digits.replace(',', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let check = |text: &str, any: Option<&str>, integer: Option<&str>| {
            assert_eq!(from_text(text, true).as_deref(), any, "{text:?} as a number");
            assert_eq!(from_text(text, false).as_deref(), integer, "{text:?} as an integer");
        };
        check("42", Some("42"), Some("42"));
        check(" -7 ", Some("-7"), Some("-7"));
        check("+5", Some("5"), Some("5"));
        check("1.10", Some("1.10"), None);
        check("230.0", Some("230.0"), Some("230"));
        check("9007199254740993", Some("9007199254740993"), Some("9007199254740993"));
        check("12345678901234567890123", Some("12345678901234567890123"), Some("12345678901234567890123"));
        check("1e3", Some("1e3"), Some("1000"));
        check("1.5E+2", Some("1.5E+2"), Some("150"));
        check("0.0", Some("0.0"), Some("0"));
        check(".5", Some("0.5"), None);
        check("5.", Some("5"), Some("5"));
        check("1,234,567", Some("1234567"), Some("1234567"));
        check("1,234.50", Some("1234.50"), None);
        for text in [
            "",
            ".",
            "-",
            "1,000",
            "1,00,000",
            "NaN",
            "inf",
            "-Infinity",
            "0x1f",
            "007",
            "12px",
            "1 000",
            "1_000",
            "--1",
            "-+1",
            "1e",
            "5.e3",
            "٣",
        ] {
            check(text, None, None);
        }
    }
}
