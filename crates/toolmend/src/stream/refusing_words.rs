//! Words right before a call that show it or speak against it: "I must not do this:", "A call looks like this:".
//!
//! A marker is strong evidence, and models announce their calls with all kinds of words. So only the last clause before the
//! call counts, only if a colon says that it is about the call, and a negation only if it is one of doing something.

/// Words that show something, in lower case.
const SHOWING: &[&str] = &[
    "for example",
    "for instance",
    "an example",
    "example of",
    "would look like",
    "looks like this",
    "look like this",
    "looks as follows",
    "in this format",
    "format is",
    "hypothetical",
    "zum beispiel",
    "ein beispiel",
    "sieht so aus",
    "por ejemplo",
    "un ejemplo",
    "par exemple",
    "un exemple",
    "per esempio",
    "un esempio",
    "por exemplo",
    "um exemplo",
    "например",
    "пример",
    "例如",
    "示例",
    "例えば",
    "예를 들어",
    "예시",
];

/// English words that negate the verb after them.
const NEGATIONS: &[&str] = &["not", "never", "cannot", "avoid", "without"];

/// English verbs, without their endings, of which a call can be the object.
const VERBS: &[&str] = &[
    "run", "execut", "call", "do", "use", "send", "issu", "mak", "invok", "writ", "emit", "perform",
    "submit", "copy", "repeat", "tr", "follow", "output", "produc", "generat",
];

/// Words of other languages that negate their clause. They are whole words.
const NEGATING: &[&str] = &[
    "nicht",
    "niemals",
    "keinesfalls",
    "pas",
    "jamais",
    "nunca",
    "jamás",
    "não",
    "non",
    "mai",
    "niet",
    "nooit",
    "inte",
    "aldrig",
    "ikke",
    "nie",
    "nigdy",
    "не",
    "нельзя",
    "никогда",
    "değil",
    "asla",
    "нет",
];

/// The same in Spanish, whose word for it is one of many languages.
const SPANISH: &[&str] = &["no debo", "no debes", "no ejecut", "no hag", "no llam", "no us", "no voy"];

/// The same for languages without blanks between words.
const PARTS: &[&str] = &[
    "不要",
    "不能",
    "不会",
    "不得",
    "不应",
    "不可",
    "请勿",
    "切勿",
    "别执行",
    "禁止",
    "ない",
    "ません",
    "ないで",
    "않",
    "마세요",
    "말 것",
    "하지 마",
    "금지",
];

/// Whether the end of this text shows what follows, or speaks against it.
pub(super) fn speaks_against(text: &str) -> bool {
    let sentence = announcing_sentence(text);
    sentence.is_some_and(|sentence| {
        SHOWING.iter().any(|words| sentence.contains(words)) || negates_clause(last_clause(&sentence))
    })
}

/// Whether the end of this text speaks against what follows. Models also show the calls that they were asked for.
pub(super) fn forbids(text: &str) -> bool {
    announcing_sentence(text).is_some_and(|sentence| negates_clause(last_clause(&sentence)))
}

/// The sentence before a colon at the end of a text, in lower case.
fn announcing_sentence(text: &str) -> Option<String> {
    let text = text.trim_end().trim_end_matches(['*', '_']);
    let text = text.strip_suffix([':', '：'])?;
    let sentence = text.rsplit(['\n', '.', '!', '?', '。', '！', '？']).next().unwrap_or(text);
    Some(sentence.to_lowercase().replace('’', "'"))
}

/// Whether the last clause of a line that goes on speaks against what comes next.
pub(super) fn negates(line: &str) -> bool {
    let sentence = line.rsplit(['.', '!', '?', '。', '！', '？']).next().unwrap_or(line);
    negates_clause(last_clause(&sentence.to_lowercase().replace('’', "'")))
}

fn negates_clause(clause: &str) -> bool {
    negates_action(clause)
        || SPANISH.iter().chain(PARTS).any(|part| clause.contains(part))
        || words_of(clause).any(|word| NEGATING.contains(&word))
}

/// The last clause of a sentence. What comes after a word such as `so` takes the negation before it back.
fn last_clause(sentence: &str) -> &str {
    const TURNS: &[&str] =
        &[" so ", " but ", " let me ", " i'll ", " i will ", " sondern ", " aber ", " pero ", " mais "];
    let clause = sentence.rsplit([',', ';', '—', '，', '、', '；']).next().unwrap_or(sentence);
    let from = TURNS.iter().filter_map(|turn| Some(clause.rfind(turn)? + turn.len())).max().unwrap_or(0);
    &clause[from..]
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|ch: char| !ch.is_alphanumeric() && ch != '\'').filter(|word| !word.is_empty())
}

/// Whether one of the next words after a negation is a verb of doing.
fn negates_action(clause: &str) -> bool {
    const NEAR: usize = 3;
    let words: Vec<&str> = words_of(clause).collect();
    let is_verb = |word: &&str| VERBS.iter().any(|verb| is_form_of(word, verb));
    words.iter().enumerate().any(|(index, word)| {
        (NEGATIONS.contains(word) || word.ends_with("n't"))
            && words[index + 1..].iter().take(NEAR).any(is_verb)
    })
}

/// Whether a word is this verb, with or without one of the endings of English verbs.
fn is_form_of(word: &str, verb: &str) -> bool {
    const ENDINGS: &[&str] =
        &["", "e", "y", "s", "es", "ed", "ing", "ning", "ting", "ten", "ies", "ied", "ne"];
    word.strip_prefix(verb).is_some_and(|ending| ENDINGS.contains(&ending)) || matches!(word, "made" | "sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_before_a_colon_can_speak_against_a_call() {
        for text in [
            "I must not do this:",
            "Never run something like\nNever execute this:",
            "You shouldn't call it this way:",
            "A call looks like this:\n\n",
            "Das darf ich nicht tun:",
            "No debo ejecutar esto:",
            "Il ne faut pas exécuter ceci :".trim_end_matches(" :").to_owned().leak(),
            "不要执行以下内容：",
            "これを実行しないでください：",
        ] {
            let text =
                if text.trim_end().ends_with([':', '：']) { text.to_owned() } else { format!("{text}:") };
            assert!(speaks_against(&text), "{text}");
        }
    }

    #[test]
    fn a_line_that_goes_on_can_speak_against_a_call() {
        assert!(negates("Don't run `") && negates("Fine. You must never call `"));
        assert!(!negates("I don't know it. I call `") && !negates("`"));
    }

    #[test]
    fn announcements_speak_for_a_call() {
        for text in [
            "I do not know that, so I look it up:",
            "I don't have the weather yet. Let me check:",
            "I cannot run this myself, but I can ask the tool:",
            "Not sure. I call it now:",
            "I must not do this.",
            "Ich weiß es nicht, ich schaue nach:",
            "Let me read the example file:",
            "",
        ] {
            assert!(!speaks_against(text), "{text}");
        }
    }
}
