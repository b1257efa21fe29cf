//! The markup that stands outside values: one table of tokens, and what each of them means.
//!
//! Special tokens come through detokenisers with bars of either width, and with `▁`, `_` or a blank between their words;
//! the table has one spelling for all of them.

use std::sync::LazyLock;

use super::custom::CustomTable;
use super::input::Step;
use super::tag::{self, MAX_WORD, Tag};

/// What the text after a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextPart {
    /// Whatever it looks like.
    Body,
    /// The name of a tool.
    Name,
    /// The id of the call.
    Id,
    /// The arguments.
    Arguments,
}

/// The sections of an output that are not calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Content,
    Reasoning,
}

/// What a token means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A place for calls begins.
    Open(NextPart),
    /// The same, where ordinary text could look like it: what follows has to be a call.
    Maybe(NextPart),
    /// Separates the parts of one call.
    Part(NextPart),
    /// A call, or the place for calls, ends.
    Close,
    /// A section of the output begins.
    Begin(TextKind),
    /// A section of the output ends, and content goes on.
    End,
    /// The header of a message begins.
    Header(Header),
    /// The text of a message begins.
    Message,
    /// The message ends.
    MessageEnd,
    /// A tool's answer begins, which only a tool can give.
    Result,
    /// Means nothing.
    Noise,
    /// Means nothing, in the middle of a text that goes on after it.
    Hidden,
    /// Means nothing at the end of the output, and is text elsewhere.
    Tail,
    /// Ends the output, so nothing of the markup counts after it.
    Stop,
}

/// The ways to write the header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// `<|start|>assistant to=f<|channel|>commentary json<|message|>`
    Channel,
    /// `<|open|>call tool="f"<|sep|>`
    Element,
    /// `<|from|>assistant\n<|recipient|>f\n<|content|>`
    Recipient,
    /// `<|message_model|>f<|content_invoke_tool_json|>`
    Author,
    /// `<|channel>thought\n`
    Label,
}

use Header::{Author, Channel, Element, Label, Recipient};
use NextPart::{Arguments, Body, Id, Name};
use Role::{
    Begin, Close, End, Header as Head, Hidden, Maybe, Message, MessageEnd, Noise, Open, Part,
    Result as Answer, Stop, Tail,
};
use TextKind::{Content, Reasoning};

