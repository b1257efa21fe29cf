//! Numbers and literals as models spell them, and what each spelling means.
//!
//! There are two tables, and no other code decides what a bare word or a quoted number means: [`LITERALS`] for words, and
//! [`SPELLINGS`] for numbers. A spelling has one meaning, one meaning if a number is wanted, or several. No number is ever
//! read into a float, so every digit survives.

use std::borrow::Cow;

use super::token;
use crate::json::strict;

/// A word with a meaning in JSON, Python, JavaScript, Ruby, Go or upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    True,
    False,
    Null,
    /// Not a number: `null` is what JavaScript writes for it.
    NotANumber,
    /// A number that JSON cannot hold. Nothing else means the same.
    Infinity,
}

impl Literal {
    pub(super) const fn json(self) -> &'static str {
        match self {
            Literal::True => "true",
            Literal::False => "false",
            Literal::Null | Literal::NotANumber | Literal::Infinity => "null",
        }
    }
}

/// The words, in any case.
const LITERALS: [(&str, Literal); 10] = [
    ("true", Literal::True),
    ("false", Literal::False),
    ("null", Literal::Null),
    ("none", Literal::Null),
    ("nil", Literal::Null),
    ("undefined", Literal::Null),
    ("undef", Literal::Null),
    ("nan", Literal::NotANumber),
    ("infinity", Literal::Infinity),
    ("inf", Literal::Infinity),
];

/// The literal that a word spells, in any case.
pub(super) fn parse_literal(word: &str) -> Option<Literal> {
    let found =
        |word: &str| LITERALS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|row| row.1);
    match word.strip_prefix(['-', '+']) {
        Some(rest) => {
            found(rest).filter(|literal| matches!(literal, Literal::NotANumber | Literal::Infinity))
        }
        None => found(word),
    }
}

/// Whether a word is the start of `true`, `false`, `null` or `None` and no word of its own: the model was cut off, or lost
/// a letter.
// Case: shape/literal-cut-short
pub(super) fn is_cut_literal(word: &str) -> bool {
    const CUT: [&str; 5] = ["tru", "fal", "fals", "nul", "undefine"];
    CUT.iter().any(|cut| cut.eq_ignore_ascii_case(word))
}

/// Whether a word is a literal with one letter lost or doubled, or with its letters in another order. `nul` may be cut off or
/// misspelt, and it may be text.
// Case: syntax/literal-of-another-notation
pub(super) fn is_misspelt_literal(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let sorted = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    word.len() < MAX_LITERAL
        && ["null", "true", "false"].iter().any(|literal| {
            let (short, long) =
                if word.len() < literal.len() { (&*lower, *literal) } else { (*literal, &*lower) };
            let (ends, starts) = (short.as_bytes(), long.as_bytes());
            let lead = ends.iter().zip(starts).take_while(|(one, other)| one == other).count();
            let tail = ends[lead..].iter().rev().zip(starts.iter().rev());
            let tail = tail.take_while(|(one, other)| one == other).count();
            let is_one_off = long.len() - short.len() == 1 && lead + tail == short.len();
            is_one_off || *literal != lower && sorted(literal) == sorted(&lower)
        })
}

/// No literal has more letters, nor one that is misspelt.
const MAX_LITERAL: usize = 8;

/// Whether a word is a literal or a number, in any spelling.
pub(super) fn is_scalar(word: &str) -> bool {
    parse_literal(word).is_some() || spell_as_json(word).is_some()
}

/// The end of the word at `at`, with the sign in front of a number and the one in its exponent.
// Case: syntax/exponent-beside-strings
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    let signed = bytes.get(at) == Some(&b'+');
    let end = token::word_end(bytes, at + usize::from(signed));
    let is_exponent = end > at + 1
        && bytes.get(end) == Some(&b'+')
        && matches!(bytes[end - 1], b'e' | b'E')
        && bytes[at..end - 1].iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    if is_exponent { token::word_end(bytes, end + 1) } else { end }
}

/// Whether this is a number by the JSON grammar.
pub(crate) fn is_strict(word: &str) -> bool {
    !word.is_empty() && strict::check_number(word.as_bytes(), 0) == Ok(word.len())
}

/// What may stand where a number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    /// Nothing is known.
    Anything,
    /// A number, perhaps with a fraction.
    Number,
    /// A whole number.
    Integer,
}

/// What a word means as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NumberReading<'w> {
    /// This number, in its JSON spelling.
    Number(Cow<'w, str>),
    /// A number to some readers and another, or text, to others.
    Unclear,
    NotANumber,
}

