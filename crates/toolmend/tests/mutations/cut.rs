//! Calls that are truncated.

use toolmend::Finish;

use crate::document::{Document, Token};
use crate::random::Random;

/// Truncates the call at a random position, and reports it if what is left runs although it must not.
///
/// It may run only if nothing but closers after a complete value is missing. A number could have gone on, unless the model
/// says that it stopped by itself.
pub(crate) fn run(
    call: &Document,
    spell: fn(&Token) -> String,
    finish: Finish,
    random: &mut Random,
) -> Option<String> {
    let text = call.spelled(spell);
    let cut = text.floor_char_boundary(random.between(1, text.len() - 1));
    let verdict = call.mender.mend_finished(call.tool, &text[..cut], finish);
    let may_run = complete_at(call, spell, cut, finish) || lacks_only_closers(&text[..cut]);
    (verdict.outcome().runs() && !may_run)
        .then(|| format!("{finish:?}: {}\n  became {}", &text[..cut], verdict.json().unwrap_or_default()))
}

/// Whether the last thing before the cut is a complete value.
fn complete_at(call: &Document, spell: fn(&Token) -> String, cut: usize, finish: Finish) -> bool {
    let mut start = 0;
    let mut complete = false;
    for token in &call.tokens {
        let end = start + spell(token).len();
        match token {
            Token::Space(_) => {}
            _ if start >= cut => return complete,
            // With white space after it, the number is complete.
            Token::Bare(text) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
                complete = finish == Finish::Stop || end < cut;
            }
            _ if end > cut => return false,
            Token::Close(_) | Token::Text(_) | Token::Bare(_) => complete = true,
            Token::Open(_) | Token::Comma | Token::Colon | Token::Key(_) => complete = false,
        }
        start = end;
    }
    complete
}

/// Whether a text that ends in a quote is strict JSON up to its missing closers. If an inner quote was not escaped and the
/// cut is right after it, nothing shows that the text is truncated.
fn lacks_only_closers(text: &str) -> bool {
    text.ends_with('"') && lacks_closers(text)
}

/// Whether a text is strict JSON except for closers that are missing at its end.
pub(crate) fn lacks_closers(text: &str) -> bool {
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
    !in_string && serde_json::from_str::<serde_json::Value>(&closed).is_ok()
}
