//! Words around a value that take it back: an example, a refusal, a correction.
//!
//! Prose before a value is how models talk: "Here is the call:". But a value that is called an example, or that is followed
//! by "I cannot" or "Wait, that is wrong", is not a call that was meant. Only the words decide, not what the value is.

use crate::text_parts::{first_part, last_part};
use std::cell::OnceCell;
use std::ops::Range;

/// Where a cue counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    Both,
    /// The value follows at once.
    JustBefore,
    /// It follows the value at once.
    JustAfter,
    /// In the clause that introduces the value.
    Introducing,
    /// The clause that introduces the value is nothing else: `Old: {…}`.
    Label,
    /// The text ends with it.
    Last,
}

/// What says that a value is not meant, in lower case. Words match whole.
// Case: syntax/example-then-refusal
// Case: syntax/corrected-value
const CUES: &[(&str, Side)] = &[
    // Examples.
    ("for example", Side::Both),
    ("for instance", Side::Both),
    ("e.g.", Side::JustBefore),
    ("i would send", Side::Both),
    ("i would call", Side::Both),
    ("i would have", Side::Both),
    ("i could send", Side::Both),
    ("i could call", Side::Both),
    ("you could send", Side::Both),
    ("you could call", Side::Both),
    ("such as", Side::JustBefore),
    ("not", Side::JustBefore),
    ("hypothetical", Side::Both),
    ("hypothetically", Side::Both),
    ("would be wrong", Side::Both),
    ("would be", Side::JustAfter),
    ("would have", Side::JustAfter),
    ("is an example", Side::After),
    ("already ran", Side::JustBefore),
    ("already sent", Side::JustBefore),
    ("already called", Side::JustBefore),
    ("[cancelled]", Side::JustBefore),
    ("[canceled]", Side::JustBefore),
    ("just an example", Side::Both),
    ("only an example", Side::Both),
    ("example only", Side::Both),
    ("only a test", Side::Both),
    ("was a test", Side::After),
    ("suppose", Side::Introducing),
    ("supposing", Side::Introducing),
    ("imagine", Side::Introducing),
    ("if i", Side::Introducing),
    ("if we", Side::Introducing),
    ("if you", Side::Introducing),
    ("unlike", Side::Introducing),
    ("except", Side::JustBefore),
    ("without", Side::JustBefore),
    ("instead of", Side::Introducing),
    ("rather than", Side::Introducing),
    ("for reference", Side::Introducing),
    ("expected format", Side::Introducing),
    ("example output", Side::Introducing),
    ("bad example", Side::Introducing),
    ("example of", Side::Introducing),
    ("bad call", Side::Introducing),
    ("pretend", Side::Introducing),
    ("i could run", Side::Both),
    ("<example>", Side::Before),
    ("counterexample", Side::Introducing),
    // Refusals.
    ("must not", Side::After),
    ("should not", Side::After),
    ("shouldn't", Side::After),
    ("will not", Side::After),
    ("won't", Side::After),
    ("do not send", Side::Both),
    ("do not call", Side::Both),
    ("do not run", Side::Both),
    ("do not use", Side::Both),
    ("don't send", Side::Both),
    ("don't call", Side::Both),
    ("don't run", Side::Both),
    ("don't use", Side::Both),
    ("never call", Side::Both),
    ("never send", Side::Both),
    ("never run", Side::Both),
    ("not going to", Side::After),
    ("i cannot", Side::After),
    ("i can not", Side::After),
    ("i can't", Side::After),
    ("i'm unable", Side::After),
    ("i am unable", Side::After),
    ("i'm not able", Side::After),
    ("i am not able", Side::After),
    ("i refuse", Side::After),
    ("sorry", Side::After),
    ("do not", Side::Introducing),
    ("don't", Side::Introducing),
    ("never", Side::Introducing),
    ("must not", Side::Introducing),
    ("should not", Side::Introducing),
    ("shouldn't", Side::Introducing),
    ("cannot", Side::Introducing),
    ("can't", Side::Introducing),
    ("will not", Side::Introducing),
    ("won't", Side::Introducing),
    ("avoid", Side::Introducing),
    ("forbidden", Side::Introducing),
    ("don't", Side::Last),
    ("do not", Side::Last),
    ("kidding", Side::After),
    ("cancel that", Side::After),
    ("cancel this", Side::After),
    ("cancel", Side::JustAfter),
    ("cancelled", Side::JustAfter),
    ("canceled", Side::JustAfter),
    ("rejected", Side::JustAfter),
    ("deprecated", Side::JustAfter),
    ("wrong", Side::JustAfter),
    ("incorrect", Side::JustAfter),
    ("invalid", Side::JustAfter),
    ("error:", Side::JustAfter),
    ("failed", Side::JustAfter),
    ("fails", Side::JustAfter),
    ("would fail", Side::JustAfter),
    ("no,", Side::JustAfter),
    ("but not", Side::JustAfter),
    ("❌", Side::JustAfter),
    ("✗", Side::JustAfter),
    ("✘", Side::JustAfter),
    ("forget it", Side::After),
    ("forget that", Side::After),
    ("not executing", Side::After),
    ("not running", Side::After),
    ("skip", Side::Label),
    ("undo", Side::Label),
    // Questions and reports.
    ("should i", Side::Introducing),
    ("shall i", Side::Introducing),
    ("may i", Side::Introducing),
    ("could i", Side::Introducing),
    ("?", Side::JustAfter),
    ("previous call", Side::Introducing),
    ("previously", Side::Label),
    ("old call", Side::Introducing),
    ("old", Side::Label),
    ("before", Side::Label),
    ("right?", Side::JustAfter),
    ("correct?", Side::JustAfter),
    ("not possible", Side::After),
    ("was the old", Side::After),
    ("i tried", Side::JustBefore),
    ("was called with", Side::Introducing),
    ("was sent", Side::Introducing),
    ("user sent", Side::Introducing),
    ("returned", Side::Introducing),
    ("rejected", Side::Introducing),
    ("deprecated", Side::Introducing),
    ("refused", Side::Introducing),
    ("denied", Side::Introducing),
    ("blocked", Side::Introducing),
    ("decided against", Side::Both),
    // The same in other languages.
    ("nicht", Side::Introducing),
    ("je ne", Side::Introducing),
    ("ne pas", Side::Introducing),
    ("no puedo", Side::Introducing),
    ("no voy a", Side::Introducing),
    ("no debo", Side::Introducing),
    ("non posso", Side::Introducing),
    ("não", Side::Introducing),
    ("не буду", Side::Introducing),
    ("не могу", Side::Introducing),
    ("не надо", Side::Introducing),
    ("不会", Side::Introducing),
    ("不要", Side::Introducing),
    ("不能", Side::Introducing),
    ("不应", Side::Introducing),
    ("无法", Side::Introducing),
    ("しません", Side::Both),
    ("できません", Side::Both),
    ("않", Side::Both),
    ("cancelled", Side::Introducing),
    ("canceled", Side::Introducing),
    ("error", Side::Label),
    ("draft", Side::Label),
    ("placeholder", Side::Label),
    ("template", Side::Label),
    ("schema", Side::Label),
    ("not this", Side::Label),
    ("bad", Side::Label),
    ("❌", Side::JustBefore),
    ("✗", Side::JustBefore),
    ("✘", Side::JustBefore),
    ("last call", Side::Introducing),
    ("earlier call", Side::Introducing),
    ("would", Side::Introducing),
    ("wrong", Side::Introducing),
    ("incorrect", Side::Introducing),
    ("invalid", Side::Introducing),
    ("failed", Side::Introducing),
    ("it failed", Side::After),
    ("<tool_response>", Side::Both),
    ("<tool_result>", Side::Both),
    ("<tool_results>", Side::Both),
    ("<function_response>", Side::Both),
    ("<function_result>", Side::Both),
    ("<function_results>", Side::Both),
    ("<observation>", Side::Both),
    // The reasoning was not closed before the value.
    ("<think>", Side::Before),
    ("<thinking>", Side::Before),
    ("<reasoning>", Side::Before),
    ("<thought>", Side::Before),
    // Labels that say that the value is not to be used.
    // Case: syntax/label-in-another-language
    ("aborted", Side::Label),
    ("disabled", Side::Label),
    ("ignore", Side::Label),
    ("unsafe", Side::Label),
    ("todo", Side::Label),
    ("mock", Side::Label),
    ("was", Side::Label),
    ("diff", Side::Label),
    ("rollback", Side::Label),
    ("dry run", Side::Label),
    ("expected", Side::Label),
    ("no", Side::Label),
    ("nein", Side::Label),
    ("non", Side::Label),
    ("нет", Side::Label),
    ("falsch", Side::Label),
    ("faux", Side::Label),
    ("неправильно", Side::Label),
    ("неверно", Side::Label),
    ("beispiel", Side::Label),
    ("zum beispiel", Side::Introducing),
    ("par exemple", Side::Introducing),
    ("por ejemplo", Side::Introducing),
    ("por exemplo", Side::Introducing),
    ("per esempio", Side::Introducing),
    ("например", Side::Introducing),
    ("z.b.", Side::JustBefore),
    ("exemple", Side::Label),
    ("ejemplo", Side::Label),
    ("exemplo", Side::Label),
    ("esempio", Side::Label),
    ("пример", Side::Label),
    ("例", Side::Label),
    ("例如", Side::Introducing),
    ("示例", Side::Introducing),
    ("错误", Side::Introducing),
    ("誤り", Side::Introducing),
    ("[draft]", Side::JustBefore),
    ("(draft)", Side::JustBefore),
    ("[dry run]", Side::JustBefore),
    ("(dry run)", Side::JustBefore),
    ("[skipped]", Side::JustBefore),
    ("[aborted]", Side::JustBefore),
    ("unless", Side::Introducing),
    ("false &&", Side::Introducing),
    ("if (false)", Side::Introducing),
    ("🚫", Side::JustBefore),
    ("🚫", Side::JustAfter),
    ("no ejecutar", Side::Both),
    ("no ejecutes", Side::Both),
    ("non eseguire", Side::Both),
    ("ne pas", Side::After),
    ("не выполнять", Side::Both),
    ("не выполняй", Side::Both),
    ("не запускать", Side::Both),
    ("しないで", Side::Both),
    ("不要执行", Side::Both),
    ("nicht ausführen", Side::Both),
    ("ist falsch", Side::After),
    ("c'est faux", Side::After),
    ("está mal", Side::After),
    ("это неверно", Side::After),
    ("这是错的", Side::After),
    ("错了", Side::After),
    ("間違", Side::After),
    ("違う", Side::After),
    // Corrections.
    ("wait:", Side::After),
    ("wait,", Side::After),
    ("wait.", Side::After),
    ("wait!", Side::After),
    ("wait -", Side::After),
    ("wait —", Side::After),
    ("wait…", Side::After),
    ("wait no", Side::After),
    ("oops", Side::After),
    ("actually,", Side::After),
    ("correction", Side::After),
    ("corrected", Side::After),
    ("scratch that", Side::After),
    ("never mind", Side::After),
    ("nevermind", Side::After),
    ("on second thought", Side::After),
    ("ignore that", Side::After),
    ("ignore the above", Side::After),
    ("disregard", Side::After),
    ("is wrong", Side::After),
    ("was wrong", Side::After),
    ("is incorrect", Side::After),
    ("was incorrect", Side::After),
    ("is not correct", Side::After),
    ("is not right", Side::After),
    ("isn't right", Side::After),
    ("was a mistake", Side::After),
    ("is a mistake", Side::After),
    ("my mistake", Side::After),
    ("hold on", Side::After),
    ("changed my mind", Side::After),
    ("strike that", Side::After),
    ("please ignore", Side::After),
    ("is not what", Side::After),
    ("hmm, no", Side::After),
];

