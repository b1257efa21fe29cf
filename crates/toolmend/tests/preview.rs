//! Previews: valid, never taken back, the same for any pieces, and in the end the whole value.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmend::{Event, Mender, Preview, TurnOptions};

fn preview(text: &str) -> Option<Value> {
    let mut preview = Preview::new();
    preview.push(text);
    preview
        .json()
        .map(|json| serde_json::from_str(&json).unwrap_or_else(|error| panic!("{text}: {json}: {error}")))
}

/// Whether a value continues another: strings and arrays grow at their end, and objects get members.
fn continues(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.starts_with(part.as_str()),
        (Value::Array(whole), Value::Array(part)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| continues(whole, part))
        }
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| continues(whole, part)))
        }
        _ => whole == part,
    }
}

/// Checks every beginning of a text, piece by piece.
fn check_growth(text: &str) {
    let mut preview = Preview::new();
    let mut last: Option<Value> = None;
    for (at, ch) in text.char_indices() {
        preview.push(ch.encode_utf8(&mut [0; 4]));
        let now: Option<Value> = preview.json().map(|json| {
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{:?}: {json}: {error}", &text[..=at]))
        });
        if let Some(last) = &last {
            let continues = now.as_ref().is_some_and(|now| continues(now, last));
            assert!(continues, "{:?}: {last} became {now:?}", &text[..at]);
        }
        last = now.or(last);
    }
    assert_eq!(
        preview.json(),
        {
            let mut whole = Preview::new();
            whole.push(text);
            whole.json()
        },
        "{text:?}"
    );
}

