//! Lines that begin with a word: an announcement of a call, or the name of a tool.

use super::call_sequence::{self, Place};
use super::{
    InferenceRules, MAX_WORD, asks_for_python, new_reader, read_headless_tag, read_opt_in, within_word,
};
use crate::dialect::block::{self, Block};
use crate::dialect::input::{Input, Step};
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::table::{Recognition, headed_rows, recognised};
use crate::dialect::{begun_again, envelope, gemma, plain_body, python, screen_action, token};
use crate::syntax::spelled_out_field::is_spelled_out;
use crate::text_parts::first_part;
use crate::verdict::Reason;

/// Words that announce a call.
const PREFIXES: &[&str] = &["TOOL:", "CALL ", "CALL:", "Call:", "to=", "TOOL_CALL:"];

/// Whether a line may begin with an announcement, judged by its first two bytes.
fn announces(text: &[u8]) -> bool {
    match text {
        [first, second, ..] => {
            !first.is_ascii()
                || matches!(
                    (first, second),
                    (b'A', b'c')
                        | (b'T', b'O')
                        | (b'C', b'A' | b'a')
                        | (b't', b'o')
                        | (b'c', b'a')
                        | (b'f', b'u')
                        | (b'd', b'e')
                        | (b'p', b'r')
                )
        }
        _ => true,
    }
}

/// Whether a line with this beginning may begin a call at all. This is a quick test that rejects most lines. Forms that
/// are off by default are left out.
pub(crate) fn may_begin(text: &str, begins_name: impl Fn(&str) -> bool) -> bool {
    match text.as_bytes() {
        [first, ..] if first.is_ascii_alphabetic() => announces(text.as_bytes()) || begins_name(&text[..1]),
        [b'*' | b'-', ..] => {
            let agrees = |heading: &str| text.starts_with(heading) || heading.starts_with(text);
            headed_rows().iter().any(|row| agrees(row.heading))
        }
        [first, ..] => !first.is_ascii() || b"{[]`~<@/>=_".contains(first),
        [] => true,
    }
}

/// Reads a line that begins with an announcement.
fn read_announced(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let half = |word: &str| !input.done && rest.len() < word.len() && word.starts_with(rest);
    if ACTIONS.iter().any(|word| half(word))
        || PREFIXES.iter().any(|word| half(word))
        || ["call:", "functions.", "function=", "default_api.", "print(default_api."]
            .iter()
            .any(|word| half(word))
    {
        return Step::More;
    }
    if ACTIONS.iter().any(|word| rest.starts_with(word)) {
        return read_action(input, at, rules);
    }
    if let Some(prefix) = PREFIXES.iter().find(|prefix| rest.starts_with(**prefix)) {
        return read_prefixed(input, input.skip_whitespace(at + prefix.len()), rules)
            .map(|block| starting_at(block, at));
    }
    if rest.starts_with("call:") {
        return gemma::read_call(input, at, recognised(Recognition::GemmaLine)).map(Block::one);
    }
    if rest.starts_with("functions.") {
        return read_named(input, at, at, rules);
    }
    if rest.starts_with("function=") {
        return read_headless_tag(input, at, rules);
    }
    match read_headless_frame(input, at, rules) {
        Step::No => {}
        other => return other,
    }
    // Case: dialects/tool_code/without-fence
    if rest.starts_with("print(default_api.") {
        return read_python_line(input, at, Place::Program, rules);
    }
    if rest.starts_with("default_api.") {
        return read_prefixed(input, at, rules);
    }
    Step::No
}

/// Whether a line begins with the word of a frame and the end of its tag.
pub(super) fn begins_headless_frame(input: Input<'_>, at: usize) -> bool {
    let rest = input.rest(at);
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let word = &rest[..length];
    rest[length..].starts_with('>')
        && word.contains('_')
        && input.custom.meaning(word) == Some(token::Word::Frame)
}