/// More text than this on either side of a value is a document, and only what is next to the value is searched.
const NEARBY: usize = 400;

/// Whether the value is quoted inside other text, as in `curl -d '{…}' http://…`: it is an argument there, not the call.
// Case: syntax/json-inside-a-command
pub(super) fn is_quoted_in_text(text: &str, value: &Range<usize>) -> bool {
    let (before, after) = (&text[..value.start], &text[value.end..]);
    ['\'', '"'].into_iter().any(|quote| {
        let Some(lead) = before.strip_suffix(quote) else { return false };
        let lead = lead.trim_end_matches([' ', '\t']);
        after.starts_with(quote)
            && lead.ends_with(|ch: char| ch.is_alphanumeric() || matches!(ch, '-' | '>' | '|' | '<'))
    })
}

/// Whether the only value is an empty list among words: `the tags are []`. The words would be lost.
// Case: syntax/empty-list-in-words
pub(super) fn is_list_in_words(text: &str, values: &[Range<usize>]) -> bool {
    let [only] = values else { return false };
    let is_list = text[only.clone()].starts_with('[') && text[only.start + 1..only.end].trim_start() == "]";
    is_list && text[..only.start].contains(char::is_alphabetic)
}

/// Whether the only value is a short list in a line of words: `see [1] for details`, `- [ ] buy it`. Words that announce a list end in
/// a mark.
// Case: syntax/footnote-in-words
pub(super) fn is_footnote(text: &str, values: &[Range<usize>]) -> bool {
    const LONGEST: usize = 5;
    let [only] = values else { return false };
    let before = text[..only.start].rsplit('\n').next().unwrap_or_default().trim_end();
    let after = text[only.end..].split('\n').next().unwrap_or_default();
    let is_word = |part: &str| part.ends_with(|ch: char| ch.is_alphanumeric() || ch == '(');
    text[only.clone()].starts_with('[')
        && only.len() <= LONGEST
        && (is_word(before) || matches!(before, "-" | "*") && after.contains(char::is_alphabetic))
}

