//! Notations other than JSON.

use super::Damage;
use super::strings::text_of;
use crate::document::{Document, Token, strict};

pub(crate) const ALL: &[Damage] = &[
    Damage {
        name: "Python call",
        apply: |call, _| Some(format!("{}({})", call.tool, pairs(call, ", ", "=", python)?)),
    },
    Damage { name: "key=value text", apply: |call, _| pairs(call, ", ", "=", strict) },
    Damage { name: "key: value lines", apply: |call, _| pairs(call, "\n", ": ", strict) },
    Damage {
        name: "command line",
        apply: |call, _| {
            let plain = |text: &str| text.chars().all(|ch| ch.is_alphanumeric() || "/._-".contains(ch));
            let simple = members(call)?.iter().all(|(_, value)| plain(&text_of(value)));
            simple.then(|| Some(format!("{} --{}", call.tool, pairs(call, " --", " ", text_of)?)))?
        },
    },
];

/// The members of a call whose values are all scalars.
fn members(call: &Document) -> Option<Vec<(&Token, &Token)>> {
    let tokens: Vec<_> = call.tokens.iter().filter(|token| !matches!(token, Token::Space(_))).collect();
    let inside = &tokens[1..tokens.len() - 1];
    if inside.iter().any(|token| matches!(token, Token::Open(_))) {
        return None;
    }
    Some(inside.chunks(4).map(|member| (member[0], member[2])).collect())
}

/// The members of a call, each as `key`, `sign`, value.
fn pairs(call: &Document, separator: &str, sign: &str, spell: fn(&Token) -> String) -> Option<String> {
    let members = members(call)?;
    let written: Vec<_> =
        members.iter().map(|(key, value)| format!("{}{sign}{}", text_of(key), spell(value))).collect();
    Some(written.join(separator))
}

fn python(token: &Token) -> String {
    match strict(token).as_str() {
        "true" => "True".into(),
        "false" => "False".into(),
        "null" => "None".into(),
        other => other.to_owned(),
    }
}
