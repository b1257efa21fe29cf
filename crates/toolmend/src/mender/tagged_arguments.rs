//! Arguments in the tags of a model's own notation.
//!
//! Some servers cut a call out of the output and pass on its body unchanged: `<parameter=path>a.rs</parameter>` in
//! place of JSON. This module reads such a body with the same reader as the stream does, and only after the body failed
//! as JSON.

use super::call_verdict::{self, CallSite};
use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall};
use crate::dialect::table::{Recognition, recognised};
use crate::dialect::tagged::{self, CallHeader};
use crate::mender::Mender;
use crate::schema::guide::fold;
use crate::syntax::Finish;
use crate::turn::Source;
use crate::verdict::Verdict;

/// The verdict on arguments that consist of tags, if they can run.
pub(super) fn judge(
    mender: &Mender,
    tool: &str,
    arguments: &str,
    finish: Finish,
) -> Option<Verdict<'static>> {
    if !arguments.trim_start().starts_with('<') || arguments.len() > mender.inner.policy.limits.bytes {
        return None;
    }
    let opened = CallHeader {
        name: tool.to_owned(),
        id: None,
        at: 0,
        body: 0,
        dialect: recognised(Recognition::TaggedArguments),
        damaged: true,
        element: None,
        stopped: finish != Finish::Length,
    };
    let input = Input::new(arguments, true, mender.dialects().table());
    let Step::Got(call) = tagged::read(input, opened, mender) else { return None };
    let whole = arguments[call.at.end..].trim().is_empty();
    let RawArguments::Fields(fields) = &call.arguments else { return None };
    // An element of the tool's own name holds the arguments; it is none of them.
    let holds_arguments = |field: &Field| fold(&field.key) == fold(tool);
    // What has entities and no other markup may be escaped or not.
    // Case: syntax/entities-between-tags
    let may_be_escaped = |field: &Field| {
        let text = field.value.text();
        ["&lt;", "&gt;", "&quot;", "&amp;"].iter().any(|entity| text.contains(entity))
            && !text.contains(['<', '>', '"'])
    };
    if fields.iter().any(may_be_escaped) {
        return None;
    }
    if !whole || fields.is_empty() || fields.iter().any(holds_arguments) {
        return None;
    }
    // No tag around them can still be missing.
    let ending = match call.ending {
        Ending::Open if finish != Finish::Length => Ending::Complete,
        ending => ending,
    };
    let call = RawCall { ending, ..call };
    let found = CallSite { text: arguments, offset: 0, source: Source::Explicit, finish, known: &[] };
    let verdict = call_verdict::judge(mender, &call, found).pop()?.verdict;
    verdict.outcome().runs().then_some(verdict)
}
