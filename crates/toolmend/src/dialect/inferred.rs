//! Calls without a marker: recognised by their shape, at the start of a line, and only for declared tools.

use super::block::{Block, CallJudge, Frames, Reader};
use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{Form, Recognition, is_no_tool, recognised};
use super::{envelope, gemma, opt_in, python, tagged, token};

/// Where the candidate stands, and what may be read.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one place")]
pub(crate) struct InferenceRules<'j> {
    pub(crate) judge: &'j dyn CallJudge,
    /// Forms that are off by default count as well.
    pub(crate) eager: bool,
    /// The form that was asked for: its calls may name tools that are not declared.
    pub(crate) requested_form: Option<Form>,
    /// The form that the model is known for: text may follow its calls.
    pub(crate) model_form: Option<Form>,
    /// Nothing but white space stands before.
    pub(crate) first: bool,
    /// The text before announces an example.
    pub(crate) example: bool,
    /// The model finished by itself.
    pub(crate) stopped: bool,
    /// The server constrains the output to the arguments of this tool.
    pub(crate) only: Option<&'j str>,
}

/// Longest name or keyword that is waited for.
const MAX_WORD: usize = 96;

/// Reads the call at `at`, which is the start of a line.
pub(crate) fn read(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let found = read_candidate(input, at, rules);
    let block = match found {
        Step::Got(block) => block,
        other => return other,
    };
    let lifted = rules.requested_form.is_some();
    let known = block.calls.iter().all(|call| {
        rules.judge.has_tool(&call.name) || is_no_tool(&call.name) || lifted && !call.name.is_empty()
    });
    // Arguments alone are the whole message, or an answer.
    let alone = block.calls.iter().any(|call| call.dialect.is_recognised_by(Recognition::ArgumentsAlone));
    if !known || block.calls.is_empty() || alone && !rules.first && !lifted {
        return Step::No;
    }
    // A value that was cut off has nothing after it.
    if block.calls.iter().any(|call| call.ending != Ending::Complete) {
        return Step::Got(block);
    }
    check_after_call(input, block.end, rules).map(|()| block)
}

/// After a call without a marker may come the end, another call or markup; text means that it was only shown.
fn check_after_call(input: Input<'_>, from: usize, rules: InferenceRules<'_>) -> Step<()> {
    let mut at = from;
    loop {
        at = input.skip_white(at);
        let rest = input.rest(at);
        if rest.is_empty() {
            return if input.done { Step::Got(()) } else { Step::More };
        }
        // A fence with a label opens; one without closes.
        if let Some(after) = rest.strip_prefix("```") {
            if after.is_empty() && !input.done {
                return Step::More;
            }
            if after.is_empty() || after.starts_with(char::is_whitespace) {
                at += 3;
                continue;
            }
        } else if let Some(after) = rest.strip_prefix(['`', ']', '}', ')', ',', ';']) {
            at += rest.len() - after.len();
            continue;
        }
        // The next line of a program that only calls.
        if rest.starts_with("print(") || rest.starts_with("default_api.") {
            return python::read_call(input, at, recognised(Recognition::Program)).map(|_| ());
        }
        if !input.done && ("print(".starts_with(rest) || "default_api.".starts_with(rest)) {
            return Step::More;
        }
        if rest.starts_with(['{', '[']) {
            return Step::Got(());
        }
        if AFTER.iter().any(|word| rest.starts_with(word)) {
            return Step::Got(());
        }
        if !input.done && AFTER.iter().any(|word| word.starts_with(rest)) {
            return Step::More;
        }
        match token::read(rest, input.done, input.custom) {
            Step::More => return Step::More,
            // What closes or means nothing says nothing about what follows.
            Step::Got(markup) if markup.closes() || markup.is_noise() => {
                at += markup.len();
                continue;
            }
            Step::Got(_) => return Step::Got(()),
            Step::No => {}
        }
        return match rules.requested_form.or(rules.model_form.filter(|_| rules.first)) {
            Some(_) => Step::Got(()),
            None => match read_candidate(input, at, rules) {
                Step::Got(_) => Step::Got(()),
                Step::More => Step::More,
                Step::No => Step::No,
            },
        };
    }
}

/// Words that begin the next line of a pattern.
const AFTER: &[&str] = &["Observation", "Action", "Thought", "观察", "动作", "思考"];

