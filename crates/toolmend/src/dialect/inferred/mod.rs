//! Calls without a marker.
//!
//! Such a call is recognised by its shape. It must begin a line, name a declared tool, and be followed by nothing but
//! other calls or markup; otherwise it is text that only shows a call. This module never guesses a tool by similarity.

mod announced_line;
mod call_sequence;
mod fence;

pub(crate) use self::announced_line::may_begin;
use self::announced_line::{read_named, read_prefixed, read_word};
use self::call_sequence::Place;
use super::block::{Block, CallJudge, Frames, Reader, TOOL_PREFIX, tool_of_element};
use super::input::{Input, Step};
use super::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use super::table::{self, Dialect, Form, Recognition, is_no_tool, recognised};
use super::{attribute_list, envelope, gemma, opt_in, python, tagged, token};
use crate::intent::{Calls, Evidence, RequestContext};

/// Where the candidate is, and what may be read there.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one place")]
pub(crate) struct InferenceRules<'j> {
    pub(crate) judge: &'j dyn CallJudge,
    /// What the request says about calls.
    pub(crate) request: &'j RequestContext,
    /// The weakest evidence that counts.
    pub(crate) lowest: Calls,
    /// Forms that are off by default count as well.
    pub(crate) eager: bool,
    /// The row that the prompt asked for. Its calls may name tools that are not declared.
    pub(crate) requested: Option<&'static Dialect>,
    /// The form that the model is known for. Text may follow its calls.
    pub(crate) model_form: Option<Form>,
    /// Only white space comes before the candidate.
    pub(crate) first: bool,
    /// The text before the candidate announces an example.
    pub(crate) example: bool,
    /// The model stopped by itself.
    pub(crate) stopped: bool,
    /// The server constrains the output to the arguments of this tool.
    pub(crate) only: Option<&'j str>,
}

impl InferenceRules<'_> {
    /// The form that the prompt asked for.
    pub(crate) fn requested_form(&self) -> Option<Form> {
        self.requested.map(|row| row.form)
    }

    /// The form that the prompt asked for, if it has no marker. Models that were asked for one such form write others as well.
    fn requested_bare_form(&self) -> Option<Form> {
        self.requested.filter(|row| row.marks.is_empty()).map(|row| row.form)
    }

    /// Whether a call in the requested form may name a tool that is not declared. A form with markers is not there without
    /// them.
    // Case: dialects/hermes_json/asked-for-and-bare
    fn takes_any_name(&self) -> bool {
        self.requested.is_none_or(|row| row.marks.is_empty())
    }

    /// The evidence that these calls have.
    fn evidence(&self, calls: &[RawCall]) -> Evidence {
        let nameless = calls.iter().any(|call| call.dialect.is_recognised_by(Recognition::ArgumentsAlone));
        let asked = |row: &&Dialect| {
            if nameless {
                row.is_recognised_by(Recognition::ArgumentsAlone)
            } else {
                calls.iter().all(|call| call.dialect.form == row.form)
            }
        };
        let is_asked_for =
            self.request.demands_call() || self.only.is_some() || self.requested.as_ref().is_some_and(asked);
        match (is_asked_for, nameless) {
            (true, _) => Evidence::AskedFor,
            (false, false) => Evidence::Named,
            (false, true) => Evidence::Nameless,
        }
    }
}

/// What a candidate is.
#[derive(Debug)]
pub(crate) enum Found {
    /// Calls, and the evidence for them.
    Calls(Block, Evidence),
    /// Calls that the text only shows.
    Shown(Block),
}

impl Found {
    pub(crate) fn into_block(self) -> Block {
        let (Found::Calls(block, _) | Found::Shown(block)) = self;
        block
    }
}

/// The longest name or keyword that the reader waits for.
const MAX_WORD: usize = 96;

