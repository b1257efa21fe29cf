//! Custom rows are taken once they have read back the calls that they write.

use serde::{Deserialize, Deserializer, de};

use crate::dialect::custom::DialectFile;
use crate::dialect::{CustomDialects, Dialect, DialectError};
use crate::mender::Mender;
use crate::syntax::Finish;
use crate::turn::TurnOptions;

impl<'de> Deserialize<'de> for CustomDialects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = DialectFile::deserialize(deserializer)?;
        let dialects = CustomDialects::compile(file).map_err(de::Error::custom)?;
        dialects.rows().try_for_each(|row| check_row(&dialects, row)).map_err(de::Error::custom)?;
        Ok(dialects)
    }
}

/// Whether the calls that a row writes are the calls that are read.
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
    let read: Vec<_> = turn.calls.iter().map(|call| (call.dialect, call.arguments())).collect();
    let written = [(row.name(), Some(r#"{"city": "Oslo", "days": 3}"#)), (row.name(), Some("{}"))];
    if read == written && turn.content.is_empty() {
        return Ok(());
    }
    let found: Vec<_> = turn.calls.iter().map(|call| (call.name.as_str(), call.arguments())).collect();
    Err(DialectError::of_row(
        row.name(),
        format!("the two calls that it writes are not read back: {text:?} gives {found:?}"),
    ))
}

#[cfg(test)]
#[path = "custom_check_tests.rs"]
mod tests;
