//! Members that only their own protocol or vendor knows: signatures, cache markers, reasoning details.
//!
//! A call that is written again keeps them, because vendors refuse the next turn without them. They stay JSON text.

use crate::json::{Object, ValueRef};

/// Members that every protocol passes on, because the vendors who write them read them again wherever they find them.
const PORTABLE: [&str; 2] = ["extra_content", "provider_specific_fields"];

/// Members of an object: names and JSON values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtraMembers(Vec<(String, String)>);

impl ExtraMembers {
    /// Reads all members of an object except the known ones and those without a value.
    pub(crate) fn read(of: ValueRef<'_>, known: &[&str]) -> Self {
        if !of.is_object() {
            return ExtraMembers::default();
        }
        let unknown = of.items().filter(|item| !item.is_null() && !known.contains(&&*item.key()));
        ExtraMembers(unknown.map(|item| (item.key().into_owned(), item.raw().to_owned())).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the members of a later piece. A member that came before is replaced.
    pub fn merge(&mut self, later: ExtraMembers) {
        for (name, value) in later.0 {
            match self.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) => *before = value,
                None => self.0.push((name, value)),
            }
        }
    }

    /// Returns the JSON value of a member.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Takes a member out and returns its JSON value.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Adds the members to an object.
    pub(crate) fn write_to(&self, object: Object) -> Object {
        self.0.iter().fold(object, |object, (name, value)| object.raw(name, value))
    }
}

/// What a call carries beside its id, its name and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallExtras {
    /// Members of the call itself.
    pub outer: ExtraMembers,
    /// Members of the object inside of it that holds the name and the arguments, in protocols that have one.
    pub inner: ExtraMembers,
}

impl CallExtras {
    /// Adds what a later piece of the call carries.
    pub fn merge(&mut self, later: CallExtras) {
        self.outer.merge(later.outer);
        self.inner.merge(later.inner);
    }

    /// Returns what a call of another protocol can carry.
    #[must_use]
    pub fn into_portable(mut self) -> Self {
        self.outer.0.retain(|(name, _)| PORTABLE.contains(&name.as_str()));
        CallExtras { outer: self.outer, inner: ExtraMembers::default() }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Document;

    fn read(text: &'static str) -> ExtraMembers {
        let doc = Document::parse(&Bytes::from_static(text.as_bytes())).unwrap();
        ExtraMembers::read(doc.root(), &["id"])
    }

    #[test]
    fn unknown_members_keep_their_order_and_spelling() {
        let mut extras = read(r#"{"z":1.50,"id":"x","a":{"b" : null},"n":null}"#);
        extras.merge(read(r#"{"a":2,"c":true}"#));
        assert_eq!(extras.write_to(Object::new()).end(), r#"{"z":1.50,"a":2,"c":true}"#);
    }

    #[test]
    fn only_what_other_protocols_can_carry_is_portable() {
        let outer = read(r#"{"index":1,"extra_content":{"google":{"thought_signature":"s"}}}"#);
        let portable = CallExtras { outer, inner: read(r#"{"x":1}"#) }.into_portable();
        assert!(portable.inner.is_empty());
        assert_eq!(
            portable.outer.write_to(Object::new()).end(),
            r#"{"extra_content":{"google":{"thought_signature":"s"}}}"#
        );
    }
}