#[test]
fn what_is_open_is_shown_as_far_as_it_goes() {
    for (text, expected) in [
        (r#"{"path": "n.md", "content": "Once upon a"#, json!({"path": "n.md", "content": "Once upon a"})),
        (r#"{"a": 1, "pa"#, json!({})),
        (r#"{"a": 1, "pa": "#, json!({"a": 1})),
        (r#"{"a": [1, {"b": "x", "c": ["y"#, json!({"a": [1, {"b": "x", "c": ["y"]}]})),
        (r#"{"a": tru"#, json!({})),
        ("[1, 2, 3", json!([1, 2])),
        ("{", json!({})),
        ("", Value::Null),
        (
            "{'a': 'it\\'s', b: \"c\", // d\n e: True, f: \"g",
            json!({"a": "it's", "b": "c", "e": true, "f": "g"}),
        ),
        (r#"{"t": "say "hi" now", "u": "v"#, json!({"t": "say \"hi\" now", "u": "v"})),
        (r#"{"t": "a "b", c", "u": 1}"#, json!({"t": "a \"b\", c", "u": 1})),
        ("Here {x} it is: {\"a\": \"b", json!({"a": "b"})),
        ("```json\n[{\"a\": \"b\"}, {\"a\": \"c", json!([{"a": "b"}, {"a": "c"}])),
        ("{\"a\": 1 // one\n, \"b\": \"c", json!({"a": 1, "b": "c"})),
        (r#"{"a": 1,234,567}"#, json!({})),
        (r#"{"p": "C:\Users\new", "q": "r"#, json!({"p": r"C:\Users\new", "q": "r"})),
        (r#"{"a": "b\"#, json!({"a": "b"})),
        (r#"{"a": "\ud83d"#, json!({"a": ""})),
        (r#"{"a": "\ud83d\ude00"#, json!({"a": "😀"})),
        ("{\"a\": 1\n\"b\": \"x", json!({"a": 1, "b": "x"})),
        (r#"{"a": {"b": 1], "c": 2}"#, json!({"a": {}})),
    ] {
        assert_eq!(preview(text).unwrap_or_default(), expected, "{text}");
        check_growth(text);
    }
}

#[test]
fn words_before_a_bracket_are_left_out() {
    assert_eq!(preview("See [1] and {this}: "), None);
    assert_eq!(preview("no JSON"), None);
}

#[test]
fn the_corpus_never_takes_a_preview_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/syntax");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        check_growth(&fs::read_to_string(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 100, "{count} cases");
}

/// Any JSON value.
fn values() -> impl Strategy<Value = Value> {
    let text = "[a-c\"\\\\,:{}\\[\\]'/# \n\té😀]{0,12}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn strict_json_is_shown_whole(value in prop::collection::vec(values(), 0..4).prop_map(Value::from), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(preview(&text), Some(value.clone()), "{}", text);
        check_growth(&text);
        for (at, _) in text.char_indices() {
            if let Some(part) = preview(&text[..at]) {
                prop_assert!(continues(&value, &part), "{} in {}", part, text);
            }
        }
    }

    #[test]
    fn any_text_gives_valid_previews(text in "[{}\\[\\]\"'a:,\\\\/*#\n 1tu“”`-]{0,40}") {
        check_growth(&text);
    }
}

/// The previews of an output that comes in pieces of this many characters.
fn previews(output: &str, size: usize) -> Vec<(usize, Value)> {
    let tools = json!([{"name": "save", "parameters": {"type": "object", "properties": {
        "path": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "array"},
    }}}, {"name": "plan"}]);
    let mender = Mender::new(&tools).unwrap();
    let mut stream = mender.stream(&TurnOptions::new().previews(true));
    let letters: Vec<char> = output.chars().collect();
    let mut found = Vec::new();
    for piece in letters.chunks(size) {
        for event in stream.push(piece.iter().collect::<String>()) {
            if let Event::Preview { index, json, .. } = event {
                found.push((index, serde_json::from_str(&json).unwrap()));
            }
        }
    }
    found
}

#[test]
fn streams_show_calls_while_they_are_written() {
    for (output, expected) in [
        (
            r#"<tool_call>{"name": "plan", "arguments": {"steps": [{"say": "Once up"#,
            json!({"steps": [{"say": "Once up"}]}),
        ),
        (
            "<tool_call>\n<function=save>\n<parameter=path>\na.txt\n</parameter>\n<parameter=text>\nfirst <b>line</b>\nsec",
            json!({"path": "a.txt", "text": "first <b>line</b>\nsec"}),
        ),
        ("[TOOL_CALLS]plan[ARGS]{\"a\": {\"b\": [\"c", json!({"a": {"b": ["c"]}})),
        (
            "<|channel|>commentary to=functions.plan <|constrain|>json<|message|>{\"a\": [\"b\", \"c",
            json!({"a": ["b", "c"]}),
        ),
    ] {
        for size in [1, 7, 1000] {
            let found = previews(output, size);
            assert_eq!(found.last(), Some(&(0, expected.clone())), "{output} in pieces of {size}");
            for pair in found.windows(2) {
                assert!(continues(&pair[1].1, &pair[0].1), "{} became {}", pair[0].1, pair[1].1);
            }
        }
    }
}

#[test]
fn each_call_has_previews_of_its_own() {
    let call = |name: &str, text: &str| {
        format!(
            "<tool_call>\n{{\"name\": \"plan\", \"arguments\": {{\"{name}\": \"{text}\"}}}}\n</tool_call>\n"
        )
    };
    let output = call("a", "first") + &call("b", "second");
    let found = previews(&output, 3);
    assert!(found.contains(&(0, json!({"a": "first"}))), "{found:?}");
    assert!(
        found.iter().any(|(index, value)| *index == 1 && continues(&json!({"b": "second"}), value)),
        "{found:?}"
    );
}

#[test]
fn text_and_undeclared_tools_are_not_shown() {
    assert_eq!(previews("Use {\"name\": \"plan\"} to plan.", 1), []);
    assert_eq!(previews("<tool_call>{\"name\": \"other\", \"arguments\": {\"a\": \"b", 1), []);
}

#[test]
fn long_previews_are_sent_after_every_part_of_their_length() {
    let output =
        r#"<tool_call>{"name": "plan", "arguments": {"text": ""#.to_owned() + &"0123456789".repeat(20_000);
    let found = previews(&output, 10);
    let sent: usize = found.iter().map(|(_, value)| value.to_string().len()).sum();
    assert!(found.len() > 400 && sent < 64 * output.len(), "{} previews with {sent} bytes", found.len());
}