/// Whether the only value is an empty object in a line of words: `find . -exec rm {} +`. Words that announce it end in a colon,
/// and the name of a tool may come before it.
// Case: syntax/empty-object-in-words
pub(super) fn is_empty_object_in_words(text: &str, values: &[Range<usize>]) -> bool {
    let [only] = values else { return false };
    let is_empty = text[only.clone()].strip_prefix('{').is_some_and(|rest| rest.trim() == "}");
    let line = text[..only.start].rsplit('\n').next().unwrap_or_default().trim_end();
    is_empty && line.split_whitespace().count() > 1 && !line.ends_with([':', '=', '>', '`', '('])
}

/// Whether a sign is directly before the value: `-{…}` and `!{…}` are no objects.
// Case: syntax/sign-before-an-object
pub(super) fn has_sign(text: &str, value: &Range<usize>) -> bool {
    let before = &text[..value.start];
    let sign = before.strip_suffix(['-', '!', '~', '@', '%']);
    sign.is_some_and(|rest| {
        rest.is_empty() || rest.ends_with(|ch: char| ch.is_whitespace() || "([,:=".contains(ch))
    })
}

/// The cue in the words around the values that takes one of them back. The values are in order and apart.
pub(super) fn find_cue(text: &str, values: &[Range<usize>]) -> Option<&'static str> {
    let first = values.first()?;
    let lead = after_thoughts(&text[..first.start]);
    let mut found = search(last_part(lead, NEARBY), Side::Before);
    for (index, value) in values.iter().enumerate() {
        let end = values.get(index + 1).map_or(text.len(), |next| next.start);
        found = found.or_else(|| search(first_part(text.get(value.end..end)?, NEARBY), Side::After));
    }
    found
}