/// When a spelling means a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// Always: JSON5, Python or JavaScript define it.
    Always,
    /// If a number is wanted.
    NumberWanted,
    /// If a whole number is wanted: otherwise the comma may be a decimal point.
    IntegerWanted,
    /// Never: different readers disagree about the number.
    Never,
}

/// One way to spell a number.
struct Spelling {
    certainty: Certainty,
    /// The JSON spelling of digits that are spelled like this; empty if they mean no certain number. The sign is not
    /// among them.
    read: fn(&str) -> Option<String>,
}

const fn spelling(certainty: Certainty, read: fn(&str) -> Option<String>) -> Spelling {
    Spelling { certainty, read }
}

/// The spellings beside that of JSON, in the order in which they are tried.
// Case: syntax/number-spellings
// Case: syntax/leading-zeros-are-text
// Case: shape/leading-zeros-unclear
// Case: shape/decimal-comma
// Case: shape/arithmetic
static SPELLINGS: [Spelling; 10] = [
    // `1_000`, `.5`, `5.`
    spelling(Certainty::Always, plain_digits),
    // `0x1f`, `0o17`, `0b101`
    spelling(Certainty::Always, radix_digits),
    // `10n`, a BigInt
    spelling(Certainty::NumberWanted, |digits| digits.strip_suffix('n').and_then(whole_digits)),
    // `1,234,567` and `1,234.50`
    spelling(Certainty::NumberWanted, |digits| grouped_digits(digits, 2)),
    // `1,234`
    spelling(Certainty::IntegerWanted, |digits| grouped_digits(digits, 1)),
    // `007`: octal, decimal or a code
    spelling(Certainty::Never, |digits| unclear(is_zero_padded(digits))),
    // `2,5` and `1.234,5`
    spelling(Certainty::Never, |digits| unclear(is_only(digits, ",. _'") && digits.contains(','))),
    // `6*30.48` and `1 + 2`
    spelling(Certainty::Never, |digits| unclear(is_arithmetic(digits))),
    // `1.5e` and `2E+`
    spelling(Certainty::Never, |digits| unclear(is_cut_exponent(digits))),
    // `10k`, `5 kg`, `30ms`, `50%`
    spelling(Certainty::Never, |digits| unclear(has_unit(digits))),
];

/// What a word means as a number where this is wanted. An unclear one may still be text.
pub(crate) fn read_number(word: &str, wanted: Wanted) -> NumberReading<'_> {
    if is_strict(word) {
        return NumberReading::Number(Cow::Borrowed(word));
    }
    let (sign, digits) = split_sign(word);
    // Whole documents are asked about as well; the first character and the length rule most of them out.
    let begins = digits.starts_with(|ch: char| ch.is_ascii_digit() || ch == '.');
    if !begins || digits.len() > MAX_SPELLED {
        return NumberReading::NotANumber;
    }
    for spelling in &SPELLINGS {
        let Some(number) = (spelling.read)(digits) else { continue };
        let is_certain = match spelling.certainty {
            Certainty::Always => true,
            Certainty::NumberWanted => wanted >= Wanted::Number,
            Certainty::IntegerWanted => wanted == Wanted::Integer,
            Certainty::Never => false,
        };
        return if is_certain {
            NumberReading::Number(Cow::Owned(format!("{sign}{number}")))
        } else {
            NumberReading::Unclear
        };
    }
    NumberReading::NotANumber
}

/// The longest number that is respelled.
const MAX_SPELLED: usize = 512;

/// The JSON spelling of a number that is one in every position: `+5`, `.5`, `5.`, `1_000`, `0x1f`.
pub(crate) fn spell_as_json(word: &str) -> Option<Cow<'_, str>> {
    match read_number(word, Wanted::Anything) {
        NumberReading::Number(number) => Some(number),
        NumberReading::Unclear | NumberReading::NotANumber => None,
    }
}

/// Whether commas group the digits of a number: `1,000` and `12,345.6`.
// Case: syntax/grouped-number
pub(crate) fn is_grouped(word: &str) -> bool {
    grouped_digits(split_sign(word).1, 1).is_some()
}

/// The sign as JSON writes it, and the digits.
fn split_sign(word: &str) -> (&'static str, &str) {
    match word.chars().next() {
        Some('+') => ("", &word[1..]),
        Some('-') => ("-", &word[1..]),
        // The minus sign of typography.
        Some('\u{2212}') => ("-", &word['\u{2212}'.len_utf8()..]),
        _ => ("", word),
    }
}

