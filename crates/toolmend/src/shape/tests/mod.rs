//! Tests of the shape layer as a whole: cases, structure, properties.

mod cases;
mod properties;
mod structure;

use serde_json::Value;

use super::{Fit, fit};
use crate::patch::Patch;
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::verdict::Violation;

const TOOL: Option<&str> = Some("my_tool");

fn run(policy: &Policy, schema: &Schema, text: &str) -> Fit {
    let value = serde_json::from_str(text).expect("a case must be strict JSON");
    fit(text, value, schema, policy, TOOL)
}

/// The kinds in the order of their first edit, and the text that the layers lead to.
fn replay(input: &str, layers: &[Patch]) -> (Vec<RepairKind>, String) {
    let mut kinds = Vec::new();
    let mut text = input.to_owned();
    for layer in layers {
        text = layer.apply(&text);
        for edit in layer.edits() {
            if !kinds.contains(&edit.kind) {
                kinds.push(edit.kind);
            }
        }
    }
    (kinds, text)
}

/// The input becomes the output by these kinds of repair; the output needs none; and without any one of the
/// kinds it does not happen. Returns the notes.
#[track_caller]
fn mends_with(
    policy: &Policy,
    schema: &Value,
    input: &str,
    output: &str,
    kinds: &[RepairKind],
) -> Vec<String> {
    let compiled = Schema::new(schema).expect("a case must have a good schema");
    let Fit::Mended { text, layers, notes, .. } = run(policy, &compiled, input) else {
        panic!("{input} was not mended under {schema}: {:?}", run(policy, &compiled, input));
    };
    assert_eq!(text, output, "{input} under {schema}");
    let (made, replayed) = replay(input, &layers);
    assert_eq!(made, kinds, "{input} under {schema}");
    assert_eq!(replayed, text, "the layers lead elsewhere");
    assert!(matches!(run(policy, &compiled, &text), Fit::Fits), "{text} is mended again");
    for &kind in kinds {
        if let Fit::Mended { layers, .. } = run(&policy.clone().without(kind), &compiled, input) {
            assert!(
                !replay(input, &layers).0.contains(&kind),
                "{kind} was made though the policy forbids it"
            );
        }
    }
    notes
}

#[track_caller]
fn mends(schema: &Value, input: &str, output: &str, kinds: &[RepairKind]) -> Vec<String> {
    mends_with(&Policy::default(), schema, input, output, kinds)
}

#[track_caller]
fn refuses_with(policy: &Policy, schema: &Value, input: &str) -> Vec<Violation> {
    let compiled = Schema::new(schema).expect("a case must have a good schema");
    match run(policy, &compiled, input) {
        Fit::Unfit { violations } => {
            assert!(!violations.is_empty(), "a refusal must say why");
            violations
        }
        other => panic!("{input} was not refused under {schema}: {other:?}"),
    }
}

#[track_caller]
fn refuses(schema: &Value, input: &str) -> Vec<Violation> {
    refuses_with(&Policy::default(), schema, input)
}

#[track_caller]
fn fits(schema: &Value, input: &str) {
    let compiled = Schema::new(schema).expect("a case must have a good schema");
    let outcome = run(&Policy::default(), &compiled, input);
    assert!(matches!(outcome, Fit::Fits), "{input} does not fit {schema}: {outcome:?}");
}