/// Reads `tool_call>{…}`: the first bytes of the tag were lost.
// Case: dialects/hermes_json/opener-without-start
fn read_headless_frame(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let word = &rest[..length];
    if length == rest.len() {
        let begins =
            ["tool_", "function_"].iter().any(|start| start.starts_with(word) || word.starts_with(start));
        return if begins && length <= MAX_WORD && !input.done { Step::More } else { Step::No };
    }
    if !begins_headless_frame(input, at) {
        return Step::No;
    }
    let body = input.skip_whitespace(at + length + 1);
    match input.markup(body) {
        _ if body >= input.text.len() && !input.done => return Step::More,
        Step::More => return Step::More,
        Step::Got(markup) if markup.opens() => {}
        _ if input.rest(body).starts_with(['{', '[']) => {}
        _ => return Step::No,
    }
    new_reader(input, at, rules, &[&format!("<{word}>")]).read(body).map(|mut block| {
        for call in &mut block.calls {
            call.damaged = true;
        }
        block
    })
}

/// Reads a line that begins with a word.
pub(super) fn read_word(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    if announces(rest.as_bytes()) {
        match read_announced(input, at, rules) {
            Step::No => {}
            other => return other,
        }
    }
    if rules.eager {
        match read_opt_in(input, at, rules) {
            Step::No => {}
            other => return other,
        }
    }
    match read_assignment(input, at, rules) {
        Step::No => {}
        other => return other,
    }
    // Anything else begins with the name of a tool.
    let length = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'\\'))
        .count();
    let name = &*rest[..length].replace("\\_", "_");
    // `name:0` is a name and a number. If no name begins like this, this is not a name, however it continues.
    let stem = name.trim_end_matches(|ch: char| ch.is_ascii_digit()).trim_end_matches(':');
    let open = asks_for_python(rules);
    let begins = open || rules.judge.may_begin_tool_name(name) || rules.judge.may_begin_tool_name(stem);
    if !begins || length > MAX_WORD {
        return Step::No;
    }
    if length == rest.len() && !input.done {
        return Step::More;
    }
    let python = asks_for_python(rules) && rest[length..].starts_with('(');
    if name.is_empty() || !(rules.judge.has_tool(name) || python) {
        return Step::No;
    }
    match rest.as_bytes().get(length) {
        Some(b'(') => read_python_line(input, at, Place::Line, rules),
        Some(b'[') if rest[length..].starts_with("[ARGS]") => read_named(input, at, at, rules),
        Some(b'[') if !input.done && "[ARGS]".starts_with(&rest[length..]) => Step::More,
        Some(b'{' | b'\n' | b' ' | b':' | b'\r' | b'>') => read_named(input, at, at, rules),
        _ => Step::No,
    }
}

fn read_python_line(input: Input<'_>, at: usize, place: Place, rules: InferenceRules<'_>) -> Step<Block> {
    call_sequence::read(input, at, place, recognised(Recognition::PythonLine), rules)
}

