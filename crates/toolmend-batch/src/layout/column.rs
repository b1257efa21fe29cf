//! The layout `column`: one member of a row holds the arguments of a call.

use std::borrow::Cow;

use toolmend_json::Edits;

use super::{Fields, SourceRow, begin_row, read_finish, read_tool_list};
use crate::judge::{CallSite, WorkerState};

/// Judges the call of a row. The members next to it mean the same as in a record of the batch protocol.
pub(super) fn mend_row(
    fields: &Fields,
    source: SourceRow<'_>,
    worker: &mut WorkerState<'_>,
    edits: &mut Edits,
) {
    let [arguments, tool, tools, schema, finish, model] = source.root.members([
        fields.column(),
        fields.tool_column(),
        "tools",
        "schema",
        "finish_reason",
        "model",
    ]);
    let Some(arguments) = arguments.filter(|view| !view.is_null()) else { return };
    let tools = tools.filter(|view| !view.is_null()).and_then(|tools| read_tool_list(tools, worker));
    let schema = schema.filter(|view| !view.is_null());
    let schema = schema.map(|schema| schema.text().unwrap_or(Cow::Borrowed(schema.raw())));
    let finish = read_finish(finish);
    let mut row = begin_row(source, worker, edits, model, (tools.as_deref(), schema.as_deref()));
    let pointer = || format!("/{}", fields.column());
    match &fields.tool {
        None => {
            let call = CallSite { name: tool, arguments: Some(arguments), as_value: false, finish };
            row.mend_call(&call, pointer);
        }
        Some(tool) => row.mend_call_of(tool, arguments, finish, pointer),
    }
}