/// Tokens that are spelt out. `|` stands for both bars, `_` for everything that detokenisers make of it.
pub(crate) const TOKENS: &[(&str, Role)] = &[
    // Places for calls.
    ("<|tool_call|>", Open(Body)),
    ("<|/tool_call|>", Close),
    ("<|tool_call>", Open(Body)),
    ("<tool_call|>", Close),
    ("<|tool_call_start|>", Open(Body)),
    ("<|tool_call_end|>", Close),
    ("<|tool_list_start|>", Open(Body)),
    ("<|tool_list_end|>", Close),
    ("<|tool_calls_section_begin|>", Open(Body)),
    ("<|tool_call_section_begin|>", Open(Body)),
    ("<|tool_calls_section_end|>", Close),
    ("<|tool_call_section_end|>", Close),
    ("<|tool_call_begin|>", Open(Name)),
    ("<|tool_call_argument_begin|>", Part(Arguments)),
    ("<|tool_calls_begin|>", Open(Body)),
    ("<|tool_calls|>", Open(Body)),
    ("<|tool_calls_end|>", Close),
    ("<|tool_sep|>", Part(Body)),
    ("<|calls|>", Close),
    ("<|tool_call:begin|>", Open(Id)),
    ("<|tool_call:name|>", Part(Name)),
    ("<|tool_call:args|>", Part(Arguments)),
    ("<|tool_call:end|>", Close),
    ("<start_function_call>", Open(Body)),
    ("<end_function_call>", Close),
    ("<|action_start|>", Open(Body)),
    ("<|action_end|>", Close),
    ("<|plugin|>", Noise),
    ("<|interpreter|>", Noise),
    ("<|tools_prefix|>", Open(Body)),
    ("<|tools_suffix|>", Close),
    ("<|START_ACTION|>", Open(Body)),
    ("<|END_ACTION|>", Close),
    ("<|function_call|>", Open(Body)),
    ("<|python_tag|>", Open(Body)),
    ("<|python_start|>", Open(Body)),
    ("<|python_end|>", Close),
    ("[TOOL_CALLS]", Open(Body)),
    ("[/TOOL_CALLS]", Close),
    ("[TOOL_CALLS", Maybe(Body)),
    ("[ARGS]", Part(Arguments)),
    ("[ARGS", Part(Arguments)),
    ("[CALL_ID]", Part(Id)),
    ("[TOOL_CALL]", Open(Body)),
    ("[/TOOL_CALL]", Close),
    ("[TOOL_REQUEST]", Open(Body)),
    ("[END_TOOL_REQUEST]", Close),
    ("<<<[TOOL_REQUEST]>>>", Open(Body)),
    ("<<<[END_TOOL_REQUEST]>>>", Close),
    ("functools[", Maybe(Body)),
    ("✿FUNCTION✿:", Open(Name)),
    ("✿FUNCTION✿", Open(Name)),
    ("✿ARGS✿:", Part(Arguments)),
    ("✿ARGS✿", Part(Arguments)),
    ("✿RESULT✿", Answer),
    ("✿RETURN✿", Answer),
    ("<<function>>", Open(Body)),
    ("<bot_end>", Stop),
    // Reasoning and the sections around it.
    ("<|START_THINKING|>", Begin(Reasoning)),
    ("<|END_THINKING|>", End),
    ("<|START_RESPONSE|>", Begin(Content)),
    ("<|END_RESPONSE|>", End),
    ("<|START_TEXT|>", Begin(Content)),
    ("<|END_TEXT|>", End),
    ("[THINK]", Begin(Reasoning)),
    ("[/THINK]", End),
    ("◁think▷", Begin(Reasoning)),
    ("◁/think▷", End),
    ("<|think|>", Begin(Reasoning)),
    ("<|inner_prefix|>", Begin(Reasoning)),
    ("<|inner_suffix|>", End),
    ("[BEGIN FINAL RESPONSE]", End),
    ("[END FINAL RESPONSE]", Noise),
    // Messages.
    ("<|start|>", Head(Channel)),
    ("<|channel|>", Head(Channel)),
    ("<|constrain|>", Noise),
    ("<|message|>", Message),
    ("<|call|>", MessageEnd),
    ("<|end|>", MessageEnd),
    ("<|return|>", MessageEnd),
    ("<|eom|>", MessageEnd),
    ("<|eot|>", MessageEnd),
    ("<|open|>", Head(Element)),
    ("<|close|>", Head(Element)),
    ("<|sep|>", Noise),
    ("<|end_of_msg|>", Stop),
    ("<|from|>", Head(Recipient)),
    ("<|recipient|>", Head(Recipient)),
    ("<|content|>", Message),
    ("<|stop|>", MessageEnd),
    ("<|message_model|>", Head(Author)),
    ("<|content_invoke_tool_json|>", Open(Body)),
    ("<|content_invoke_tool_text|>", Begin(Content)),
    ("<|content_tool_error|>", Begin(Content)),
    ("<|content_thinking|>", Begin(Reasoning)),
    ("<|content_text|>", Begin(Content)),
    ("<|end_message|>", MessageEnd),
    ("<|content_model_end_sampling|>", Stop),
    ("<|channel>", Head(Label)),
    ("<channel|>", End),
    ("<|message_sep|>", MessageEnd),
    ("<|role_sep|>", Noise),
    ("<|begin|>assistant", Noise),
    ("<|begin|>", Noise),
    // Answers that only tools give.
    ("<|tool_response|>", Answer),
    ("<|tool_response>", Answer),
    ("<|observation|>", Answer),
    ("<|tool_outputs_begin|>", Answer),
    ("<|tool_outputs_end|>", Noise),
    ("<|tool_output_begin|>", Hidden),
    ("<|tool_output_end|>", Hidden),
    ("<start_function_response>", Answer),
    ("[TOOL_RESULTS]", Answer),
    // Ends of turns.
    ("<|im_end|>", Noise),
    ("<|im_start|>", Noise),
    ("<|eot_id|>", Noise),
    ("<|eom_id|>", Noise),
    ("<|endoftext|>", Noise),
    ("<|end_of_text|>", Noise),
    ("<|end_of_sentence|>", Noise),
    ("<|end_of_turn|>", Noise),
    ("<|END_OF_TURN_TOKEN|>", Noise),
    ("<|START_OF_TURN_TOKEN|>", Noise),
    ("<|CHATBOT_TOKEN|>", Noise),
    ("<|begin_of_text|>", Noise),
    ("<|begin_of_sentence|>", Noise),
    ("<|im_sep|>", Noise),
    ("<|end_of_role|>", Noise),
    ("<|start_of_role|>assistant<|end_of_role|>", Noise),
    ("<end_of_turn>", Noise),
    ("<end_of_sentence>", Noise),
    ("<|hy_eos:opensource|>", Noise),
    ("<seed:eos>", Noise),
    ("[e~[", Noise),
    ("<SPECIAL_12>", Noise),
    ("<|start_header_id|>assistant<|end_header_id|>", Noise),
    ("<|start_header_id|>", Noise),
    ("<|end_header_id|>", Noise),
    ("<turn|>", Noise),
    ("<|turn>model", Noise),
    ("<EOS>", Tail),
    ("<eos>", Tail),
    ("<sep>", Tail),
    ("</s>", Tail),
    ("</assistant>", Tail),
    ("<|user|>", Stop),
    ("<|User|>", Stop),
    ("<|USER_TOKEN|>", Stop),
    ("<|assistant|>", Noise),
    ("<|Assistant|>", Noise),
];

