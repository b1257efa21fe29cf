use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Lenient, from_slice, from_str, from_str_with, from_value};
use crate::repair::RepairKind;
use crate::text_parts::first_part;
use RepairKind::*;

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(default)]
struct Everything {
    flag: bool,
    count: u32,
    ratio: f64,
    name: String,
    tags: Vec<String>,
    ports: Vec<u16>,
    maybe: Option<i64>,
    mode: Mode,
    wide: u128,
    inner: Option<Inner>,
    inners: Vec<Inner>,
    pair: (u8, String),
    map: BTreeMap<String, u8>,
    any: Value,
}

#[derive(Debug, Deserialize, PartialEq, Clone)]
#[serde(deny_unknown_fields)]
struct Inner {
    file_path: String,
    #[serde(default = "ten")]
    limit: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    ReadOnly,
    ReadWrite,
    Limit(u32),
}

/// The value as strict JSON would give it, and the repairs with their paths.
fn check<T: DeserializeOwned + PartialEq + Debug>(text: &str, strict: &str, repairs: &[(RepairKind, &str)]) {
    let mut seen = Vec::new();
    let got: T = from_str_with(text, |repairs| {
        seen.extend(repairs.iter().map(|repair| (repair.kind, repair.path.clone())));
    })
    .unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(got, serde_json::from_str(strict).unwrap(), "{text}");
    let seen: Vec<_> = seen.iter().map(|(kind, path)| (*kind, path.as_str())).collect();
    assert_eq!(seen, repairs, "{text}");
}

/// The error is the strict one.
fn check_refused<T: DeserializeOwned + Debug>(text: &str) {
    let mut count = 0;
    let error = from_str_with::<T>(text, |_| count += 1).unwrap_err();
    assert_eq!(error.to_string(), serde_json::from_str::<T>(text).unwrap_err().to_string(), "{text}");
    assert_eq!(count, 0, "{text}");
}

