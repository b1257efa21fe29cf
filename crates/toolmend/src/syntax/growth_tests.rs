//! Promise 7 by count: what the reader spends on a text grows no faster than the text.
//!
//! Each shape is a head, a unit that is repeated, and a tail. Time is not measured: the meter counts the fuel that is
//! burnt. The shapes are inputs that were slow once, many of them found by `cargo xtask climb`.

use serde_json::{Value, json};

use super::fuel::meter;
use crate::{FixOptions, Reason, Schema, fix_with};

struct Shape {
    head: &'static str,
    unit: &'static str,
    tail: &'static str,
}

const fn shape(head: &'static str, unit: &'static str, tail: &'static str) -> Shape {
    Shape { head, unit, tail }
}

const SHAPES: &[Shape] = &[
    // Values without quotes, where every blank, line break or comma may be the end.
    shape("[", "1 x ", "]"),
    shape("{a: ", "1\n", "}"),
    shape("{a: ", "x\n", "}"),
    shape("{a: 1", " ", "x}"),
    shape("{a: 1", "\n", "x}"),
    shape("{a: ", "1", " x}"),
    shape("{a:[", "1,", "1]}"),
    shape("{a:[", "100,", "4]}"),
    shape("{a:[", "1,000.5,", "4]}"),
    shape("```json\n{\"a\":[", "1.25,", "1]}\n```"),
    // Comments in strings, behind quotes that may end them.
    shape("{\"a\": \"", "*/\"x", "\"}"),
    shape("{\"a\": \"x\"", "/*\"", "*/\"}"),
    shape("{\"a\": \"", "/* \", */", "\"}"),
    shape("{", "/* x */", "\"a\": 1}"),
    shape("{", "// x\n", "\"a\": 1}"),
    // Quotes that may end strings.
    shape("{\"a\": \"", "\", \"", "\"}"),
    shape("{\"a\": \"", "x\", \"b\": \"", "\"}"),
    shape("{\"a\": \"", "say \"hi\" ", "\"}"),
    shape("{\"a\": \"", "\\'", "\"}"),
    shape("{'a': '", "it's ", "'}"),
    shape("\\n\"a\": \"http://a.b/c", " \", \"\\'\\'[", "*/"),
    shape("", "\"a\" \"b\" ", ""),
    shape("", "\"'", ""),
    shape("", "`", ""),
    shape("\"\"\"]a: |\n  ", "<\"\",\"]1", " \\n"),
    // Brackets, commas and keys.
    shape("{\"a\":-1<|im_end|>$", "，", "{\"a\": \"'b':1e5"),
    shape("", "\"a\": \",a:", "‹é"),
    shape("`</function>[1,&｛", "```\n", "\"\\\"[1,100,it's"),
    shape("", "[", ""),
    shape("", "{\"a\":", ""),
    shape("[", "1]", ""),
    shape("", "{} ", ""),
    shape("", "[see this](x) ", "{\"a\": 1"),
    shape("{", "a", ": 1}"),
    shape("{\"a\": 1, ", "\"b\": 2, ", "}"),
    shape("{\"a\": 1 ", "\"b\": 2 ", "}"),
    shape("", "a=b, ", ""),
    shape("’(&amp;", "[]", "\\ud83da="),
    shape("f(a=C:\\`\\ud83d", "[]", ":</function>a: |\n  "),
    shape("\"arguments\":x‘", ";\"…\",\"", "‹\\u00e9true[<think>"),
    shape("é[</tool_call>", "}’’‘", "{Action: f\nAction Input: <invoke name=\"f\">"),
    shape(";", "｛‹", "{\"a\":\u{200b}\\ud83dNaN//"),
    shape("{«...", "｛", "<parameter name=\"a\">x，Action: f\nAction Input: “</tool_call>“"),
    shape("\\<function=f>", "\n--a x｛$｛", ""),
    shape("```\"name\": \"f\"{}", "‘\"\"\"‹ <", "http://a.b/c..."),
    shape("", "\"a\":\"\"\"[see](x) ", "- "),
    // A contested string behind much that is not.
    shape("{\"b\":[", "11,", "1],\"a\":\"5\"\",\"b\":\"x\", \"c\": \"d\"}"),
    shape("{\"b\":[", "1,", "1],\"a\":\"x\", \"y\" z\", \"q\": 1, \"r\": [1,2]}"),
    shape("word ", "\"\"\"”\", \"+ ;}, {;[\"}\"name\": \"f\"", "｛("),
];

