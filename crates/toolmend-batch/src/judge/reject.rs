//! Lines of the rejects file: what was left as it was, where, and why.

use toolmend::{Refusal, Verdict};
use toolmend_json::{Object, array};

/// Where something stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The file's name as it was given.
    pub(crate) file: &'a str,
    /// The line or row, counted from 1.
    pub(crate) row: u64,
    /// A JSON pointer in the row, or the name of a column.
    pub(crate) at: &'a str,
}

impl Place<'_> {
    fn object(self) -> Object {
        let object = Object::new().text("file", self.file).number("row", self.row);
        if self.at.is_empty() { object } else { object.text("at", self.at) }
    }
}

/// A row that could not be read.
pub(crate) fn broken(out: &mut Vec<u8>, place: Place<'_>, error: &str) {
    end(out, place.object().text("error", error));
}

/// A call that was refused.
pub(crate) fn refused(
    out: &mut Vec<u8>,
    place: Place<'_>,
    (model, tool): (&str, &str),
    verdict: &Verdict<'_>,
    input: &str,
) {
    let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let refusal = verdict.refusal();
    let feedback = verdict.feedback().or_else(|| refusal.map(|refusal| refusal.message.as_str()));
    let mut object = place.object();
    object = object.maybe_text("model", name(model)).maybe_text("tool", name(tool));
    object = object.text("outcome", verdict.outcome().name());
    object = object.maybe_text("reason", verdict.reason().map(toolmend::Reason::name));
    object = object.maybe_text("cut", refusal.and_then(|refusal: &Refusal| refusal.cut.as_deref()));
    let readings = refusal.map(|refusal| &refusal.readings).filter(|readings| !readings.is_empty());
    let readings = readings.map(|readings| array(readings.iter().map(|one| toolmend_json::quote(one))));
    object = object.maybe("readings", readings).maybe_text("feedback", feedback);
    end(out, object.text("raw", input));
}

/// A call that was mended and cannot be written in its place.
pub(crate) fn unwritten(out: &mut Vec<u8>, place: Place<'_>, tool: &str, why: &str, input: &str) {
    let object = place.object().text("tool", tool).text("outcome", "unwritten").text("error", why);
    end(out, object.text("raw", input));
}

fn end(out: &mut Vec<u8>, object: Object) {
    out.extend_from_slice(object.end().as_bytes());
    out.push(b'\n');
}