/// What the word of a tag means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Holds calls, or one call.
    Frame,
    /// One call, with its name in the tag.
    Call,
    /// One argument, with its key in the tag.
    Parameter,
    /// The key of an argument.
    Key,
    /// The value of an argument.
    Value,
    /// The name of the tool.
    Name,
    /// All arguments.
    Arguments,
    /// Separates the name from the arguments.
    Separator,
    /// Reasoning.
    Think,
    /// A tool's answer.
    Result,
    /// The model's answer, in the families that frame it.
    Answer,
    /// An echo of the declared tools.
    Declarations,
}

/// Words of tags, in lower case and without `-` and `_`.
const WORDS: &[(&str, Word)] = &[
    ("toolcall", Word::Frame),
    ("toolcalls", Word::Frame),
    ("toolscall", Word::Frame),
    ("functioncall", Word::Frame),
    ("functioncalls", Word::Frame),
    ("functioninvocation", Word::Frame),
    ("toolrequest", Word::Frame),
    ("toolrequests", Word::Frame),
    ("tooluse", Word::Frame),
    ("toolaction", Word::Frame),
    ("tool", Word::Frame),
    ("calls", Word::Frame),
    ("function", Word::Call),
    ("invoke", Word::Call),
    ("rivoke", Word::Call),
    ("callrecord", Word::Call),
    ("parameter", Word::Parameter),
    ("param", Word::Parameter),
    ("argument", Word::Parameter),
    ("argkey", Word::Key),
    ("paramkey", Word::Key),
    ("argvalue", Word::Value),
    ("paramvalue", Word::Value),
    ("name", Word::Name),
    ("toolname", Word::Name),
    ("functionname", Word::Name),
    ("arguments", Word::Arguments),
    ("parameters", Word::Arguments),
    ("args", Word::Arguments),
    ("toolsep", Word::Separator),
    ("think", Word::Think),
    ("thinking", Word::Think),
    ("thought", Word::Think),
    ("reasoning", Word::Think),
    ("toolresponse", Word::Result),
    ("toolresult", Word::Result),
    ("tooloutput", Word::Result),
    ("functionresponse", Word::Result),
    ("functionresult", Word::Result),
    ("functionresults", Word::Result),
    ("tools", Word::Declarations),
    ("response", Word::Answer),
    ("answer", Word::Answer),
];

/// What a word means, where it means anything.
pub(crate) fn word(word: &str) -> Option<Word> {
    let mut folded = [0u8; 24];
    let mut length = 0;
    for byte in word.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        *folded.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = &folded[..length];
    let known = WORDS.iter().find(|(known, _)| known.as_bytes() == folded).map(|&(_, meaning)| meaning);
    known.or_else(|| is_slip(folded, b"parameter").then_some(Word::Parameter))
}

/// Whether a word is one of the table, letter by letter.
pub(crate) fn is_spelt(word: &str) -> bool {
    let same = |known: &str| {
        let letters = word.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        letters.map(|byte| byte.to_ascii_lowercase()).eq(known.bytes())
    };
    WORDS.iter().any(|(known, _)| same(known))
}

/// Whether one letter too many, too few, wrong or in its neighbour's place tells the words apart. Small models misspell the
/// long word of the tags, and no other word comes near it.
fn is_slip(found: &[u8], meant: &[u8]) -> bool {
    let before = found.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (found, meant) = (&found[before..], &meant[before..]);
    let after = found.iter().rev().zip(meant.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&found[..found.len() - after], &meant[..meant.len() - after]) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Markup at some place.
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

    /// Whether it ends a call or the place for calls.
    pub(crate) fn closes(&self) -> bool {
        match self {
            Markup::Token { role, .. } => matches!(role, Role::Close | Role::MessageEnd | Role::Stop),
            Markup::Tag(tag, word) => {
                tag.close && matches!(word, Word::Frame | Word::Call | Word::Declarations)
            }
        }
    }

    /// Whether it means nothing where it stands.
    pub(crate) fn is_noise(&self) -> bool {
        matches!(self, Markup::Token { role: Role::Noise | Role::Tail, .. })
    }

    /// Whether it begins a call or a place for calls.
    pub(crate) fn opens(&self) -> bool {
        match self {
            Markup::Token { role, .. } => matches!(role, Role::Open(_)),
            Markup::Tag(tag, word) => !tag.close && matches!(word, Word::Frame | Word::Call),
        }
    }
}