/// The length of the shorter texts.
const BYTES: usize = 4 << 10;
/// The most that a byte may cost, over all readers that look at a text: they share one tank.
const MOST_PER_BYTE: usize = 100;

fn schemas() -> Vec<Option<Schema>> {
    let object = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]});
    let list = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}});
    let compile = |schema: &Value| Some(Schema::new(schema).unwrap());
    vec![None, compile(&object), compile(&list)]
}

fn spent(shape: &Shape, bytes: usize, schema: Option<&Schema>) -> usize {
    let count = (bytes - shape.head.len() - shape.tail.len()) / shape.unit.len();
    let text = format!("{}{}{}", shape.head, shape.unit.repeat(count), shape.tail);
    let options = FixOptions::new();
    let options = schema.map_or(options.clone(), |schema| options.schema(schema.clone()));
    let (verdict, spent) = meter::measure(|| fix_with(&text, &options).into_owned());
    assert_eq!(verdict.json().is_some(), verdict.outcome().runs());
    spent
}

#[test]
fn promise_7_work_grows_with_the_text() {
    for shape in SHAPES {
        for (index, schema) in schemas().iter().enumerate() {
            let name = format!("{:?} under schema {index}", [shape.head, shape.unit, shape.tail]);
            let (short, long) =
                (spent(shape, BYTES, schema.as_ref()), spent(shape, 4 * BYTES, schema.as_ref()));
            assert!(
                10 * long <= 46 * short + 10 * BYTES,
                "{name}: {short}, and {long} for four times the text"
            );
            assert!(long <= MOST_PER_BYTE * 4 * BYTES, "{name}: {long}");
        }
    }
}

/// Without this, a reader that never pays would pass.
#[test]
fn promise_7_every_byte_is_paid_for() {
    let mut paid = 0;
    for shape in SHAPES.iter().filter(|shape| shape.head.starts_with('{')) {
        let spent = spent(shape, BYTES, None);
        // What is strict but for a trailing comma is read without the reader, and what is refused at once costs little.
        if spent > BYTES / 8 {
            assert!(spent >= BYTES / 4, "{:?}: {spent}", shape.unit);
            paid += 1;
        }
    }
    assert!(paid > 12, "only {paid} shapes were paid for");
}

/// A text that needs more than it has is refused for that reason, however it looks.
#[test]
fn promise_7_exhaustion_is_told() {
    for unit in ["\"\\'\\'[ \", ", "{’“\u{200b}", "｛｛"] {
        let text = format!("\\n\"a\": \"http://a.b/c{}", unit.repeat(4 * BYTES / unit.len()));
        let (verdict, spent) = meter::measure(|| fix_with(&text, &FixOptions::new()).into_owned());
        assert!(!verdict.outcome().runs(), "{unit:?}");
        if spent > MOST_PER_BYTE * text.len() / 4 {
            assert_eq!(verdict.reason(), Some(Reason::Limit), "{unit:?}");
        }
    }
}

#[test]
fn promise_7_long_honest_texts_have_enough() {
    let code = "if (name == \"x\") {\n\tprint('it\\'s', \"a\", {\"b\": [1, 2]}); // done\n}\n";
    let raw = code.replace('\\', "").repeat(4000);
    let text = format!("{{\"a\": \"{raw}\", \"b\": 5}}");
    for schema in schemas().iter().skip(1).take(1).flatten() {
        let verdict = fix_with(&text, &FixOptions::new().schema(schema.clone())).into_owned();
        assert_ne!(verdict.reason(), Some(Reason::Limit));
    }
}