fn new_reader<'t, 'j>(
    input: Input<'t>,
    at: usize,
    rules: InferenceRules<'j>,
    seen: &[&str],
) -> Reader<'t, 'j> {
    let frames = Frames { markers: seen.iter().map(|&mark| mark.to_owned()).collect(), ..Frames::default() };
    Reader { input, judge: rules.judge, frames, start: at, name: None, stopped: rules.stopped }
}

fn read_candidate(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let Some(first) = rest.chars().next() else { return if input.done { Step::No } else { Step::More } };
    match first {
        '{' if rules.only.is_some() => {
            let mut reader = new_reader(input, at, rules, &[]);
            reader.name = rules.only.map(str::to_owned);
            reader.read(at)
        }
        '{' => match plausible(input, at, rules) {
            Step::Got(()) => new_reader(input, at, rules, &[]).read(at),
            Step::More => Step::More,
            Step::No => Step::No,
        },
        '[' => read_bracket(input, at, rules),
        '`' | '~' => read_fence(input, at, rules),
        '<' => read_element(input, at, rules),
        '@' | '/' => read_prefixed(input, at + 1, rules),
        '>' => read_recipient(input, at, rules),
        '=' => read_headless_tag(input, at, rules),
        '*' | '-' | '|' if rules.eager => read_opt_in(input, at, rules),
        _ if first.is_alphabetic() || first == '_' => read_word(input, at, rules),
        _ => Step::No,
    }
}

/// The place of what ends a word, where it stands near enough. It does not count farther away, whether or not it has come.
fn within_word(length: Option<usize>) -> Option<usize> {
    length.filter(|&length| length <= MAX_WORD)
}

