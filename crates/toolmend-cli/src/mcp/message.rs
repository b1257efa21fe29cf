//! JSON-RPC messages, read only as far as the proxy needs. Every part keeps its original text.

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
    /// Parses a line. Returns `None` if it is not a message or is a batch of messages; such lines pass through.
    pub(crate) fn parse(line: &'l [u8]) -> Option<Self> {
        let line = line.trim_ascii_start();
        if line.first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(line).ok()
    }

    /// Whether the message calls this method.
    pub(crate) fn is_request(&self, method: &str) -> bool {
        self.method.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()).as_deref() == Some(method)
    }
}
