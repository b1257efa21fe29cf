//! Calls that are offered as alternatives.
//!
//! Two calls with only `or` between them are a choice, and nobody has chosen. The first one may have run by then, so the ones
//! after it are refused: at most one of the alternatives is carried out.
// Case: dialects/hostile/alternatives

use super::Stream;
use crate::dialect::token::TextKind;
use crate::text_parts::first_part;
use crate::turn::Call;
use crate::verdict::Reason;

/// Words that make the next call an alternative, in lower case and without marks.
const ALTERNATIVES: &[&str] = &[
    "or",
    "or else",
    "or maybe",
    "or perhaps",
    "or this",
    "or alternatively",
    "alternatively",
    "alternative",
    "oder",
    "oder aber",
    "ou",
    "ou bien",
    "o bien",
    "或",
    "或者",
    "または",
];

/// Longer text is more than a conjunction.
const MAX_BYTES: usize = 48;

impl Stream {
    /// Notes content that comes after a call.
    pub(super) fn note_text_after_call(&mut self, kind: TextKind, text: &str) {
        if self.calls > 0 && kind == TextKind::Content && self.text_after_call.len() <= MAX_BYTES {
            self.text_after_call.push_str(first_part(text, MAX_BYTES + 1));
        }
    }

    /// Refuses these calls, which begin at `at`, if they are alternatives to the last one.
    pub(super) fn refuse_alternatives(&mut self, at: usize, made: &mut [Call]) {
        if self.calls == 0 {
            return;
        }
        let here = first_part(&self.buffer[..at], MAX_BYTES + 1);
        let words = format!("{}{here}", self.text_after_call);
        if !is_alternative(&words) {
            return;
        }
        let why = "it is offered as an alternative to the call before it";
        for call in made.iter_mut().filter(|call| call.outcome().runs()) {
            call.verdict =
                self.mender.refused_verdict(&call.name, &call.raw, Reason::Ambiguous, why).into_owned();
        }
    }
}

fn is_alternative(words: &str) -> bool {
    if words.len() > MAX_BYTES {
        return false;
    }
    let words = words.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase();
    ALTERNATIVES.contains(&words.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_conjunction_offers_a_choice() {
        for words in ["\nor\n", " **or**: ", "Alternatively,", "或者"] {
            assert!(is_alternative(words), "{words}");
        }
        for words in ["", "and", "or I could look again, which I do:", "for"] {
            assert!(!is_alternative(words), "{words}");
        }
    }
}
