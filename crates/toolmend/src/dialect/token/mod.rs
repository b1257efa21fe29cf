//! The markup around values: which tokens and tags there are, and what each of them means.
//!
//! Detokenisers write special tokens with bars of either width, and with `▁`, `_` or a blank between their words. The
//! table has one spelling for all of them. This module reads one piece of markup; it never looks at what comes after
//! it, except for the JSON after a frame that lost its `>`.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use self::table::WORDS;
pub(crate) use self::table::{Header, NextPart, Role, TOKENS, TextKind, Word};
use super::custom::CustomTable;
use super::input::Step;
use super::tag::{self, MAX_WORD, Tag};

/// The meaning of a word, if it is in the table.
pub(crate) fn word(word: &str) -> Option<Word> {
    let mut folded = [0u8; 24];
    let mut length = 0;
    for byte in word.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        *folded.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = &folded[..length];
    let same = |known: &str| known.as_bytes().first() == folded.first() && known.as_bytes() == folded;
    let mut alike = BY_LENGTH.get(length).into_iter().flatten();
    let known = alike.find(|(known, _)| same(known)).map(|&(_, meaning)| meaning);
    known.or_else(|| is_slip(folded, b"parameter").then_some(Word::Parameter))
}

/// The words of the table by their length: every `<` of a text asks for one.
static BY_LENGTH: LazyLock<Vec<Vec<(&'static str, Word)>>> = LazyLock::new(|| {
    let mut index = Vec::new();
    for &(word, meaning) in WORDS {
        if index.len() <= word.len() {
            index.resize(word.len() + 1, Vec::new());
        }
        index[word.len()].push((word, meaning));
    }
    index
});

/// Whether a word is in the table, letter by letter.
pub(crate) fn is_spelt(word: &str) -> bool {
    let same = |known: &str| {
        let letters = word.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        letters.map(|byte| byte.to_ascii_lowercase()).eq(known.bytes())
    };
    WORDS.iter().any(|(known, _)| same(known))
}

/// Whether the words differ by one letter that is added, missing, wrong or swapped with its neighbour. Small models
/// misspell the long word of the tags, and no other word comes near it.
// Case: dialects/hostile/misspelt-parameter-tag
pub(crate) fn is_slip(found: &[u8], meant: &[u8]) -> bool {
    let before = found.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (found, meant) = (&found[before..], &meant[before..]);
    let after = found.iter().rev().zip(meant.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&found[..found.len() - after], &meant[..meant.len() - after]) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Markup at one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Markup<'t> {
    Token { role: Role, len: usize, spelling: &'static str },
    Tag(Tag<'t>, Word),
}

impl Markup<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Markup::Token { len, .. } => *len,
            Markup::Tag(tag, _) => tag.len,
        }
    }

    /// Whether this ends a call, or the frame around calls.
    pub(crate) fn closes(&self) -> bool {
        match self {
            Markup::Token { role, .. } => {
                matches!(role, Role::Close | Role::MessageEnd | Role::Stop | Role::Turn)
            }
            Markup::Tag(tag, word) => {
                tag.close && matches!(word, Word::Frame | Word::Call | Word::Declarations)
            }
        }
    }

    /// Whether this ends a call or the frame around calls, and nothing else.
    pub(crate) fn closes_calls(&self) -> bool {
        match self {
            Markup::Token { role, .. } => *role == Role::Close,
            Markup::Tag(..) => self.closes(),
        }
    }

    /// Whether this closes a part of a call: its name, its arguments, or one of them.
    pub(crate) fn closes_part(&self) -> bool {
        let is_part =
            |word: &Word| matches!(word, Word::Name | Word::Arguments | Word::Parameter | Word::Value);
        matches!(self, Markup::Tag(tag, word) if tag.close && is_part(word))
    }

    /// Whether this means nothing.
    pub(crate) fn is_noise(&self) -> bool {
        matches!(self, Markup::Token { role: Role::Noise | Role::Tail, .. })
    }

    /// Whether the turn of another speaker begins here.
    pub(crate) fn begins_turn(&self) -> bool {
        matches!(self, Markup::Token { role: Role::Turn, .. })
    }

    /// Whether this begins the header of a message.
    pub(crate) fn begins_message(&self) -> bool {
        matches!(self, Markup::Token { role: Role::Header(_), .. })
    }

    /// Whether this separates messages without naming their recipient, so that a call may begin after it.
    pub(crate) fn separates_messages(&self) -> bool {
        matches!(self, Markup::Token { spelling: "<|message_sep|>", .. })
    }

    /// Whether this begins a call, or a frame around calls.
    pub(crate) fn opens(&self) -> bool {
        match self {
            Markup::Token { role, .. } => matches!(role, Role::Open(_)),
            Markup::Tag(tag, word) => !tag.close && matches!(word, Word::Frame | Word::Call),
        }
    }
}

