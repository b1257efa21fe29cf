//! The document as a whole: wrapped, encoded, repeated.

use super::structure::each;
use super::{Damage, Wrapper};
use crate::document::{Token, quoted, strict};

pub(crate) const ALL: &[Damage] = &[
    Damage {
        name: "fence",
        apply: |call, random| {
            Some(format!("{}\n{}\n```", random.pick(&["```json", "```", "```tool_call"]), call.text()))
        },
    },
    Damage { name: "fence without an end", apply: |call, _| Some(format!("```json\n{}", call.text())) },
    Damage { name: "fence of tildes", apply: |call, _| Some(format!("~~~\n{}\n~~~", call.text())) },
    Damage {
        name: "prose before",
        apply: |call, random| {
            let prose = random.pick(&[
                "Sure, I will do that: ",
                "As said [1], with {braces}:\n\n",
                "It's \"easy\":\n",
            ]);
            Some(format!("{prose}{}", call.text()))
        },
    },
    Damage {
        name: "prose after",
        apply: |call, random| {
            let prose = random.pick(&["\n\nThat is all.", " (see {this})", "\nLet's wait for [the result]."]);
            Some(format!("{}{prose}", call.text()))
        },
    },
    Damage {
        name: "special token",
        apply: |call, random| {
            Some(call.text() + random.pick(&["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>"]))
        },
    },
    Damage { name: "byte order mark", apply: |call, _| Some(format!("\u{feff}{}", call.text())) },
    Damage {
        name: "written twice",
        apply: |call, random| {
            Some(format!("{}{}{}", call.text(), random.pick(&["", "\n", " "]), call.text()))
        },
    },
    Damage { name: "empty object before it", apply: |call, _| Some(format!("{{}}{}", call.text())) },
    Damage { name: "double encoded", apply: |call, _| Some(quoted(&call.text())) },
    Damage { name: "in quotes, nothing escaped", apply: |call, _| Some(format!("\"{}\"", call.text())) },
    Damage {
        name: "over-escaped",
        apply: |call, _| {
            let literal = quoted(&call.text());
            Some(literal[1..literal.len() - 1].to_owned())
        },
    },
    Damage {
        name: "HTML entities",
        apply: |call, _| {
            let clash = call.text().contains('&') || call.text().contains("\\\"");
            (!clash).then(|| call.text().replace('"', "&quot;"))
        },
    },
    Damage {
        name: "Python literals",
        apply: |call, _| {
            each(call, is_literal, |token| match strict(token).as_str() {
                "true" => "True".into(),
                "false" => "False".into(),
                _ => "None".into(),
            })
        },
    },
    Damage {
        name: "upper-case literals",
        apply: |call, _| each(call, is_literal, |token| strict(token).to_uppercase()),
    },
    Damage {
        name: "plus sign",
        apply: |call, _| each(call, is_count, |token| format!("+{}", strict(token))),
    },
    Damage {
        name: "point without digits",
        apply: |call, _| each(call, |token| strict(token) == "0.5", |_| ".5".into()),
    },
];

pub(crate) const AROUND: &[Wrapper] = &[
    ("fence", |text| format!("```json\n{text}\n```")),
    ("prose", |text| format!("Here it is: {text}\nThat is all.")),
    ("special token", |text| format!("{text}<|im_end|>")),
];

fn is_literal(token: &Token) -> bool {
    matches!(token, Token::Bare(text) if matches!(text.as_str(), "true" | "false" | "null"))
}

fn is_count(token: &Token) -> bool {
    matches!(token, Token::Bare(text) if text.bytes().all(|byte| byte.is_ascii_digit()))
}
