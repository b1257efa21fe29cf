//! One test for each repair: what it does, and what it leaves alone.

use serde_json::{Value, json};

use super::{mends, mends_with, refuses, refuses_with};
use crate::policy::Policy;
use crate::repair::RepairKind as K;

/// A schema of one required member `v`.
#[expect(clippy::needless_pass_by_value, reason = "cases read better without a borrow")]
fn one(schema: Value) -> Value {
    json!({"type": "object", "properties": {"v": schema}, "required": ["v"]})
}

/// A schema of one optional member `v` beside a required string `s`.
#[expect(clippy::needless_pass_by_value, reason = "cases read better without a borrow")]
fn optional(schema: Value) -> Value {
    json!({"type": "object", "properties": {"s": {"type": "string"}, "v": schema}, "required": ["s"]})
}

#[test]
fn string_to_number() {
    let integer = one(json!({"type": "integer"}));
    let number = one(json!({"type": "number"}));
    for (schema, input, output) in [
        (&integer, r#"{"v": "42"}"#, r#"{"v": 42}"#),
        (&integer, r#"{"v":" -7 "}"#, r#"{"v":-7}"#),
        (&integer, r#"{"v":"230.0"}"#, r#"{"v":230}"#),
        (&integer, r#"{"v":"9007199254740993"}"#, r#"{"v":9007199254740993}"#),
        (&integer, r#"{"v":"123456789012345678901234567890"}"#, r#"{"v":123456789012345678901234567890}"#),
        (&number, r#"{"v":"1.10"}"#, r#"{"v":1.10}"#),
        (&number, r#"{"v":"1e-3"}"#, r#"{"v":1e-3}"#),
        (&number, r#"{"v":"1,234,567"}"#, r#"{"v":1234567}"#),
    ] {
        mends(schema, input, output, &[K::StringToNumber]);
    }
    mends(&integer, r#"{"v":"1,000"}"#, r#"{"v":1000}"#, &[K::StringToNumber]);
    mends(&integer, r#"{"v":"\"42\""}"#, r#"{"v":42}"#, &[K::StringToNumber]);
    for input in [
        r#"{"v":"NaN"}"#,
        r#"{"v":"inf"}"#,
        r#"{"v":"1,000"}"#,
        r#"{"v":"007"}"#,
        r#"{"v":"twelve"}"#,
        r#"{"v":"1e999"}"#,
    ] {
        refuses(&number, input);
    }
    refuses(&integer, r#"{"v":"4.2"}"#);
    refuses(&integer, r#"{"v":4.2}"#);
    refuses(&integer, r#"{"v":true}"#);
    refuses(&one(json!({"type": "integer", "minimum": 50})), r#"{"v":"42"}"#);
}

#[test]
fn string_to_boolean() {
    let schema = one(json!({"type": "boolean"}));
    for (word, flag) in [
        ("true", true),
        ("False", false),
        ("yes", true),
        ("NO", false),
        ("on", true),
        ("off", false),
        ("1", true),
        (" 0 ", false),
    ] {
        mends(&schema, &format!(r#"{{"v":"{word}"}}"#), &format!(r#"{{"v":{flag}}}"#), &[K::StringToBoolean]);
    }
    refuses(&schema, r#"{"v":"maybe"}"#);
    refuses(&schema, r#"{"v":"2"}"#);
}

#[test]
fn number_to_boolean() {
    let schema = one(json!({"type": "boolean"}));
    mends(&schema, r#"{"v":1}"#, r#"{"v":true}"#, &[K::NumberToBoolean]);
    mends(&schema, r#"{"v":0.0}"#, r#"{"v":false}"#, &[K::NumberToBoolean]);
    refuses(&schema, r#"{"v":2}"#);
    refuses(&schema, r#"{"v":-1}"#);
}

#[test]
fn float_to_integer() {
    // Since draft 6 a whole float is an integer and nothing is wrong.
    let mut schema = one(json!({"type": "integer"}));
    schema["$schema"] = json!("http://json-schema.org/draft-04/schema#");
    mends(&schema, r#"{"v":42.0}"#, r#"{"v":42}"#, &[K::FloatToInteger]);
    mends(&schema, r#"{"v":1.5e3}"#, r#"{"v":1500}"#, &[K::FloatToInteger]);
    refuses(&schema, r#"{"v":42.5}"#);
}

#[test]
fn scalar_to_string() {
    let schema = one(json!({"type": "string"}));
    mends(&schema, r#"{"v": 1.10}"#, r#"{"v": "1.10"}"#, &[K::ScalarToString]);
    mends(
        &schema,
        r#"{"v":12345678901234567890123}"#,
        r#"{"v":"12345678901234567890123"}"#,
        &[K::ScalarToString],
    );
    mends(&schema, r#"{"v":true}"#, r#"{"v":"true"}"#, &[K::ScalarToString]);
    refuses(&schema, r#"{"v":{"a":1,"b":2}}"#);
    refuses(&schema, r#"{"v":null}"#);
}

#[test]
fn string_to_null() {
    mends(&one(json!({"type": ["integer", "null"]})), r#"{"v":"null"}"#, r#"{"v":null}"#, &[K::StringToNull]);
    mends(
        &one(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})),
        r#"{"v":"None"}"#,
        r#"{"v":null}"#,
        &[K::StringToNull],
    );
    mends(
        &optional(json!({"type": "integer"})),
        r#"{"s":"x","v":"null"}"#,
        r#"{"s":"x"}"#,
        &[K::StringToNull, K::NullDropped],
    );
    refuses(&one(json!({"type": "integer"})), r#"{"v":"null"}"#);
}

#[test]
fn string_to_container() {
    let strings = one(json!({"type": "array", "items": {"type": "string"}}));
    mends(&strings, r#"{"v": "[\"a\", \"b\"]"}"#, r#"{"v": ["a", "b"]}"#, &[K::StringToContainer]);
    mends(&strings, r#"{"v":" [] "}"#, r#"{"v":[]}"#, &[K::StringToContainer]);
    let object = one(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
    mends(&object, r#"{"v":"{\"n\": 1}"}"#, r#"{"v":{"n": 1}}"#, &[K::StringToContainer]);
    mends(
        &object,
        r#"{"v":"{\"n\":\"1\"}"}"#,
        r#"{"v":{"n":1}}"#,
        &[K::StringToContainer, K::StringToNumber],
    );
    let objects = one(json!({"type": "array", "items": object["properties"]["v"]}));
    mends(
        &objects,
        r#"{"v":["{\"n\":1}", {"n":2}]}"#,
        r#"{"v":[{"n":1}, {"n":2}]}"#,
        &[K::StringToContainer],
    );
    mends(&objects, r#"{"v":"{\"n\":1}"}"#, r#"{"v":[{"n":1}]}"#, &[K::StringToContainer, K::ValueToArray]);
    refuses(&object, r#"{"v":"{\"m\":\"x\"}"}"#);
    refuses(&strings, r#"{"v":"[not json"}"#);
    // Patterns begin with a bracket, and no array goes on after its end.
    mends(&strings, r#"{"v":"[a-z]*.txt"}"#, r#"{"v":["[a-z]*.txt"]}"#, &[K::ValueToArray]);
    mends(&strings, r#"{"v":"{a,b}/*.ts"}"#, r#"{"v":["{a,b}/*.ts"]}"#, &[K::ValueToArray]);
    for text in ["[a, b]", "[a,b]*.txt", "[1, 2] except 2", "[a][b]", "{a: 1}x", "[]x", "[abc]*.go, b"] {
        refuses(&strings, &json!({"v": text}).to_string());
    }
}

#[test]
fn broken_json_in_a_string_is_read_with_care() {
    let strings = one(json!({"type": "array", "items": {"type": "string"}}));
    mends(
        &strings,
        r#"{"v":"['a', 'it']","w":1}"#,
        r#"{"v":["a", "it"],"w":1}"#,
        &[K::StringToContainer, K::QuotesReplaced],
    );
    mends(
        &strings,
        r#"{"v":"[\"a\\<b\", \"c\"]"}"#,
        r#"{"v":["a\\<b", "c"]}"#,
        &[K::StringToContainer, K::InvalidEscapeFixed],
    );
    let both = json!({"properties": {"a": strings["properties"]["v"], "b": strings["properties"]["v"]}});
    mends(
        &both,
        r#"{"a":"['x',]","b":"['y',]"}"#,
        r#"{"a":["x"],"b":["y"]}"#,
        &[K::StringToContainer, K::QuotesReplaced, K::TrailingCommaRemoved],
    );
    refuses(&strings, r#"{"v":"[a, b]"}"#);
    refuses(&strings, r#"{"v":"[\"a\", \"b"}"#);
    refuses(&one(json!({"type": "object"})), r#"{"v":"{verdict: malicious}"}"#);
}

#[test]
fn value_to_array() {
    let strings = one(json!({"type": "array", "items": {"type": "string"}}));
    let integers = one(json!({"type": "array", "items": {"type": "integer"}}));
    let objects = one(
        json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}),
    );
    mends(&strings, r#"{"v": "a b"}"#, r#"{"v": ["a b"]}"#, &[K::ValueToArray]);
    refuses(&strings, r#"{"v":"a,b"}"#);
    refuses(&strings, r#"{"v":"- a\n- b"}"#);
    refuses(&strings, r#"{"v":"..."}"#);
    refuses(&strings, r#"{"v":"null"}"#);
    mends(&integers, r#"{"v":5}"#, r#"{"v":[5]}"#, &[K::ValueToArray]);
    mends(&integers, r#"{"v":"5"}"#, r#"{"v":[5]}"#, &[K::ValueToArray, K::StringToNumber]);
    mends(&objects, r#"{"v":{"n": 1}}"#, r#"{"v":[{"n": 1}]}"#, &[K::ValueToArray]);
    refuses(&integers, r#"{"v":"five"}"#);
    refuses(&objects, r#"{"v":"not an array"}"#);
    refuses(&strings, r#"{"v":""}"#);
    refuses(&strings, r#"{"v":null}"#);
    refuses(&one(json!({"type": "array", "minItems": 2})), r#"{"v":1}"#);
    // A schema that wants arrays without end must not be followed for ever.
    refuses(&json!({"type": "array", "items": {"$ref": "#"}}), "1");
}

#[test]
fn placeholder_unwrapped() {
    let strings = one(json!({"type": "array", "items": {"type": "string"}}));
    for input in [
        r#"{"v":{"item": ["a"]}}"#,
        r#"{"v":{"items": ["a"]}}"#,
        r#"{"v":{"list": ["a"]}}"#,
        r#"{"v":{"type": "array", "value": ["a"]}}"#,
    ] {
        mends(&strings, input, r#"{"v":["a"]}"#, &[K::PlaceholderUnwrapped]);
    }
    mends(&strings, r#"{"v":{"item": "x"}}"#, r#"{"v":["x"]}"#, &[K::PlaceholderUnwrapped]);
    refuses(&strings, r#"{"v":{"anything": ["a"]}}"#);
    refuses(&strings, r#"{"v":{"path": "x"}}"#);
    mends(
        &one(json!({"type": "string"})),
        r#"{"v":{"value": "x"}}"#,
        r#"{"v":"x"}"#,
        &[K::PlaceholderUnwrapped],
    );
    mends(&one(json!({"type": "string"})), r#"{"v":{"v": "x"}}"#, r#"{"v":"x"}"#, &[K::PlaceholderUnwrapped]);
    refuses(&strings, r#"{"v":{"x": 1}}"#);
    refuses(&strings, r#"{"v":{"type": "array"}}"#);
    refuses(&strings, r#"{"v":{"a": "x", "b": "y"}}"#);
    refuses(&one(json!({"type": "string"})), r#"{"v":{"file": "x"}}"#);
}

#[test]
fn element_unwrapped() {
    let string = one(json!({"type": "string"}));
    let strings = one(json!({"type": "array", "items": {"type": "string"}}));
    let kinds = [K::ElementUnwrapped];
    mends(&string, r#"{"v":["x"]}"#, r#"{"v":"x"}"#, &kinds);
    mends(&strings, r#"{"v":[["a", "b"]]}"#, r#"{"v":["a", "b"]}"#, &kinds);
    mends(&strings, r#"{"v":[["a"], "b"]}"#, r#"{"v":["a", "b"]}"#, &kinds);
    let objects = one(json!({"type": "array", "items": {"type": "object", "required": ["n"]}}));
    mends(&objects, r#"{"v":[[{"n":1},{"n":2}]]}"#, r#"{"v":[{"n":1},{"n":2}]}"#, &kinds);
    refuses(&string, r#"{"v":["x", "y"]}"#);
    refuses(&string, r#"{"v":[["x"]]}"#);
    refuses(&strings, r#"{"v":[["a", "b"], ["c"]]}"#);
}

#[test]
fn lists_and_their_members() {
    let object = json!({"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"], "additionalProperties": false});
    let output = r#"{"path": "x", "n": 1}"#;
    for input in [
        r#"[["path", "x"], ["n", 1]]"#,
        r#"[{"name": "path", "value": "x"}, {"name": "n", "type": "integer", "value": 1}]"#,
        r#"[{"path": "x"}, {"n": 1}]"#,
    ] {
        mends(&object, input, output, &[K::ListToObject]);
    }
    let wrapped = r#"{"arguments":[{"name": "path", "value": "x"}, {"name": "n", "value": 1}]}"#;
    mends(&object, wrapped, output, &[K::EnvelopeRemoved, K::ListToObject]);
    refuses(&object, r#"[["path", "x"], ["path", "y"]]"#);
    refuses(&object, r#"[["path", "x"], ["color", "y"]]"#);
    refuses(&object, r#"[{"path": "x"}, {"path": "y"}]"#);
    let optional =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    refuses(&optional, r#"[{"a": "x"}, {"b": "y"}]"#);
    let list = one(json!({"type": "array", "items": {"type": "string"}}));
    let kinds = [K::IndexedObjectToArray];
    mends(&list, r#"{"v":{"0":"a","1":"b"}}"#, r#"{"v":["a", "b"]}"#, &kinds);
    mends(&list, r#"{"v":{"1":"a","2":"b"}}"#, r#"{"v":["a", "b"]}"#, &kinds);
    refuses(&list, r#"{"v":{"0":"a","2":"b"}}"#);
    refuses(&list, r#"{"v":{"01":"a"}}"#);
}

#[test]
fn list_text_split() {
    let integers = one(json!({"type": "array", "items": {"type": "integer"}}));
    let kinds = [K::ListTextSplit];
    mends(&integers, r#"{"v":"1, 2, 3"}"#, r#"{"v":[1,2,3]}"#, &kinds);
    mends(&integers, r#"{"v":"(10, 20)"}"#, r#"{"v":[10,20]}"#, &kinds);
    let pair = one(json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}));
    mends(&pair, r#"{"v":"623,881"}"#, r#"{"v":[623,881]}"#, &kinds);
    // One number with a group of digits, or two numbers.
    refuses(&integers, r#"{"v":"1,000"}"#);
    refuses(&integers, r#"{"v":"1, two"}"#);
    refuses(&integers, r#"{"v":"1, 2.5"}"#);
    let listed = one(json!({"type": "array", "items": {"enum": ["read", "write"]}}));
    mends(&listed, r#"{"v":"read, write"}"#, r#"{"v":["read","write"]}"#, &kinds);
    refuses(&listed, r#"{"v":"read, fly"}"#);
}

#[test]
fn container_to_text() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["content"]});
    mends(
        &schema,
        r#"{"path":"a.json","content":{"x": [1]}}"#,
        r#"{"path":"a.json","content":"{\"x\": [1]}"}"#,
        &[K::ContainerToText],
    );
    refuses(&schema, r#"{"path":"a.py","content":{"x": [1]}}"#);
    refuses(&schema, r#"{"content":{"old":"x"}}"#);
    refuses(&schema, r#"{"path":"a.json","content":{"type":"text","text":"{}"}}"#);
    refuses(&schema, r#"{"path":"a.json","content":["{}"]}"#);
}

#[test]
fn tool_label_dropped() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false});
    let kinds = [K::ToolLabelDropped];
    mends(&schema, r#"{"tool":"my_tool","path":"x"}"#, r#"{"path":"x"}"#, &kinds);
    mends(&schema, r#"{"type":"function","name":"My-Tool","path":"x"}"#, r#"{"path":"x"}"#, &kinds);
    refuses(&schema, r#"{"tool":"other","path":"x"}"#);
    refuses(&schema, r#"{"type":"function","path":"x"}"#);
}

#[test]
fn schemas_that_were_filled_in() {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}, "words": {"type": "object"}}, "required": ["text"], "additionalProperties": false});
    let kinds = [K::EnvelopeRemoved];
    let output = r#"{"text": "x", "words": {"a": "b"}}"#;
    for input in [
        r#"{"type":"object","properties":{"text":{"type":"string","value":"x"},"words":{"type":"object","value":{"a": "b"}}}}"#,
        r#"{"type":"object","properties":{"text": "x", "words": {"a": "b"}},"required":["text"]}"#,
    ] {
        mends(&schema, input, output, &kinds);
    }
    mends(
        &schema,
        r#"{"text": {"type": "string", "value": "x"}, "words": {"type": "object", "value": {"a": "b"}}}"#,
        output,
        &[K::PlaceholderUnwrapped],
    );
    refuses(&schema, r#"{"type":"object","properties":{"text":{"type":"string","value":"x"},"words":{}}}"#);
}

#[test]
fn empty_containers() {
    mends(&one(json!({"type": "array"})), r#"{"v":{}}"#, r#"{"v":[]}"#, &[K::EmptyObjectToArray]);
    mends(&one(json!({"type": "object"})), r#"{"v":[ ]}"#, r#"{"v":{}}"#, &[K::EmptyArrayToObject]);
    mends(&json!({"type": "object"}), "[]", "{}", &[K::EmptyArrayToObject]);
    refuses(&one(json!({"type": "array", "minItems": 1})), r#"{"v":{}}"#);
    refuses(&one(json!({"type": "integer"})), "[]");
}

#[test]
fn null_dropped() {
    let schema = optional(json!({"type": "integer"}));
    mends(&schema, r#"{"s": "x", "v": null}"#, r#"{"s": "x"}"#, &[K::NullDropped]);
    mends(&schema, r#"{"v": null, "s": "x"}"#, r#"{"s": "x"}"#, &[K::NullDropped]);
    let several =
        json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}});
    mends(&several, r#"{"a":null,"b":null,"c":null}"#, "{}", &[K::NullDropped]);
    mends(&several, r#"{"a":null,"b":null,"c":"x"}"#, r#"{"c":"x"}"#, &[K::NullDropped]);
    mends(
        &json!({"properties": {"o": several}}),
        r#"{"o":{"a":"x","b":null}}"#,
        r#"{"o":{"a":"x"}}"#,
        &[K::NullDropped],
    );
    refuses(&one(json!({"type": "integer"})), r#"{"v":null}"#);
    refuses(&schema, r#"{"s":null}"#);
    refuses(&one(json!({"type": "array", "items": {"type": "integer"}})), r#"{"v":[1,null]}"#);
    refuses(&schema, r#"{"s":"x","v":1,"v":null}"#);
    // The fault of one member does not cost the other its repair.
    refuses(
        &json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}),
        r#"{"a":null,"b":null}"#,
    );
}

#[test]
fn empty_string_dropped() {
    mends(
        &optional(json!({"type": "integer"})),
        r#"{"s":"x","v":""}"#,
        r#"{"s":"x"}"#,
        &[K::EmptyStringDropped],
    );
    mends(
        &optional(json!({"type": "string", "minLength": 1})),
        r#"{"v":"","s":"x"}"#,
        r#"{"s":"x"}"#,
        &[K::EmptyStringDropped],
    );
    mends(
        &optional(json!({"type": "string", "pattern": "^a"})),
        r#"{"s":"x","v":""}"#,
        r#"{"s":"x"}"#,
        &[K::EmptyStringDropped],
    );
    mends(
        &optional(json!({"enum": ["a", "b"]})),
        r#"{"s":"","v":""}"#,
        r#"{"s":""}"#,
        &[K::EmptyStringDropped],
    );
    mends(
        &optional(json!({"type": "array", "items": {"type": "string"}})),
        r#"{"s":"x","v":""}"#,
        r#"{"s":"x"}"#,
        &[K::EmptyStringDropped],
    );
    refuses(&one(json!({"type": "integer"})), r#"{"v":""}"#);
}

#[test]
fn enum_matched() {
    let schema = one(json!({"type": "string", "enum": ["in_progress", "done", "FAILED"]}));
    for (input, output) in [
        ("In Progress", "in_progress"),
        ("inProgress", "in_progress"),
        ("DONE", "done"),
        (" failed ", "FAILED"),
    ] {
        mends(
            &schema,
            &format!(r#"{{"v":"{input}"}}"#),
            &format!(r#"{{"v":"{output}"}}"#),
            &[K::EnumMatched],
        );
    }
    mends(&one(json!({"const": "x-y"})), r#"{"v":"X_Y"}"#, r#"{"v":"x-y"}"#, &[K::EnumMatched]);
    mends(&one(json!({"enum": [1, 2]})), r#"{"v":"2"}"#, r#"{"v":2}"#, &[K::EnumMatched]);
    mends(&one(json!({"enum": ["1", "2"]})), r#"{"v":2}"#, r#"{"v":"2"}"#, &[K::EnumMatched]);
    refuses(&schema, r#"{"v":"progressing"}"#);
    refuses(&one(json!({"enum": ["ab", "AB"]})), r#"{"v":"Ab"}"#);
    refuses(&one(json!({"enum": ["-1", "x"]})), r#"{"v":"1"}"#);
}

#[test]
fn key_respelled() {
    let schema = json!({"properties": {"user_id": {"type": "integer"}, "maxItems": {"type": "integer"}}, "required": ["user_id"]});
    mends(&schema, r#"{"userId": 1}"#, r#"{"user_id": 1}"#, &[K::KeyRespelled]);
    mends(
        &schema,
        r#"{"User-ID":1,"max_items":2,"other":3}"#,
        r#"{"user_id":1,"maxItems":2,"other":3}"#,
        &[K::KeyRespelled],
    );
    mends(&schema, r#"{"USER_ID":"1"}"#, r#"{"user_id":1}"#, &[K::KeyRespelled, K::StringToNumber]);
    let closed = json!({"properties": {"user_id": {}}, "additionalProperties": false});
    mends(&closed, r#"{"userId":1}"#, r#"{"user_id":1}"#, &[K::KeyRespelled]);
    mends(
        &one(json!({"type": "array", "items": closed})),
        r#"{"v":[{"userId":1}]}"#,
        r#"{"v":[{"user_id":1}]}"#,
        &[K::KeyRespelled],
    );
    refuses(&closed, r#"{"userId":1,"user_id":2}"#);
    refuses(&closed, r#"{"userId":1,"user-id":2}"#);
}

#[test]
fn key_renamed() {
    let schema = json!({"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]});
    mends(&schema, r#"{"file": "x", "limit": 1}"#, r#"{"path": "x", "limit": 1}"#, &[K::KeyRenamed]);
    mends(&schema, r#"{"file":1}"#, r#"{"path":"1"}"#, &[K::KeyRenamed, K::ScalarToString]);
    refuses(&schema, r#"{"thought":"x"}"#);
    refuses(&schema, r#"{"filename":"x","file":"y"}"#);
    let closed = json!({"properties": {"query": {"type": "string"}, "timeout": {"type": "integer"}}, "additionalProperties": false});
    mends(&closed, r#"{"timeuot":5}"#, r#"{"timeout":5}"#, &[K::KeyRenamed]);
    mends(&closed, r#"{"search":"x"}"#, r#"{"query":"x"}"#, &[K::KeyRenamed]);
    refuses(&closed, r#"{"error":"x"}"#);
    refuses(&closed, r#"{"timeuot":5,"timout":6}"#);
    mends(&schema, r#"{"file":"x","name":"y"}"#, r#"{"path":"x","name":"y"}"#, &[K::KeyRenamed]);
    refuses(&schema, r#"{"limit":1}"#);
    refuses(&schema, r#"{"file<arg_key":"page</arg_key><arg_value>5"}"#);
    let two = json!({"properties": {"old": {"type": "string"}, "new": {"type": "string"}}, "required": ["old", "new"]});
    refuses(&two, r#"{"before":"a","after":"b"}"#);
    refuses(&two, r#"{"before":"a"}"#);
    refuses_with(&Policy::default().max_tier(crate::Tier::Guided), &schema, r#"{"file":"x"}"#);
}

#[test]
fn paths_unflattened() {
    let schema = json!({
        "properties": {
            "q": {"type": "array", "items": {"type": "object", "properties": {
                "text": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            }, "required": ["text"]}},
            "o": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
        "required": ["q"],
    });
    let kinds = [K::PathsUnflattened];
    mends(
        &schema,
        r#"{"q[0].text":"a","q[0].tags[0]":"x","q[0].tags[1]":"y","q[1].text":"b"}"#,
        r#"{"q":[{"text":"a","tags":["x","y"]},{"text":"b"}]}"#,
        &kinds,
    );
    mends(&schema, r#"{"q.0.text": "a", "o.n": 1}"#, r#"{"q":[{"text":"a"}],"o":{"n":1}}"#, &kinds);
    mends(
        &schema,
        r#"{"o":{"n":1},"q[0].text":1}"#,
        r#"{"o":{"n":1},"q":[{"text":"1"}]}"#,
        &[K::PathsUnflattened, K::ScalarToString],
    );
    let tree = json!({"properties": {"root": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}, "root_x": {"type": "object"}}, "required": ["root"], "additionalProperties": false});
    mends(&tree, r#"{"root_name":"a"}"#, r#"{"root":{"name":"a"}}"#, &kinds);
    refuses(&tree, r#"{"root_title":"a"}"#);
    refuses(&schema, r#"{"q[1].text":"a"}"#);
    refuses(&schema, r#"{"q[0]":{"text":"a"},"q[0].text":"b"}"#);
    refuses(&schema, r#"{"z[0].text":"a"}"#);
    let literal =
        json!({"properties": {"a.b": {"type": "integer"}, "a": {"type": "object"}}, "required": ["a.b"]});
    mends(&literal, r#"{"a.b":"1"}"#, r#"{"a.b":1}"#, &[K::StringToNumber]);
}

#[test]
fn value_lifted() {
    let schema = json!({
        "properties": {
            "path": {"type": "string"},
            "edits": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}}},
        },
        "required": ["path", "edits"],
    });
    let kinds = [K::ValueLifted];
    mends(&schema, r#"{"edits":[{"old":"a","path":"x"}]}"#, r#"{"edits":[{"old":"a"}],"path":"x"}"#, &kinds);
    mends(
        &schema,
        r#"{"edits":[{"path":"x","old":"a"},{"old":"b","path":"x"}]}"#,
        r#"{"edits":[{"old":"a"},{"old":"b"}],"path":"x"}"#,
        &kinds,
    );
    refuses(&schema, r#"{"edits":[{"old":"a","path":"x"},{"old":"b","path":"y"}]}"#);
    refuses(&schema, r#"{"edits":[{"old":"a","path":"x"},{"old":"b"}]}"#);
    refuses(&schema, r#"{"edits":[{"old":"a","path":{"x":1}}]}"#);
    let map = json!({"properties": {"name": {"type": "string"}, "args": {"type": "object"}}, "required": ["name", "args"]});
    refuses(&map, r#"{"args":{"name":"x"}}"#);
}

#[test]
fn envelope_removed() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]});
    let kinds = [K::EnvelopeRemoved];
    for input in [
        r#"{"arguments": {"path": "x"}}"#,
        r#"{"parameters":{"path": "x"}}"#,
        r#"{"args":{"path": "x"}}"#,
        r#"{"params":{"path": "x"}}"#,
        r#"{"kwargs":{"path": "x"}}"#,
        r#"{"input":"{\"path\": \"x\"}"}"#,
        r#"{"my_tool":{"path": "x"}}"#,
        r#"{"name":"my_tool","arguments":{"path": "x"}}"#,
        r#"{"type":"function","function":{"name":"my_tool","arguments":"{\"path\": \"x\"}"}}"#,
        r#"{"arguments":{"arguments":{"path": "x"}}}"#,
        r#"[{"path": "x"}]"#,
    ] {
        mends(&schema, input, r#"{"path": "x"}"#, &kinds);
    }
    mends(
        &schema,
        r#"{"arguments":{"Path":"x","n":"1"}}"#,
        r#"{"path":"x","n":1}"#,
        &[K::EnvelopeRemoved, K::KeyRespelled, K::StringToNumber],
    );
    refuses(&schema, r#"{"arguments":{"n":1}}"#);
    refuses(&schema, r#"{"name":"other_tool","arguments":{"path":"x"}}"#);
    refuses(&schema, r#"{"arguments":{"path":"x"},"more":{}}"#);
    let declared = json!({"properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}, "required": ["name", "arguments"]});
    refuses(&declared, r#"{"arguments":{"arguments":{},"name":"x"}}"#);
}

#[test]
fn default_filled() {
    let schema = json!({"properties": {"s": {"type": "string"}, "d": {"type": "integer", "default": 10}, "o": {"default": 5}}, "required": ["s", "d"]});
    mends(&schema, r#"{"s": "x"}"#, r#"{"s": "x", "d": 10}"#, &[K::DefaultFilled]);
    mends(
        &json!({"properties": {"d": {"default": "a"}}, "required": ["d"]}),
        "{}",
        r#"{"d":"a"}"#,
        &[K::DefaultFilled],
    );
    let two = json!({"properties": {"a": {"default": 1}, "b": {"default": [2]}}, "required": ["a", "b"]});
    mends(&two, "{}", r#"{"a":1,"b":[2]}"#, &[K::DefaultFilled]);
    refuses(&schema, r#"{"d":1}"#);
    refuses(&json!({"properties": {"d": {"type": "integer", "default": "ten"}}, "required": ["d"]}), "{}");
    // The unknown key may be the missing one under another name.
    refuses(&schema, r#"{"s":"x","depth":"3"}"#);
}

#[test]
fn relational_default_filled() {
    for hints in [
        json!({"x-toolmend": {"relational": [{"fields": ["offset", "limit"], "default": {"offset": 0, "limit": 2000}}]}}),
        json!({"dirge-hints": {"relational": [{"requires": ["offset", "limit"], "defaults": {"offset": 0, "limit": 2000}}]}}),
    ] {
        let mut schema = json!({"properties": {"offset": {"type": "integer"}, "limit": {"type": "integer"}, "path": {"type": "string"}}});
        schema.as_object_mut().unwrap().extend(hints.as_object().unwrap().clone());
        let kinds = [K::RelationalDefaultFilled];
        let notes =
            mends(&schema, r#"{"path":"x","limit":5}"#, r#"{"path":"x","limit":5,"offset":0}"#, &kinds);
        assert_eq!(
            notes,
            [
                "Note: limit came without offset; the declared default was used: offset=0. Give all of [offset, limit] to choose other values."
            ],
        );
        mends(&schema, r#"{"offset":null,"limit":5}"#, r#"{"offset":0,"limit":5}"#, &kinds);
        mends(
            &schema,
            r#"{"limit":"5"}"#,
            r#"{"limit":5,"offset":0}"#,
            &[K::StringToNumber, K::RelationalDefaultFilled],
        );
        super::fits(&schema, r#"{"path":"x"}"#);
        super::fits(&schema, r#"{"offset":1,"limit":5}"#);
    }
}

#[test]
fn link_unwrapped() {
    let path = one(json!({"type": "string", "x-toolmend": {"semantic": "absolute_path"}}));
    mends(&path, r#"{"v":"[a.md](http://a.md)"}"#, r#"{"v":"a.md"}"#, &[K::LinkUnwrapped]);
    super::fits(&path, r#"{"v":"[README.md](https://example.org/blob/README.md)"}"#);
    super::fits(&one(json!({"type": "string"})), r#"{"v":"[a.md](http://a.md)"}"#);
    let url = one(json!({"type": "string", "dirge-hints": {"semantic": "url"}}));
    mends(&url, r#"{"v":"[x.org](https://x.org)"}"#, r#"{"v":"https://x.org"}"#, &[K::LinkUnwrapped]);
    let paths = one(json!({"type": "array", "items": {"$ref": "#/$defs/path"}}));
    let mut paths = paths;
    paths["$defs"] = json!({"path": {"type": "string", "x-toolmend": {"semantic": "relative_path"}}});
    mends(&paths, r#"{"v":["b","[a.md](http://a.md)"]}"#, r#"{"v":["b","a.md"]}"#, &[K::LinkUnwrapped]);
    let pattern = one(json!({"type": "string", "pattern": "^[a-z.]+$"}));
    mends(&pattern, r#"{"v":"[a.md](http://a.md)"}"#, r#"{"v":"a.md"}"#, &[K::LinkUnwrapped]);
}

#[test]
fn swallowed_parameter_split() {
    let schema = json!({
        "properties": {"content": {"type": "string"}, "path": {"type": "string"}, "line": {"type": "integer"}},
        "required": ["content", "path"],
    });
    let kinds = [K::SwallowedParameterSplit];
    mends(
        &schema,
        r#"{"content": "x\n</content>\n<parameter name=\"path\">p"}"#,
        r#"{"content": "x\n", "path": "p"}"#,
        &kinds,
    );
    mends(
        &schema,
        r#"{"content":"x</parameter><parameter=path>p</parameter><parameter=line>3</parameter></function>"}"#,
        r#"{"content":"x","path":"p","line":3}"#,
        &[K::SwallowedParameterSplit, K::StringToNumber],
    );
    super::fits(&schema, r#"{"path":"p","content":"x</content>\n<parameter name=\"path\">q"}"#);
    refuses(&schema, r#"{"content":"x</content>\n<parameter name=\"mode\">p"}"#);
    refuses(&schema, r#"{"content":"use <parameter name=\"path\">"}"#);
}

#[test]
fn code_quotes_normalised() {
    let schema = json!({"properties": {"path": {"type": "string"}, "content": {"type": "string"}}});
    let policy = Policy::default().with(K::CodeQuotesNormalised);
    let input = r#"{"path":"a.py","content":"print(“x”)\n"}"#;
    mends_with(
        &policy,
        &schema,
        input,
        r#"{"path":"a.py","content":"print(\"x\")\n"}"#,
        &[K::CodeQuotesNormalised],
    );
    super::fits(&schema, input);
    let hinted = one(json!({"type": "string", "x-toolmend": {"semantic": "code"}}));
    mends_with(&policy, &hinted, r#"{"v":"‘a’"}"#, r#"{"v":"'a'"}"#, &[K::CodeQuotesNormalised]);
}

#[test]
fn unknown_key_dropped() {
    let schema = json!({"properties": {"s": {"type": "string"}}, "additionalProperties": false});
    refuses(&schema, r#"{"s":"x","bogus":1}"#);
    let policy = Policy::default().with(K::UnknownKeyDropped);
    mends_with(&policy, &schema, r#"{"a":0,"s":"x","b":1,"c":2}"#, r#"{"s":"x"}"#, &[K::UnknownKeyDropped]);
}
