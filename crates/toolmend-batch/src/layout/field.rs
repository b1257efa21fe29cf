//! One field of a row holds the arguments of a call.

use std::borrow::Cow;

use toolmend::Finish;
use toolmend_json::{Edits, ValueRef as View};

use super::{Fields, Found, listed, row};
use crate::judge::{Desk, Written};

/// Judges the call of the row. The fields beside it mean what they mean in a record.
pub(super) fn mend(fields: &Fields, found: Found<'_>, desk: &mut Desk<'_>, edits: &mut Edits) {
    let [arguments, tool, tools, schema, finish, model] = found.root.members([
        fields.column(),
        fields.tool_column(),
        "tools",
        "schema",
        "finish_reason",
        "model",
    ]);
    let Some(arguments) = arguments.filter(|view| !view.is_null()) else { return };
    let tools = tools.filter(|view| !view.is_null()).and_then(|tools| listed(tools, desk));
    let schema = schema.filter(|view| !view.is_null());
    let schema = schema.map(|schema| schema.text().unwrap_or(Cow::Borrowed(schema.raw())));
    let finish = finish.and_then(View::text).map_or(Finish::Unknown, |reason| Finish::from_reason(&reason));
    let mut row = row(found, desk, edits, model, (tools.as_deref(), schema.as_deref()));
    match &fields.tool {
        None => {
            let call = Written { name: tool, arguments: Some(arguments), as_value: false, finish };
            row.call(&call, || format!("/{}", fields.column()));
        }
        Some(tool) => row.call_of(tool, arguments, finish, || format!("/{}", fields.column())),
    }
}
