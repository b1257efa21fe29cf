//! Words before a call that leave it to the user.
//!
//! Who asks whether to do something, or says on which condition, has not done it. After a marker such words are only manners.
//! A call without a marker is then what the question is about.

/// Words that ask for leave or name a condition, in lower case.
const ASKING: &[&str] = &[
    "should i ",
    "shall i ",
    "shall we ",
    "may i ",
    "can i go ahead",
    "do you want me",
    "would you like me",
    "want me to ",
    "is it ok",
    "is that ok",
    "are you sure",
    "if you agree",
    "if you approve",
    "if you confirm",
    "if you want",
    "if you like",
    "if you'd like",
    "if you say",
    "if you are ok",
    "if you're ok",
    "if that is ok",
    "if that's ok",
    "if that works",
    "once you ",
    "as soon as you ",
    "unless you ",
    "with your permission",
    "with your approval",
    "with your consent",
    "let me know if",
    "let me know whether",
    "please confirm",
    "before i run",
    "before i call",
    "waiting for your",
    "soll ich",
    "darf ich",
    "wenn du ",
    "wenn sie ",
    "falls du ",
    "falls sie ",
    "dois-je",
    "si vous ",
    "si tu ",
    "puis-je",
    "debo ",
    "si quieres",
    "si está",
    "要我",
    "需要我",
    "是否",
    "如果您",
    "如果你",
];

/// Whether the words directly before a call ask first. `paragraph` is in lower case.
// Case: dialects/hostile/question-before-a-call
// Case: dialects/hostile/condition-before-a-call
pub(super) fn asks_first(paragraph: &str) -> bool {
    let end = paragraph.trim_end_matches(|ch: char| ch.is_whitespace() || "*_`:\"”)".contains(ch));
    end.ends_with(['?', '？']) || ASKING.iter().any(|words| paragraph.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_conditions_leave_the_call_to_the_user() {
        for text in
            ["should i do this?", "ready?", "**run it?**", "if you agree, i will run:", "soll ich das tun:"]
        {
            assert!(asks_first(text), "{text}");
        }
        for text in ["you asked what time it is? let me look.", "i will check whether it exists:", ""] {
            assert!(!asks_first(text), "{text}");
        }
    }
}
