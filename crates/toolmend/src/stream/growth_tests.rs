//! Promise 7 for outputs: what readers of markup spend grows no faster than the output, whole or in pieces.
//!
//! Each shape is a head, a unit that is repeated, and a tail. Many of them were found by `cargo xtask climb`. What counts is
//! what was charged: bytes that readers of markup read, and the questions they asked.

use serde_json::json;

use super::Stream;
use crate::{Finish, Mender, TurnOptions};

const SHAPES: &[(&str, &str, &str)] = &[
    ("\\\\=>", "[TOOL_CALLS]{\tC:\\0x1f\",\"it's--a ", "1,000‘[1,"),
    (
        "|...：",
        "</parameter></think>{\"a\":\", \"b\": \"<|im_end|><invoke name=\"f\">",
        "}```<<invoke name=\"f\">",
    ),
    ("{\"a\":\\d<|im_end|>=>", "\", \"b\": \"…'b':(<\\n<invoke name=\"f\"> `", "|--a <parameter=a>"),
    ("\\</function>Action: f\nAction Input: ", "```[TOOL_CALLS]{true[[]{}", "{\"a\": \"</tool_call>\"}"),
    ("{\"a\":12", "[TOOL_CALLS]it's=f(a=\u{a0}", "f(a=’："),
    ("-1x，[]", "[TOOL_CALLS]<|im_end|>{true<|im_end|>", "|\n\"\"\""),
    ("，{a:\"\"\"`", "[TOOL_CALLS]1.50x1fC:\\", "-1\\ud83d"),
    ("</function>`1,000{\"a\": \"‹", "`<tool_call><|im_end|><invoke name=\"f\">", "nullit's"),
    ("\"][see](x) ", ",<invoke name=\"f\"><|im_end|>>#", "0x1f$}, {..."),
    ("[C:\\", "{\"name\": \"f\", \"arguments\": {<function=f>", ""),
    ("‹\"\"\"", "$<invoke name=\"f\">‘</parameter>", ""),
    ("\t&quot;", "</think><tool_call>>[]", "[see](x) <parameter name=\"a\">"),
    ("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"", "say \"hi\" <b>\n", "\"}}\n</tool_call>"),
    ("<tool_call>\n<function=f>\n<parameter=a>\n", "x < y > z\n", "</parameter>\n</function>\n</tool_call>"),
    ("", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>\n", ""),
    ("", "Some words, and [a link](x). ", ""),
];

/// The length of the shorter outputs.
const BYTES: usize = 4 << 10;
/// The most that a byte may cost, in bytes that readers read: the budget, and what the attempt that exceeds it costs.
const MOST_PER_BYTE: usize = 72;

fn spent(mender: &Mender, shape: (&str, &str, &str), bytes: usize, piece: usize) -> usize {
    let (head, unit, tail) = shape;
    let text = format!("{head}{}{tail}", unit.repeat((bytes - head.len() - tail.len()) / unit.len()));
    let mut stream: Stream = mender.stream(&TurnOptions::new());
    for piece in text.as_bytes().chunks(piece) {
        drop(stream.push(piece));
    }
    drop(stream.finish(Finish::Stop));
    stream.attempts.spent + stream.judge.work()
}

#[test]
fn promise_7_work_on_outputs_grows_with_them() {
    let mender = Mender::new(&json!([{"name": "f", "parameters": {"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}}]))
    .unwrap();
    let mut paid = 0;
    for &shape in SHAPES {
        for piece in [usize::MAX, 7] {
            let (short, long) =
                (spent(&mender, shape, BYTES, piece), spent(&mender, shape, 4 * BYTES, piece));
            // The constant part of the budget may be used up by the short output already, or only by the long one.
            assert!(10 * long <= 46 * short + 10 * (1 << 19), "{shape:?} by {piece}: {short}, {long}");
            assert!(long <= MOST_PER_BYTE * 4 * BYTES + (1 << 19), "{shape:?} by {piece}: {long}");
            paid += usize::from(short >= BYTES / 2);
        }
    }
    // Without this, a reader that never pays would pass.
    assert!(paid > SHAPES.len(), "only {paid} outputs were paid for");
}
