//! Command lines as the arguments of a tool.
//!
//! Models that were trained on shells write `read --file main.go`. The schema says which field is meant. Values without flags
//! are read by `plain_value`.

use super::subcommand::{self, Subcommand};
use super::{ReadContext, number};
use crate::json::text::{quote, quote_into};
use crate::schema::guide::{KeyFit, SchemaPosition, Types, fold};

/// Reads text with `--flags`: flags and positional values by the schema.
// Case: syntax/command-line
pub(super) fn read_command_line(text: &str, tool: &str, context: &ReadContext<'_>) -> Option<String> {
    let words = split_words(text)?;
    let root = context.guide.root();
    let subcommand = find_subcommand(&words, tool, context);
    if !words.iter().any(Word::is_flag) || subcommand.is_none() && takes_a_command(root, context) {
        return None;
    }
    let position_of_flags = subcommand.as_ref().map_or(root, |subcommand| subcommand.position);
    let mut words = words.into_iter().peekable();
    let mut members: Vec<(String, String)> = Vec::new();
    let mut positionals: Vec<String> = Vec::new();
    let mut command = None;
    if let Some(subcommand) = subcommand {
        let word = words.next()?;
        let member = (subcommand.field, quote(&word.text));
        match subcommand.container {
            Some(container) => command = Some((member, container)),
            None => members.push(member),
        }
    } else if words
        .peek()
        .is_some_and(|word| fold(&word.text) == fold(tool) || tool_ends_with(tool, &word.text))
    {
        words.next();
    }
    while let Some(word) = words.next() {
        let Some(flag) = word.text.strip_prefix("--").filter(|flag| !word.quoted && !flag.is_empty()) else {
            if word.text.starts_with('-') && !word.quoted && number::spell_as_json(&word.text).is_none() {
                // A short flag has no name that a schema could declare.
                return None;
            }
            positionals.push(word.text);
            continue;
        };
        let (name, value) = if let Some((name, value)) = flag.split_once('=') {
            (name.to_owned(), Some(value.to_owned()))
        } else {
            let boolean =
                context.guide.types(context.guide.member(position_of_flags, flag)) == Types::BOOLEAN;
            let next = words.next_if(|next| !boolean && (next.quoted || !next.text.starts_with("--")));
            (flag.to_owned(), next.map(|word| word.text))
        };
        let (key, position) = find_property(&name, position_of_flags, context)?;
        // `--no-cache` says that `cache` is false, unless there is such a field.
        // Case: syntax/negated-flag
        let negates = value.is_none() && (name.starts_with("no-") || name.starts_with("no_"));
        if negates && position == SchemaPosition::ANY {
            return None;
        }
        let json = value.map_or_else(
            || takes_boolean(position, context),
            |value| Some(write_typed(&value, position, context)),
        )?;
        if members.iter().any(|(known, _)| *known == key) {
            return None;
        }
        members.push((key, json));
    }
    // Positional values go to the required fields that are still missing, if there are as many of them.
    let missing: Vec<(String, SchemaPosition)> = context
        .guide
        .properties(position_of_flags)
        .filter(|(name, _, required)| *required && !members.iter().any(|(known, _)| known == name))
        .map(|(name, position, _)| (name.to_owned(), position))
        .collect();
    if positionals.len() != missing.len() && !positionals.is_empty() || positionals.len() > 1 {
        return None;
    }
    for (value, (name, position)) in positionals.into_iter().zip(missing) {
        members.push((name, write_typed(&value, position, context)));
    }
    Some(match command {
        Some((command, container)) => write_object(&[command, (container, write_object(&members))]),
        None => write_object(&members),
    })
}

/// Whether the text is a subcommand with flags, which belong to fields of their own. Only a tool that declares nothing but the
/// command takes the whole line.
pub(super) fn begins_with_subcommand(text: &str, context: &ReadContext<'_>) -> bool {
    let Some(tool) = context.tool else { return false };
    let Some(words) = split_words(text) else { return false };
    let is_one = words.iter().any(Word::is_flag)
        && words.first().is_some_and(|word| subcommand::is_subcommand(&word.text, tool, context));
    is_one && context.guide.properties(context.guide.root()).count() != 1
}

fn find_subcommand(words: &[Word], tool: &str, context: &ReadContext<'_>) -> Option<Subcommand> {
    let first = words.first().filter(|word| !word.quoted)?;
    if !subcommand::is_subcommand(&first.text, tool, context) {
        return None;
    }
    let flags = words.iter().filter(|word| word.is_flag());
    subcommand::find_fields(flags.map(|word| word.text[2..].split('=').next().unwrap_or_default()), context)
}

/// The single required property, if it is a string.
fn only_string(root: SchemaPosition, context: &ReadContext<'_>) -> Option<String> {
    let mut required = context.guide.properties(root).filter(|(_, _, required)| *required);
    match (required.next(), required.next()) {
        (Some((name, position, _)), None) if context.guide.types(position).has(Types::STRING) => {
            Some(name.to_owned())
        }
        _ => None,
    }
}

