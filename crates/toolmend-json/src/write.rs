//! JSON objects, written member by member. Values that are JSON already keep their spelling.

use crate::escape::push_quoted;

/// An object that is being written.
#[derive(Debug, Default)]
pub struct Object {
    text: String,
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Object::default()
    }

    /// A member whose value is JSON already.
    #[must_use]
    pub fn raw(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.key(name);
        self.text.push_str(value.as_ref());
        self
    }

    fn key(&mut self, name: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        push_quoted(&mut self.text, name);
        self.text.push(':');
    }

    /// A member whose value is a string.
    #[must_use]
    pub fn text(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.key(name);
        push_quoted(&mut self.text, value.as_ref());
        self
    }

    /// A member whose value is JSON already, where there is one.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// A member whose value is a string, where there is one.
    #[must_use]
    pub fn maybe_text(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// A member whose value is a number.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, value.to_string())
    }

    /// The finished object.
    pub fn end(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}