/// The namespace token that one family writes before every tag.
pub(crate) const MINIMAX: &str = "]<]minimax[>[";

/// Tokens with the same second byte.
type Group = Vec<(&'static str, Role)>;

/// The tokens by their second byte: most of what looks like markup in a text is decided by the first two.
static BY_SECOND: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut index = vec![Group::new(); 256];
    for &(spelling, role) in TOKENS {
        if let &[_, second, ..] = spelling.as_bytes() {
            index[usize::from(second)].push((spelling, role));
            // A bar has two widths.
            if second == b'|' {
                index[usize::from("｜".as_bytes()[0])].push((spelling, role));
            }
        }
    }
    index
});

/// Whether the two bytes that a text begins with are certain to be text.
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

/// The tokens that a text may begin with.
fn candidates(text: &[u8]) -> &'static [(&'static str, Role)] {
    match text {
        [] => &[],
        // Every token of this byte may follow.
        [_] => TOKENS,
        [_, second, ..] => &BY_SECOND[usize::from(*second)],
    }
}

/// Reads the markup at the start of `text`.
pub(crate) fn read<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    let mut best: Option<(usize, Role, &'static str)> = None;
    let mut more = false;
    let first = text.as_bytes().first().copied();
    if !matches!(first, Some(b'<' | b'[' | b'f' | b']' | 0xE2)) {
        return Step::No;
    }
    // Each of them begins something.
    if text.len() == 1 && !done {
        return Step::More;
    }
    for &(spelling, role) in custom.tokens.iter().chain(candidates(text.as_bytes())) {
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
        return Step::Got(Markup::Token { role, len, spelling });
    }
    if let Some(tag_at) = behind_namespace(text) {
        let rest = &text[tag_at..];
        if !done && rest.is_empty() {
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

/// Whether the text stops inside a marker, and enough of it is there to know.
pub(crate) fn is_half(text: &str, custom: &CustomTable) -> bool {
    const ENOUGH: usize = 6;
    text.len() >= ENOUGH
        && text.starts_with(['<', '[', ']'])
        && !text.contains(char::is_whitespace)
        && read(text, false, custom) == Step::More
}

/// The place after the namespace token and the white space that may follow it.
fn behind_namespace(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(MINIMAX)?;
    let trimmed = rest.trim_start();
    Some(text.len() - if trimmed.starts_with('<') { trimmed.len() } else { rest.len() })
}

fn tag_at_start<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    // A word that means nothing cannot come to mean something once it has ended.
    if hopeless(text, custom) {
        return Step::No;
    }
    match unended(text, done, custom) {
        Step::No => {}
        other => return other,
    }
    match tag::read(text, done) {
        Step::Got(tag) => match custom.meaning(tag.word) {
            Some(word) => Step::Got(Markup::Tag(tag, word)),
            None => Step::No,
        },
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// A frame that lost its `>`: the line ends after the word, and JSON follows.
fn unended<'t>(text: &'t str, done: bool, custom: &CustomTable) -> Step<Markup<'t>> {
    let length = text[1..]
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    let after = text[1 + length..].trim_start_matches([' ', '\t', '\r']);
    if !after.starts_with('\n') || custom.meaning(&text[1..=length]) != Some(Word::Frame) {
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

/// Whether the tag's word is complete and no word of ours.
fn hopeless(text: &str, custom: &CustomTable) -> bool {
    let inner = text[1..].trim_start_matches(['/', ' ', '\t']);
    let length =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    if length > MAX_WORD {
        return true;
    }
    match inner.as_bytes().get(length) {
        None | Some(b':' | b'|') => false,
        Some(byte) if !byte.is_ascii() => false,
        Some(_) => length > 0 && custom.meaning(&inner[..length]).is_none() && !starts_with_space(inner),
    }
}

fn starts_with_space(inner: &str) -> bool {
    inner.starts_with("longcat_") || inner.starts_with("dots_") || inner.starts_with(['|', '｜'])
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