fn strict_number(number: String) -> Option<String> {
    is_strict(&number).then_some(number)
}

/// An empty number for a spelling that means no certain one.
fn unclear(is_spelled_so: bool) -> Option<String> {
    is_spelled_so.then(String::new)
}

fn plain_digits(digits: &str) -> Option<String> {
    let may_be_in_number = |byte: u8| byte.is_ascii_digit() || b"._eE+-".contains(&byte);
    if !digits.bytes().all(may_be_in_number) {
        return None;
    }
    if digits.ends_with('_') || digits.contains("__") || !digits.contains(|ch: char| ch.is_ascii_digit()) {
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
    strict_number(plain)
}

fn radix_digits(digits: &str) -> Option<String> {
    let radix = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => return None,
    };
    let digits = digits[2..].replace('_', "");
    let is_digits = !digits.is_empty() && digits.chars().all(|ch| ch.is_digit(radix));
    is_digits.then(|| u64::from_str_radix(&digits, radix).ok()).flatten().map(|value| value.to_string())
}

fn whole_digits(digits: &str) -> Option<String> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.to_owned()).and_then(strict_number)
}

/// Digits without the commas between groups of three, if there are at least so many commas. A decimal point counts as one:
/// it shows that the commas are none.
fn grouped_digits(digits: &str, least_marks: usize) -> Option<String> {
    // Most words are asked about in vain.
    if !digits.contains(',') {
        return None;
    }
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let commas = whole.bytes().filter(|&byte| byte == b',').count();
    let well_formed = (1..=3).contains(&first.len())
        && is_digits(first)
        && commas > 0
        && commas + usize::from(fraction.is_some()) >= least_marks
        && groups.all(|group| group.len() == 3 && is_digits(group))
        && fraction.is_none_or(|fraction| !fraction.is_empty() && is_digits(fraction));
    well_formed.then(|| digits.replace(',', "")).and_then(strict_number)
}

fn is_zero_padded(digits: &str) -> bool {
    digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|&byte| byte == b'.').count() <= 1
}

/// Whether these are digits and these marks, and nothing else.
fn is_only(digits: &str, marks: &str) -> bool {
    digits.chars().all(|ch| ch.is_ascii_digit() || marks.contains(ch))
        && digits.ends_with(|ch: char| ch.is_ascii_digit())
}

/// Whether this multiplies, divides or adds two numbers. A minus sign or slash alone also writes ranges, dates and paths.
fn is_arithmetic(digits: &str) -> bool {
    let mut operands = digits.split(['*', '+']).map(str::trim);
    digits.contains(['*', '+']) && operands.all(|operand| is_strict(operand.trim_matches(['(', ')'])))
}

fn is_cut_exponent(digits: &str) -> bool {
    let digits = digits.strip_suffix(['+', '-']).unwrap_or(digits);
    digits.strip_suffix(['e', 'E']).is_some_and(is_strict)
}

/// Whether a number is followed by a unit, a magnitude or a percent sign.
fn has_unit(digits: &str) -> bool {
    const UNITS: [&str; 28] = [
        "k", "m", "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "ms", "s", "sec", "min", "h", "hr", "d",
        "px", "em", "rem", "pt", "kg", "g", "mm", "cm", "km", "%", "x",
    ];
    let number = digits.trim_end_matches(|ch: char| ch.is_ascii_alphabetic() || ch == '%');
    let unit = digits[number.len()..].to_ascii_lowercase();
    UNITS.contains(&unit.as_str()) && is_strict(number.trim_end())
}

/// The longest exponent that is written out.
const MAX_EXPONENT: usize = 30;

/// The JSON number that the content of a string spells, where a number is wanted. Quotes inside the string count as
/// written by mistake.
// Case: shape/number-quoted-twice
pub(crate) fn from_text(text: &str, wanted: Wanted) -> Option<String> {
    let text = text.trim();
    let quoted = ['"', '\''].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let NumberReading::Number(number) = read_number(quoted.unwrap_or(text).trim(), wanted) else {
        return None;
    };
    if wanted == Wanted::Number {
        return Some(number.into_owned());
    }
    // Half of the world writes a thousand as `1.000`.
    // Case: shape/thousand-or-one
    let is_grouped = number.split_once('.').is_some_and(|(before, after)| {
        after == "000" && (1..=3).contains(&before.trim_start_matches('-').len()) && before != "0"
    });
    if is_grouped { None } else { as_whole(&number) }
}

