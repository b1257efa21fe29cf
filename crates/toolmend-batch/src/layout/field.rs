//! One field of a row holds the arguments of a call.

use std::borrow::Cow;

use toolmend::Finish;
use toolmend_places::Edits;

use super::{Fields, Found, listed, row};
use crate::desk::{Desk, Written};

/// Judges the call of the row. The fields beside it mean what they mean in a record.
pub(super) fn mend(fields: &Fields, found: Found<'_>, desk: &mut Desk<'_>, edits: &mut Edits) {
    let root = found.root;
    let Some(arguments) = root.some(fields.column()) else { return };
    let tools = root.some("tools").and_then(|tools| listed(tools, desk));
    let schema = root.some("schema").map(|schema| schema.text().unwrap_or(Cow::Borrowed(schema.raw())));
    let finish =
        root.get_text("finish_reason").map_or(Finish::Unknown, |reason| Finish::from_reason(&reason));
    let mut row = row(found, desk, edits, root.get("model"), (tools.as_deref(), schema.as_deref()));
    match &fields.tool {
        None => {
            let call = Written {
                name: root.some(fields.tool_column()),
                arguments: Some(arguments),
                as_value: false,
                finish,
            };
            row.call(&call, || format!("/{}", fields.column()));
        }
        Some(tool) => row.call_of(tool, arguments, finish, || format!("/{}", fields.column())),
    }
}
