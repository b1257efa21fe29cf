//! Message headers: who a message is for, and therefore what it is.
//!
//! This module reads one header. It never reads the body of the message.

use super::input::{Input, Step};
use super::token::{self, Header, Markup, Role};

/// A longer header is text.
const MAX_HEADER: usize = 400;
/// One with more pieces, too.
const MAX_PIECES: usize = 12;

/// What the message after a header is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Content,
    /// Content that is addressed to the user by name.
    User,
    Reasoning,
    /// A call of this tool.
    Call(String),
    /// For something that is not a declared tool, such as a built-in browser.
    Ignored,
    /// It is not the model that speaks.
    Other,
}

/// Recipients that are not tools.
const NO_TOOLS: &[&str] =
    &["assistant", "user", "self", "all", "system", "developer", "none", "final", "analysis", "commentary"];

/// Reads `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>` in all its variants. The
/// text may begin at any of these tokens. Returns the route and the position after the header.
// Case: dialects/harmony/recipient-in-role
pub(crate) fn read(input: Input<'_>, from: usize, known: &dyn Fn(&str) -> bool) -> Step<(Route, usize)> {
    let mut at = from;
    let mut words = String::new();
    for _ in 0..MAX_PIECES {
        let rest = input.rest(at);
        let Some(offset) = rest.find('<') else {
            if !input.done && rest.len() <= MAX_HEADER {
                return Step::More;
            }
            // The kind of the body was cut.
            let at = if "json".starts_with(rest.trim()) { input.text.len() } else { at };
            return no_message(input, from, &words, at);
        };
        words.push_str(&rest[..offset]);
        words.push(' ');
        at += offset;
        if at - from > MAX_HEADER {
            return Step::No;
        }
        match input.markup(at) {
            Step::More => return Step::More,
            Step::Got(Markup::Token { role: Role::Message, len, .. }) => {
                return Step::Got((route(&words, known), at + len));
            }
            Step::Got(Markup::Token { role: Role::Header(Header::Channel) | Role::Noise, len, spelling }) => {
                at += len;
                // What comes before another start is a header that was left unfinished.
                // Case: dialects/harmony/header-begun-again
                if spelling == "<|start|>" && !has_other_author(&words) {
                    words.clear();
                }
                if spelling == "<|channel|>" {
                    words.push_str("channel=");
                    // One family writes a blank after every token.
                    // Case: dialects/harmony/blanks-after-tokens
                    at += input.rest(at).len() - input.rest(at).trim_start_matches(' ').len();
                }
            }
            _ => return no_message(input, from, &words, at),
        }
    }
    Step::No
}

/// Handles a header that never reaches its message token. Alone at the end of the output it is dropped; anywhere else
/// it is text.
fn no_message(input: Input<'_>, from: usize, words: &str, at: usize) -> Step<(Route, usize)> {
    let rest = input.rest(at).trim();
    let only_header = rest.is_empty() || token::read(rest, false, input.custom) == Step::More;
    if input.done && only_header && input.text.len() - from < MAX_HEADER && !words.trim().contains('\n') {
        return Step::Got((Route::Ignored, input.text.len()));
    }
    Step::No
}

/// The channels of messages.
const CHANNELS: &[&str] = &["analysis", "commentary", "final"];

/// Authors of messages other than the model.
const OTHERS: &[&str] = &["user", "system", "developer", "tool", "function"];

/// Whether the header says that a user, a tool or the system speaks. A tool speaks to the model.
// Case: dialects/harmony/turn-of-the-user
fn has_other_author(words: &str) -> bool {
    let author = words.split_whitespace().next().unwrap_or_default();
    OTHERS.contains(&author) || author.starts_with("functions.") && words.contains("to=assistant")
}

/// The recipient that the header names last. One in a channel does not hold for the message of another channel.
// Case: dialects/harmony/channel-begun-again
// Case: dialects/harmony/recipient-of-another-channel
fn find_recipient<'w>(words: &'w str) -> Option<&'w str> {
    let name_in = |part: &'w str| {
        let mut names = part.split_whitespace().filter_map(|word| {
            let (_, name) = word.split_once("to=")?;
            let name = name.trim_end_matches(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
            (!name.is_empty()).then_some(name)
        });
        names.next_back()
    };
    let mut parts = words.split("channel=");
    let author = parts.next().and_then(name_in);
    let mut recipient = author;
    for part in parts {
        let is_channel = CHANNELS.iter().any(|channel| part.trim_start().starts_with(channel));
        recipient = name_in(part).or(if is_channel { author } else { recipient });
    }
    recipient
}

fn route(words: &str, known: &dyn Fn(&str) -> bool) -> Route {
    if has_other_author(words) {
        return Route::Other;
    }
    let recipient = find_recipient(words);
    let channel = words
        .split_whitespace()
        .filter_map(|word| word.split_once("channel="))
        .map(|(_, name)| name)
        .next_back();
    if let Some(name) = recipient.filter(|name| !NO_TOOLS.contains(name)) {
        if let Some(function) = name.strip_prefix("functions.") {
            return Route::Call(function.to_owned());
        }
        let builtin = ["browser", "python", "container"]
            .iter()
            .any(|tool| name == *tool || name.starts_with(&format!("{tool}.")));
        return if builtin && !known(name) { Route::Ignored } else { Route::Call(name.to_owned()) };
    }
    match (recipient, channel) {
        (Some("self"), _) => Route::Reasoning,
        (Some("user"), _) => Route::User,
        (_, Some(channel)) if channel.starts_with("analysis") => Route::Reasoning,
        _ => Route::Content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::custom::CustomTable;

    fn check(text: &str, route: Route) {
        let none = |_: &str| false;
        assert_eq!(
            read(Input::new(text, true, CustomTable::empty()), 0, &none),
            Step::Got((route, text.len())),
            "{text}"
        );
    }

    #[test]
    fn headers_are_read_in_all_orders() {
        let call = |name: &str| Route::Call(name.to_owned());
        check("<|channel|>analysis<|message|>", Route::Reasoning);
        check("<|start|>assistant<|channel|>final<|message|>", Route::Content);
        check("<|channel|>commentary<|message|>", Route::Content);
        check("<|channel|>commentary to=functions.f <|constrain|>json<|message|>", call("f"));
        check(
            "<|start|>assistant to=functions.math.sum<|channel|>commentary json<|message|>",
            call("math.sum"),
        );
        check(" to=self<|message|>", Route::Reasoning);
        check(" to=user<|message|>", Route::User);
        check("<|start|>assistant to=f<|message|>", call("f"));
        check("<|start|>user<|message|>", Route::Other);
        check("<|start|>functions.f to=assistant<|channel|>commentary<|message|>", Route::Other);
        check("<|channel|>analysis to=browser.search code<|message|>", Route::Ignored);
        check("<|channel|>analysis to=functions.f code<|message|>", call("f"));
    }
}
