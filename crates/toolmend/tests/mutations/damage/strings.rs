//! Quotes, and what is between them.

use super::structure::{each, once};
use super::{Damage, Spelling};
use crate::document::{Document, Token, quoted, strict};
use crate::random::Random;

pub(crate) const ALL: &[Damage] = &[
    Damage {
        name: "single quotes",
        apply: |call, _| {
            each(call, is_string, |token| spelled(token, "'", "'", &[('"', "\""), ('\'', "\\'")]))
        },
    },
    Damage {
        name: "single quotes, raw apostrophes",
        apply: |call, _| each(call, is_string, |token| spelled(token, "'", "'", &[('"', "\"")])),
    },
    Damage {
        name: "curly quotes",
        apply: |call, _| each(call, is_string, |token| spelled(token, "“", "”", &[])),
    },
    Damage {
        name: "backticks",
        apply: |call, _| {
            each(call, has_no_backtick, |token| spelled(token, "`", "`", &[('"', "\""), ('\n', "\n")]))
        },
    },
    Damage {
        name: "triple quotes",
        apply: |call, _| {
            each(call, can_be_tripled, |token| {
                spelled(token, "\"\"\"", "\"\"\"", &[('"', "\""), ('\n', "\n")])
            })
        },
    },
    Damage { name: "inner quotes", apply: |call, random| once(call, random, has_quote, unescaped_quotes) },
    Damage { name: "inner quotes everywhere", apply: |call, _| each(call, has_quote, unescaped_quotes) },
    Damage {
        name: "inner quotes and raw newlines",
        apply: |call, _| {
            each(call, has_quote, |token| spelled(token, "\"", "\"", &[('"', "\""), ('\n', "\n")]))
        },
    },
    Damage { name: "some inner quotes", apply: some_inner_quotes },
    Damage {
        name: "quotes escaped twice",
        apply: |call, random| {
            once(call, random, has_quote, |token| spelled(token, "\"", "\"", &[('"', "\\\\\"")]))
        },
    },
    Damage {
        name: "raw newlines",
        apply: |call, _| each(call, is_file, |token| spelled(token, "\"", "\"", &[('\n', "\n")])),
    },
    Damage {
        name: "single backslashes",
        apply: |call, _| {
            each(call, has_only_free_backslashes, |token| spelled(token, "\"", "\"", &[('\\', "\\")]))
        },
    },
    Damage {
        name: "Windows path",
        apply: |call, _| each(call, is_windows_path, |token| spelled(token, "\"", "\"", &[('\\', "\\")])),
    },
    Damage {
        name: "escaped apostrophe",
        apply: |call, _| each(call, has_apostrophe, |token| spelled(token, "\"", "\"", &[('\'', "\\'")])),
    },
    Damage {
        name: "doubled quote",
        apply: |call, random| once(call, random, is_plain, |token| format!("\"{}", strict(token))),
    },
    Damage { name: "bare keys", apply: |call, _| each(call, is_key, text_of) },
    Damage {
        name: "key without its closing quote",
        apply: |call, random| once(call, random, is_key, |token| format!("\"{}", text_of(token))),
    },
    Damage {
        name: "key without its opening quote",
        apply: |call, random| once(call, random, is_key, |token| format!("{}\"", text_of(token))),
    },
    Damage { name: "bare value", apply: |call, random| once(call, random, is_plain, text_of) },
];

pub(crate) const SPELLINGS: &[Spelling] = &[
    ("strict", strict),
    ("single quotes", |token| {
        if is_string(token) { spelled(token, "'", "'", &[('"', "\""), ('\'', "\\'")]) } else { strict(token) }
    }),
    ("bare keys", |token| if is_key(token) { text_of(token) } else { strict(token) }),
    ("raw newlines", |token| {
        if is_text(token) { spelled(token, "\"", "\"", &[('\n', "\n")]) } else { strict(token) }
    }),
    ("inner quotes", |token| if is_text(token) { unescaped_quotes(token) } else { strict(token) }),
];

pub(crate) fn is_key(token: &Token) -> bool {
    matches!(token, Token::Key(_))
}

pub(crate) fn is_text(token: &Token) -> bool {
    matches!(token, Token::Text(_))
}

fn is_string(token: &Token) -> bool {
    is_key(token) || is_text(token)
}

fn is_file(token: &Token) -> bool {
    is_text(token) && text_of(token).contains('\n')
}

fn has_quote(token: &Token) -> bool {
    is_text(token) && text_of(token).contains('"')
}

fn has_apostrophe(token: &Token) -> bool {
    is_text(token) && text_of(token).contains('\'')
}

fn has_no_backtick(token: &Token) -> bool {
    is_text(token) && !text_of(token).contains('`')
}

/// Text in which nothing can be taken for the end of a string in triple quotes.
fn can_be_tripled(token: &Token) -> bool {
    is_file(token) && !text_of(token).contains("\"\"\"") && !text_of(token).ends_with('"')
}

fn is_windows_path(token: &Token) -> bool {
    is_text(token) && text_of(token).starts_with("C:\\")
}

/// A value that stays one value without its quotes: no list, no code, no number.
fn is_plain(token: &Token) -> bool {
    let text = text_of(token);
    is_text(token)
        && text.chars().all(|ch| ch.is_alphabetic() || matches!(ch, ' ' | '/' | '.' | '_'))
        && text.contains(char::is_alphabetic)
}

/// Backslashes none of which starts a JSON escape, so that one means the same as two.
fn has_only_free_backslashes(token: &Token) -> bool {
    let text = text_of(token);
    let mut backslashes = text.match_indices('\\').peekable();
    is_text(token)
        && backslashes.peek().is_some()
        && backslashes
            .all(|(at, _)| text[at + 1..].chars().next().is_some_and(|next| !"\"\\/bfnrtu".contains(next)))
}

pub(crate) fn text_of(token: &Token) -> String {
    match token {
        Token::Key(text) | Token::Text(text) => text.clone(),
        other => strict(other),
    }
}

/// A string between these quotes, with some characters spelled differently.
fn spelled(token: &Token, open: &str, close: &str, own: &[(char, &str)]) -> String {
    let mut out = open.to_owned();
    for ch in text_of(token).chars() {
        let literal = quoted(&ch.to_string());
        let strict = &literal[1..literal.len() - 1];
        let spelling = own.iter().find(|(known, _)| *known == ch).map_or(strict, |(_, spelling)| spelling);
        out.push_str(spelling);
    }
    out + close
}

fn unescaped_quotes(token: &Token) -> String {
    spelled(token, "\"", "\"", &[('"', "\"")])
}

/// About every second quote lost its backslash.
fn some_inner_quotes(call: &Document, random: &mut Random) -> Option<String> {
    let places = call.places(has_quote);
    let place = *places.get(random.below(places.len().max(1)))?;
    let mut out = String::new();
    for (at, token) in call.tokens.iter().enumerate() {
        if at != place {
            out.push_str(&strict(token));
            continue;
        }
        let literal = strict(token);
        let mut pieces = literal.split("\\\"");
        out.push_str(pieces.next()?);
        for piece in pieces {
            out.push_str(if random.once_in(2) { "\"" } else { "\\\"" });
            out.push_str(piece);
        }
    }
    Some(out)
}