/// Whether the tool's one string is a command. Then flags are part of the value.
fn takes_a_command(root: SchemaPosition, context: &ReadContext<'_>) -> bool {
    only_string(root, context).is_some_and(|name| {
        matches!(fold(&name).as_str(), "command" | "cmd" | "commands" | "script" | "shell")
    })
}

fn tool_ends_with(tool: &str, word: &str) -> bool {
    tool.split(['_', '-', '.']).any(|part| part.eq_ignore_ascii_case(word))
}

/// The declared property of that name; any name if there is no schema.
fn find_property(
    name: &str,
    root: SchemaPosition,
    context: &ReadContext<'_>,
) -> Option<(String, SchemaPosition)> {
    match context.guide.match_key(root, name) {
        KeyFit::Declared(index) => {
            context.guide.properties(root).nth(index).map(|(name, position, _)| (name.to_owned(), position))
        }
        KeyFit::Unknown => Some((name.to_owned(), SchemaPosition::ANY)),
        KeyFit::Undeclared => None,
    }
}

/// A word as JSON of the type that its position wants.
fn write_typed(word: &str, position: SchemaPosition, context: &ReadContext<'_>) -> String {
    let types = context.guide.types(position);
    let scalar = number::is_strict(word) && types.has(Types::NUMBER)
        || matches!(word, "true" | "false") && types.has(Types::BOOLEAN);
    if scalar && position != SchemaPosition::ANY && !types.has(Types::STRING) {
        word.to_owned()
    } else {
        quote(word)
    }
}

fn write_object(members: &[(String, String)]) -> String {
    let mut out = String::from("{");
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote_into(&mut out, key);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

struct Word {
    text: String,
    quoted: bool,
}

impl Word {
    fn is_flag(&self) -> bool {
        self.text.starts_with("--") && self.text.len() > 2 && !self.quoted
    }
}

/// Words as a shell splits them; `None` if a quote is left open, or if a shell would drop a quote or a backslash that may be
/// text.
// Case: syntax/command-line-with-backslashes
// Case: syntax/command-line-with-inner-quotes
fn split_words(text: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let mut word = Word { text: String::new(), quoted: false };
        while let Some(ch) = rest.chars().next().filter(|ch| !ch.is_whitespace()) {
            rest = &rest[ch.len_utf8()..];
            match ch {
                '"' | '\'' => {
                    // Quotes are around a whole word, or around the value of a flag.
                    let is_flag = word.text.starts_with("--") && word.text.ends_with('=');
                    if !word.text.is_empty() && !is_flag {
                        return None;
                    }
                    word.quoted |= word.text.is_empty();
                    rest = take_quoted(&mut word.text, rest, ch)?;
                    if rest.starts_with(|ch: char| !ch.is_whitespace()) {
                        return None;
                    }
                }
                '\\' => {
                    let escaped = rest.chars().next().filter(|ch| !ch.is_alphanumeric())?;
                    rest = &rest[escaped.len_utf8()..];
                    word.text.push(escaped);
                }
                other => word.text.push(other),
            }
        }
        words.push(word);
        rest = rest.trim_start();
    }
    Some(words)
}

/// Appends the text up to the closing quote, and returns what comes after it. Apostrophes keep everything, and an apostrophe
/// between them is written `'\\''` or `'"'"'`. Between quotes, a backslash stays unless it escapes what means something there.
fn take_quoted<'t>(word: &mut String, mut rest: &'t str, quote: char) -> Option<&'t str> {
    let start = word.len();
    let mut escapes = false;
    loop {
        let at = rest.find(if quote == '"' { ['"', '\\'] } else { [quote; 2] })?;
        word.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            let next = after.chars().next()?;
            escapes |= matches!(next, 'n' | 'r' | 't');
            if !matches!(next, '"' | '\\' | '$' | '`') {
                word.push('\\');
            }
            word.push(next);
            rest = &after[next.len_utf8()..];
            continue;
        }
        rest = &rest[1..];
        let apostrophe = ["\\''", "\"'\"'"].iter().find_map(|idiom| rest.strip_prefix(idiom));
        match apostrophe.filter(|_| quote == '\'') {
            Some(after) => {
                word.push('\'');
                rest = after;
            }
            None => break,
        }
    }
    // A shell keeps `\n` as it is, and a model may mean a line break. In a path it means a name.
    let is_path = matches!(&word.as_bytes()[start..], [_, b':', b'\\', ..]);
    (!escapes || is_path).then_some(rest)
}

/// What a flag without a value means, if it may be a boolean.
// Case: syntax/flag-without-value
fn takes_boolean(position: SchemaPosition, context: &ReadContext<'_>) -> Option<String> {
    context.guide.types(position).has(Types::BOOLEAN).then(|| "true".to_owned())
}
