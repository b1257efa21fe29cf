//! Custom rows are accepted if they read back the calls that they write.
//!
//! The check needs the whole machine, so it is here and not with the rows.

use serde::{Deserialize, Deserializer, de};

use crate::dialect::custom::DialectFile;
use crate::dialect::{CustomDialects, Dialect, DialectError};
use crate::mender::Mender;
use crate::syntax::Finish;
use crate::turn::{Call, TurnOptions};
use crate::verdict::Outcome;

impl<'de> Deserialize<'de> for CustomDialects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = DialectFile::deserialize(deserializer)?;
        let dialects = CustomDialects::compile(file).map_err(de::Error::custom)?;
        dialects.rows().try_for_each(|row| check_row(&dialects, row)).map_err(de::Error::custom)?;
        Ok(dialects)
    }
}

/// The calls that [`Dialect::example`] writes.
const WRITTEN: &[(&str, &str)] = &[("get_weather", r#"{"city": "Oslo", "days": 3}"#), ("get_time", "{}")];

/// Checks that the calls that a row writes are the calls that are read: the same names and arguments, in the same
/// dialect, without a repair.
fn check_row(dialects: &CustomDialects, row: &'static Dialect) -> Result<(), DialectError> {
    let tools = serde_json::json!([
        {"name": "get_weather", "parameters": {"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"},
        }}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
    ]);
    let (mender, _) = Mender::builder().tools(&tools).dialects(dialects.clone()).build_lenient();
    let text = row.example();
    let turn = mender.turn(&text, &TurnOptions::new(), Finish::Stop);
    let is_written = |(call, (name, arguments)): (&Call, &(&str, &str))| {
        let same = call.name == *name && call.arguments() == Some(arguments);
        same && call.outcome() == Outcome::Clean && call.dialect == row.name()
    };
    let same_calls = turn.calls.len() == WRITTEN.len() && turn.calls.iter().zip(WRITTEN).all(is_written);
    if same_calls && turn.content.is_empty() {
        return Ok(());
    }
    let found: Vec<String> = turn.calls.iter().map(describe_call).collect();
    let found = if found.is_empty() { "no call".to_owned() } else { found.join(", ") };
    Err(DialectError::of_row(
        row.name(),
        format!(
            "expected to read back, clean, the two calls that the row writes ({text:?}), found {found}; change the \
             templates so that nothing in them has to be repaired"
        ),
    ))
}

/// A call, as error messages show it.
fn describe_call(call: &Call) -> String {
    let (name, dialect, outcome) = (&call.name, call.dialect, call.outcome().name());
    match call.arguments() {
        Some(arguments) => format!("{name:?} {arguments} ({outcome}, dialect {dialect})"),
        None => format!("{name:?} without arguments ({outcome}, dialect {dialect})"),
    }
}

#[cfg(test)]
#[path = "custom_check_tests.rs"]
mod tests;