/// Reads a program that assigns the results of its calls. Unless it was asked for, it is the whole output, and its first
/// variable is called after what it holds.
// Case: dialects/tool_code/assigned
// Case: dialects/hostile/program-that-assigns
fn read_assignment(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let asked = asks_for_python(rules);
    let rest = input.rest(at);
    let half = |word: &str| !input.done && rest.len() < word.len() && word.starts_with(rest);
    let variables = recognised(Recognition::Program).marks;
    let named = variables.iter().any(|name| rest.starts_with(name) || half(name));
    if !(asked || rules.first && named) {
        return Step::No;
    }
    match call_sequence::read_target(input, at) {
        Step::Got((_, after)) => match call_sequence::begins(input, after, rules) {
            Step::Got(()) => match read_python_line(input, at, Place::Program, rules) {
                Step::No if asked => read_python_line(input, at, Place::Line, rules),
                other => other,
            },
            Step::More => Step::More,
            Step::No => Step::No,
        },
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

fn read_python_call(input: Input<'_>, at: usize) -> Step<Block> {
    python::read_call(input, at, recognised(Recognition::PythonLine)).map(Block::one)
}

/// Moves the start of the block to that of its prefix.
fn starting_at(mut block: Block, at: usize) -> Block {
    for call in &mut block.calls {
        call.at.start = at;
    }
    block
}

pub(super) fn read_prefixed(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match python::read_head(input, at) {
        Step::Got((name, _)) if rules.judge.has_tool(&name) => read_python_call(input, at),
        Step::More => Step::More,
        _ => read_named(input, at, at, rules),
    }
}

/// Reads a name at `from`, then JSON, in a fence or not.
pub(super) fn read_named(
    input: Input<'_>,
    start: usize,
    from: usize,
    rules: InferenceRules<'_>,
) -> Step<Block> {
    let rest = input.rest(from);
    let Some(length) = within_word(rest.find(['{', '\n', '(', '`', '<', '[', '>'])) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let header = rest[..length].trim().trim_end_matches(':').trim_end_matches(" json").trim();
    if header.is_empty() || header.len() > MAX_WORD || header.contains(char::is_whitespace) {
        return Step::No;
    }
    let (name, id) = block::split_header(header, |name| rules.judge.has_tool(name));
    if !rules.judge.has_tool(&name) {
        return Step::No;
    }
    let mut body = input.skip_whitespace(from + length);
    let round = input.byte(body) == Some(b'(');
    if round || input.byte(body) == Some(b'>') {
        body = input.skip_whitespace(body + 1);
    }
    let announces_arguments = input.rest(body).starts_with("[ARGS]");
    if announces_arguments {
        body = input.skip_whitespace(body + "[ARGS]".len());
    }
    match input.markup(body) {
        Step::Got(token::Markup::Token { role: token::Role::Part(_), len, .. }) => {
            body = input.skip_whitespace(body + len);
        }
        Step::More => return Step::More,
        _ => {}
    }
    let rest = input.rest(body);
    if rest.is_empty() && input.done && announces_arguments {
        // Nothing where the arguments should be: the tool takes none.
        // Case: dialects/mistral_name_args/name-and-marker-alone
        let dialect = recognised(Recognition::NameLine);
        let arguments = RawArguments::Fields(Vec::new());
        let (at, ending) = (start..body, Ending::Open);
        let call = RawCall { name, id, arguments, at, ending, dialect, damaged: false, open: None };
        return Step::Got(Block::one(call));
    }
    if rest.is_empty() || !input.done && "```".starts_with(rest) {
        return if input.done { Step::No } else { Step::More };
    }
    if !rest.starts_with('{') && !rest.starts_with("```") {
        return Step::No;
    }
    let mut reader = new_reader(input, start, rules, &[]);
    reader.name = Some(name);
    reader.read(body).map(|mut block| {
        let close = input.skip_whitespace(block.end);
        if round && input.byte(close) == Some(b')') {
            block.end = close + 1;
        }
        for call in &mut block.calls {
            call.id = call.id.take().or_else(|| id.clone());
            let prefixed = header.starts_with("functions.");
            call.dialect =
                recognised(if prefixed { Recognition::FunctionsPrefix } else { Recognition::NameLine });
        }
        block
    })
}

const ACTIONS: &[&str] = &["Action:", "动作:", "动作："];
/// The first words of other lines of the pattern.
const LABELS: &[&str] = &["Observation:", "Thought:", "Action:", "Final Answer:", "观察", "思考"];
const INPUTS: &[&str] = &["Action Input:", "动作输入:", "动作输入：", "ActionInput:", "Action input:"];

/// Reads `Action: f` and `Action Input: …`, each on its own line.
fn read_action(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let begun = at;
    let at = match find_last_beginning(input, begun) {
        Step::Got(at) => at,
        Step::More | Step::No => return Step::More,
    };
    match read_last_action(input, at, rules) {
        Step::Got(block) if at > begun => Step::Got(starting_at(block, begun).damaged()),
        other => other,
    }
}

fn read_last_action(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let word = ACTIONS.iter().find(|word| rest.starts_with(**word)).map_or(0, |word| word.len());
    let from = at + word;
    let next = input.skip_whitespace(from);
    match input.byte(next) {
        None => return if input.done { Step::No } else { Step::More },
        // The action is JSON, in a fence or not.
        // Case: dialects/react/langchain
        Some(b'`' | b'{' | b'[') => {
            return new_reader(input, at, rules, &["Action:"]).read(next);
        }
        _ => {}
    }
    match python::read_head(input, next) {
        Step::Got((name, _)) if rules.judge.has_tool(&name) => {
            return match python::read_call(input, next, recognised(Recognition::ActionLines)) {
                Step::No => read_named(input, at, next, rules),
                other => other.map(|call| block_starting_at(call, at)),
            };
        }
        Step::Got((name, _)) if screen_action::is_action(&name, rules.judge) => {
            return screen_action::read(input, next).map(|call| block_starting_at(call, at));
        }
        Step::More => return Step::More,
        _ => {}
    }
    let line = input.rest(next);
    let Some(length) = within_word(line.find('\n')) else {
        return if input.done || line.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let name = line[..length].trim().trim_matches(['`', '"', '\'', '*']).trim();
    if !rules.judge.has_tool(name) {
        return Step::No;
    }
    let label_at = input.skip_whitespace(next + length);
    let label = input.rest(label_at);
    let half = |word: &str| !input.done && label.len() < word.len() && word.starts_with(label);
    if label.is_empty() && !input.done || INPUTS.iter().any(|word| half(word)) {
        return Step::More;
    }
    let Some(word) = INPUTS.iter().find(|word| label.starts_with(**word)) else {
        return refuse_unlabelled_input(input, at, name, label_at);
    };
    let body = input.skip_whitespace(label_at + word.len());
    match label_follows(input, body) {
        Step::Got(()) => read_empty_input(input, at, name, body, rules),
        Step::More => Step::More,
        Step::No => read_action_input(input, at, name, body, rules),
    }
}

/// Refuses an action whose input has lost its label, if the pattern goes on after it. The actions after it rest on it, so none of
/// them runs alone.
// Case: dialects/react/lost-label-before-another-action
fn refuse_unlabelled_input(input: Input<'_>, at: usize, name: &str, body: usize) -> Step<Block> {
    if input.byte(body) != Some(b'{') {
        return Step::No;
    }
    let end = match json_extent::measure(input.text, body) {
        Extent::Whole(end) => end,
        Extent::Open if !input.done => return Step::More,
        Extent::Open | Extent::Broken(_) => return Step::No,
    };
    let next = input.skip_whitespace(end);
    if next >= input.text.len() {
        return if input.done { Step::No } else { Step::More };
    }
    label_follows(input, next).map(|()| {
        let refused =
            RawArguments::Refused(Reason::Syntax, "the line before the input of the action is missing");
        Block::one(action_call(name, at..end, refused, Ending::Complete))
    })
}

/// Whether the next line of the pattern is where the input should be.
fn label_follows(input: Input<'_>, body: usize) -> Step<()> {
    let rest = input.rest(body);
    let mut labels = LABELS.iter().chain(ACTIONS).chain(INPUTS);
    if labels.clone().any(|label| rest.starts_with(*label)) {
        return Step::Got(());
    }
    let is_half = labels.any(|label| label.starts_with(rest));
    if is_half && !input.done { Step::More } else { Step::No }
}

/// Reads an action whose input is empty, because the next line of the pattern follows.
// Case: dialects/react/empty-input-before-another-action
fn read_empty_input(
    input: Input<'_>,
    at: usize,
    name: &str,
    body: usize,
    rules: InferenceRules<'_>,
) -> Step<Block> {
    if !rules.judge.can_mend(name, "{}") {
        return Step::No;
    }
    let end = at + input.text[at..body].trim_end().len();
    Step::Got(Block::one(action_call(name, at..end, RawArguments::Fields(Vec::new()), Ending::Complete)))
}

/// Where an action without input was begun for the last time.
// Case: dialects/react/begun-again
fn find_last_beginning(input: Input<'_>, at: usize) -> Step<usize> {
    let mut at = at;
    for _ in 1..begun_again::MAX_BEGINNINGS {
        let rest = input.rest(at);
        let near = first_part(rest, 2 * MAX_WORD);
        let label = INPUTS.iter().filter_map(|word| Some((near.find(word)?, word.len()))).min();
        let Some((length, word)) = label else { break };
        match begun_again::find_repetition(input, &rest[..length + word], at + length + word) {
            Step::Got(next) => at = next,
            Step::More => return Step::More,
            Step::No => break,
        }
    }
    Step::Got(at)
}

fn block_starting_at(mut call: RawCall, at: usize) -> Block {
    call.at.start = at;
    Block::one(call)
}

/// The input of an action without the first letters of the next label, at which the model was stopped.
// Case: dialects/react/half-label
fn without_half_label(text: &str) -> &str {
    match text.trim_end().rsplit_once('\n') {
        Some((before, line)) if line.len() > 1 && LABELS.iter().any(|label| label.starts_with(line)) => {
            before
        }
        _ => text,
    }
}

/// Reads the input of an action: JSON, or text up to the next line of the pattern.
// Case: dialects/react/bare-input
fn read_action_input(
    input: Input<'_>,
    at: usize,
    name: &str,
    body: usize,
    rules: InferenceRules<'_>,
) -> Step<Block> {
    let rest = input.rest(body);
    if rest.is_empty() && !input.done {
        return Step::More;
    }
    if rest.starts_with(['{', '`']) {
        let mut reader = new_reader(input, at, rules, &["Action:"]);
        reader.name = Some(name.to_owned());
        return reader.read(body).map(|mut block| {
            for call in &mut block.calls {
                call.dialect = recognised(Recognition::ActionLines);
            }
            block
        });
    }
    let stop = ["\nObservation", "\nThought", "\nAction", "\n观察", "\n思考"]
        .iter()
        .filter_map(|stop| rest.find(stop))
        .min();
    let Some(length) = stop.or_else(|| input.done.then_some(rest.len())) else { return Step::More };
    let text = without_half_label(&rest[..length]).trim_end();
    let end = body + text.len();
    let takes_nothing = || rules.judge.can_mend(name, "{}");
    if plain_body::says_nothing(text) {
        if !takes_nothing() {
            return Step::No;
        }
        let ending = if stop.is_some() { Ending::Complete } else { Ending::Open };
        let call = action_call(name, at..end, RawArguments::Fields(Vec::new()), ending);
        return Step::Got(Block::one(call));
    }
    let is_key = |word: &str| rules.judge.declares_key(name, word) == Some(true);
    let arguments = match rules.judge.main_key(name) {
        // What is empty or broken is judged as it stands.
        // Case: dialects/react/empty-input
        _ if plain_body::is_no_value(text) || holds_markup(text, input) => RawArguments::Text(body..end),
        // Case: dialects/react/input-in-another-notation
        Some(key) if is_spelled_out(text, &key, is_key) || holds_member(text, is_key) => {
            // Case: dialects/react/input-encoded-twice
            match envelope::decode_string(text) {
                Some(inner) => RawArguments::Decoded(inner, body..end),
                None => RawArguments::Text(body..end),
            }
        }
        Some(key) => {
            let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
            let unquoted = inside('"').or_else(|| inside('\'')).unwrap_or(text);
            RawArguments::Fields(vec![Field {
                key,
                value: RawValue::Untyped(unquoted.to_owned()),
                at: body..end,
            }])
        }
        None => RawArguments::Text(body..end),
    };
    let ending = match stop {
        Some(_) => Ending::Complete,
        None if text.is_empty() && !takes_nothing() => Ending::Cut,
        None => Ending::Open,
    };
    Step::Got(Block::one(action_call(name, at..end, arguments, ending)))
}

/// Whether a text contains a key of the tool as JSON writes it. Then it is not the value of one argument, but all arguments
/// with something around them.
// Case: dialects/react/input-in-a-string
fn holds_member(text: &str, is_key: impl Fn(&str) -> bool) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let inner = text[at + 1..].trim_start().trim_start_matches('\\');
        let Some(key) = inner.strip_prefix('"') else { return false };
        let length = key.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let after = key[length..].trim_start_matches('\\');
        after.strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
            && is_key(&key[..length])
    })
}

fn action_call(name: &str, at: std::ops::Range<usize>, arguments: RawArguments, ending: Ending) -> RawCall {
    RawCall {
        name: name.to_owned(),
        id: None,
        arguments,
        at,
        ending,
        dialect: recognised(Recognition::ActionLines),
        damaged: false,
        open: None,
    }
}

/// Whether a text contains markup that opens or closes calls.
fn holds_markup(text: &str, input: Input<'_>) -> bool {
    text.match_indices(['<', '[']).any(|(at, _)| match token::read(&text[at..], true, input.custom) {
        Step::Got(markup) => markup.opens() || markup.closes_calls(),
        _ => false,
    })
}