/// The namespace token that one family writes before every tag.
pub(crate) const MINIMAX: &str = "]<]minimax[>[";

/// Tokens that begin alike.
type Group = Vec<(&'static str, Role)>;

/// The tokens by their second byte. The first two bytes decide most of what looks like markup in text.
static BY_SECOND: LazyLock<Vec<Group>> = LazyLock::new(|| index_tokens(|_| true));

/// The tokens whose third character is a letter or a digit, by the second byte and that character. Half of all tokens begin
/// with the same two.
static BY_THIRD: LazyLock<HashMap<(u8, u8), Group>> = LazyLock::new(|| {
    let mut index: HashMap<_, Group> = HashMap::new();
    for (second, group) in (0..=u8::MAX).zip(BY_SECOND.iter()) {
        for &(spelling, role) in group {
            if let Some(third) = letter_at_third(spelling) {
                index.entry((second, third)).or_default().push((spelling, role));
            }
        }
    }
    index
});

/// The other tokens, by their second byte.
static WITHOUT_THIRD: LazyLock<Vec<Group>> =
    LazyLock::new(|| index_tokens(|spelling| letter_at_third(spelling).is_none()));

fn index_tokens(wanted: impl Fn(&str) -> bool) -> Vec<Group> {
    let mut index = vec![Group::new(); 256];
    for &(spelling, role) in TOKENS.iter().filter(|(spelling, _)| wanted(spelling)) {
        if let &[_, second, ..] = spelling.as_bytes() {
            index[usize::from(second)].push((spelling, role));
            // A bar has two widths.
            if second == b'|' {
                index[usize::from("｜".as_bytes()[0])].push((spelling, role));
            }
        }
    }
    index
}

fn letter_at_third(spelling: &str) -> Option<u8> {
    spelling.as_bytes().get(2).copied().filter(u8::is_ascii_alphanumeric)
}

/// Whether the first two bytes show that this is text.
pub(crate) fn is_text(text: &str, custom: &CustomTable) -> bool {
    let group = candidates(text.as_bytes());
    text.len() > 1
        && !custom
            .tokens
            .iter()
            .chain(group)
            .any(|(spelling, _)| spelling.as_bytes()[0] == text.as_bytes()[0])
        && match text.as_bytes()[0] {
            b'<' => hopeless(text, custom),
            b']' => text.as_bytes()[1] != b'<',
            _ => true,
        }
}

/// The tokens that a text can begin with, judged by two bytes.
fn candidates(text: &[u8]) -> &'static [(&'static str, Role)] {
    match text {
        [] => &[],
        // Any token with this first byte can follow.
        [_] => TOKENS,
        [_, second, ..] => &BY_SECOND[usize::from(*second)],
    }
}

/// The tokens that a text can begin with, judged by three characters.
fn near_candidates(text: &[u8]) -> impl Iterator<Item = (&'static str, Role)> + use<> {
    let (alike, others): (&[_], &[_]) = match (text.get(1), third_byte(text)) {
        (Some(&second), Some(third)) => (
            BY_THIRD.get(&(second, third)).map_or(&[], Vec::as_slice),
            WITHOUT_THIRD[usize::from(second)].as_slice(),
        ),
        _ => (candidates(text), &[]),
    };
    alike.iter().chain(others).copied()
}

/// The first byte of the third character, after a bar of either width.
fn third_byte(text: &[u8]) -> Option<u8> {
    let second = text.get(1)?;
    text.get(if second.is_ascii() { 2 } else { 1 + '｜'.len_utf8() }).copied()
}

/// Reads the markup at the start of `text`.
pub(crate) fn read<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    let mut best: Option<(usize, Role, &'static str)> = None;
    let mut more = false;
    let first = text.as_bytes().first().copied();
    if !matches!(first, Some(b'<' | b'[' | b'f' | b']' | 0xE2)) {
        return Step::No;
    }
    // Each of these bytes can begin markup.
    if text.len() == 1 && !done {
        return Step::More;
    }
    for (spelling, role) in custom.tokens.iter().copied().chain(near_candidates(text.as_bytes())) {
        if spelling.as_bytes().first().copied() != first {
            continue;
        }
        match matches(spelling, text) {
            Matched::Whole(len) if best.is_none_or(|(longest, ..)| len > longest) => {
                best = Some((len, role, spelling));
            }
            Matched::Half if !done => more = true,
            _ => {}
        }
    }
    if more {
        return Step::More;
    }
    if let Some((len, role, spelling)) = best {
        return Step::Got(match role {
            Role::OpenTag(word) => Markup::Tag(Tag::plain(spelling, false, len), word),
            Role::CloseTag(word) => Markup::Tag(Tag::plain(spelling, true, len), word),
            role => Markup::Token { role, len, spelling },
        });
    }
    if let Some(tag_at) = behind_namespace(text) {
        let rest = &text[tag_at..];
        // A tag may still follow the white space.
        // Case: dialects/minimax_m3/namespace-and-line-break
        if !done && rest.trim_start().is_empty() {
            return Step::More;
        }
        return match (rest.starts_with('<'), tag_at) {
            (true, _) => tag_at_start(rest, done, custom).with_offset(tag_at),
            (false, _) => Step::Got(Markup::Token { role: Role::Noise, len: tag_at, spelling: MINIMAX }),
        };
    }
    match first {
        Some(b']') if !done && MINIMAX.starts_with(text) => Step::More,
        Some(b'<') => tag_at_start(text, done, custom),
        _ => Step::No,
    }
}

