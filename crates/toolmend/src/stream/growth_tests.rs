//! Promise 7 for outputs: what readers of markup spend grows no faster than the output, whole or in pieces.
//!
//! Each shape is a head, a unit that is repeated, and a tail. Many of them were found by `cargo xtask climb`. What counts is
//! what was charged: bytes that readers of markup read, and the questions they asked.

use serde_json::json;

use super::Stream;
use crate::syntax::meter;
use crate::text_parts::first_part;
use crate::{Finish, Mender, Turn, TurnOptions};

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
    ("\"\"\"<|im_end|>`", "<<function=f>", "http://a.b/c)‹\"a\":..."),
    ("\\'\"\"name\": \"f\"", "<|<<function=f>", "’#[\",\"/*1.5"),
    ("#</think>[TOOL_CALLS]0x1f", "1.5\",\"“f(a='b':[TOOL_CALLS]```*/1,000=>//", "\\n{\"a\":$ "),
    ("‘\\n<b>;1\tNaNa: |\n  ", "</b><tool_call>\\\\[ARGS]|[ARGS]&quot;", ")\\n<…'b':100,"),
    ("#http://a.b/c;<think></function>", "<|im_end|><function=f>{\"", "{\"a\": \"true<tool_call>"),
    (
        " \"]<parameter name=\"a\">",
        "</b><|im_end|>[(<invoke name=\"f\"><tool_call>a=[<",
        "f(a=null<|im_end|>12éf ",
    ),
    ("{a:1", "</s>", ""),
    ("", "</s>", "{a:1"),
    ("", "[TOOL_CALLS]a:C:\\[", ""),
    ("", "words [TOOL_CALLS]f{} ", ""),
    ("word ", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"b\"}}</tool_call>", ""),
    ("", "<think><tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"b\"}}</tool_call></think>", ""),
    ("<tool_call>\n<function=f>\n<parameter=a>\n", "<b>x</b>", "</parameter>\n</function>\n</tool_call>"),
];

/// Shapes in which every piece asks what comes after it.
const ASKING: &[(&str, &str, &str)] = &[
    ("", "<DSML|>", ""),
    ("", "<｜DSML｜x", ""),
    ("x\n", "</DSML|x>", ""),
    ("", "<!--x", ""),
    ("", "<pre>x<!--", ""),
    ("", "word <|channel|>", ""),
];

/// Shapes in which `%` is another number each time: arguments with keys of their own.
const NUMBERED: &[(&str, &str, &str)] = &[
    ("<tool_call>\n<function=other>\n", "<parameter=k%>\nx\n", "</function></tool_call>"),
    ("<tool_call>\n<function=other>\n", "<parameter=k%>\nx\n</parameter>\n", "</function></tool_call>"),
    ("<tool_call>\n<function=other>\n", "<parameter=k%>\nx</parameter>y\n", "</function></tool_call>"),
    ("<tool_call>other\n", "<arg_key>k%</arg_key><arg_value>x\n", "</tool_call>"),
    ("<function_calls><invoke name=\"other\">", "<parameter name=\"k%\">x", "</invoke></function_calls>"),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {", "'k%': 1 ", "}}</tool_call>"),
    ("[f(", "k%=1, ", ")]"),
];

/// The length of the shorter outputs.
const BYTES: usize = 4 << 10;
/// The most that a byte may cost, in bytes that readers read: the budget, and what the attempt that exceeds it costs.
const MOST_PER_BYTE: usize = 48;
/// What any output may cost.
const CONSTANT: usize = 1 << 19;
/// The same in units of fuel, for verdicts and questions together, and for tags that are looked at.
const FUEL_PER_BYTE: usize = 128;
const FUEL_AT_FIRST: usize = 1 << 22;

fn write_text((head, unit, tail): (&str, &str, &str), bytes: usize) -> String {
    let mut text = head.to_owned();
    let mut number = 0;
    while text.len() + unit.len() + tail.len() <= bytes {
        text.push_str(&unit.replace('%', &number.to_string()));
        number += 1;
    }
    text + tail
}

/// What readers read and asked, and the fuel and the tags that they needed for it.
fn spent(mender: &Mender, shape: (&str, &str, &str), bytes: usize, piece: usize) -> (usize, usize) {
    let text = write_text(shape, bytes);
    let mut stream: Stream = mender.stream(&TurnOptions::new());
    let ((), fuel) = meter::measure(|| {
        for piece in text.as_bytes().chunks(piece) {
            drop(stream.push(piece));
        }
        drop(stream.finish(Finish::Stop));
    });
    (stream.attempts.spent + stream.judge.work(), fuel)
}

