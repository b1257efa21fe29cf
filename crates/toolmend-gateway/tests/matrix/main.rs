//! Outputs of many model families, replayed over HTTP on every surface, whole and in pieces of every size.
//!
//! Whatever the surface and the pieces: the calls are the same, the content is the same, no markup shows, and the turn
//! ends the way it should.

#![allow(
    clippy::format_collect,
    clippy::print_stdout,
    clippy::similar_names,
    reason = "scripts are put together from pieces, and the table is what people want to see"
)]

#[path = "../gateway/rig.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod rig;

mod families;
mod replay;

use std::collections::BTreeMap;

use serde_json::json;

use crate::families::cases;
use crate::replay::{SURFACES, heard};
use crate::rig::Rig;

#[tokio::test]
async fn every_family_on_every_surface() {
    let rig = Rig::new([]).await;
    let mut table: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases() {
        for surface in SURFACES {
            for size in [None, Some(1), Some(3), Some(17), Some(10_000)] {
                let turn = heard(&rig, surface, case.model, case.text, size).await;
                let calls: Vec<_> =
                    turn.calls.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                let right = calls == case.calls
                    && turn.content.trim() == case.content
                    && turn.ends_in_calls != case.calls.is_empty();
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
