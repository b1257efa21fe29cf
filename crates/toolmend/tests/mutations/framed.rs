//! Damaged arguments inside the markers of a dialect: their end has to be found before they can be mended.

use serde_json::Value;
use toolmend::{Finish, TurnOptions};

use crate::document::Document;
use crate::tally::Answer;

/// A dialect that writes arguments as JSON, around the name of a tool and its arguments.
pub(crate) type Frame = (&'static str, fn(&str, &str) -> String);

pub(crate) const FRAMES: &[Frame] = &[
    ("hermes_json", |tool, json| {
        format!("<tool_call>\n{{\"name\": \"{tool}\", \"arguments\": {json}}}\n</tool_call>")
    }),
    ("functionary_v31", |tool, json| format!("<function={tool}>{json}</function>")),
    ("deepseek_v31", |tool, json| {
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{tool}<｜tool▁sep｜>{json}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        )
    }),
    ("kimi_k2", |tool, json| {
        let name = format!("<|tool_call_begin|>functions.{tool}:0<|tool_call_argument_begin|>");
        format!("<|tool_calls_section_begin|>{name}{json}<|tool_call_end|><|tool_calls_section_end|>")
    }),
    ("mistral_name_args", |tool, json| format!("[TOOL_CALLS]{tool}[ARGS]{json}")),
];

/// The first call of a framed text that runs and is not the expected one.
pub(crate) fn judge(call: &Document, text: &str, expected: &Value) -> Answer {
    let turn = call.mender.turn(text, &TurnOptions::new(), Finish::Stop);
    let mut answer = Answer::default();
    for found in turn.calls.iter().filter(|found| found.outcome().runs()) {
        answer.runs = true;
        answer.repairs.extend_from_slice(found.verdict.repairs());
        if found.name != call.tool || found.verdict.value().as_ref() != Some(expected) {
            answer.wrong = Some(format!("{} {:?}", found.name, found.arguments()));
        }
    }
    answer
}