/// Reads the call at `at`, which begins a line.
pub(crate) fn read(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Found> {
    let block = match read_candidate(input, at, rules) {
        Step::Got(block) => block,
        Step::More => return Step::More,
        Step::No => return Step::No,
    };
    let evidence = rules.evidence(&block.calls);
    let rung = evidence.rung();
    let known = block.calls.iter().all(|call| {
        rules.judge.has_tool(&call.name)
            || is_no_tool(&call.name)
            || is_whole_element(input, call, rules)
            || evidence == Evidence::AskedFor && !call.name.is_empty() && rules.takes_any_name()
    });
    // Arguments without a name are only a call if they are the whole message.
    // Case: dialects/args_only/unknown-key
    let is_placed = rung.after_words || rules.first && block.frames == Frames::default();
    if !known || block.calls.is_empty() || !is_placed || !rules.request.admits(evidence, rules.lowest) {
        return Step::No;
    }
    // Nothing follows a truncated value.
    if rung.among_words || block.calls.iter().any(|call| call.ending != Ending::Complete) {
        return Step::Got(Found::Calls(block, evidence));
    }
    let is_marked = match is_closed_frame(input, at, block.end) {
        Step::More => return Step::More,
        found => found == Step::Got(()) || is_tool_element(input, at, &block),
    };
    if is_marked {
        return Step::Got(Found::Calls(block, Evidence::Marked));
    }
    // Text may follow the calls of a model that is known for their form.
    // Case: dialects/hostile/other-form-than-asked-for
    let is_own_form = |form| block.calls.iter().all(|call| call.dialect.form == form);
    let rules = InferenceRules { model_form: rules.model_form.filter(|&form| is_own_form(form)), ..rules };
    match check_after_call(input, block.end, rules) {
        Step::More => Step::More,
        // A fence shows whole calls, so that no partner was lost.
        Step::Got(Follower::Closer) if !block.frames.fence && !input.rest(at).starts_with(['`', '~']) => {
            Step::Got(Found::Calls(block.without_opener(), Evidence::Marked))
        }
        Step::Got(Follower::End) if !rules.example => Step::Got(Found::Calls(block, evidence)),
        Step::Got(Follower::Closer | Follower::Other) if rung.after_words && !rules.example => {
            Step::Got(Found::Calls(block, evidence))
        }
        // Words announce an example, or follow the call.
        // Case: dialects/fenced_json/example
        Step::Got(_) | Step::No => Step::Got(Found::Shown(block)),
    }
}

/// Whether a frame that lost its first bytes begins here, and the marker that closes calls follows. Words may come after it.
// Case: dialects/hermes_json/opener-without-start
fn is_closed_frame(input: Input<'_>, at: usize, end: usize) -> Step<()> {
    if !announced_line::begins_headless_frame(input, at) {
        return Step::No;
    }
    let close = input.skip_whitespace(end);
    match input.markup(close) {
        _ if close >= input.text.len() && !input.done => Step::More,
        Step::More => Step::More,
        Step::Got(markup) if markup.closes_calls() => Step::Got(()),
        _ => Step::No,
    }
}

/// Whether the call is an element called `tool_`, then the name of its tool. No other markup has such words, so they are a
/// marker, and words may follow.
// Case: dialects/agent_tags/tool-prefix
fn is_tool_element(input: Input<'_>, at: usize, block: &Block) -> bool {
    let word = input.rest(at).strip_prefix('<').and_then(|word| word.strip_prefix(TOOL_PREFIX));
    let named = |call: &RawCall| word.is_some_and(|word| word.starts_with(&call.name));
    block.calls.iter().all(|call| call.dialect.form == Form::Element && named(call))
}

/// Whether the call is an undamaged element of a tool that nobody had to declare, with arguments in it.
// Case: dialects/dsml_v4/tool-elements-undeclared
fn is_whole_element(input: Input<'_>, call: &RawCall, rules: InferenceRules<'_>) -> bool {
    let holds_arguments = match &call.arguments {
        RawArguments::Fields(fields) => !fields.is_empty(),
        RawArguments::Text(at) => input.text[at.clone()].trim_start().starts_with('{'),
        RawArguments::Decoded(..) | RawArguments::Refused(..) => false,
    };
    let is_whole = call.ending == Ending::Complete && !call.damaged && holds_arguments;
    is_whole && call.dialect.form == Form::Element && !rules.judge.has_tools()
}

/// Whether a call may begin at the start of this text although no tools are declared, as far as the text goes.
pub(crate) fn may_begin_without_tools(text: &str) -> bool {
    let Some(word) = text.strip_prefix('<') else { return false };
    word.starts_with(TOOL_PREFIX) || TOOL_PREFIX.starts_with(word)
}

/// What follows a call without a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follower {
    /// Nothing.
    End,
    /// A marker that closes calls. Its partner was lost.
    Closer,
    /// Another call or markup.
    Other,
}

