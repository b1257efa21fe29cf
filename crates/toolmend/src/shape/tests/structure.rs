//! The same repairs at any depth, through every keyword that leads there.

use serde_json::json;

use super::{fits, mends, refuses};
use crate::repair::RepairKind as K;

#[test]
fn every_way_to_a_place_is_followed() {
    let leaf = json!({"type": "integer"});
    for (schema, input, output) in [
        (json!({"properties": {"a": {"properties": {"b": leaf}}}}), r#"{"a":{"b":"1"}}"#, r#"{"a":{"b":1}}"#),
        (json!({"items": {"items": leaf}}), r#"[[1,"2"],["3"]]"#, "[[1,2],[3]]"),
        (json!({"prefixItems": [{"type": "string"}, leaf]}), r#"["1","2"]"#, r#"["1",2]"#),
        (json!({"additionalProperties": leaf}), r#"{"x":"1","y":2}"#, r#"{"x":1,"y":2}"#),
        (json!({"patternProperties": {"^n": leaf}}), r#"{"n1":"1","s":"2"}"#, r#"{"n1":1,"s":"2"}"#),
        (
            json!({"$ref": "#/$defs/l", "$defs": {"l": {"properties": {"v": leaf}}}}),
            r#"{"v":"1"}"#,
            r#"{"v":1}"#,
        ),
        (json!({"allOf": [{"properties": {"v": leaf}}, {"required": ["v"]}]}), r#"{"v":"1"}"#, r#"{"v":1}"#),
        (json!({"properties": {"v": {"anyOf": [leaf, {"type": "null"}]}}}), r#"{"v":"1"}"#, r#"{"v":1}"#),
        (json!({"properties": {"v": {"oneOf": [{"type": "array"}, leaf]}}}), r#"{"v":"1"}"#, r#"{"v":1}"#),
        (json!({"properties": {"v": {"type": ["integer", "null"]}}}), r#"{"v":"1"}"#, r#"{"v":1}"#),
    ] {
        mends(&schema, input, output, &[K::StringToNumber]);
    }
}

#[test]
fn the_closest_branch_of_a_union_is_repaired() {
    let shape = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "number"}, "h": {"type": "number"}}, "required": ["kind", "w", "h"]},
    ]});
    mends(&shape, r#"{"kind":"box","w":"1","h":"2"}"#, r#"{"kind":"box","w":1,"h":2}"#, &[K::StringToNumber]);
    mends(
        &shape,
        r#"{"kind":"Circle","r":"1"}"#,
        r#"{"kind":"circle","r":1}"#,
        &[K::EnumMatched, K::StringToNumber],
    );
    let field = json!({"properties": {"v": shape}});
    mends(
        &field,
        r#"{"v":"{\"kind\":\"box\",\"w\":1,\"H\":\"2\"}"}"#,
        r#"{"v":{"kind":"box","w":1,"h":2}}"#,
        &[K::StringToContainer, K::KeyRespelled, K::StringToNumber],
    );
    let many = json!({"items": shape});
    mends(
        &many,
        r#"[{"kind":"box","w":"1","h":2},{"kind":"circle","r":"3"},{"kind":"box","w":4,"h":"5"}]"#,
        r#"[{"kind":"box","w":1,"h":2},{"kind":"circle","r":3},{"kind":"box","w":4,"h":5}]"#,
        &[K::StringToNumber],
    );
    refuses(&shape, r#"{"kind":"triangle","w":1,"h":2}"#);
}

#[test]
fn a_null_that_is_allowed_stays() {
    let schema = json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {"type": "integer"}}});
    fits(&schema, r#"{"a":null}"#);
    mends(&schema, r#"{"a":null,"b":"1"}"#, r#"{"a":null,"b":1}"#, &[K::StringToNumber]);
}

#[test]
fn two_branches_that_want_different_things_are_a_tie() {
    let schema = json!({"anyOf": [
        {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
    ]});
    refuses(&schema, r#"{"a":"1","b":"2"}"#);
    refuses(&json!({"anyOf": [{"enum": ["Red"]}, {"enum": ["RED"]}]}), r#""red""#);
}

#[test]
fn the_literal_reading_comes_first() {
    let schema = json!({"properties": {"v": {"type": ["boolean", "integer"]}}});
    mends(&schema, r#"{"v":"1"}"#, r#"{"v":1}"#, &[K::StringToNumber]);
    mends(&schema, r#"{"v":"yes"}"#, r#"{"v":true}"#, &[K::StringToBoolean]);
    let schema = json!({"properties": {"v": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "boolean"}]}}});
    mends(&schema, r#"{"v":"true"}"#, r#"{"v":true}"#, &[K::StringToBoolean]);
    mends(&schema, r#"{"v":"x"}"#, r#"{"v":["x"]}"#, &[K::ValueToArray]);
}

#[test]
fn what_is_right_keeps_its_bytes() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "big": {"type": "integer"}, "s": {"type": "string"}, "x": {"type": "string"}}});
    mends(
        &schema,
        "{ \"s\" :\"\\u0041\\/\\t\",\n\t\"n\": \"1\" , \"big\":12345678901234567890123 ,\"f\": 1.10e+2, \"z\": {\"b\":1,\"a\":2},\"x\":null}\n",
        "{ \"s\" :\"\\u0041\\/\\t\",\n\t\"n\": 1 , \"big\":12345678901234567890123 ,\"f\": 1.10e+2, \"z\": {\"b\":1,\"a\":2}}\n",
        &[K::StringToNumber, K::NullDropped],
    );
}

#[test]
fn many_faults_cost_a_few_passes() {
    // One pass for each would exhaust the budget.
    let list = |item: &str| format!("[{}]", vec![item; 10_000].join(","));
    let flat = json!({"items": {"properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}}}});
    mends(
        &flat,
        &list(r#"{"n":"1","b":"yes"}"#),
        &list(r#"{"n":1,"b":true}"#),
        &[K::StringToNumber, K::StringToBoolean],
    );
    let union =
        json!({"items": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}});
    mends(&union, &list(r#""[\"1\"]""#), &list("[1]"), &[K::StringToContainer, K::StringToNumber]);
    let members = |value: &str| {
        let members: Vec<String> = (0..10_000).map(|n| format!(r#""k{n}":{value}"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    mends(&json!({"additionalProperties": {"type": "integer"}}), &members("null"), "{}", &[K::NullDropped]);
    refuses(&json!({"properties": {"a": {}}, "additionalProperties": false}), &members("1"));
    refuses(&json!({"items": {"type": "array", "items": {"type": "integer"}}}), &list(r#""x""#));
}

#[test]
fn what_cannot_be_mended_leaves_the_rest_reported() {
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "array", "items": {"type": "integer"}}}});
    let violations = refuses(&schema, r#"{"a":"1","b":"x","c":"y"}"#);
    let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["/b", "/c"], "the one that helped is not among them, and no trial shows");
}