fn mender() -> Mender {
    Mender::new(&json!([{"name": "f", "parameters": {"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}}]))
    .unwrap()
}

#[test]
fn promise_7_work_on_outputs_grows_with_them() {
    let mender = mender();
    let mut paid = 0;
    for &shape in SHAPES.iter().chain(NUMBERED) {
        for piece in [usize::MAX, 7, 1] {
            let (short, short_fuel) = spent(&mender, shape, BYTES, piece);
            let (long, long_fuel) = spent(&mender, shape, 4 * BYTES, piece);
            // The constant part of the budget may be used up by the short output already, or only by the long one.
            assert!(10 * long <= 46 * short + 10 * CONSTANT, "{shape:?} by {piece}: {short}, {long}");
            assert!(long <= MOST_PER_BYTE * 4 * BYTES + CONSTANT, "{shape:?} by {piece}: {long}");
            assert!(
                10 * long_fuel <= 46 * short_fuel + 10 * FUEL_AT_FIRST,
                "{shape:?} by {piece}: fuel {short_fuel}, {long_fuel}"
            );
            assert!(
                long_fuel <= FUEL_PER_BYTE * 4 * BYTES + FUEL_AT_FIRST,
                "{shape:?} by {piece}: fuel {long_fuel}"
            );
            paid += usize::from(short >= BYTES / 2);
        }
    }
    // Without this, a reader that never pays would pass.
    assert!(paid > SHAPES.len(), "only {paid} outputs were paid for");
}

/// Honest outputs keep all their calls, in any pieces.
#[test]
fn promise_7_long_honest_outputs_have_enough() {
    let mender = mender();
    let calls = |call: &str, count: usize| -> String {
        (0..count).map(|number| call.replace('%', &number.to_string())).collect()
    };
    let tagged = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"v%\"}}\n</tool_call>\n";
    let code = "if (name == \"x\") {\n\tf('it', \"a\", {\"b\": [1, 2]}); // <tool_call> done </tool_call>\n\tre = \"<function=f>[TOOL_CALLS]</think>\"\n}\n";
    let page = "<div class=\"row\"><p>Say \"hi\" &amp; <b>go</b></p>\n<param name=\"q\">v</param></div>\n";
    let argument = |text: &str| {
        format!(
            "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>",
            text.repeat(200)
        )
    };
    let strict = format!(
        "<tool_call>\n{{\"name\": \"f\", \"arguments\": {}}}\n</tool_call>",
        json!({"a": code.repeat(200)})
    );
    for (output, count) in [
        (calls("[TOOL_CALLS]f[ARGS]{\"a\": \"v%\"}", 1500), 1500),
        (calls(tagged, 1500), 1500),
        (format!("I now call {}", calls(tagged, 600)), 600),
        (argument(page), 1),
        (argument(code), 1),
        (strict, 1),
    ] {
        for piece in [usize::MAX, 3, 1] {
            let mut stream = mender.stream(&TurnOptions::new());
            let mut turn = Turn::default();
            for piece in output.as_bytes().chunks(piece) {
                turn.extend(stream.push(piece));
            }
            turn.extend(stream.finish(Finish::Stop));
            let start = first_part(&output, 60);
            assert_eq!(turn.calls.len(), count, "{start:?} by {piece}: {} asked", stream.judge.work());
            assert!(!stream.is_exhausted(), "{start:?} by {piece}");
        }
    }
}

/// What comes after a piece is looked for once, and not again for the next piece.
#[test]
fn promise_7_what_follows_is_searched_once() {
    // Several marks are looked for, and the end of what was searched is looked at again for every piece.
    const MOST_PER_BYTE: usize = 40;
    let mender = mender();
    for &shape in ASKING {
        for piece in [usize::MAX, 7, 1] {
            let (_, short) = spent(&mender, shape, BYTES, piece);
            let (_, long) = spent(&mender, shape, 4 * BYTES, piece);
            assert!(10 * long <= 60 * short + 10 * BYTES, "{shape:?} by {piece}: {short}, {long}");
            assert!(long <= MOST_PER_BYTE * 4 * BYTES, "{shape:?} by {piece}: {long}");
            assert!(short > BYTES / 16, "{shape:?} by {piece}: nothing was looked for");
        }
    }
}

/// Each call alone is small enough to be mended, but an output of thousands is not worth thousands of times as much.
#[test]
fn promise_7_broken_calls_share_the_fuel_of_their_output() {
    let text = write_text(("", "[TOOL_CALLS]f[ARGS]{a:x}\n", ""), 32 * BYTES);
    let options = TurnOptions::new();
    let (turn, fuel) = meter::measure(|| mender().turn(&text, &options, Finish::Stop));
    assert!(fuel <= FUEL_PER_BYTE * text.len() + FUEL_AT_FIRST, "{fuel} for {}", text.len());
    assert!(turn.calls.iter().take(20).all(|call| call.outcome().runs()), "{:?}", turn.calls.first());
    let made = turn.calls.iter().filter(|call| call.outcome().runs()).count();
    assert!(made < text.lines().count(), "all {made} calls were mended");
}
