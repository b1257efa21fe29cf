//! Schema-guided repair: JSON to the shape that the tool declares, only where the schema disagrees.

use serde_json::Value;

use crate::patch::Patch;
use crate::policy::Policy;
use crate::schema::Schema;
use crate::verdict::Violation;

/// What became of a strict value under its schema.
#[derive(Debug)]
pub(crate) enum Fit {
    /// It fits as it is, hints included.
    Fits,
    /// It fits now. The patches lead from the given text to `text`, first to last.
    Mended { text: String, layers: Vec<Patch>, notes: Vec<String> },
    /// It does not fit; these are the places, after every repair that helped.
    Unfit { violations: Vec<Violation> },
}

/// Fits `text`, strict JSON whose parsed form is `value`, to the schema.
pub(crate) fn fit(text: &str, value: &Value, schema: &Schema, policy: &Policy, tool: Option<&str>) -> Fit {
    let _ = (text, policy, tool);
    let violations = schema.violations(value);
    if violations.is_empty() { Fit::Fits } else { Fit::Unfit { violations } }
}
