//! The batch protocol: one JSON object in, one JSON object out.

mod answer;
mod cache;
mod record;
mod rules;

use std::panic::{self, AssertUnwindSafe};

use toolmend::{Encoding, Finish, Verdict};

pub use self::answer::Answer;
use self::record::{BadRecord, Record, Task};
use self::rules::Judged;
pub(crate) use self::rules::{ANYTHING, Compiled, NO_TOOLS};
pub use self::rules::{Rules, Tools};

/// One call or text that was judged on the way to an answer.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The id of the model, where the record tells it.
    pub model: Option<&'a str>,
    /// The tool that is meant, or the name as it was written.
    pub tool: Option<&'a str>,
    /// What came in.
    pub input: &'a str,
    /// What became of it.
    pub verdict: &'a Verdict<'a>,
}

/// The answer to one line of the protocol. `see` is told every call that was judged.
///
/// ```
/// use toolmend_batch::protocol::{Rules, answer};
/// let rules = Rules::new(toolmend::Policy::default(), toolmend::Mender::builder(), None);
/// let line = answer(1, br#"{"id": 7, "json": "{a: 1}"}"#, &rules, &mut |seen| assert!(seen.verdict.json().is_some()));
/// assert!(line.into_line().starts_with(br#"{"id":7,"outcome":"mended","value":{"a":1},"#));
/// ```
pub fn answer(number: u64, line: &[u8], rules: &Rules, see: &mut dyn FnMut(&Seen<'_>)) -> Answer {
    let record = match Record::read(line) {
        Ok(record) => record,
        Err(BadRecord { id, message }) => return Answer::error(id, &format!("line {number}: {message}")),
    };
    // One record must not end the run for all others, whatever it hits.
    panic::catch_unwind(AssertUnwindSafe(|| mended(&record, rules, see))).unwrap_or_else(|_| {
        Answer::error(record.id, &format!("line {number}: an internal error; please report this record"))
    })
}

/// The answer to a line that is too long to be read.
pub fn too_long(number: u64, longest: usize) -> Answer {
    let message = format!("line {number}: longer than {longest} bytes; raise --max-line-bytes to read it");
    Answer::error(None, &message)
}

fn mended(record: &Record<'_>, rules: &Rules, see: &mut dyn FnMut(&Seen<'_>)) -> Answer {
    let finish = record.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason);
    let model = record.model.as_deref();
    let (judged, called, input, encoding) = match &record.task {
        Task::Json(text) => {
            (rules.judge_json(text, record.schema, finish), None, text, Encoding::new().value_field("value"))
        }
        Task::Arguments { tool, text, from_value } => {
            let called = tool.as_deref();
            let name = called.unwrap_or_default();
            let judged = rules.judge_arguments(name, text, record.tools, record.schema, finish);
            let encoding = Encoding::new().value_field("arguments").called_tool(called);
            (judged, called, text, if *from_value { encoding.without_positions() } else { encoding })
        }
        Task::Text(pieces) => {
            let (turn, notes) = rules.take_apart(pieces, record, finish);
            for call in &turn.calls {
                see(&Seen { model, tool: Some(&call.name), input: &call.raw, verdict: &call.verdict });
            }
            return Answer::to_record(record.id, &Encoding::new().notes(&notes).encode(&turn));
        }
    };
    let Judged { verdict, notes } = &judged;
    see(&Seen { model, tool: verdict.tool().or(called), input, verdict });
    Answer::to_record(record.id, &encoding.input(input).notes(notes).encode(verdict))
}
