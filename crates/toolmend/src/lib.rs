//! Mend the tool calls that language models get nearly right, or refuse them with a reason.

#![forbid(unsafe_code)]

mod fix;
mod guide;
mod json;
mod patch;
mod pipeline;
mod policy;
mod repair;
mod report;
mod schema;
mod shape;
mod syntax;
mod verdict;

pub use crate::{
    fix::{FixOptions, fix, fix_with},
    policy::{Limits, Policy, Preset},
    repair::{Layer, REPAIRS, Repair, RepairInfo, RepairKind, Tier},
    schema::{Schema, SchemaError},
    syntax::Finish,
    verdict::{Outcome, Reason, Trouble, Verdict, Violation},
};