#[test]
fn scalars_follow_the_type() {
    for (text, strict, kind) in [
        (r#"{"flag":"Yes"}"#, r#"{"flag":true}"#, StringToBoolean),
        (r#"{"flag":" off "}"#, r#"{"flag":false}"#, StringToBoolean),
        (r#"{"flag":1}"#, r#"{"flag":true}"#, NumberToBoolean),
        (r#"{"count":"42"}"#, r#"{"count":42}"#, StringToNumber),
        (r#"{"flag":1.0}"#, r#"{"flag":true}"#, NumberToBoolean),
        (r#"{"count":"1,000"}"#, r#"{"count":1000}"#, StringToNumber),
        (r#"{"count":"42.0"}"#, r#"{"count":42}"#, StringToNumber),
        (r#"{"count":42.00}"#, r#"{"count":42}"#, FloatToInteger),
        (r#"{"ratio":"-1.5e3"}"#, r#"{"ratio":-1500}"#, StringToNumber),
        (r#"{"name":1.10}"#, r#"{"name":"1.10"}"#, ScalarToString),
        (r#"{"name":9007199254740993}"#, r#"{"name":"9007199254740993"}"#, ScalarToString),
        (r#"{"name":true}"#, r#"{"name":"true"}"#, ScalarToString),
        (r#"{"name":{"value":"x"}}"#, r#"{"name":"x"}"#, PlaceholderUnwrapped),
        (r#"{"maybe":"-7"}"#, r#"{"maybe":-7}"#, StringToNumber),
        (
            r#"{"wide":"340282366920938463463374607431768211455"}"#,
            r#"{"wide":340282366920938463463374607431768211455}"#,
            StringToNumber,
        ),
        (r#"{"mode":"Read-Write"}"#, r#"{"mode":"read_write"}"#, EnumMatched),
        (r#"{"mode":{"Limit":3}}"#, r#"{"mode":{"limit":3}}"#, EnumMatched),
    ] {
        let key = text.split('"').nth(1).unwrap();
        check::<Everything>(
            text,
            strict,
            &[(kind, &format!("/{key}{}", if text.contains("Limit") { "/limit" } else { "" }))],
        );
    }
}

#[test]
fn lists_follow_the_type() {
    check::<Everything>(
        r#"{"tags":"[\"a\", \"b\"]"}"#,
        r#"{"tags":["a","b"]}"#,
        &[(StringToContainer, "/tags")],
    );
    check::<Everything>(r#"{"tags":"a b"}"#, r#"{"tags":["a b"]}"#, &[(ValueToArray, "/tags")]);
    check::<Everything>(r#"{"ports":"80, 443"}"#, r#"{"ports":[80,443]}"#, &[(ListTextSplit, "/ports")]);
    check::<Everything>(r#"{"name":["x"]}"#, r#"{"name":"x"}"#, &[(ElementUnwrapped, "/name")]);
    check::<Everything>(r#"{"tags":{}}"#, r#"{"tags":[]}"#, &[(EmptyObjectToArray, "/tags")]);
    check::<Everything>(
        r#"{"tags":{"item":["a"]}}"#,
        r#"{"tags":["a"]}"#,
        &[(PlaceholderUnwrapped, "/tags")],
    );
    check_refused::<Everything>(r#"{"tags":{"path":"a"}}"#);
    check_refused::<Everything>(r#"{"tags":"a, b"}"#);
    check::<Everything>(
        r#"{"ports":"5"}"#,
        r#"{"ports":[5]}"#,
        &[(ValueToArray, "/ports"), (StringToNumber, "/ports/0")],
    );
    check::<Everything>(
        r#"{"inners":"{\"file_path\": \"a\"}"}"#,
        r#"{"inners":[{"file_path":"a"}]}"#,
        &[(ValueToArray, "/inners"), (StringToContainer, "/inners/0")],
    );
    check::<Everything>(
        r#"{"inners":{"file_path":"a"}}"#,
        r#"{"inners":[{"file_path":"a"}]}"#,
        &[(ValueToArray, "/inners")],
    );
    check::<Everything>(r#"{"pair":["5","6"]}"#, r#"{"pair":[5,"6"]}"#, &[(StringToNumber, "/pair/0")]);
}

#[test]
fn objects_follow_the_type() {
    check::<Everything>(
        r#"{"inner":"{\"filePath\": \"a\"}"}"#,
        r#"{"inner":{"file_path":"a"}}"#,
        &[(StringToContainer, "/inner"), (KeyRespelled, "/inner/file_path")],
    );
    check::<Inner>(r#""{\"file_path\":\"a\"}""#, r#"{"file_path":"a"}"#, &[(StringToContainer, "")]);
    check::<Inner>(r#"{"arguments":{"file_path":"a"}}"#, r#"{"file_path":"a"}"#, &[(EnvelopeRemoved, "")]);
    check::<Inner>(
        r#"{"name":"read","arguments":"{\"file_path\":5}"}"#,
        r#"{"file_path":"5"}"#,
        &[(EnvelopeRemoved, ""), (StringToContainer, ""), (ScalarToString, "/file_path")],
    );
    check::<Everything>(r#"{"map":[]}"#, r#"{"map":{}}"#, &[(EmptyArrayToObject, "/map")]);
    check::<Everything>("", "{}", &[(EmptyArgumentsFilled, "")]);
}

#[test]
fn nothing_gives_way_to_the_default() {
    fn check_dropped<T: DeserializeOwned + PartialEq + Debug>(text: &str, strict: &str, kind: RepairKind) {
        let mut kinds = Vec::new();
        let got: T =
            from_str_with(text, |repairs| kinds.extend(repairs.iter().map(|repair| repair.kind))).unwrap();
        assert_eq!((got, kinds), (serde_json::from_str(strict).unwrap(), vec![kind]), "{text}");
    }
    check_dropped::<Everything>(r#"{"count":null,"flag":true}"#, r#"{"flag":true}"#, NullDropped);
    check_dropped::<Everything>(r#"{"flag":true, "tags":null}"#, r#"{"flag":true}"#, NullDropped);
    check_dropped::<Everything>(r#"{ "name" : null }"#, "{}", NullDropped);
    check_dropped::<Inner>(r#"{"file_path":"a","limit":""}"#, r#"{"file_path":"a"}"#, EmptyStringDropped);
    check_refused::<Inner>(r#"{"file_path":null}"#);
    check_refused::<HashMap<String, u8>>(r#"{"a":null}"#);
    check_refused::<Vec<u8>>("[null]");
}

#[test]
fn many_places_in_one_document() {
    check::<Everything>(
        r#"{"count":"1","tags":5,"inners":[{"file_path":1},{"file_path":"x","limit":"2"}],"any":{"count":"1"}}"#,
        r#"{"count":1,"tags":["5"],"inners":[{"file_path":"1"},{"file_path":"x","limit":2}],"any":{"count":"1"}}"#,
        &[
            (StringToNumber, "/count"),
            (ValueToArray, "/tags"),
            (ScalarToString, "/tags/0"),
            (ScalarToString, "/inners/0/file_path"),
            (StringToNumber, "/inners/1/limit"),
        ],
    );
}

#[test]
fn long_lists_take_few_rounds() {
    let written: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
    let got: Vec<u32> = from_str(&json!(written).to_string()).unwrap();
    assert_eq!(got, (0..5000).collect::<Vec<u32>>());
    let inners = vec![json!({"filePath": 7, "limit": null}); 300];
    let got: Vec<Inner> = from_str(&json!(inners).to_string()).unwrap();
    assert_eq!(got, vec![Inner { file_path: "7".into(), limit: 10 }; 300]);
}

/// A list whose elements are of different types, which no derived type reads as a list.
#[test]
fn elements_that_are_asked_for_something_else_are_left_alone() {
    #[derive(Debug, PartialEq)]
    struct Uneven(u8, Value, u8);
    impl<'de> Deserialize<'de> for Uneven {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Uneven;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("three elements")
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<Uneven, A::Error> {
                    let end = || serde::de::Error::custom("too short");
                    Ok(Uneven(
                        all.next_element()?.ok_or_else(end)?,
                        all.next_element()?.ok_or_else(end)?,
                        all.next_element()?.ok_or_else(end)?,
                    ))
                }
            }
            deserializer.deserialize_seq(Visitor)
        }
    }
    assert_eq!(from_str::<Uneven>(r#"["1","2","3"]"#).unwrap(), Uneven(1, json!("2"), 3));
}

#[test]
fn no_help_is_the_strict_error() {
    for text in [
        r#"{"flag":"maybe"}"#,
        r#"{"flag":2}"#,
        r#"{"count":"4 2"}"#,
        r#"{"count":"NaN"}"#,
        r#"{"count":"-1"}"#,
        r#"{"count":1.5}"#,
        r#"{"count":"007"}"#,
        r#"{"mode":"writeonly"}"#,
        r#"{"tags":"[1, oops"}"#,
        r#"{"ports":"70000"}"#,
        r#"{"name":["x", "y"]}"#,
        r#"{"name":{"a":1}}"#,
        r#"{"name":{"old":"x"}}"#,
        r#"{"name":{"a":"x","b":"y"}}"#,
        r#"{"inner":{"file_path":"a","bogus":1}}"#,
        r#"{"pair":"5"}"#,
        "7",
        r#"{"inner":{"file_path":"a","filePath":"b"}}"#,
        r#"{"wide":1e39}"#,
    ] {
        check_refused::<Everything>(text);
    }
    check_refused::<Vec<String>>("\"\"");
    check_refused::<Value>("");
    check_refused::<bool>("[1");
}

#[test]
fn valid_places_stay_as_they_are() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Mixed {
        either: StringOrNumber,
        count: u8,
    }
    #[derive(Debug, PartialEq)]
    struct StringOrNumber(String);
    impl<'de> Deserialize<'de> for StringOrNumber {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = StringOrNumber;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("either")
                }
                fn visit_str<E>(self, text: &str) -> Result<StringOrNumber, E> {
                    Ok(StringOrNumber(format!("text {text}")))
                }
                fn visit_u64<E>(self, number: u64) -> Result<StringOrNumber, E> {
                    Ok(StringOrNumber(format!("number {number}")))
                }
            }
            deserializer.deserialize_any(Visitor)
        }
    }
    let got: Mixed = from_str(r#"{"either":5,"count":"6"}"#).unwrap();
    assert_eq!(got, Mixed { either: StringOrNumber("number 5".into()), count: 6 });
    // Another field fails, yet bytes that fit are not turned into a list.
    let got: (Value, u8) = from_str(r#"["x", "5"]"#).unwrap();
    assert_eq!(got, (json!("x"), 5));
}

#[test]
fn copies_are_searched_for_the_one_answer() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Tagged {
        Wait { seconds: u32 },
        Say { words: Vec<String> },
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Flat {
        id: u8,
        #[serde(flatten)]
        rest: Rest,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Rest {
        limit: u32,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
        List(Vec<String>),
    }
    check::<Tagged>(
        r#"{"type":"wait","seconds":"5"}"#,
        r#"{"type":"wait","seconds":5}"#,
        &[(StringToNumber, "/seconds")],
    );
    check::<Tagged>(
        r#"{"type":"Say","words":["x"]}"#,
        r#"{"type":"say","words":["x"]}"#,
        &[(EnumMatched, "/type")],
    );
    check::<Flat>(
        r#"{"id":"1","limit":"5"}"#,
        r#"{"id":1,"limit":5}"#,
        &[(StringToNumber, "/id"), (StringToNumber, "/limit")],
    );
    check::<Either>(r#""abc""#, r#"["abc"]"#, &[(ValueToArray, "")]);
    // Number or list of one? Nobody knows.
    check_refused::<Either>(r#""5""#);
}

#[test]
fn places_are_bytes_of_the_input() {
    let text = r#"{ "name": 1.10, "count": "7" }"#;
    let mut places = Vec::new();
    let _: Everything = from_str_with(text, |repairs| {
        places.extend(repairs.iter().map(|repair| text[repair.at.clone().unwrap()].to_owned()));
    })
    .unwrap();
    assert_eq!(places, ["1.10", "\"7\""]);
}

#[test]
fn slices_and_values() {
    assert_eq!(from_slice::<u8>(b"\"7\"").unwrap(), 7);
    assert!(from_slice::<String>(b"\"\xff\"").is_err());
    assert_eq!(from_value::<Vec<u8>>(json!("7")).unwrap(), [7]);
    assert_eq!(from_value::<String>(json!(u64::MAX)).unwrap(), u64::MAX.to_string());
    // Numbers that a value may hold otherwise than the model wrote them.
    assert!(from_value::<String>(json!(1.1)).is_err());
    assert!(from_value::<u128>(json!(1e39)).is_err());
    assert!(from_value::<u64>(json!(12_345_678_901_234_567.0)).is_err());
    assert_eq!(from_value::<u64>(json!(42.0)).unwrap(), 42);
    let error = from_value::<u8>(json!("x")).unwrap_err();
    assert_eq!(error.to_string(), serde_json::from_value::<u8>(json!("x")).unwrap_err().to_string());
}

#[test]
fn lenient_repairs_wherever_it_stands() {
    #[derive(Debug, Deserialize)]
    struct Outer {
        exact: u8,
        soft: Lenient<Vec<u8>>,
    }
    let outer: Outer = serde_json::from_str(r#"{"exact":1,"soft":"[1, \"2\"]"}"#).unwrap();
    assert_eq!((outer.exact, outer.soft.into_inner()), (1, vec![1, 2]));
    assert!(serde_json::from_str::<Outer>(r#"{"exact":"1","soft":[]}"#).is_err());
    let soft: Lenient<u8> = serde_json::from_value(json!("5")).unwrap();
    assert_eq!((*soft, serde_json::to_value(soft).unwrap()), (5, json!(5)));
}

/// Damaged documents never panic, and what is read is what `serde_json` reads from some strict text.
#[test]
fn damage_is_repaired_or_refused() {
    let valid = r#"{"flag":true,"count":"1","tags":["ä\\n",2],"inners":[{"file_path":null,"limit":""},{"file_path":null,"file_path":null}],"mode":"Read_Only","pair":["1",2],"any":{"x":[{}]}}"#;
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let pieces = ["\"", "{", "}", "[", "]", ",", ":", "null", "é", "\\", "1", "\"a\":null,", ""];
    let mut read = 0;
    for _ in 0..3000 {
        let mut text = valid.to_owned();
        for _ in 0..=random(3) {
            let at = first_part(&text, random(text.len())).len();
            let end = first_part(&text, at + random(8)).len();
            text.replace_range(at..end.max(at), pieces[random(pieces.len())]);
        }
        let mut repairs = 0;
        if from_str_with::<Everything>(&text, |made| repairs += made.len()).is_ok() {
            read += 1;
            assert_eq!(repairs == 0, serde_json::from_str::<Everything>(&text).is_ok(), "{text}");
        }
    }
    assert!(read > 0);
}