/// Checks what follows a call without a marker: the end, another call or markup. If text follows, the call was only
/// shown.
// Case: dialects/hostile/example-in-fence
fn check_after_call(input: Input<'_>, from: usize, rules: InferenceRules<'_>) -> Step<Follower> {
    let mut at = from;
    let mut closed = None;
    loop {
        at = input.skip_whitespace(at);
        let rest = input.rest(at);
        if rest.is_empty() {
            return if input.done { Step::Got(closed.unwrap_or(Follower::End)) } else { Step::More };
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
        // The next line of a program that contains only calls.
        if rest.starts_with("print(") || rest.starts_with("default_api.") {
            return python::read_call(input, at, recognised(Recognition::Program)).map(|_| Follower::Other);
        }
        if !input.done && ("print(".starts_with(rest) || "default_api.".starts_with(rest)) {
            return Step::More;
        }
        let begins =
            |word: &&str| rest.strip_prefix(*word).is_some_and(|after| after.starts_with([':', '：']));
        if AFTER.iter().any(begins) {
            return Step::Got(closed.unwrap_or(Follower::Other));
        }
        if !input.done && AFTER.iter().any(|word| word.starts_with(rest)) {
            return Step::More;
        }
        match token::read(rest, input.done, input.custom) {
            Step::More => return Step::More,
            // The turn has ended, and what another speaker says is not part of it.
            Step::Got(markup) if markup.begins_turn() => {
                return Step::Got(closed.unwrap_or(Follower::End));
            }
            // Markup that closes or means nothing shows nothing about what follows it.
            Step::Got(markup) if markup.closes() || markup.is_noise() => {
                closed = closed.or(markup.closes_calls().then_some(Follower::Closer));
                at += markup.len();
                continue;
            }
            // Case: dialects/use_mcp_tool/example-in-fence
            Step::Got(markup) if markup.closes_part() => {
                at += markup.len();
                continue;
            }
            Step::Got(_) => return Step::Got(closed.unwrap_or(Follower::Other)),
            Step::No => {}
        }
        return match rules.requested_bare_form().or(rules.model_form.filter(|_| rules.first)) {
            Some(_) => Step::Got(closed.unwrap_or(Follower::Other)),
            None => match read_candidate(input, at, rules) {
                Step::Got(_) => Step::Got(closed.unwrap_or(Follower::Other)),
                Step::More => Step::More,
                Step::No => Step::No,
            },
        };
    }
}

/// Whether nothing but calls or markup follows the calls of a list. Words show that the whole list is an example.
// Case: dialects/hostile/list-in-fence-then-words
pub(crate) fn ends_sequence(input: Input<'_>, from: usize, rules: InferenceRules<'_>) -> Step<()> {
    check_after_call(input, from, rules).map(|_| ())
}

/// Words that begin the next line of the `Action:` pattern.
const AFTER: &[&str] = &["Observation", "Action", "Action Input", "Thought", "观察", "动作", "思考"];

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
    if matches!(first, '*' | '-') {
        match read_headed(input, at, rules) {
            Step::No => {}
            other => return other,
        }
    }
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
        '`' | '~' => fence::read(input, at, rules),
        '"' | '\'' if asks_for_python(rules) => read_sequence(input, at, Place::Framed, rules),
        '<' => read_element(input, at, rules),
        '@' | '/' => read_prefixed(input, at + 1, rules),
        '>' => read_recipient(input, at, rules),
        '=' => read_headless_tag(input, at, rules),
        '0'..='9' | '-' | '*' if asks_for_python(rules) => read_list_item(input, at, rules),
        '*' | '-' | '|' if rules.eager => read_opt_in(input, at, rules),
        _ if first.is_alphabetic() || first == '_' => read_word(input, at, rules),
        _ => Step::No,
    }
}

