//! Calls that stop in the middle.

use toolmend::Finish;

use crate::document::{Document, Token, strict};
use crate::random::Random;

/// Cuts the call at a random place, and says so where what is left runs though it must not.
///
/// Only where all that is missing are closers behind a complete value, it may run. A number could have gone on,
/// unless the model says that it stopped by itself.
pub(crate) fn run(call: &Document, finish: Finish, random: &mut Random) -> Option<String> {
    let text = call.text();
    let cut = text.floor_char_boundary(random.between(1, text.len() - 1));
    let verdict = call.mender.mend_finished(call.tool, &text[..cut], finish);
    let may_run = complete_at(call, cut, finish);
    (verdict.outcome().runs() && !may_run)
        .then(|| format!("{finish:?}: {}\n  became {}", &text[..cut], verdict.text()))
}

/// Whether the last thing before the cut is a complete value.
fn complete_at(call: &Document, cut: usize, finish: Finish) -> bool {
    let mut start = 0;
    let mut complete = false;
    for token in &call.tokens {
        let end = start + strict(token).len();
        match token {
            Token::Space(_) => {}
            _ if end > cut && start < cut => return false,
            _ if start >= cut => return complete,
            Token::Close(_) | Token::Text(_) => complete = true,
            Token::Bare(text) => {
                let is_number = text.bytes().any(|byte| byte.is_ascii_digit());
                // With a space or a line behind it the number is over.
                complete = !is_number || finish == Finish::Stop || end < cut;
            }
            Token::Open(_) | Token::Comma | Token::Colon | Token::Key(_) => complete = false,
        }
        start = end;
    }
    complete
}
