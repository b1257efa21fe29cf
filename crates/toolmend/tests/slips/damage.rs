//! Every slip of a gold text: one structural mark lost, written twice, swapped or mistyped, or the depth of escaping shifted.

use std::ops::Range;

use crate::render::Rendered;

/// What happened to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    /// A mark is missing.
    Drop,
    /// A mark is there twice.
    Double,
    /// A mark changed places with the mark or white space beside it.
    Swap,
    /// A mark became another mark, or a character that people and models take for it.
    Mistype,
    /// From a quote on, every quote and backslash is escaped once more.
    Deeper,
    /// From a quote on, every escape is escaped once more; the quotes around strings are not.
    EscapesDeeper,
    /// From a quote on, every escape is replaced by what it means.
    Shallower,
    /// A mark changed places with a character of the text beside it.
    SwapWithText,
}

impl Damage {
    pub(crate) const ALL: [Damage; 8] = [
        Damage::Drop,
        Damage::Double,
        Damage::Swap,
        Damage::Mistype,
        Damage::Deeper,
        Damage::EscapesDeeper,
        Damage::Shallower,
        Damage::SwapWithText,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Damage::Drop => "drop",
            Damage::Double => "double",
            Damage::Swap => "swap",
            Damage::Mistype => "mistype",
            Damage::Deeper => "deeper",
            Damage::EscapesDeeper => "escapes+1",
            Damage::Shallower => "escapes-1",
            Damage::SwapWithText => "swap text",
        }
    }
}

/// What each mark is mistyped as: every other mark, then the usual confusions.
const CONFUSIONS: &[(char, &str)] = &[
    ('{', "}[],:\"("),
    ('}', "{[],:\")"),
    ('[', "{}],:\"("),
    (']', "{}[,:\")"),
    (',', "{}[]:\";."),
    (':', "{}[],\"=;"),
    ('"', "{}[],:'"),
];

/// One change of a text.
#[derive(Debug, Clone)]
pub(crate) struct Slip {
    pub(crate) damage: Damage,
    range: Range<usize>,
    replacement: String,
}

impl Slip {
    pub(crate) fn apply(&self, text: &str) -> String {
        [&text[..self.range.start], &self.replacement, &text[self.range.end..]].concat()
    }

    /// Applies two slips of the same text. `None` if they touch each other: that would be another damage altogether.
    pub(crate) fn apply_both(&self, other: &Slip, text: &str) -> Option<String> {
        let (first, second) =
            if self.range.start <= other.range.start { (self, other) } else { (other, self) };
        let are_apart = first.range.end < second.range.start;
        are_apart.then(|| first.apply(&second.apply(text)))
    }
}

/// All slips of one text. None of them gives the text itself.
pub(crate) fn all_slips(gold: &Rendered) -> Vec<Slip> {
    let mut out = Vec::new();
    for &at in &gold.marks {
        let mark = char::from(gold.text.as_bytes()[at]);
        let replaced = |damage, replacement: String| Slip { damage, range: at..at + 1, replacement };
        out.push(replaced(Damage::Drop, String::new()));
        out.push(replaced(Damage::Double, format!("{mark}{mark}")));
        let (_, confusions) = CONFUSIONS.iter().find(|(known, _)| *known == mark).unwrap();
        out.extend(confusions.chars().map(|typed| replaced(Damage::Mistype, typed.to_string())));
    }
    add_swaps(gold, &mut out);
    add_shifts(gold, &mut out);
    out.retain(|slip| gold.text[slip.range.clone()] != slip.replacement);
    out
}

/// Every two neighbours of which one is a mark, each pair once.
fn add_swaps(gold: &Rendered, out: &mut Vec<Slip>) {
    let is_mark = |at: usize| gold.marks.binary_search(&at).is_ok();
    let characters: Vec<(usize, char)> = gold.text.char_indices().collect();
    for pair in characters.windows(2) {
        let [(left_at, left), (right_at, right)] = [pair[0], pair[1]];
        if left == right || !is_mark(left_at) && !is_mark(right_at) {
            continue;
        }
        let is_structure = |at: usize, ch: char| is_mark(at) || ch.is_ascii_whitespace();
        let both = is_structure(left_at, left) && is_structure(right_at, right);
        let damage = if both { Damage::Swap } else { Damage::SwapWithText };
        let range = left_at..right_at + right.len_utf8();
        out.push(Slip { damage, range, replacement: format!("{right}{left}") });
    }
}

