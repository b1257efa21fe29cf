//! A message of JSON-RPC, as far as the shim looks into it. Every part stays the text that it was.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A request, a notification or an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'l> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'l RawValue>,
    #[serde(borrow, default)]
    method: Option<&'l RawValue>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'l RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'l RawValue>,
}

impl<'l> Message<'l> {
    /// Nothing where the line is no message, or several at once; such lines pass.
    pub(crate) fn read(line: &'l [u8]) -> Option<Self> {
        let line = line.trim_ascii_start();
        if line.first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(line).ok()
    }

    /// Whether this is what the message asks for.
    pub(crate) fn asks(&self, method: &str) -> bool {
        self.method.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()).as_deref() == Some(method)
    }
}
