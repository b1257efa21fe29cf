//! For random schemas: what is valid stays, what is damaged is mended into something valid or refused.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Fit, replay, run};
use crate::policy::Policy;
use crate::schema::Schema;

/// A schema and a value that it accepts.
type Pair = (Value, Value);

fn leaf() -> impl Strategy<Value = Pair> {
    prop_oneof![
        any::<i32>().prop_map(|n| (json!({"type": "integer"}), json!(n))),
        (-1000i32..1000).prop_map(|n| (json!({"type": "number"}), json!(f64::from(n) / 8.0))),
        "[a-zA-Z0-9 \\[{\"\\\\é.,-]{0,12}".prop_map(|s| (json!({"type": "string"}), json!(s))),
        any::<bool>().prop_map(|b| (json!({"type": "boolean"}), json!(b))),
        (0usize..3).prop_map(|index| {
            let words = ["in_progress", "Done", "x-1"];
            (json!({"type": "string", "enum": words}), json!(words[index]))
        }),
        Just((json!({"type": ["integer", "null"]}), Value::Null)),
        Just((json!({}), json!({"free": [1, null]}))),
    ]
}

fn pair() -> impl Strategy<Value = Pair> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0usize..4).prop_map(|((schema, value), count)| {
                (json!({"type": "array", "items": schema}), Value::Array(vec![value; count]))
            }),
            (prop::collection::vec((inner.clone(), any::<bool>(), any::<bool>()), 0..4), any::<bool>())
                .prop_map(|(members, closed)| object(members, closed)),
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|((one, value), (other, _), first)| {
                let branches = if first { json!([one, other]) } else { json!([other, one]) };
                (json!({"anyOf": branches}), value)
            }),
            inner.clone().prop_map(|(schema, value)| (json!({"allOf": [schema]}), value)),
            inner.prop_map(|(schema, value)| {
                (json!({"type": "object", "additionalProperties": schema}), json!({"k": value}))
            }),
        ]
    })
}

fn object(members: Vec<(Pair, bool, bool)>, closed: bool) -> Pair {
    const NAMES: [&str; 4] = ["user_id", "pathName", "tags", "limit"];
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut value = Map::new();
    for (name, ((schema, inner), needed, given)) in NAMES.into_iter().zip(members) {
        properties.insert(name.to_owned(), schema);
        if needed {
            required.push(name);
        }
        if needed || given {
            value.insert(name.to_owned(), inner);
        }
    }
    let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": !closed});
    (schema, Value::Object(value))
}

/// The ways in which a value is damaged.
const DAMAGES: [fn(&Value) -> Value; 10] = [
    |value| Value::String(value.to_string()),
    |_| Value::Null,
    |_| json!(""),
    |value| json!({"item": value}),
    |value| json!({"arguments": value}),
    |value| json!([value]),
    |value| value.get(0).cloned().unwrap_or_else(|| json!({})),
    |value| match value {
        Value::String(text) => Value::String(text.to_uppercase()),
        Value::Bool(flag) => json!(i32::from(*flag)),
        _ => json!([]),
    },
    |value| match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.to_uppercase(), value.clone())).collect()
        }
        _ => json!("yes"),
    },
    |value| match value {
        Value::Object(members) => {
            members.iter().skip(1).map(|(key, value)| (key.clone(), value.clone())).collect()
        }
        _ => json!("nonsense"),
    },
];

/// The value with its `place`-th node damaged.
fn damaged(value: &Value, place: &mut usize, damage: fn(&Value) -> Value) -> Value {
    if *place == 0 {
        *place = usize::MAX;
        return damage(value);
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter().map(|inner| damaged(inner, place, damage)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, inner)| (key.clone(), damaged(inner, place, damage))).collect()
        }
        other => other.clone(),
    }
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

fn written(value: &Value, pretty: bool) -> String {
    if pretty { format!("{value:#}\n") } else { value.to_string() }
}

/// Whatever comes in: the answer is proved, stable and made of its edits, or it is a refusal with a reason.
fn holds(schema: &Value, text: &str, policy: &Policy) -> Result<(), TestCaseError> {
    let schema = Schema::new(schema).expect("the generator makes good schemas");
    let valid = serde_json::from_str(text).is_ok_and(|value| schema.accepts(&value));
    match run(policy, &schema, text) {
        Fit::Fits => prop_assert!(valid),
        Fit::Unfit { violations } => prop_assert!(!valid && !violations.is_empty()),
        Fit::Mended { text: mended, layers, .. } => {
            prop_assert!(!valid);
            prop_assert!(serde_json::from_str(&mended).is_ok_and(|value| schema.accepts(&value)));
            prop_assert!(matches!(run(policy, &schema, &mended), Fit::Fits));
            let (kinds, replayed) = replay(text, &layers);
            prop_assert_eq!(replayed, mended);
            prop_assert!(!kinds.is_empty() && kinds.iter().all(|&kind| policy.allows(kind)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_valid_is_left_alone((schema, value) in pair(), pretty: bool) {
        let compiled = Schema::new(&schema).expect("the generator makes good schemas");
        prop_assert!(compiled.accepts(&value), "the generator makes valid values");
        prop_assert!(matches!(run(&Policy::default(), &compiled, &written(&value, pretty)), Fit::Fits));
    }

    #[test]
    fn damage_at_one_place_is_mended_or_refused(
        (schema, value) in pair(),
        place: prop::sample::Index,
        damage in prop::sample::select(&DAMAGES[..]),
        pretty: bool,
        guided: bool,
    ) {
        let text = written(&damaged(&value, &mut place.index(nodes(&value)), damage), pretty);
        let policy = if guided { Policy::default().max_tier(crate::Tier::Guided) } else { Policy::default() };
        holds(&schema, &text, &policy)?;
    }

    #[test]
    fn the_value_of_another_schema_is_mended_or_refused((schema, _) in pair(), (_, value) in pair(), pretty: bool) {
        holds(&schema, &written(&value, pretty), &Policy::default())?;
    }

    #[test]
    fn a_number_or_flag_in_a_string_comes_back(
        members in prop::collection::vec(prop_oneof![
            any::<i64>().prop_map(|n| (json!({"type": "integer"}), json!(n))),
            any::<bool>().prop_map(|b| (json!({"type": "boolean"}), json!(b))),
            "[a-z]{0,6}".prop_map(|s| (json!({"type": "string"}), json!(s))),
        ], 1..4),
        pretty: bool,
    ) {
        let members = members.into_iter().map(|pair| (pair, true, true)).collect();
        let (schema, value) = object(members, true);
        let strings: Map<String, Value> = value.as_object().into_iter().flatten()
            .map(|(key, inner)| (key.clone(), inner.as_str().map_or_else(|| json!(inner.to_string()), |s| json!(s))))
            .collect();
        let compiled = Schema::new(&schema).expect("the generator makes good schemas");
        let text = written(&Value::Object(strings), pretty);
        match run(&Policy::default(), &compiled, &text) {
            Fit::Fits => prop_assert_eq!(text, written(&value, pretty)),
            Fit::Mended { text, .. } => prop_assert_eq!(text, written(&value, pretty)),
            Fit::Unfit { violations } => prop_assert!(false, "refused: {:?}", violations),
        }
    }
}