/// Escapes the rest of a text once more, or once less.
type Shift = fn(&str) -> String;

/// Three shifts of the escape depth from every quote on. Quotes with no escape between them give the same text, which counts
/// once.
fn add_shifts(gold: &Rendered, out: &mut Vec<Slip>) {
    let shifts: [(Damage, Shift); 3] = [
        (Damage::Deeper, escape_again),
        (Damage::EscapesDeeper, escape_escapes),
        (Damage::Shallower, unescape_once),
    ];
    for (damage, shift) in shifts {
        let mut last = None;
        for &at in &gold.quotes {
            let slip = Slip { damage, range: at..gold.text.len(), replacement: shift(&gold.text[at..]) };
            let damaged = slip.apply(&gold.text);
            if last.as_ref() != Some(&damaged) {
                out.push(slip);
                last = Some(damaged);
            }
        }
    }
}

fn escape_again(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Rewrites every escape, given as the character after the backslash and what follows it.
fn rewrite_escapes(text: &str, rewrite: fn(char, &mut std::str::Chars<'_>, &mut String)) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(ch) = characters.next() {
        match ch {
            '\\' => rewrite(characters.next().unwrap(), &mut characters, &mut out),
            _ => out.push(ch),
        }
    }
    out
}

fn escape_escapes(text: &str) -> String {
    rewrite_escapes(text, |escaped, _, out| match escaped {
        '"' | '\\' => out.extend(['\\', '\\', '\\', escaped]),
        _ => out.extend(['\\', '\\', escaped]),
    })
}

fn unescape_once(text: &str) -> String {
    rewrite_escapes(text, |escaped, rest, out| {
        out.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
            }
            other => other,
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Style, render};

    fn damaged(compact: &str, damage: Damage) -> Vec<String> {
        let gold = render(compact, Style::Compact);
        let slips = all_slips(&gold);
        slips.iter().filter(|slip| slip.damage == damage).map(|slip| slip.apply(&gold.text)).collect()
    }

    #[test]
    fn every_mark_is_damaged_in_every_way() {
        let gold = r#"{"a":[1]}"#;
        assert_eq!(damaged(gold, Damage::Drop).len(), 7);
        assert_eq!(damaged(gold, Damage::Double)[5], r#"{"a":[1]]}"#);
        assert_eq!(
            damaged(gold, Damage::Swap),
            [r#""{a":[1]}"#, r#"{"a:"[1]}"#, r#"{"a"[:1]}"#, r#"{"a":[1}]"#]
        );
        assert_eq!(
            damaged(gold, Damage::SwapWithText),
            [r#"{a"":[1]}"#, r#"{""a:[1]}"#, r#"{"a":1[]}"#, r#"{"a":[]1}"#]
        );
        assert_eq!(damaged(gold, Damage::Mistype).len(), 7 * 7 + 1, "the colon has one confusion more");
    }

    #[test]
    fn depths_are_shifted_from_each_quote_on() {
        let gold = r#"{"a":"\"\n"}"#;
        assert_eq!(damaged(gold, Damage::Deeper)[2], r#"{"a":\"\\\"\\n\"}"#);
        assert_eq!(damaged(gold, Damage::EscapesDeeper), [r#"{"a":"\\\"\\n"}"#]);
        assert_eq!(damaged(gold, Damage::Shallower), ["{\"a\":\"\"\n\"}"]);
    }

    #[test]
    fn two_slips_are_applied_to_the_same_text() {
        let gold = render(r#"{"a":1}"#, Style::Compact);
        let slips = all_slips(&gold);
        let drops: Vec<_> = slips.iter().filter(|slip| slip.damage == Damage::Drop).collect();
        assert_eq!(drops[4].apply_both(drops[0], &gold.text).as_deref(), Some(r#""a":1"#));
        assert_eq!(drops[0].apply_both(drops[0], &gold.text), None);
    }
}