/// Whether an object may be a call, judged by its first key.
fn plausible(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<()> {
    let inner = input.skip_white(at + 1);
    let rest = input.rest(inner).trim_start_matches(['{', ' ', '\n']);
    let key = rest.trim_start_matches(['"', '\'', '“']);
    let length = key.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-' || ch == '.'));
    let Some(length) = within_word(length) else {
        return if input.done || key.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let key = &key[..length];
    let known = envelope::is_call_key(key) || rules.judge.has_tool(key) || rules.judge.is_argument_key(key);
    if known || rules.requested_form.is_some() { Step::Got(()) } else { Step::No }
}

/// A list of calls, or one of the forms in brackets.
fn read_bracket(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let inner = input.skip_white(at + 1);
    match input.byte(inner) {
        None => return if input.done { Step::No } else { Step::More },
        Some(b'{') => {
            return match plausible(input, inner, rules) {
                Step::Got(()) => new_reader(input, at, rules, &[]).read(at),
                Step::More => Step::More,
                Step::No => Step::No,
            };
        }
        _ => {}
    }
    // `[f(a=1), g()]`
    match python::read_head(input, inner) {
        Step::Got((name, _)) if rules.judge.has_tool(&name) || rules.requested_form == Some(Form::Python) => {
            return new_reader(input, at, rules, &[]).read(at);
        }
        Step::More => return Step::More,
        _ => {}
    }
    read_in_brackets(input, at, rules)
}

/// Words before the name in `[tool_call: f {…}]` and its relatives.
const BRACKET_WORDS: &[&str] =
    &["tool_call:", "Calling tool:", "tool:", "function_call:", "tool_code:", "TOOL_CALL:"];

/// `[tool_call: f {…}]`, `[f]{…}[/f]`
fn read_in_brackets(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at + 1);
    if !input.done && BRACKET_WORDS.iter().any(|word| rest.len() < word.len() && word.starts_with(rest)) {
        return Step::More;
    }
    if let Some(word) = BRACKET_WORDS.iter().find(|word| rest.starts_with(**word)) {
        let from = input.skip_white(at + 1 + word.len());
        let from = from + usize::from(input.byte(from) == Some(b'@'));
        // One of them has a notation of its own; JSON is JSON in both.
        let block = if *word == "tool_code:" {
            gemma::read_call(input, from, recognised(Recognition::GemmaLine)).map(Block::one)
        } else {
            read_named(input, at, from, rules)
        };
        return block.map(|mut block| {
            let close = input.skip_white(block.end);
            block.end = if input.byte(close) == Some(b']') { close + 1 } else { block.end };
            for call in &mut block.calls {
                call.at = at..block.end;
                call.dialect = recognised(Recognition::WordInBrackets);
            }
            block
        });
    }
    let Some(length) = within_word(rest.find([']', '\n', ' ', '['])) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let name = &rest[..length];
    if !rest[length..].starts_with(']') || !rules.judge.has_tool(name) {
        return Step::No;
    }
    let body = input.skip_white(at + 1 + length + 1);
    match input.byte(body) {
        None if !input.done => Step::More,
        Some(b'{') => {
            let mut reader = new_reader(input, at, rules, &[]);
            reader.name = Some(name.to_owned());
            let closer = [format!("[/{name}]"), "[END_TOOL_REQUEST]".to_owned()];
            reader.read(body).map(|mut block| {
                let close = input.skip_white(block.end);
                if let Some(closer) =
                    closer.iter().find(|closer| input.rest(close).starts_with(closer.as_str()))
                {
                    block.end = close + closer.len();
                }
                for call in &mut block.calls {
                    call.dialect = recognised(Recognition::WordInBrackets);
                }
                block
            })
        }
        _ => Step::No,
    }
}

/// Labels of fences that hold calls.
const LABELS: &[&str] = &[
    "",
    "json",
    "tool_call",
    "tool-call",
    "tool_calls",
    "tool_use",
    "toolcall",
    "invoke",
    "xml",
    "tool",
    "function_call",
    "call",
    "plaintext",
    "text",
];

fn read_fence(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let mark = rest.chars().next().unwrap_or('`');
    let width = rest.chars().take_while(|&ch| ch == mark).count();
    if width < 3 {
        return if !input.done && width == rest.len() { Step::More } else { Step::No };
    }
    let Some(line) = within_word(rest.find('\n')) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let label = rest[width..line].trim();
    let name = label.strip_prefix("tool ").or_else(|| label.strip_prefix("tool:")).unwrap_or(label).trim();
    let named_by_label = !name.is_empty() && rules.judge.has_tool(name);
    let program = recognised(Recognition::Program);
    let folded = label.to_ascii_lowercase();
    let is_label = LABELS.contains(&folded.as_str()) || program.fence_labels.contains(&folded.as_str());
    if !named_by_label && !is_label {
        return Step::No;
    }
    // An example is announced by words or by what is around it.
    if rules.example {
        return Step::No;
    }
    let body = input.skip_white(at + line);
    let Some(byte) = input.byte(body) else { return if input.done { Step::No } else { Step::More } };
    let code = program.fence_labels.contains(&label);
    match byte {
        b'{' | b'[' if !code || byte == b'[' => {
            match if byte == b'{' && !named_by_label { plausible(input, body, rules) } else { Step::Got(()) }
            {
                Step::Got(()) => {}
                Step::More => return Step::More,
                Step::No => return Step::No,
            }
        }
        b'<' => {}
        _ => match python::read_head(input, body) {
            Step::Got((name, _)) => {
                let name = name.strip_prefix("default_api.").unwrap_or(&name);
                let known = rules.judge.has_tool(name) || name == "print";
                if !known || !(matches!(label, "tool_call" | "") || program.marks.contains(&label)) {
                    return Step::No;
                }
            }
            Step::More => return Step::More,
            Step::No => return Step::No,
        },
    }
    let marks: &[&str] = if code { program.marks } else { &[] };
    let mut reader = new_reader(input, at, rules, marks);
    reader.read(at).map(|mut block| {
        for call in &mut block.calls {
            call.dialect = call.dialect.in_fence();
        }
        block
    })
}

/// `<read_file>…</read_file>` where such a tool is declared.
fn read_element(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match super::tag::read(input.rest(at), input.done) {
        Step::Got(tag) if !tag.close => {
            let word = tag.word.strip_prefix("tool_").unwrap_or(tag.word);
            if rules.judge.has_tool(tag.word) || rules.judge.has_tool(word) {
                new_reader(input, at, rules, &[]).read(at)
            } else {
                Step::No
            }
        }
        Step::More => {
            let rest = input.rest(at + 1);
            let length = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                .count();
            let word = &rest[..length];
            let bare = word.strip_prefix("tool_").unwrap_or(word);
            let known = if length < rest.len() {
                rules.judge.has_tool(word) || rules.judge.has_tool(bare)
            } else {
                rules.judge.may_begin_tool_name(word)
                    || rules.judge.may_begin_tool_name(bare)
                    || "tool_".starts_with(word)
            };
            if known { Step::More } else { Step::No }
        }
        _ => Step::No,
    }
}

/// `>>>f` on a line, then the arguments.
fn read_recipient(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    if !input.done && ">>>".starts_with(rest) {
        return Step::More;
    }
    if !rest.starts_with(">>>") {
        return Step::No;
    }
    read_named(input, at, at + 3, rules).map(|mut block| {
        for call in &mut block.calls {
            call.dialect = recognised(Recognition::RecipientLine);
        }
        block
    })
}

/// `function=f><parameter=…`: the start of the tag was lost.
fn read_headless_tag(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let Some(length) = within_word(rest.find('>')) else {
        return if input.done || rest.len() > MAX_WORD || rest.contains(' ') { Step::No } else { Step::More };
    };
    let name =
        rest[..length].strip_prefix("function").unwrap_or(&rest[..length]).trim_start_matches('=').to_owned();
    let body = input.skip_white(at + length + 1);
    if !rules.judge.has_tool(&name) {
        return Step::No;
    }
    if body >= input.text.len() && !input.done {
        return Step::More;
    }
    if !matches!(input.markup(body), Step::Got(token::Markup::Tag(_, token::Word::Parameter)) | Step::More) {
        return Step::No;
    }
    let dialect = recognised(Recognition::HeadlessTag);
    let opened = tagged::CallHeader { name, id: None, at, body, dialect, damaged: true, element: None };
    tagged::read(input, opened, rules.judge).map(Block::one)
}

/// Words that announce a call, and the form that follows.
const PREFIXES: &[&str] = &["TOOL:", "CALL ", "CALL:", "Call:", "to=", "TOOL_CALL:"];

/// Whether a line may begin with a word that announces a call, by its first two bytes.
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
                )
        }
        _ => true,
    }
}