/// A JSON number as an integer without fraction and exponent, if it is whole.
pub(crate) fn as_whole(number: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a spelling means if nothing is known, if a number is wanted, and if a whole number is wanted. `?` is unclear,
    /// `-` is no number.
    #[test]
    fn every_spelling_has_its_meaning() {
        for (word, any, number, integer) in [
            ("5", "5", "5", "5"),
            ("+5", "5", "5", "5"),
            ("\u{2212}5", "-5", "-5", "-5"),
            (".5", "0.5", "0.5", "0.5"),
            ("-.5", "-0.5", "-0.5", "-0.5"),
            ("5.", "5.0", "5.0", "5.0"),
            ("5.e3", "5.0e3", "5.0e3", "5.0e3"),
            ("1_000", "1000", "1000", "1000"),
            ("0x1f", "31", "31", "31"),
            ("-0x10", "-16", "-16", "-16"),
            ("0b101", "5", "5", "5"),
            ("0o17", "15", "15", "15"),
            ("1e5", "1e5", "1e5", "1e5"),
            ("1.10", "1.10", "1.10", "1.10"),
            ("10n", "?", "10", "10"),
            ("1,234,567", "?", "1234567", "1234567"),
            ("12,345.6", "?", "12345.6", "12345.6"),
            ("1,000", "?", "?", "1000"),
            ("-1,000", "?", "?", "-1000"),
            ("02134", "?", "?", "?"),
            ("-007", "?", "?", "?"),
            ("2,5", "?", "?", "?"),
            ("1,00", "?", "?", "?"),
            ("1.234,5", "?", "?", "?"),
            ("6*30.48", "?", "?", "?"),
            ("150 + 150", "?", "?", "?"),
            ("1.5e", "?", "?", "?"),
            ("10k", "?", "?", "?"),
            ("5 kg", "?", "?", "?"),
            ("50%", "?", "?", "?"),
            ("1.2.3", "-", "-", "-"),
            ("2024-05-01", "-", "-", "-"),
            ("12:30", "-", "-", "-"),
            ("12a", "-", "-", "-"),
            ("", "-", "-", "-"),
            ("+", "-", "-", "-"),
            ("_1", "-", "-", "-"),
            ("0x", "?", "?", "?"),
            (".", "-", "-", "-"),
            ("0x+1", "-", "-", "-"),
            ("--1", "-", "-", "-"),
            ("٣", "-", "-", "-"),
        ] {
            for (wanted, expected) in
                [(Wanted::Anything, any), (Wanted::Number, number), (Wanted::Integer, integer)]
            {
                let found = match read_number(word, wanted) {
                    NumberReading::Number(number) => number.into_owned(),
                    NumberReading::Unclear => "?".to_owned(),
                    NumberReading::NotANumber => "-".to_owned(),
                };
                assert_eq!(found, expected, "{word} where {wanted:?} is wanted");
            }
        }
    }

    #[test]
    fn numbers_in_strings_keep_their_digits() {
        let check = |text: &str, any: Option<&str>, integer: Option<&str>| {
            assert_eq!(from_text(text, Wanted::Number).as_deref(), any, "{text:?} as a number");
            assert_eq!(from_text(text, Wanted::Integer).as_deref(), integer, "{text:?} as an integer");
        };
        check("42", Some("42"), Some("42"));
        check(" -7 ", Some("-7"), Some("-7"));
        check("\"42\"", Some("42"), Some("42"));
        check("230.0", Some("230.0"), Some("230"));
        check("1.10", Some("1.10"), None);
        check("9007199254740993", Some("9007199254740993"), Some("9007199254740993"));
        check("12345678901234567890123", Some("12345678901234567890123"), Some("12345678901234567890123"));
        check("1e3", Some("1e3"), Some("1000"));
        check("1.5E+2", Some("1.5E+2"), Some("150"));
        check("0.0", Some("0.0"), Some("0"));
        check("1,000", None, Some("1000"));
        check("1,234.50", Some("1234.50"), None);
        for text in ["", ".", "-", "1,00,000", "NaN", "inf", "007", "12px", "1 000", "1e", "٣"] {
            check(text, None, None);
        }
    }

    #[test]
    fn literals_in_any_case() {
        assert_eq!(parse_literal("TRUE"), Some(Literal::True));
        assert_eq!(parse_literal("None"), Some(Literal::Null));
        assert_eq!(parse_literal("nil"), Some(Literal::Null));
        assert_eq!(parse_literal("-Infinity"), Some(Literal::Infinity));
        assert_eq!(parse_literal("-true"), None);
        assert_eq!(parse_literal("truest"), None);
        assert!(is_cut_literal("Tru") && !is_cut_literal("True"));
    }
}
