//! Chat logs: requests, answers, and records that hold both.

use toolmend::Finish;
use toolmend_json::{Edits, ValueRef as View};

use super::{Found, listed, row};
use crate::judge::{Desk, Row, Written};

/// Whose calls are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calls {
    /// `tool_calls`, `function_call` and items of Responses.
    pub(super) openai: bool,
    /// Blocks of `tool_use`.
    pub(super) anthropic: bool,
}

/// Where requests and answers stand in a row: it is one itself, or holds them as gateways and batch files write them.
const SCOPES: &[&[&str]] =
    &[&[], &["request"], &["request", "body"], &["body"], &["response"], &["response", "body"]];

/// Judges every call of the row.
pub(super) fn mend(calls: Calls, found: Found<'_>, desk: &mut Desk<'_>, edits: &mut Edits) {
    let scopes: Vec<(String, View<'_>)> = SCOPES
        .iter()
        .filter_map(|path| {
            let view = path.iter().try_fold(found.root, |view, name| view.get(name))?;
            view.is_object().then(|| (path.iter().flat_map(|name| ["/", name]).collect(), view))
        })
        .collect();
    let first = |name: &str| scopes.iter().find_map(|(_, scope)| scope.some(name));
    let tools = first("tools").or_else(|| first("functions")).and_then(|tools| listed(tools, desk));
    let model = first("model");
    let mut row = row(found, desk, edits, model, (tools.as_deref(), None));
    for (path, scope) in &scopes {
        self::scope(calls, &mut row, path, *scope);
    }
}

fn scope(calls: Calls, row: &mut Row<'_, '_>, path: &str, scope: View<'_>) {
    for (index, message) in elements(scope, "messages") {
        self::message(calls, row, message, Finish::Unknown, &|| format!("{path}/messages/{index}"));
    }
    for (index, choice) in elements(scope, "choices") {
        let finish = finish(choice.get("finish_reason"));
        if let Some(message) = choice.some("message") {
            self::message(calls, row, message, finish, &|| format!("{path}/choices/{index}/message"));
        }
    }
    // An answer of Messages is a message itself.
    if calls.anthropic && scope.get("content").is_some_and(View::is_array) {
        blocks(row, scope, finish(scope.get("stop_reason")), &|| path.to_owned());
    }
    if calls.openai {
        for list in ["input", "output"] {
            for (index, item) in elements(scope, list) {
                if item.get_text("type").as_deref() == Some("function_call") {
                    call(row, item, Finish::Unknown, &|| format!("{path}/{list}/{index}"));
                }
            }
        }
    }
}

fn message(
    calls: Calls,
    row: &mut Row<'_, '_>,
    message: View<'_>,
    finish: Finish,
    path: &dyn Fn() -> String,
) {
    if message.get_text("role").is_some_and(|role| role != "assistant" && role != "model") {
        return;
    }
    if calls.openai {
        for (index, item) in elements(message, "tool_calls") {
            let (function, inner) = match item.some("function") {
                Some(function) => (function, "/function"),
                None => (item, ""),
            };
            call(row, function, finish, &|| format!("{}/tool_calls/{index}{inner}", path()));
        }
        if let Some(function) = message.some("function_call") {
            call(row, function, finish, &|| format!("{}/function_call", path()));
        }
    }
    if calls.anthropic {
        blocks(row, message, finish, path);
    }
}

fn call(row: &mut Row<'_, '_>, function: View<'_>, finish: Finish, path: &dyn Fn() -> String) {
    if function.is_object() {
        let (name, arguments) = (function.get("name"), function.get("arguments"));
        let call = Written { name, arguments, as_value: false, finish };
        row.call(&call, || format!("{}/arguments", path()));
    }
}

fn blocks(row: &mut Row<'_, '_>, message: View<'_>, finish: Finish, path: &dyn Fn() -> String) {
    for (index, block) in elements(message, "content") {
        if block.get_text("type").as_deref() == Some("tool_use") {
            let (name, arguments) = (block.get("name"), block.get("input"));
            let call = Written { name, arguments, as_value: true, finish };
            row.call(&call, || format!("{}/content/{index}/input", path()));
        }
    }
}

fn finish(reason: Option<View<'_>>) -> Finish {
    reason.and_then(View::text).map_or(Finish::Unknown, |reason| Finish::from_reason(&reason))
}

/// The elements of the list of that name.
fn elements<'d>(of: View<'d>, name: &str) -> impl Iterator<Item = (usize, View<'d>)> + use<'d> {
    of.get(name).filter(|list| list.is_array()).into_iter().flat_map(View::items).enumerate()
}