/// Whether the text stops inside a marker, and enough of the marker is there to be sure.
// Case: dialects/hostile/answer-half-marker
pub(crate) fn is_half(text: &str, custom: &CustomTable) -> bool {
    const ENOUGH: usize = 6;
    // What goes on for longer without a blank is no marker. Every opening bracket of a text is asked about.
    const AT_MOST: usize = 512;
    (ENOUGH..=AT_MOST).contains(&text.len())
        && text.starts_with(['<', '[', ']'])
        && !text.contains(char::is_whitespace)
        && read(text, false, custom) == Step::More
}

/// Whether the text stops inside a marker that closes something. Any other half of a marker begins something that is not
/// there.
pub(crate) fn is_half_closer(text: &str, custom: &CustomTable) -> bool {
    let rest = text.strip_prefix(MINIMAX).unwrap_or(text);
    let closes = |role: &Role| {
        matches!(
            role,
            Role::Close
                | Role::MessageEnd
                | Role::Stop
                | Role::Turn
                | Role::CloseTag(_)
                | Role::Noise
                | Role::Tail
        )
    };
    let is_half = |spelling: &str| matches!(matches(spelling, rest), Matched::Half);
    let tag = rest.strip_prefix('<').unwrap_or(rest).trim_start_matches(tag::is_bar);
    rest.starts_with("</")
        || tag.split_once(tag::is_bar).is_some_and(|(_, word)| word.starts_with('/'))
        || tag.starts_with("end_of_")
        || custom.tokens.iter().chain(TOKENS).any(|(spelling, role)| closes(role) && is_half(spelling))
}

/// The position after the namespace token and the white space after it.
fn behind_namespace(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(MINIMAX)?;
    let trimmed = rest.trim_start();
    Some(text.len() - if trimmed.starts_with('<') { trimmed.len() } else { rest.len() })
}

fn tag_at_start<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    // A word that has ended and means nothing will not mean something later.
    if hopeless(text, custom) {
        return Step::No;
    }
    match unended(text, done, custom) {
        Step::No => {}
        other => return other,
    }
    match tag::read(text, done, custom) {
        Step::Got(tag) => match custom.meaning_of(&tag) {
            Some(word) => Step::Got(Markup::Tag(tag, word)),
            None => Step::No,
        },
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// Reads the tag at the start of `text`, whatever its word means, or a token in the position of a tag. With it comes
/// the meaning of its word.
pub(crate) fn read_tag<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<(Tag<'t>, Option<Word>)> {
    let second = text.as_bytes().get(1);
    // Half a token is half a tag for every reader, so only whole ones are looked for.
    if second.is_none_or(|second| !second.is_ascii_alphanumeric() && *second != b'/') || custom.has_tag_tokens
    {
        match read(text, done, custom) {
            Step::Got(Markup::Tag(tag, word)) => return Step::Got((tag, Some(word))),
            Step::Got(Markup::Token { .. }) => return Step::No,
            Step::More => return Step::More,
            Step::No => {}
        }
    }
    tag::read(text, done, custom).map(|tag| {
        let meaning = custom.meaning_of(&tag);
        (tag, meaning)
    })
}

/// Reads a frame that lost its `>`: JSON follows, directly or after the end of the line.
// Case: dialects/hermes_json/opener-without-end
// Case: dialects/hermes_json/opener-cut-before-json
fn unended<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    let length = text[1..]
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    let after = text[1 + length..].trim_start_matches([' ', '\t', '\r']);
    // Short words are also those of other markup.
    let is_direct = length > 4 && after.len() == text.len() - 1 - length && after.starts_with(['{', '[']);
    if !(is_direct || after.starts_with('\n')) || custom.meaning(&text[1..=length]) != Some(Word::Frame) {
        return Step::No;
    }
    match after.trim_start().bytes().next() {
        None if !done => Step::More,
        Some(b'{' | b'[') => {
            let len = text.len() - after.len();
            Step::Got(Markup::Tag(Tag::unended(&text[1..=length], len), Word::Frame))
        }
        _ => Step::No,
    }
}

