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

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmend::{Finish, Mender, Outcome, TurnOptions};

use crate::corpus::{Recorded, recorded};
use crate::families::cases;
use crate::fixture::Fixture;
use crate::replay::{Output, SURFACES, Turn, is_text, replay, tools};

#[tokio::test]
async fn every_family_works_in_every_protocol() {
    let fixture = Fixture::new([]).await;
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
    let fixture = Fixture::new([]).await;
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
    // A call that does not run is a stub, which the tool of its name rejects.
    let is_stub = |(name, value): &&(String, Value)| {
        let schema = mender.tool(name).and_then(toolmend::Tool::schema);
        value.to_string().contains("__unparsedToolInput")
            && schema.is_none_or(|schema| !schema.accepts(value))
    };
    let stubs = turn.calls.iter().filter(is_stub).count();
    let run: Vec<_> = turn.calls.iter().filter(|call| !is_stub(call)).cloned().collect();
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