/// What follows the thoughts that a model marked as such. They may weigh anything.
fn after_thoughts(text: &str) -> &str {
    ["</think>", "</thinking>", "</reasoning>", "</thought>"]
        .iter()
        .filter_map(|tag| text.rfind(tag).map(|at| at + tag.len()))
        .max()
        .map_or(text, |at| &text[at..])
}

fn search(text: &str, side: Side) -> Option<&'static str> {
    if !text.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'?' || byte >= 0x80) {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    // What is between a value and the words that are next to it: `Wrong: {…}`, `{…} <- wrong`, `{…} // no`.
    let is_punctuation = |ch: char| {
        ch.is_whitespace() || ch == '…' || "—–←→".contains(ch) || ":<>=-.,/#`\"'([*_~".contains(ch)
    };
    let pairs = LetterPairs::of(lower.as_bytes());
    let clause = OnceCell::new();
    let clause = || *clause.get_or_init(|| introducing_clause(&lower));
    let nearest_before = lower.trim_end_matches(is_punctuation);
    let nearest_after = lower.trim_start_matches(is_punctuation);
    let last_words = lower.trim_end_matches(|ch: char| !ch.is_alphanumeric());
    let applies = |&(cue, own): &(&str, Side)| match own {
        Side::JustBefore => side == Side::Before && ends_with_word(nearest_before, lower.trim_end(), cue),
        Side::JustAfter => side == Side::After && starts_with_word(nearest_after, lower.trim_start(), cue),
        Side::Introducing => side == Side::Before && holds_word(&lower[clause()..], cue),
        Side::Label => {
            let label = &lower[clause()..];
            side == Side::Before && label.trim_matches(|ch: char| !ch.is_alphanumeric()) == cue
        }
        Side::Last => side == Side::After && ends_with_word(last_words, last_words, cue),
        _ if own != Side::Both && own != side => false,
        _ => holds_word(&lower, cue),
    };
    let rows = CUES.iter().zip(&CUE_PAIRS).filter(|(_, wanted)| pairs.include(**wanted));
    rows.map(|(row, _)| row).find(|row| applies(row)).map(|row| row.0)
}

/// Which pairs of neighbouring bytes a text has, one bit for several pairs each. A cue whose pairs are not all there is not
/// there either, so most cues need no search.
#[derive(Clone, Copy)]
struct LetterPairs([u64; 4]);

