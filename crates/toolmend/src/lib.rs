//! Mend the tool calls that language models get nearly right, or refuse them with a reason.

#![forbid(unsafe_code)]

mod contract;
mod feedback;
mod fix;
mod guide;
mod json;
mod mender;
mod name;
mod patch;
mod pipeline;
mod policy;
mod repair;
mod report;
mod reprompt;
mod schema;
mod shape;
mod stats;
mod syntax;
#[cfg(test)]
mod tests_with_syntax;
mod tools;
mod typed;
mod verdict;

pub use crate::{
    contract::with_contract_hints,
    fix::{FixOptions, fix, fix_with},
    mender::{Mender, MenderBuilder},
    policy::{Limits, Policy, Preset},
    repair::{Layer, REPAIRS, Repair, RepairInfo, RepairKind, Tier},
    reprompt::{Recovery, Reprompt, RepromptError},
    schema::{Schema, SchemaError},
    stats::{Counts, Snapshot, Stats},
    syntax::Finish,
    tools::{Tool, ToolsError},
    typed::{Error, Lenient, from_slice, from_str, from_str_with, from_value},
    verdict::{Outcome, Reason, Trouble, Verdict, Violation},
};
