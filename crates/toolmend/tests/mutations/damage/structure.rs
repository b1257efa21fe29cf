//! Brackets, commas and colons.

use super::Damage;
use crate::document::{Document, Token, strict};
use crate::random::Random;

pub(crate) const ALL: &[Damage] = &[
    Damage { name: "trailing comma", apply: trailing_comma },
    Damage { name: "doubled comma", apply: |call, random| once(call, random, is_comma, |_| ",,".into()) },
    Damage { name: "missing comma", apply: |call, random| once(call, random, is_comma, |_| String::new()) },
    Damage { name: "all commas missing", apply: all_commas_missing },
    Damage { name: "missing colon", apply: |call, random| once(call, random, is_colon, |_| String::new()) },
    Damage { name: "equals for colon", apply: |call, random| once(call, random, is_colon, |_| " =".into()) },
    Damage { name: "arrow for colon", apply: |call, _| each(call, is_colon, |_| " =>".into()) },
    Damage { name: "closers missing at the end", apply: closers_missing_at_the_end },
    Damage { name: "closer missing inside", apply: closer_missing_inside },
    Damage { name: "closer of the wrong kind", apply: wrong_closer },
    Damage {
        name: "extra closer at the end",
        apply: |call, random| Some(call.text() + random.pick(&["}", "]", "}}", "]}"])),
    },
    Damage { name: "opener missing", apply: |call, _| call.text().strip_prefix('{').map(ToOwned::to_owned) },
    Damage { name: "doubled braces", apply: |call, _| Some(format!("{{{}}}", call.text())) },
    Damage { name: "full-width punctuation", apply: |call, _| Some(call.spelled(full_width)) },
    Damage { name: "comments", apply: comments },
    Damage { name: "no-break spaces", apply: |call, _| each(call, is_space, |_| "\u{a0}".into()) },
    Damage {
        name: "literal \\n between tokens",
        apply: |call, _| {
            each(
                call,
                |token| matches!(token, Token::Space(text) if text.starts_with('\n')),
                |token| strict(token).replace('\n', "\\n"),
            )
        },
    },
];

pub(crate) fn is_comma(token: &Token) -> bool {
    *token == Token::Comma
}

pub(crate) fn is_colon(token: &Token) -> bool {
    *token == Token::Colon
}

fn is_space(token: &Token) -> bool {
    matches!(token, Token::Space(_))
}

/// One of the wanted tokens, spelled another way.
pub(crate) fn once(
    call: &Document,
    random: &mut Random,
    wanted: fn(&Token) -> bool,
    spell: fn(&Token) -> String,
) -> Option<String> {
    call.spelled_once(random, wanted, spell)
}

/// Each of the wanted tokens, spelled another way.
pub(crate) fn each(
    call: &Document,
    wanted: fn(&Token) -> bool,
    spell: fn(&Token) -> String,
) -> Option<String> {
    call.tokens
        .iter()
        .any(wanted)
        .then(|| call.spelled(|token| if wanted(token) { spell(token) } else { strict(token) }))
}

fn trailing_comma(call: &Document, random: &mut Random) -> Option<String> {
    call.spelled_once(random, |token| matches!(token, Token::Close(_)), |token| format!(",{}", strict(token)))
}

/// Only if the calls are written over several lines, so that people would still read them.
fn all_commas_missing(call: &Document, _: &mut Random) -> Option<String> {
    let on_lines = call.tokens.iter().any(|token| strict(token).starts_with('\n'));
    if on_lines { each(call, is_comma, |_| String::new()) } else { None }
}

fn closers_missing_at_the_end(call: &Document, random: &mut Random) -> Option<String> {
    let text = call.text();
    let closers = text.len() - text.trim_end_matches([']', '}', '\n', ' ']).len();
    let keep = random.below(closers);
    Some(text[..text.len() - closers + keep].to_owned()).filter(|text| text.len() < call.text().len())
}

fn closer_missing_inside(call: &Document, random: &mut Random) -> Option<String> {
    let mut places = call.places(|token| matches!(token, Token::Close(_)));
    places.pop();
    let place = *places.get(random.below(places.len().max(1)))?;
    Some(
        call.tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != place)
            .map(|(_, token)| strict(token))
            .collect(),
    )
}

fn wrong_closer(call: &Document, random: &mut Random) -> Option<String> {
    call.spelled_once(
        random,
        |token| matches!(token, Token::Close(_)),
        |token| if strict(token) == "]" { "}".into() } else { "]".into() },
    )
}

fn full_width(token: &Token) -> String {
    match token {
        Token::Open('{') => "｛".into(),
        Token::Close('}') => "｝".into(),
        Token::Comma => "，".into(),
        Token::Colon => "：".into(),
        other => strict(other),
    }
}

fn comments(call: &Document, random: &mut Random) -> Option<String> {
    let comment = random.pick(&[" // it's a \"note\", {x}\n", " # it's a note\n", " /* a, \"b\": c */ "]);
    call.spelled_once(random, is_comma, |_| format!(",{comment}"))
}
