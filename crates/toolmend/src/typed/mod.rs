//! The typed entry points: the functions of `serde_json`, with repair.
//!
//! The strict reader goes first. Only input that `serde_json` refuses is repaired, and only at the position that it
//! refused. `serde_json` has the last word: every value that is returned was accepted by it. Nothing here needs a
//! schema: the type says what it wants while it is deserialised, and the repairs come from the same table of shape rules that
//! schemas use.

mod error;
mod lenient;
mod probe;
mod probe_error;
mod repair_rounds;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::error::Error;
pub use self::lenient::Lenient;
use crate::repair::Repair;
use crate::shape::Spelling;

/// Reads a value of any type from JSON text that a model wrote, like `serde_json::from_str`.
///
/// ```
/// #[derive(serde::Deserialize, Debug, PartialEq)]
/// struct Search { query: String, #[serde(default)] tags: Vec<String>, limit: Option<u32> }
///
/// let search: Search = toolmend::from_str(r#"{"query": 42, "tags": "rust", "limit": "10"}"#)?;
/// assert_eq!(search, Search { query: "42".into(), tags: vec!["rust".into()], limit: Some(10) });
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged text, if no repair helps.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_str_with(text, |_| {})
}

/// Reads a value like [`from_str`] and reports what was repaired.
///
/// The callback gets all repairs at once, before the value is returned. It is not called if there are none, or if no
/// repair helps.
///
/// ```
/// let mut kinds = Vec::new();
/// let ports: Vec<u16> = toolmend::from_str_with(r#"["80", 443]"#, |repairs| {
///     kinds.extend(repairs.iter().map(|repair| repair.kind));
/// })?;
/// assert_eq!((ports, kinds), (vec![80, 443], vec![toolmend::RepairKind::StringToNumber]));
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged text, if no repair helps.
pub fn from_str_with<T: DeserializeOwned>(text: &str, on_repair: impl FnOnce(&[Repair])) -> Result<T, Error> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(strict) => read_repaired(strict, text, Spelling::Written, on_repair),
    }
}

/// Reads a value of any type from JSON bytes that a model wrote, like `serde_json::from_slice`.
///
/// ```
/// let ready: bool = toolmend::from_slice(b"\"yes\"")?;
/// assert!(ready);
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged bytes, if no repair helps or they are not UTF-8.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    from_slice_with(bytes, |_| {})
}

/// Reads a value like [`from_slice`] and reports what was repaired, like [`from_str_with`].
///
/// ```
/// let mut count = 0;
/// let ready: bool = toolmend::from_slice_with(b"\"yes\"", |repairs| count = repairs.len())?;
/// assert_eq!((ready, count), (true, 1));
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged bytes, if no repair helps or they are not UTF-8.
pub fn from_slice_with<T: DeserializeOwned>(
    bytes: &[u8],
    on_repair: impl FnOnce(&[Repair]),
) -> Result<T, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => from_str_with(text, on_repair),
        Err(_) => Ok(serde_json::from_slice(bytes)?),
    }
}

/// Reads a value of any type from a JSON value that a model wrote, like `serde_json::from_value`.
///
/// ```
/// let limit: u64 = toolmend::from_value(serde_json::json!("9007199254740993"))?;
/// assert_eq!(limit, 9007199254740993);
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged value, if no repair helps.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    from_value_with(value, |_| {})
}

/// Reads a value like [`from_value`] and reports what was repaired, like [`from_str_with`].
///
/// ```
/// let mut paths = Vec::new();
/// let list: Vec<u8> = toolmend::from_value_with(serde_json::json!(["1", 2]), |repairs| {
///     paths.extend(repairs.iter().map(|repair| repair.path.clone()));
/// })?;
/// assert_eq!((list, paths), (vec![1, 2], vec!["/0".to_owned()]));
/// # Ok::<(), toolmend::Error>(())
/// ```
///
/// # Errors
/// The error of `serde_json` on the unchanged value, if no repair helps.
pub fn from_value_with<T: DeserializeOwned>(
    value: Value,
    on_repair: impl FnOnce(&[Repair]),
) -> Result<T, Error> {
    let strict = match T::deserialize(&value) {
        Ok(value) => return Ok(value),
        Err(strict) => strict,
    };
    // This is not the text that the model wrote: the spelling of numbers is lost.
    let text = value.to_string();
    drop(value);
    read_repaired(strict, &text, Spelling::Parsed, on_repair)
}

/// Reads what the strict reader refused.
fn read_repaired<T: DeserializeOwned>(
    strict: serde_json::Error,
    text: &str,
    spelling: Spelling,
    on_repair: impl FnOnce(&[Repair]),
) -> Result<T, Error> {
    let Some((value, repairs)) = repair_rounds::read_with_repairs(text, spelling) else {
        return Err(Error::explain::<T>(strict, text));
    };
    if !repairs.is_empty() {
        on_repair(&repairs);
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