/// The position, if it is near enough. Whether text farther away has arrived must not matter.
fn within_word(length: Option<usize>) -> Option<usize> {
    length.filter(|&length| length <= MAX_WORD)
}

/// Whether an object may be a call, judged by its first key.
// Case: dialects/hostile/answer-record
fn plausible(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<()> {
    let inner = input.skip_whitespace(at + 1);
    let rest = input.rest(inner).trim_start_matches(['{', ' ', '\n']);
    let key = rest.trim_start_matches(['"', '\'', '“']);
    let length = key.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-' || ch == '.'));
    let Some(length) = within_word(length) else {
        return if input.done || key.len() > MAX_WORD { Step::No } else { Step::More };
    };
    let key = &key[..length];
    let known = envelope::is_call_key(key) || rules.judge.has_tool(key) || rules.judge.is_argument_key(key);
    if known || rules.requested.is_some() || rules.request.demands_call() { Step::Got(()) } else { Step::No }
}

fn asks_for_python(rules: InferenceRules<'_>) -> bool {
    rules.requested_form() == Some(Form::Python)
}

/// Reads a sequence of calls in Python's notation, if one begins here.
fn read_sequence(input: Input<'_>, at: usize, place: Place, rules: InferenceRules<'_>) -> Step<Block> {
    match call_sequence::begins(input, at, rules) {
        Step::Got(()) => {
            let dialect = input.custom.row_of(&[], Form::Python);
            call_sequence::read(input, at, place, dialect, rules)
        }
        Step::More => Step::More,
        Step::No => Step::No,
    }
}

/// Reads a call that is an item of a list in Markdown, or in bold letters, where calls were asked for.
// Case: dialects/pythonic/list-items
fn read_list_item(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = &rest[digits..];
    let length = match mark.as_bytes() {
        [] | [b'.' | b')' | b'-' | b'*'] if !input.done => return Step::More,
        [b'.' | b')', b' ', ..] if digits > 0 && digits < 4 => digits + 2,
        [b'-' | b'*', b' ', ..] | [b'*', b'*', ..] if digits == 0 => 2,
        _ => return Step::No,
    };
    let place = if input.byte(at + length) == Some(b'`') { Place::Framed } else { Place::Line };
    let found = read_sequence(input, at + length, place, rules);
    let bold = mark.starts_with("**");
    if matches!(&found, Step::Got(block) if bold && !input.done && input.rest(block.end).len() < 2) {
        return Step::More;
    }
    found.map(|mut block| {
        if bold && input.rest(block.end).starts_with("**") {
            block.end += 2;
        }
        if let Some(first) = block.calls.first_mut() {
            first.at.start = at;
        }
        if let Some(last) = block.calls.last_mut() {
            last.at.end = block.end;
        }
        block
    })
}

/// Reads a list of calls, or one of the forms in brackets.
// Case: dialects/pythonic/strings
fn read_bracket(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match call_sequence::begins(input, at, rules) {
        Step::Got(()) => return read_sequence(input, at, Place::Framed, rules),
        Step::More => return Step::More,
        Step::No => {}
    }
    let inner = input.skip_whitespace(at + 1);
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
    read_in_brackets(input, at, rules)
}

/// Words before the name in `[tool_call: f {…}]` and its relatives.
const BRACKET_WORDS: &[&str] =
    &["tool_call:", "Calling tool:", "tool:", "function_call:", "tool_code:", "TOOL_CALL:"];

/// Reads `[tool_call: f {…}]` and `[f]{…}[/f]`.
// Case: dialects/bracket/calling
// Case: dialects/bracket/named
fn read_in_brackets(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match read_attributes(input, at, rules) {
        Step::No => {}
        other => return other,
    }
    let rest = input.rest(at + 1);
    if !input.done && BRACKET_WORDS.iter().any(|word| rest.len() < word.len() && word.starts_with(rest)) {
        return Step::More;
    }
    if let Some(word) = BRACKET_WORDS.iter().find(|word| rest.starts_with(**word)) {
        let from = input.skip_whitespace(at + 1 + word.len());
        let from = from + usize::from(input.byte(from) == Some(b'@'));
        // One of the words is followed by Gemma's notation, which includes JSON.
        let block = if *word == "tool_code:" {
            gemma::read_call(input, from, recognised(Recognition::GemmaLine)).map(Block::one)
        } else {
            read_named(input, at, from, rules)
        };
        return block.map(|mut block| {
            let close = input.skip_whitespace(block.end);
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
    let body = input.skip_whitespace(at + 1 + length + 1);
    match input.byte(body) {
        None if !input.done => Step::More,
        Some(b'{') => {
            let mut reader = new_reader(input, at, rules, &[]);
            reader.name = Some(name.to_owned());
            let closer = [format!("[/{name}]"), "[END_TOOL_REQUEST]".to_owned()];
            reader.read(body).map(|mut block| {
                let close = input.skip_whitespace(block.end);
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

/// Reads `[Calling tool="f" key="value"]`.
// Case: dialects/calling_tool/single
fn read_attributes(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let dialect = recognised(Recognition::AttributesInBrackets);
    let rest = input.rest(at);
    let Some(mark) = dialect.marks.iter().find(|mark| rest.starts_with(**mark)) else {
        let half = !input.done && dialect.marks.iter().any(|mark| mark.starts_with(rest));
        return if half { Step::More } else { Step::No };
    };
    match attribute_list::read(input, at + mark.len()) {
        Step::Got(list) if rules.judge.has_tool(&list.name) => Step::Got(Block::one(RawCall {
            name: list.name,
            id: None,
            arguments: list.arguments,
            at: at..list.end,
            ending: list.ending,
            dialect,
            damaged: false,
            open: None,
        })),
        Step::More => Step::More,
        _ => Step::No,
    }
}

/// Reads calls after the heading that their family writes before them.
// Case: dialects/rwkv/single
// Case: dialects/hyperclova/role-without-tokens
fn read_headed(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let Some(row) = table::headed_rows().iter().find(|row| rest.starts_with(row.heading)) else {
        let half = !input.done && table::headed_rows().iter().any(|row| row.heading.starts_with(rest));
        return if half { Step::More } else { Step::No };
    };
    let body = input.skip_whitespace(at + row.heading.len());
    let found = match input.byte(body) {
        None if !input.done => return Step::More,
        Some(b'`') => fence::read(input, body, rules),
        Some(b'[' | b'{') => new_reader(input, at, rules, &[]).read(body),
        _ => return Step::No,
    };
    found.map(|mut block| {
        for call in &mut block.calls {
            call.dialect = row;
        }
        if let Some(first) = block.calls.first_mut() {
            first.at.start = at;
        }
        block
    })
}

/// Reads `<read_file>…</read_file>`, if such a tool is declared.
fn read_element(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    match super::tag::read(input.rest(at), input.done, input.custom) {
        Step::Got(tag) if !tag.close => match tool_of_element(tag.word, rules.judge) {
            Some(_) => new_reader(input, at, rules, &[]).read(at),
            None => Step::No,
        },
        Step::More => {
            let rest = input.rest(at + 1);
            let length = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                .count();
            let word = &rest[..length];
            let bare = word.strip_prefix(TOOL_PREFIX).unwrap_or(word);
            let known = if length < rest.len() {
                tool_of_element(word, rules.judge).is_some()
            } else {
                rules.judge.may_begin_tool_name(word)
                    || rules.judge.may_begin_tool_name(bare)
                    || TOOL_PREFIX.starts_with(word)
                    || !rules.judge.has_tools() && bare.len() < word.len()
            };
            if known { Step::More } else { Step::No }
        }
        _ => Step::No,
    }
}

/// Reads `>>>f` on a line, then the arguments.
fn read_recipient(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    if !input.done && ">>>".starts_with(rest) {
        return Step::More;
    }
    if !rest.starts_with(">>>") {
        return Step::No;
    }
    match read_code_for_recipient(input, at, rules) {
        Step::No => {}
        other => return other,
    }
    read_named(input, at, at + 3, rules).map(|mut block| {
        for call in &mut block.calls {
            call.dialect = recognised(Recognition::RecipientLine);
        }
        block
    })
}

/// Reads `>>>python` on a line, then code, if that tool runs code. The next recipient or the end of the turn ends it.
// Case: dialects/functionary_v32/python
fn read_code_for_recipient(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let Some((name, key)) = rules.judge.interpreter() else { return Step::No };
    let header = format!(">>>{name}\n");
    let Some(code) = input.rest(at).strip_prefix(&header) else {
        let half = !input.done && header.starts_with(input.rest(at));
        return if half { Step::More } else { Step::No };
    };
    let from = at + header.len();
    if code.is_empty() && !input.done {
        return Step::More;
    }
    if code.starts_with(['{', '\n']) || code.is_empty() {
        return Step::No;
    }
    let mut end = code.find("\n>>>").map(|length| from + length);
    for (offset, _) in code.match_indices("<|") {
        match input.markup(from + offset) {
            Step::Got(markup) if markup.closes() || markup.is_noise() => {
                end = Some(end.unwrap_or(usize::MAX).min(from + offset));
                break;
            }
            Step::More => return Step::More,
            _ => {}
        }
    }
    let (end, ending) = match end {
        Some(end) => (end, Ending::Complete),
        None if input.done => (input.text.len(), Ending::Open),
        None => return Step::More,
    };
    let place = from..from + input.text[from..end].trim_end().len();
    let value = RawValue::String(input.text[place.clone()].to_owned());
    Step::Got(Block::one(RawCall {
        name,
        id: None,
        arguments: RawArguments::Fields(vec![Field { key, value, at: place }]),
        at: at..end,
        ending,
        dialect: recognised(Recognition::RecipientLine),
        damaged: false,
        open: None,
    }))
}

/// Reads `function=f><parameter=…`: the start of the tag was lost.
fn read_headless_tag(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    let rest = input.rest(at);
    let Some(length) = within_word(rest.find('>')) else {
        return if input.done || rest.len() > MAX_WORD || rest.contains(' ') { Step::No } else { Step::More };
    };
    let name =
        rest[..length].strip_prefix("function").unwrap_or(&rest[..length]).trim_start_matches('=').to_owned();
    let body = input.skip_whitespace(at + length + 1);
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
    let stopped = rules.stopped;
    let opened =
        tagged::CallHeader { name, id: None, at, body, dialect, damaged: true, element: None, stopped };
    tagged::read(input, opened, rules.judge).map(Block::one)
}

/// Reads `f/{…}`.
fn read_slashed_json(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Option<Step<Block>> {
    let (name, body) = input.rest(at).split_once('/')?;
    if !body.starts_with('{') || !rules.judge.has_tool(name) {
        return None;
    }
    let mut reader = new_reader(input, at, rules, &[]);
    reader.name = Some(name.to_owned());
    Some(reader.read(at + name.len() + 1))
}

/// Reads the forms that are off by default.
fn read_opt_in(input: Input<'_>, at: usize, rules: InferenceRules<'_>) -> Step<Block> {
    if let Some(found) = read_slashed_json(input, at, rules) {
        return found;
    }
    if rules.first { opt_in::read(input, at, rules.judge) } else { Step::No }
}
