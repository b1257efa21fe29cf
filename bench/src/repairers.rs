//! The repairers that are compared, with one signature.

use toolmend::{FixOptions, Schema};

/// Turns text into JSON text, if it can.
pub(crate) type Repair = Box<dyn Fn(&str) -> Option<String>>;

/// All repairers, toolmend first.
pub(crate) const NAMES: [&str; 6] =
    ["toolmend", "llm_json", "jsonrepair", "jsonrepair-rs", "jsonfixer", "anyrepair"];

/// Returns the repairer of this name. Only toolmend uses a schema while it reads. Of the others only `jsonrepair-rs`
/// accepts one, for scalar types, and all scalars of these documents have the right type.
pub(crate) fn find_repairer(name: &str, schema: Option<&str>) -> Option<Repair> {
    Some(match name {
        "toolmend" => {
            let mut options = FixOptions::new();
            if let Some(source) = schema {
                options = options.schema(Schema::new(&serde_json::from_str(source).ok()?).ok()?);
            }
            Box::new(move |text| toolmend::fix_with(text, &options).json().map(ToOwned::to_owned))
        }
        "llm_json" => Box::new(|text| llm_json::repair_json(text, &llm_json::RepairOptions::default()).ok()),
        "jsonrepair" => Box::new(|text| jsonrepair::repair_json(text, &jsonrepair::Options::default()).ok()),
        "jsonrepair-rs" => Box::new(|text| jsonrepair_rs::jsonrepair(text).ok()),
        "jsonfixer" => {
            Box::new(|text| jsonfixer::repair_json(text, jsonfixer::JsonRepairOptions::default()).ok())
        }
        "anyrepair" => Box::new(|text| anyrepair::jsonrepair(text).ok()),
        _ => return None,
    })
}
