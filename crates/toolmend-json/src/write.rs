//! JSON that is written piece by piece. Values that are JSON already keep their spelling and are never checked.

use crate::text::quote_into;

/// An object that is written member by member.
///
/// ```
/// use toolmend_json::Object;
///
/// let object = Object::new().text("name", "a").number("size", 12).raw("tags", "[]").end();
/// assert_eq!(object, r#"{"name":"a","size":12,"tags":[]}"#);
/// ```
#[derive(Debug, Default)]
pub struct Object {
    text: String,
}

impl Object {
    /// Starts an object without members.
    pub fn new() -> Self {
        Object::default()
    }

    /// Adds a member whose value is JSON already.
    #[must_use]
    pub fn raw(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.push_key(name);
        self.text.push_str(value.as_ref());
        self
    }

    fn push_key(&mut self, name: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        quote_into(&mut self.text, name);
        self.text.push(':');
    }

    /// Adds a member whose value is a string.
    #[must_use]
    pub fn text(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.push_key(name);
        quote_into(&mut self.text, value.as_ref());
        self
    }

    /// Adds a member whose value is JSON already, if there is a value.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a member whose value is a string, if there is a value.
    #[must_use]
    pub fn maybe_text(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a member whose value is a number.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, value.to_string())
    }

    /// Returns the finished object.
    pub fn end(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// Returns an array of values that are JSON already.
///
/// ```
/// assert_eq!(toolmend_json::array(["1", "\"a\""]), r#"[1,"a"]"#);
/// ```
pub fn array<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let mut out = String::from("[");
    for value in values {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(value.as_ref());
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_arrays_are_json() {
        assert_eq!(Object::new().end(), "{}");
        assert_eq!(array::<&str>([]), "[]");
        let object = Object::new().maybe("a", None::<&str>).maybe_text("b\"", Some("\n")).number("c", 1);
        let text = object.raw("d", "1.50").maybe("e", Some("{}")).maybe_text("f", None::<&str>).end();
        assert_eq!(text, r#"{"b\"":"\n","c":1,"d":1.50,"e":{}}"#);
    }
}
