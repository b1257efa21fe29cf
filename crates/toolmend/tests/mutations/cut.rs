//! Calls that are truncated.

use std::fmt::Write;

use serde_json::Value;
use toolmend::Finish;

use crate::document::{Document, Token};
use crate::random::Random;

/// The outcomes for truncated calls. Every cut is counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    refused: usize,
    /// Only closers after a complete value are missing, and what runs is a part of the call.
    closed: usize,
    /// The head is strict JSON up to its closers, because it ends right after an inner quote that was not escaped.
    indistinguishable: usize,
    wrong: Vec<String>,
}

impl Counts {
    /// Truncates the call at a random position and counts the answer.
    pub(crate) fn add(
        &mut self,
        call: &Document,
        spell: fn(&Token) -> String,
        finish: Finish,
        random: &mut Random,
    ) {
        let text = call.spelled(spell);
        let cut = random.between(1, text.len() - 1);
        let cut = (0..=cut).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        let head = &text[..cut];
        let verdict = call.mender.mend_finished(call.tool, head, finish);
        if !verdict.outcome().runs() {
            self.refused += 1;
            return;
        }
        // A server that reports a cut is believed, however complete the text looks.
        let may_run = finish != Finish::Length;
        let is_part = verdict.value().is_some_and(|value| is_part_of(&value, &call.value));
        if may_run && is_part && is_complete_at(call, spell, head.len()) {
            self.closed += 1;
        } else if may_run && head.ends_with('"') && lacks_only_closers(head) {
            self.indistinguishable += 1;
        } else {
            self.wrong.push(format!("{head}\n  became {}", verdict.json().unwrap_or_default()));
        }
    }
}

/// Whether the last thing before the cut is a complete value. A number at the very end never is: it could go on.
fn is_complete_at(call: &Document, spell: fn(&Token) -> String, cut: usize) -> bool {
    let mut start = 0;
    let mut complete = false;
    for token in &call.tokens {
        let end = start + spell(token).len();
        match token {
            Token::Space(_) => {}
            _ if start >= cut => return complete,
            // With white space after it, the number is complete.
            Token::Bare(text) if text.bytes().any(|byte| byte.is_ascii_digit()) => complete = end < cut,
            _ if end > cut => return false,
            Token::Close(_) | Token::Text(_) | Token::Bare(_) => complete = true,
            Token::Open(_) | Token::Comma | Token::Colon | Token::Key(_) => complete = false,
        }
        start = end;
    }
    complete
}

/// Whether a value is the beginning of another: some of its members, the first of its elements, and no other scalar.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| is_part_of(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(value, other)| is_part_of(value, other))
        }
        _ => part == whole,
    }
}

/// Whether a text is strict JSON except for closers that are missing at its end.
fn lacks_only_closers(text: &str) -> bool {
    let mut closers = Vec::new();
    let mut characters = text.chars();
    let mut in_string = false;
    while let Some(ch) = characters.next() {
        match ch {
            '"' => in_string = !in_string,
            '\\' if in_string => drop(characters.next()),
            '{' if !in_string => closers.push('}'),
            '[' if !in_string => closers.push(']'),
            '}' | ']' if !in_string => drop(closers.pop()),
            _ => {}
        }
    }
    let closed: String = text.chars().chain(closers.into_iter().rev()).collect();
    !in_string && serde_json::from_str::<Value>(&closed).is_ok()
}

#[expect(clippy::print_stdout, reason = "the table is what the test is run for with --nocapture")]
pub(crate) fn report(rows: &[(String, Counts)]) {
    println!("\n{:<44} refused  closed  unseen  wrong", "cut");
    for (name, Counts { refused, closed, indistinguishable, wrong }) in rows {
        println!("{name:<44} {refused:>7} {closed:>7} {indistinguishable:>7} {:>6}", wrong.len());
    }
}

#[track_caller]
pub(crate) fn assert_none_wrong(rows: &[(String, Counts)]) {
    let mut shown = String::new();
    for (name, counts) in rows {
        for example in counts.wrong.iter().take(3) {
            let _ = write!(shown, "\n\n{name}: {example}");
        }
    }
    let wrong: usize = rows.iter().map(|(_, counts)| counts.wrong.len()).sum();
    assert_eq!(wrong, 0, "cut calls run; up to three of each kind:{shown}");
}
