//! The layouts `openai`, `anthropic` and `chat`: logs of requests, answers, and records that hold both.

use toolmend::Finish;
use toolmend_json::{Edits, ValueRef};

use super::{SourceRow, begin_row, read_finish, read_tool_list};
use crate::judge::{CallSite, RowMender, WorkerState};

/// Which notations of calls are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallNotations {
    /// `tool_calls`, `function_call` and items of the Responses API.
    pub(super) openai: bool,
    /// `tool_use` blocks.
    pub(super) anthropic: bool,
}

/// Where requests and answers are in a row: the row is one itself, or it holds them where gateways and batch files put them.
const SCOPES: &[&[&str]] =
    &[&[], &["request"], &["request", "body"], &["body"], &["response"], &["response", "body"]];

/// Judges every call of a row.
pub(super) fn mend_row(
    notations: CallNotations,
    source: SourceRow<'_>,
    worker: &mut WorkerState<'_>,
    edits: &mut Edits,
) {
    let scopes: Vec<(String, ValueRef<'_>)> = SCOPES
        .iter()
        .filter_map(|path| {
            let view = path.iter().try_fold(source.root, |view, name| view.get(name))?;
            view.is_object().then(|| (path.iter().flat_map(|name| ["/", name]).collect(), view))
        })
        .collect();
    let first = |name: &str| scopes.iter().find_map(|(_, scope)| scope.get_non_null(name));
    let tools = first("tools").or_else(|| first("functions")).and_then(|tools| read_tool_list(tools, worker));
    let model = first("model");
    let mut row = begin_row(source, worker, edits, model, (tools.as_deref(), None));
    for (path, scope) in &scopes {
        mend_scope(notations, &mut row, path, *scope);
    }
}

/// Judges the calls of a request or an answer.
fn mend_scope(notations: CallNotations, row: &mut RowMender<'_, '_>, path: &str, scope: ValueRef<'_>) {
    for (index, message) in elements(scope, "messages") {
        mend_message(notations, row, message, Finish::Unknown, &|| format!("{path}/messages/{index}"));
    }
    for (index, choice) in elements(scope, "choices") {
        let finish = read_finish(choice.get("finish_reason"));
        if let Some(message) = choice.get_non_null("message") {
            mend_message(notations, row, message, finish, &|| format!("{path}/choices/{index}/message"));
        }
    }
    // An answer of the Messages API is a message itself.
    if notations.anthropic && scope.get("content").is_some_and(ValueRef::is_array) {
        mend_blocks(row, scope, read_finish(scope.get("stop_reason")), &|| path.to_owned());
    }
    if notations.openai {
        for list in ["input", "output"] {
            for (index, item) in elements(scope, list) {
                if item.get_text("type").as_deref() == Some("function_call") {
                    mend_function(row, item, Finish::Unknown, &|| format!("{path}/{list}/{index}"));
                }
            }
        }
    }
}

fn mend_message(
    notations: CallNotations,
    row: &mut RowMender<'_, '_>,
    message: ValueRef<'_>,
    finish: Finish,
    path: &dyn Fn() -> String,
) {
    if message.get_text("role").is_some_and(|role| role != "assistant" && role != "model") {
        return;
    }
    if notations.openai {
        for (index, item) in elements(message, "tool_calls") {
            let (function, member) = match item.get_non_null("function") {
                Some(function) => (function, "/function"),
                None => (item, ""),
            };
            mend_function(row, function, finish, &|| format!("{}/tool_calls/{index}{member}", path()));
        }
        if let Some(function) = message.get_non_null("function_call") {
            mend_function(row, function, finish, &|| format!("{}/function_call", path()));
        }
    }
    if notations.anthropic {
        mend_blocks(row, message, finish, path);
    }
}

/// Judges a call with `name` and `arguments`.
fn mend_function(
    row: &mut RowMender<'_, '_>,
    function: ValueRef<'_>,
    finish: Finish,
    path: &dyn Fn() -> String,
) {
    if function.is_object() {
        let (name, arguments) = (function.get("name"), function.get("arguments"));
        let call = CallSite { name, arguments, as_value: false, finish };
        row.mend_call(&call, || format!("{}/arguments", path()));
    }
}

/// Judges the `tool_use` blocks of a message.
fn mend_blocks(
    row: &mut RowMender<'_, '_>,
    message: ValueRef<'_>,
    finish: Finish,
    path: &dyn Fn() -> String,
) {
    for (index, block) in elements(message, "content") {
        if block.get_text("type").as_deref() == Some("tool_use") {
            let (name, arguments) = (block.get("name"), block.get("input"));
            let call = CallSite { name, arguments, as_value: true, finish };
            row.mend_call(&call, || format!("{}/content/{index}/input", path()));
        }
    }
}

/// Iterates over the elements of the member `name`, if it is a list.
fn elements<'d>(of: ValueRef<'d>, name: &str) -> impl Iterator<Item = (usize, ValueRef<'d>)> + use<'d> {
    of.get(name).filter(|list| list.is_array()).into_iter().flat_map(ValueRef::items).enumerate()
}