/// Whether the tag's word is complete and not in the table.
fn hopeless(text: &str, custom: &CustomTable) -> bool {
    whole_word(text, custom) == Step::No
}

/// Whether the word of the tag at the start of `text` is complete and has another meaning. It is a quick answer for texts
/// that are full of tags.
pub(crate) fn means_something_else(text: &str, wanted: Word, custom: &CustomTable) -> bool {
    let second = text.as_bytes().get(1);
    let may_be_plain = second.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'/');
    !custom.has_tag_tokens
        && may_be_plain
        && match whole_word(text, custom) {
            Step::Got(meaning) => meaning != wanted,
            Step::No => true,
            Step::More => false,
        }
}

/// The meaning of the tag's word. The word alone does not decide if it is not complete or has a namespace.
fn whole_word(text: &str, custom: &CustomTable) -> Step<Word> {
    let inner = text[1..].trim_start_matches(['/', ' ', '\t']);
    let length =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    if length > MAX_WORD {
        return Step::No;
    }
    match inner.as_bytes().get(length) {
        None | Some(b':' | b'|') => Step::More,
        Some(byte) if !byte.is_ascii() || length == 0 => Step::More,
        Some(_) => {
            let word = tag::closing_word(&inner[..length]).unwrap_or(&inner[..length]);
            match custom.meaning(word) {
                _ if starts_with_space(inner, custom) => Step::More,
                Some(meaning) => Step::Got(meaning),
                None => Step::No,
            }
        }
    }
}

/// Whether the text begins with a namespace.
fn starts_with_space(inner: &str, custom: &CustomTable) -> bool {
    inner.starts_with(tag::is_bar)
        || tag::NAMESPACES.iter().chain(custom.namespaces()).any(|space| inner.starts_with(space))
}

impl Step<Markup<'_>> {
    fn with_offset(self, offset: usize) -> Self {
        match self {
            Step::Got(Markup::Tag(tag, word)) => {
                Step::Got(Markup::Tag(Tag { len: tag.len + offset, ..tag }, word))
            }
            other => other,
        }
    }
}

/// How far a text agrees with a spelling.
enum Matched {
    Whole(usize),
    Half,
    No,
}

fn matches(spelling: &str, text: &str) -> Matched {
    let mut rest = text;
    for ch in spelling.chars() {
        let Some(found) = rest.chars().next() else { return Matched::Half };
        let same = match ch {
            '|' => matches!(found, '|' | '｜'),
            '_' => matches!(found, '_' | '▁' | ' '),
            ch => ch == found,
        };
        if same {
            rest = &rest[found.len_utf8()..];
        } else if ch == '_' && rest.starts_with("\\_") {
            rest = &rest[2..];
        } else if ch == '_' && rest == "\\" {
            return Matched::Half;
        } else {
            return Matched::No;
        }
    }
    Matched::Whole(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(text: &str) -> Option<Role> {
        match read(text, true, CustomTable::empty()) {
            Step::Got(Markup::Token { role, .. }) => Some(role),
            _ => None,
        }
    }

    #[test]
    fn bars_and_blanks_are_alike() {
        for text in [
            "<｜tool▁calls▁begin｜>",
            "<|tool_calls_begin|>",
            "<｜tool calls begin｜>",
            "<|tool\\_calls\\_begin|>",
        ] {
            assert_eq!(role(text), Some(Role::Open(NextPart::Body)), "{text}");
        }
        assert_eq!(role("<|tool_call>call:f{}"), Some(Role::Open(NextPart::Body)));
        assert_eq!(role("<|channel|>x"), Some(Role::Header(Header::Channel)));
        assert_eq!(role("<|channel>x"), Some(Role::Header(Header::Label)));
        assert_eq!(role("<|chan|>"), None);
    }

    #[test]
    fn a_token_that_could_be_longer_waits() {
        for text in
            ["<|tool_call", "<|tool_call|", "[TOOL_CALLS", "]<]mini", "<｜tool▁c", "✿FUNCTION✿", "functo"]
        {
            assert_eq!(read(text, false, CustomTable::empty()), Step::More, "{text}");
        }
        for text in ["<b>", "<html lang=\"", "<br", "fun", "[1, 2"] {
            assert!(!matches!(read(text, false, CustomTable::empty()), Step::Got(_)), "{text}");
        }
    }

    #[test]
    fn words_are_known_by_their_letters() {
        assert_eq!(word("tool_call"), Some(Word::Frame));
        assert_eq!(word("toolCall"), Some(Word::Frame));
        assert_eq!(word("TOOLCALL"), Some(Word::Frame));
        assert_eq!(word("toolbox"), None);
    }
}
