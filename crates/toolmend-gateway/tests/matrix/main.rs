//! Outputs of many model families, replayed over HTTP in every protocol, whole and in pieces of every size.
//!
//! Whatever the protocol and the pieces, the calls and the content are the same, no markup is visible, and the turn ends
//! correctly.

#![allow(
    clippy::format_collect,
    clippy::print_stdout,
    clippy::similar_names,
    reason = "scripts are assembled from pieces, and the test prints a table"
)]

#[path = "../gateway/fixture.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod fixture;

mod corpus;
mod families;
mod replay;
mod shapes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmend::{Finish, Mender, Outcome, TurnOptions};
use toolmend_gateway::Config;

use crate::corpus::{Recorded, recorded};
use crate::families::cases;
use crate::fixture::Fixture;
use crate::replay::{Output, SURFACES, Turn, is_text, replay, tools};
use crate::shapes::{FAMILIES, SHAPES, Shape};

/// Starts a gateway that takes its time: what an answer becomes must not depend on what else the machine does.
async fn patient_fixture() -> Fixture {
    let mut config = Config::default();
    config.limits.work_millis = 600_000;
    Fixture::with(config, []).await
}

#[tokio::test]
async fn every_family_works_in_every_protocol() {
    let fixture = patient_fixture().await;
    let mut table: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases() {
        for surface in SURFACES {
            for size in [None, Some(1), Some(3), Some(17), Some(10_000)] {
                let output = Output { model: case.model, text: case.text, tools: None, cut: false };
                let mut turn = replay(&fixture, surface, &output, size).await;
                if is_text(surface) {
                    turn = reread(&turn, &tools(surface), case.model);
                }
                let calls: Vec<_> =
                    turn.calls.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                let right = calls == case.calls
                    && turn.content.trim() == case.content
                    && (is_text(surface) || turn.ends_in_calls != case.calls.is_empty());
                if right {
                    *table.entry(case.family).or_default() += 1;
                } else {
                    wrong.push(format!("{} on {surface} in {size:?}: {}", case.family, json!({"calls": turn.calls, "content": turn.content, "ends_in_calls": turn.ends_in_calls})));
                }
            }
        }
    }
    for (family, count) in &table {
        println!("{family:<12} {count:>4} replays right");
    }
    assert!(table.len() >= 7, "at least seven families");
    assert!(wrong.is_empty(), "{} replays went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Outputs that can be read in two ways, with both. They stay text, byte for byte.
const TWO_READINGS: [(&str, Shape, &str); 4] = [
    ("Gemma 3", Shape::BareArguments, "a call of get_weather, or an answer in JSON that the user sees"),
    // Without a marker, nothing but its end shows that a text is a call.
    ("Gemma 3", Shape::TokenCap, "a call that was cut off, or a file that the user sees"),
    ("Qwen MoE", Shape::TokenCap, "a call that was cut off, or a file that the user sees"),
    ("DeepSeek V4 Flash", Shape::TokenCap, "a call that was cut off, or a file that the user sees"),
];
/// What may not be visible in content.
const MARKUP: [&str; 9] = [
    "<tool_call",
    "</tool",
    "<|tool_call",
    "<tool_call|>",
    "<function=",
    "<parameter=",
    "<|\"|>",
    "<tool_",
    "```",
];

/// Each family with each of its defects on four surfaces and Ollama's, whole and in pieces: the calls are right, or nothing runs
/// because the output was truncated or has two readings. Arguments are JSON, and no markup is visible, except complete calls
/// in completions.
#[tokio::test]
async fn every_defect_of_every_family_is_handled_in_every_protocol() {
    let fixture = patient_fixture().await;
    let mut wrong = Vec::new();
    let mut replays = 0;
    for family in &FAMILIES {
        let mut row = Vec::new();
        for shape in SHAPES {
            let Some(output) = shapes::output(family, shape) else {
                row.push(format!("{shape:?}: –"));
                continue;
            };
            let before = wrong.len();
            let readings = TWO_READINGS
                .iter()
                .find(|(name, of_shape, _)| (*name, *of_shape) == (family.name, shape))
                .map(|row| row.2);
            for surface in SURFACES.into_iter().filter(|surface| *surface != "/api/generate") {
                for size in [None, Some(1), Some(7), Some(4096)] {
                    replays += 1;
                    let sent =
                        Output { model: family.model, text: &output.text, tools: None, cut: output.is_cut };
                    let turn = replay(&fixture, surface, &sent, size).await;
                    if let Err(why) = check_cell(&output, readings.is_some(), surface, &turn, family.model) {
                        wrong.push(format!("{} {shape:?} on {surface} in {size:?}: {why}", family.name));
                    }
                }
            }
            row.push(match readings {
                _ if wrong.len() > before => format!("{shape:?}: WRONG"),
                Some(readings) => format!("{shape:?}: text ({readings})"),
                None if output.is_cut => format!("{shape:?}: truncated"),
                None => format!("{shape:?}: right"),
            });
        }
        println!("{:<18} {}", family.name, row.join(", "));
    }
    println!("{replays} replays");
    assert!(wrong.is_empty(), "{} replays went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check_cell(
    output: &shapes::Output,
    stays_text: bool,
    surface: &str,
    turn: &Turn,
    model: &str,
) -> Result<(), String> {
    if stays_text {
        let same = turn.calls.is_empty() && turn.content == output.text && turn.ends_cut == output.is_cut;
        return if same { Ok(()) } else { Err(format!("{turn:?}").chars().take(400).collect()) };
    }
    let (mender, _) = Mender::builder().tools(&tools(surface)).build_lenient();
    let (calls, content) = if is_text(surface) {
        let read = reread(turn, &tools(surface), model);
        (read.calls, read.content)
    } else {
        (turn.calls.iter().filter(|call| !is_stub(call, &mender)).cloned().collect(), turn.content.clone())
    };
    let shorten = |text: String| text.chars().take(400).collect();
    let runs: Vec<_> = calls.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    if runs != output.calls {
        return Err(shorten(format!("calls {}, content {content:?}", json!(calls))));
    }
    if let Some(mark) = MARKUP.iter().find(|mark| content.contains(**mark)) {
        return Err(shorten(format!("{mark} is visible in {content:?}")));
    }
    // The only exception are truncated outputs on a surface whose agents give up at the limit.
    if turn.ends_cut != output.is_cut && !(output.is_cut && surface == "/v1/responses") {
        return Err(format!("the client is told that it was cut: {}", turn.ends_cut));
    }
    Ok(())
}

/// Whether a call does not run: its tool rejects the stub.
fn is_stub((name, value): &(String, Value), mender: &Mender) -> bool {
    let schema = mender.tool(name).and_then(toolmend::Tool::schema);
    value.to_string().contains("__unparsedToolInput") && schema.is_none_or(|schema| !schema.accepts(value))
}

/// Reads a text that holds its calls.
fn reread(turn: &Turn, tools: &Value, model: &str) -> Turn {
    let (mender, _) = Mender::builder().tools(tools).build_lenient();
    let read = mender.turn(&turn.content, &TurnOptions::new().model(model), Finish::Stop);
    Turn { calls: running(&read.calls, &mender), content: read.content, ..Turn::default() }
}

/// Whether a call runs. The gateway refuses undeclared names, which the library leaves to its caller.
fn runs(call: &toolmend::Call, mender: &Mender) -> bool {
    call.outcome().runs() && mender.tool(&call.name).is_some()
}

fn running(calls: &[toolmend::Call], mender: &Mender) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for call in calls.iter().filter(|call| runs(call, mender)) {
        let texts = call.arguments().into_iter().chain(call.verdict.values().iter().map(String::as_str));
        out.extend(texts.map(|text| (call.name.clone(), serde_json::from_str(text).unwrap())));
    }
    out
}

/// Whatever the protocol and the pieces, a client gets what the library finds in the text.
#[tokio::test]
async fn the_corpus_works_in_every_protocol() {
    let fixture = patient_fixture().await;
    let mut wrong = Vec::new();
    let cases = recorded();
    assert!(cases.len() > 300, "only {} cases were found", cases.len());
    for case in &cases {
        for surface in SURFACES {
            for size in [None, Some(5)] {
                let output =
                    Output { model: &case.model, text: &case.text, tools: Some(&case.tools), cut: case.cut };
                let turn = replay(&fixture, surface, &output, size).await;
                if let Err(why) = check(case, surface, size.is_some(), &turn) {
                    wrong.push(format!("{} on {surface} in {size:?}: {why}", case.name));
                }
            }
        }
    }
    println!("{} outputs on {} surfaces, whole and in pieces", cases.len(), SURFACES.len());
    assert!(wrong.is_empty(), "{} replays went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(case: &Recorded, surface: &str, streamed: bool, turn: &Turn) -> Result<(), String> {
    let finish = if case.cut { Finish::Length } else { Finish::Stop };
    let (mender, _) = Mender::builder().tools(&case.tools).build_lenient();
    let options = TurnOptions::new().model(&case.model);
    // A stream does not wait for the end of reasoning that nothing opened.
    let options = if streamed { options.reasoning_open(false) } else { options };
    let expected = mender.turn(&case.text, &options, finish);
    if case.tools.as_array().is_none_or(Vec::is_empty) {
        // Without tools the text stays text.
        return if turn.content == case.text { Ok(()) } else { Err(format!("content {:?}", turn.content)) };
    }
    let calls = running(&expected.calls, &mender);
    let all_run = expected.calls.iter().all(|call| runs(call, &mender));
    if is_text(surface) {
        if all_run && expected.calls.iter().all(|call| call.outcome() == Outcome::Clean) {
            let same = turn.content == case.text;
            return if same { Ok(()) } else { Err(format!("a clean text became {:?}", turn.content)) };
        }
        let read = reread(turn, &case.tools, &case.model);
        // Feedback on a refused call may follow a call in a dialect that is recognised only at the end of a text.
        let right = read.calls == calls || !all_run && read.calls.is_empty();
        return if right { Ok(()) } else { Err(format!("calls {:?} in {:?}", read.calls, turn.content)) };
    }
    let (stubs, run): (Vec<_>, Vec<_>) = turn.calls.iter().cloned().partition(|call| is_stub(call, &mender));
    let stubs = stubs.len();
    if run != calls || (all_run && stubs > 0) {
        return Err(format!("calls {}", json!(turn.calls)));
    }
    if all_run && turn.content.trim() != expected.content.trim() {
        return Err(format!("content {:?}, expected {:?}", turn.content, expected.content));
    }
    let has_cut_call = expected.calls.iter().any(|call| call.outcome() == Outcome::Truncated);
    // Agents of one protocol give up at the limit, so they are not told.
    let cut = case.cut && !(has_cut_call && stubs > 0 && surface == "/v1/responses");
    if turn.ends_cut != cut {
        return Err(format!("the client is told that it was cut: {}", turn.ends_cut));
    }
    if !cut && turn.ends_in_calls == (calls.is_empty() && stubs == 0) {
        return Err(format!("the turn ends in calls: {}", turn.ends_in_calls));
    }
    Ok(())
}
