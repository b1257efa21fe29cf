//! The batch protocol: one JSON object in, one JSON object out.
//!
//! This module answers single lines. It reads and writes no files, and it keeps nothing between lines but compiled tools and
//! schemas.

mod answer;
mod record;
mod rules;
mod shared_cache;

use std::panic::{self, AssertUnwindSafe};

use toolmend::{Encoding, Finish, Verdict};

pub use self::answer::Answer;
use self::record::{BadRecord, Record, Task};
use self::rules::NotedVerdict;
#[cfg(feature = "files")]
pub(crate) use self::rules::{CompiledSchema, NO_TOOLS, UNCONSTRAINED};
pub use self::rules::{Rules, Tools};

/// A call or text that was judged for an answer.
#[derive(Debug)]
pub struct JudgedCall<'a> {
    /// The model, if the record names it.
    pub model: Option<&'a str>,
    /// The tool, or the name in the record if it matches no tool.
    pub tool: Option<&'a str>,
    /// The input.
    pub input: &'a str,
    /// The verdict about it.
    pub verdict: &'a Verdict<'a>,
}

/// Answers one line of the protocol. `number` is the number of the line, for messages. `observe` is called with every call that
/// was judged.
///
/// ```
/// use toolmend_batch::protocol::{Rules, answer_line};
/// let rules = Rules::new(toolmend::Policy::default(), toolmend::Mender::builder(), None);
/// let line = answer_line(1, br#"{"id": 7, "json": "{a: 1}"}"#, &rules, &mut |call| assert!(call.verdict.json().is_some()));
/// assert!(line.into_line().starts_with(br#"{"id":7,"outcome":"mended","value":{"a":1},"#));
/// ```
pub fn answer_line(
    number: u64,
    line: &[u8],
    rules: &Rules,
    observe: &mut dyn FnMut(&JudgedCall<'_>),
) -> Answer {
    let record = match Record::parse(line) {
        Ok(record) => record,
        Err(BadRecord { id, message }) => return Answer::error(id, &format!("line {number}: {message}")),
    };
    // A defect that one record triggers must not end the run for all others.
    panic::catch_unwind(AssertUnwindSafe(|| answer_record(&record, rules, observe))).unwrap_or_else(|_| {
        Answer::error(record.id, &format!("line {number}: an internal error; please report this record"))
    })
}

/// Answers a line that is too long to be read.
///
/// ```
/// use toolmend_batch::protocol::answer_long_line;
/// let answer = answer_long_line(3, 1000);
/// assert_eq!(answer.error_text(), Some("line 3: longer than 1000 bytes; raise --max-line-bytes to read it"));
/// ```
pub fn answer_long_line(number: u64, longest: usize) -> Answer {
    let message = format!("line {number}: longer than {longest} bytes; raise --max-line-bytes to read it");
    Answer::error(None, &message)
}

fn answer_record(record: &Record<'_>, rules: &Rules, observe: &mut dyn FnMut(&JudgedCall<'_>)) -> Answer {
    let finish = record.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason);
    let model = record.model.as_deref();
    let (noted, called, input, encoding) = match &record.task {
        Task::Json(text) => {
            (rules.mend_json(text, record.schema, finish), None, text, Encoding::new().value_field("value"))
        }
        Task::Arguments { tool, text, from_value } => {
            let called = tool.as_deref();
            let name = called.unwrap_or_default();
            let noted = rules.mend_arguments(name, text, record.tools, record.schema, finish);
            let encoding = Encoding::new().value_field("arguments").called_tool(called);
            (noted, called, text, if *from_value { encoding.without_positions() } else { encoding })
        }
        Task::Text(pieces) => {
            let (turn, notes) = rules.read_output(pieces, record, finish);
            for call in &turn.calls {
                observe(&JudgedCall {
                    model,
                    tool: Some(&call.name),
                    input: &call.raw,
                    verdict: &call.verdict,
                });
            }
            return Answer::to_record(record.id, &Encoding::new().notes(&notes).encode(&turn));
        }
    };
    let NotedVerdict { verdict, notes } = &noted;
    observe(&JudgedCall { model, tool: verdict.tool().or(called), input, verdict });
    Answer::to_record(record.id, &encoding.input(input).notes(notes).encode(verdict))
}
