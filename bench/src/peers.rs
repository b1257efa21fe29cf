//! The repairers that are compared, behind one signature.

use toolmend::{FixOptions, Schema};

/// Text in, JSON text out, or nothing.
pub(crate) type Repair = Box<dyn Fn(&str) -> Option<String>>;

/// Everybody, ourselves first.
pub(crate) const NAMES: [&str; 6] =
    ["toolmend", "llm_json", "jsonrepair", "jsonrepair-rs", "jsonfixer", "anyrepair"];

/// The repairer of that name. Only toolmend makes use of a schema while it reads; of the others only
/// `jsonrepair-rs` takes one at all, for scalar types, which none of these documents has wrong.
pub(crate) fn repairer(name: &str, schema: Option<&str>) -> Option<Repair> {
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
