//! Lines of the rejects file: what was left unchanged, where, and why.
//!
//! The functions append one JSON object with a line end to a buffer. Nothing is written to a file here.

use toolmend::{Refusal, Verdict};
use toolmend_json::{Object, array};

/// Where a rejected row or call is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RejectLocation<'a> {
    /// The file, named as the user named it.
    pub(crate) file: &'a str,
    /// The line or row, counted from 1.
    pub(crate) row: u64,
    /// A JSON pointer into the row, or the name of a column. Empty for the row as a whole.
    pub(crate) at: &'a str,
}

impl RejectLocation<'_> {
    fn to_object(self) -> Object {
        let object = Object::new().text("file", self.file).number("row", self.row);
        if self.at.is_empty() { object } else { object.text("at", self.at) }
    }
}

/// Appends the line for a row that could not be read.
pub(crate) fn append_unreadable_row(out: &mut Vec<u8>, location: RejectLocation<'_>, error: &str) {
    append_line(out, location.to_object().text("error", error));
}

/// Appends the line for a call that was refused.
pub(crate) fn append_refused_call(
    out: &mut Vec<u8>,
    location: RejectLocation<'_>,
    (model, tool): (&str, &str),
    verdict: &Verdict<'_>,
    input: &str,
) {
    let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let refusal = verdict.refusal();
    let feedback = verdict.feedback().or_else(|| refusal.map(|refusal| refusal.message.as_str()));
    let mut object = location.to_object();
    object = object.maybe_text("model", name(model)).maybe_text("tool", name(tool));
    object = object.text("outcome", verdict.outcome().name());
    object = object.maybe_text("reason", verdict.reason().map(toolmend::Reason::name));
    object = object.maybe_text("cut", refusal.and_then(|refusal: &Refusal| refusal.cut.as_deref()));
    let readings = refusal.map(|refusal| &refusal.readings).filter(|readings| !readings.is_empty());
    let readings = readings.map(|readings| array(readings.iter().map(|one| toolmend_json::quote(one))));
    object = object.maybe("readings", readings).maybe_text("feedback", feedback);
    append_line(out, object.text("raw", input));
}

/// Appends the line for a call that was mended, but cannot be written where it was found.
pub(crate) fn append_unwritten_call(
    out: &mut Vec<u8>,
    location: RejectLocation<'_>,
    tool: &str,
    why: &str,
    input: &str,
) {
    let object = location.to_object().text("tool", tool).text("outcome", "unwritten").text("error", why);
    append_line(out, object.text("raw", input));
}

fn append_line(out: &mut Vec<u8>, object: Object) {
    out.extend_from_slice(object.end().as_bytes());
    out.push(b'\n');
}