impl LetterPairs {
    const fn of(text: &[u8]) -> Self {
        let mut bits = [0; 4];
        let mut at = 1;
        while at < text.len() {
            // The low bits tell letters apart.
            let pair = ((text[at - 1] & 31) as usize * 37 + (text[at] & 31) as usize * 7) % 256;
            bits[pair / 64] |= 1 << (pair % 64);
            at += 1;
        }
        LetterPairs(bits)
    }

    fn include(self, other: LetterPairs) -> bool {
        self.0.iter().zip(other.0).all(|(own, wanted)| wanted & !own == 0)
    }
}

/// The pairs of each cue.
static CUE_PAIRS: [LetterPairs; CUES.len()] = {
    let mut all = [LetterPairs([0; 4]); CUES.len()];
    let mut index = 0;
    while index < CUES.len() {
        all[index] = LetterPairs::of(CUES[index].0.as_bytes());
        index += 1;
    }
    all
};

/// Whether one of these texts, with and without the punctuation at its end, ends with these words.
fn ends_with_word(text: &str, punctuated: &str, words: &str) -> bool {
    [text, punctuated].iter().any(|text| {
        text.len()
            .checked_sub(words.len())
            .is_some_and(|at| text.ends_with(words) && is_word_at(text, at, words))
    })
}

/// Whether one of these texts, with and without the punctuation at its start, starts with these words.
fn starts_with_word(text: &str, punctuated: &str, words: &str) -> bool {
    [text, punctuated].iter().any(|text| text.starts_with(words) && is_word_at(text, 0, words))
}

/// Whether the text holds these words.
fn holds_word(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| is_word_at(text, at, words))
}

/// Whether the words at this position are not a part of longer ones.
fn is_word_at(text: &str, at: usize, words: &str) -> bool {
    // Chinese, Japanese and Korean have no blanks between words.
    let is_word = |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric() && ch < '\u{2e80}');
    let begins = !is_word(words.chars().next()) || !is_word(text[..at].chars().next_back());
    let ends = !is_word(words.chars().next_back()) || !is_word(text[at + words.len()..].chars().next());
    begins && ends
}

/// Where the last clause before a value begins: after a comma, a full stop or a line break.
fn introducing_clause(lead: &str) -> usize {
    let clause = lead.trim_end_matches(|ch: char| ch.is_whitespace() || matches!(ch, ':' | '`' | '"' | '\''));
    // The label of a fence is no clause.
    let clause = clause.strip_suffix("```json").unwrap_or(clause).trim_end_matches(['`', ':', '\n', ' ']);
    clause.rfind([',', '.', ';', '!', '?', '\n']).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(text: &str) -> Option<&'static str> {
        let start = text.find('{').unwrap();
        let end = text.rfind('}').unwrap() + 1;
        find_cue(text, std::slice::from_ref(&(start..end)))
    }

    #[test]
    fn values_that_are_taken_back() {
        for text in [
            "For example {}. But I cannot do that.",
            "{} is what I must NOT send.",
            "I would send {} to it",
            "{}\nWait, that is wrong.",
            "{} — oops",
            "Do not call it with {}",
            "{}\nI’m unable to run this.",
            "Bad example: {}",
            "NOT this: {}",
            "❌ {}",
            "Old call: {}",
            "The tool returned: {}",
            "If I called it with {}",
            "{} <- wrong",
            "{} ❌",
            "{} // do not use",
            "{} — cancel",
            "{} [REJECTED]",
            "{} but not now",
            "{} -> error: not found",
            "{} I changed my mind.",
            "Refused: {}",
            "我不会执行 {}",
            "Ich werde das nicht ausführen: {}",
            "Не буду запускать {}",
        ] {
            assert!(cue(text).is_some(), "{text}");
        }
    }

    #[test]
    fn values_that_are_meant() {
        for text in [
            "Here is the call: {}",
            "I can't see the file, so let me read it:\n{}",
            "Sorry for the delay! {}",
            "{}\nLet me know if it's right!",
            "{}\nThis call doesn't need confirmation.",
            "<think>I should not, wait.</think>{}",
            "{} awaiting the result",
            "Here you go. I tried my best: {}",
            "Let me fix the error: {}",
            "{} No other arguments are needed.",
            "Output: {}",
            "{} // the old notes",
            "Nothing changed. Reading it again: {}",
        ] {
            assert_eq!(cue(text), None, "{text}");
        }
    }
}