/// Whether a line that begins with this letter may begin a call at all, judged by very little: most lines do not. Forms
/// that are off by default are left out.
pub(crate) fn may_begin(text: &str, begins_name: impl Fn(&str) -> bool) -> bool {
    match text.as_bytes() {
        [first, ..] if first.is_ascii_alphabetic() => announces(text.as_bytes()) || begins_name(&text[..1]),
        [first, ..] => !first.is_ascii() || b"{[]`~<@/>=_".contains(first),
        [] => true,
    }
}

/// A line that begins with a word that announces a call.
fn read_announced(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let half = |word: &str| !input.done && rest.len() < word.len() && word.starts_with(rest);
    if ACTIONS.iter().any(|word| half(word))
        || PREFIXES.iter().any(|word| half(word))
        || ["call:", "functions.", "function=", "default_api."].iter().any(|word| half(word))
    {
        return Step::More;
    }
    if ACTIONS.iter().any(|word| rest.starts_with(word)) {
        return read_action(input, at, rules);
    }
    if let Some(prefix) = PREFIXES.iter().find(|prefix| rest.starts_with(**prefix)) {
        return read_prefixed(input, input.skip_white(at + prefix.len()), rules)
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
    if rest.starts_with("default_api.") {
        return read_prefixed(input, at, rules);
    }
    Step::No
}

/// A line that begins with a word.
fn read_word(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
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
    // Only the name of a tool begins anything else.
    let length = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'))
        .count();
    let name = &rest[..length];
    // `name:0` is a name and a number. What no name begins with is none, however it goes on.
    let stem = name.trim_end_matches(|ch: char| ch.is_ascii_digit()).trim_end_matches(':');
    let open = rules.requested_form == Some(Form::Python);
    let begins = open || rules.judge.may_begin_tool_name(name) || rules.judge.may_begin_tool_name(stem);
    if !begins || length > MAX_WORD {
        return Step::No;
    }
    if length == rest.len() && !input.done {
        return Step::More;
    }
    let python = rules.requested_form == Some(Form::Python) && rest[length..].starts_with('(');
    if name.is_empty() || !(rules.judge.has_tool(name) || python) {
        return Step::No;
    }
    match rest.as_bytes().get(length) {
        Some(b'(') => read_python_call(input, at),
        Some(b'[') if rest[length..].starts_with("[ARGS]") => read_named(input, at, at, rules),
        Some(b'{' | b'\n' | b' ' | b':' | b'\r' | b'>') => read_named(input, at, at, rules),
        _ => Step::No,
    }
}

fn read_python_call(input: Input<'_>, at: usize) -> Step<Block> {
    python::read_call(input, at, recognised(Recognition::PythonLine)).map(Block::one)
}

/// The block, beginning where its prefix does.
fn starting_at(mut block: Block, at: usize) -> Block {
    for call in &mut block.calls {
        call.at.start = at;
    }
    block
}

fn read_prefixed(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match python::read_head(input, at) {
        Step::Got((name, _)) if rules.judge.has_tool(&name) => read_python_call(input, at),
        Step::More => Step::More,
        _ => read_named(input, at, at, rules),
    }
}

/// A name at `from`, then JSON, in a fence or not.
fn read_named(input: Input<'_>, start: usize, from: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(from);
    let Some(length) = within_word(rest.find(['{', '\n', '(', '`', '<', '[', '>'])) else {
        return if input.done || rest.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let header = rest[..length].trim().trim_end_matches(':').trim_end_matches(" json").trim();
    if header.is_empty() || header.len() > MAX_WORD || header.contains(char::is_whitespace) {
        return Step::No;
    }
    let (name, id) = super::block::split_header(header, |name| rules.judge.has_tool(name));
    if !rules.judge.has_tool(&name) {
        return Step::No;
    }
    let mut body = input.skip_white(from + length);
    let round = input.byte(body) == Some(b'(');
    if round || input.byte(body) == Some(b'>') {
        body = input.skip_white(body + 1);
    }
    if input.rest(body).starts_with("[ARGS]") {
        body = input.skip_white(body + "[ARGS]".len());
    }
    match input.markup(body) {
        Step::Got(token::Markup::Token { role: token::Role::Part(_), len, .. }) => {
            body = input.skip_white(body + len);
        }
        Step::More => return Step::More,
        _ => {}
    }
    let rest = input.rest(body);
    if rest.is_empty() || !input.done && "```".starts_with(rest) {
        return if input.done { Step::No } else { Step::More };
    }
    if !rest.starts_with('{') && !rest.starts_with("```") {
        return Step::No;
    }
    let mut reader = new_reader(input, start, rules, &[]);
    reader.name = Some(name);
    reader.read(body).map(|mut block| {
        let close = input.skip_white(block.end);
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
const INPUTS: &[&str] = &["Action Input:", "动作输入:", "动作输入：", "ActionInput:", "Action input:"];

/// `Action: f` and `Action Input: …`, each on a line.
fn read_action(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let word = ACTIONS.iter().find(|word| rest.starts_with(**word)).map_or(0, |word| word.len());
    let from = at + word;
    let next = input.skip_white(from);
    match input.byte(next) {
        None => return if input.done { Step::No } else { Step::More },
        // The action is JSON, in a fence or not.
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
    let label_at = input.skip_white(next + length);
    let label = input.rest(label_at);
    let half = |word: &str| !input.done && label.len() < word.len() && word.starts_with(label);
    if label.is_empty() && !input.done || INPUTS.iter().any(|word| half(word)) {
        return Step::More;
    }
    let Some(word) = INPUTS.iter().find(|word| label.starts_with(**word)) else { return Step::No };
    read_action_input(input, at, name, input.skip_white(label_at + word.len()), rules)
}

fn block_starting_at(mut call: RawCall, at: usize) -> Block {
    call.at.start = at;
    Block::one(call)
}

/// The input of an action: JSON, or a text up to the next line of the pattern.
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
    let text = rest[..length].trim_end();
    let end = body + text.len();
    let arguments = match rules.judge.main_key(name) {
        Some(key) => {
            let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
            RawArguments::Fields(vec![Field {
                key,
                value: RawValue::Untyped(unquoted.to_owned()),
                at: body..end,
            }])
        }
        None => RawArguments::Text(body..end),
    };
    let ending = if stop.is_some() { Ending::Complete } else { Ending::Open };
    let call = RawCall {
        name: name.to_owned(),
        id: None,
        arguments,
        at: at..end,
        ending,
        dialect: recognised(Recognition::ActionLines),
        damaged: false,
        open: None,
    };
    Step::Got(Block::one(call))
}

/// `f/{…}`
fn read_slashed_json(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Option<Step<Block>> {
    let (name, body) = input.rest(at).split_once('/')?;
    if !body.starts_with('{') || !rules.judge.has_tool(name) {
        return None;
    }
    let mut reader = new_reader(input, at, rules, &[]);
    reader.name = Some(name.to_owned());
    Some(reader.read(at + name.len() + 1))
}

/// Forms that are off by default.
fn read_opt_in(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    if let Some(found) = read_slashed_json(input, at, rules) {
        return found;
    }
    if rules.first { opt_in::read(input, at, rules.judge) } else { Step::No }
}
