//! JSON objects, written member by member. Values that are JSON already keep their spelling.

use super::doc::quote;

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Object {
    text: String,
}

impl Object {
    pub(crate) fn new() -> Self {
        Object::default()
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(&quote(name));
        self.text.push(':');
        self.text.push_str(value.as_ref());
        self
    }

    pub(crate) fn text(self, name: &str, value: impl AsRef<str>) -> Self {
        let value = quote(value.as_ref());
        self.raw(name, value)
    }

    pub(crate) fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    pub(crate) fn maybe_text(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        self.maybe(name, value.map(|value| quote(value.as_ref())))
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, value.to_string())
    }

    pub(crate) fn end(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}
