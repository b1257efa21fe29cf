//! How options are read. All of them come as text, and JSON for those with parts.

use serde::de::DeserializeOwned;
use toolmend::{Finish, Policy};
use wasm_bindgen::JsError;

/// Reads a JSON text that the JavaScript half wrote. `what` names it in the error.
pub(crate) fn parse_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, JsError> {
    // Through a value, so that errors do not point into text that the caller never saw.
    let value = serde_json::from_str::<serde_json::Value>(text);
    value.and_then(serde_json::from_value).map_err(|error| JsError::new(&format!("{what}: {error}")))
}

pub(crate) fn parse_policy(text: &str) -> Result<Policy, JsError> {
    parse_json("policy", text)
}

pub(crate) fn parse_finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}
