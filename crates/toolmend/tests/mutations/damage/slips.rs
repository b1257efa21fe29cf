//! One slipped character: lost, written twice, mistyped, or swapped with its neighbour.

use super::Damage;
use super::strings::{is_key, is_text};
use super::structure::{is_colon, is_comma, once};
use crate::document::{Document, Token, strict};
use crate::random::Random;

pub(crate) const ALL: &[Damage] = &[
    Damage {
        name: "value without its opening quote",
        apply: |call, random| once(call, random, is_text, |token| strict(token)[1..].to_owned()),
    },
    Damage {
        name: "value without its closing quote",
        apply: |call, random| once(call, random, is_text, without_last),
    },
    Damage {
        name: "value with its closing quote twice",
        apply: |call, random| once(call, random, is_text, |token| strict(token) + "\""),
    },
    Damage {
        name: "value with its opening quote twice",
        apply: |call, random| once(call, random, is_text, |token| format!("\"{}", strict(token))),
    },
    Damage {
        name: "value that an apostrophe opens",
        apply: |call, random| once(call, random, is_text, |token| format!("'{}", &strict(token)[1..])),
    },
    Damage {
        name: "value that an apostrophe closes",
        apply: |call, random| once(call, random, is_text, |token| without_last(token) + "'"),
    },
    Damage {
        name: "key with its opening quote twice",
        apply: |call, random| once(call, random, is_key, |token| format!("\"{}", strict(token))),
    },
    Damage {
        name: "key with its closing quote twice",
        apply: |call, random| once(call, random, is_key, |token| strict(token) + "\""),
    },
    Damage {
        name: "key that an apostrophe opens",
        apply: |call, random| once(call, random, is_key, |token| format!("'{}", &strict(token)[1..])),
    },
    Damage {
        name: "key that an apostrophe closes",
        apply: |call, random| once(call, random, is_key, |token| without_last(token) + "'"),
    },
    Damage {
        name: "one inner quote without its backslash",
        apply: |call, random| one_escape(call, random, |_| "\""),
    },
    Damage {
        name: "one inner quote with a backslash too many",
        apply: |call, random| one_escape(call, random, |_| "\\\\\""),
    },
    Damage {
        name: "one inner quote written twice",
        apply: |call, random| one_escape(call, random, |_| "\\\"\""),
    },
    Damage { name: "opener lost", apply: |call, random| once(call, random, is_open, |_| String::new()) },
    Damage {
        name: "opener twice",
        apply: |call, random| once(call, random, is_open, |token| strict(token).repeat(2)),
    },
    Damage {
        name: "opener of the wrong kind",
        apply: |call, random| once(call, random, is_open, other_bracket),
    },
    Damage { name: "closer lost", apply: |call, random| once(call, random, is_close, |_| String::new()) },
    Damage {
        name: "closer twice",
        apply: |call, random| once(call, random, is_close, |token| strict(token).repeat(2)),
    },
    Damage {
        name: "closer as an opener",
        apply: |call, random| {
            once(call, random, is_close, |token| if strict(token) == "]" { "[" } else { "{" }.into())
        },
    },
    Damage { name: "comma as a colon", apply: |call, random| once(call, random, is_comma, |_| ":".into()) },
    Damage {
        name: "comma as a semicolon",
        apply: |call, random| once(call, random, is_comma, |_| ";".into()),
    },
    Damage { name: "comma as a point", apply: |call, random| once(call, random, is_comma, |_| ".".into()) },
    Damage { name: "comma as a closer", apply: |call, random| once(call, random, is_comma, |_| "}".into()) },
    Damage { name: "colon twice", apply: |call, random| once(call, random, is_colon, |_| "::".into()) },
    Damage { name: "colon as a comma", apply: |call, random| once(call, random, is_colon, |_| ",".into()) },
    Damage {
        name: "colon as a semicolon",
        apply: |call, random| once(call, random, is_colon, |_| ";".into()),
    },
    Damage { name: "colon as a quote", apply: |call, random| once(call, random, is_colon, |_| "\"".into()) },
    Damage { name: "neighbours changed places", apply: neighbours },
];

fn is_open(token: &Token) -> bool {
    matches!(token, Token::Open(_))
}

fn is_close(token: &Token) -> bool {
    matches!(token, Token::Close(_))
}

fn without_last(token: &Token) -> String {
    let mut text = strict(token);
    text.pop();
    text
}

fn other_bracket(token: &Token) -> String {
    if strict(token) == "[" { "{" } else { "[" }.into()
}

/// One escaped quote of the call, spelled another way.
fn one_escape(call: &Document, random: &mut Random, spell: fn(&str) -> &'static str) -> Option<String> {
    let text = call.text();
    // A backslash before the pair would make it something else.
    let places: Vec<_> =
        text.match_indices("\\\"").filter(|(at, _)| !text[..*at].ends_with('\\')).map(|(at, _)| at).collect();
    let place = *places.get(random.below(places.len().max(1)))?;
    Some(format!("{}{}{}", &text[..place], spell("\\\""), &text[place + 2..]))
}

/// Two adjacent characters are swapped: `",` becomes `,"`, `]}` becomes `}]`.
fn neighbours(call: &Document, random: &mut Random) -> Option<String> {
    let text = call.text();
    let is_mark = |byte: u8| b"{}[]:,\"".contains(&byte);
    let mut starts = Vec::new();
    let mut at = 0;
    for pair in call.tokens.windows(2) {
        at += strict(&pair[0]).len();
        let (left, right) = (text.as_bytes()[at - 1], text.as_bytes()[at]);
        if is_mark(left) && is_mark(right) && left != right {
            starts.push(at - 1);
        }
    }
    let place = *starts.get(random.below(starts.len().max(1)))?;
    let (left, right) = (&text[place..=place], &text[place + 1..place + 2]);
    Some(format!("{}{right}{left}{}", &text[..place], &text[place + 2..]))
}
