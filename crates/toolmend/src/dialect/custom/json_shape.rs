//! Where the name and the arguments of a call are in the JSON of a custom row.
//!
//! The built-in reader of objects knows the keys that models write. A row may have other keys, or nest them. This module
//! learns the keys from the template and finds them again in strict JSON. It never repairs JSON.

use std::ops::Range;

use serde_json::Value;

use super::{keep_list, keep_text};
use crate::json::tree::{Kind, Tree};

/// The step of a path to the only member of an object, whose key is the name of the tool.
const ONLY: &str = "{name}";
/// How deep a template may nest its holes.
const MAX_STEPS: usize = 8;

/// The paths to the parts of a call, as keys from the outside in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonShape {
    name: &'static [&'static str],
    arguments: &'static [&'static str],
    id: Option<&'static [&'static str]>,
}

/// A call in JSON of a known shape.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShapedCall {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    /// Where the arguments are.
    pub(crate) arguments: Range<usize>,
}

impl JsonShape {
    /// The shape of the object in a template. `None` if the template has none, or if its holes are in a list.
    pub(super) fn of(template: &str) -> Option<Self> {
        let quoted = |hole: &str| format!("\"{{{hole}}}\"");
        // Every hole becomes a string with its own name. The name and the id are in quotes already.
        let mut text = template.to_owned();
        for hole in ["arguments", "index", "count"] {
            text = text.replace(&quoted(hole), &format!("{{{hole}}}"));
            text = text.replace(&format!("{{{hole}}}"), &quoted(hole));
        }
        let object = text.find('{')?;
        let first = serde_json::Deserializer::from_str(&text[object..]).into_iter::<Value>().next()?;
        let value = first.ok()?;
        Some(JsonShape {
            name: path_to(&value, "{name}")?,
            arguments: path_to(&value, "{arguments}")?,
            id: path_to(&value, "{id}"),
        })
    }

    /// Finds the parts of a call in a strict object of this shape.
    pub(crate) fn find(&self, json: &str) -> Option<ShapedCall> {
        let tree = Tree::parse(json, crate::json::strict::MAX_DEPTH).ok()?;
        let name = match self.name.split_last()? {
            (&ONLY, outer) => {
                let object = follow(&tree, outer)?;
                tree.key(only_member(&tree, object)?)?.into_owned()
            }
            _ => tree.string(follow(&tree, self.name)?)?.into_owned(),
        };
        let id = self.id.and_then(|path| tree.string(follow(&tree, path)?)).map(std::borrow::Cow::into_owned);
        let arguments = tree.nodes[follow(&tree, self.arguments)?].span.clone();
        Some(ShapedCall { name, id, arguments })
    }
}

/// The keys that lead to this text, or to this key.
fn path_to(value: &Value, hole: &str) -> Option<&'static [&'static str]> {
    let mut open = vec![(Vec::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::String(text) if text == hole => return Some(keep_list(path)),
            Value::Object(members) if path.len() < MAX_STEPS => {
                for (key, inner) in members {
                    let mut path = path.clone();
                    path.push(keep_text(key));
                    if key == hole {
                        return Some(keep_list(path));
                    }
                    open.push((path, inner));
                }
            }
            _ => {}
        }
    }
    None
}

/// The node at the end of a path.
fn follow(tree: &Tree<'_>, path: &[&str]) -> Option<usize> {
    path.iter().try_fold(0, |node, &key| match key {
        ONLY => only_member(tree, node),
        key => tree.member(node, key),
    })
}

fn only_member(tree: &Tree<'_>, object: usize) -> Option<usize> {
    let mut members = tree.children(object).filter(|_| tree.nodes[object].kind == Kind::Object);
    members.next().filter(|_| members.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_found_where_the_template_has_them() {
        for (template, json, found) in [
            (
                "{\"fn\": \"{name}\", \"in\": {arguments}}",
                r#"{"in": {"a": 1}, "fn": "f"}"#,
                Some(r#"{"a": 1}"#),
            ),
            ("<x>{\"do\": {\"{name}\": {arguments}}}</x>", r#"{"do": {"f": {"a": 2}}}"#, Some(r#"{"a": 2}"#)),
            ("{\"do\": {\"{name}\": {\"in\": {arguments}}}}", r#"{"do": {"f": {"in": []}}}"#, Some("[]")),
            (
                "{\"a\": {\"b\": \"{name}\"}, \"c\": \"{arguments}\"}",
                r#"{"a": {"b": "f"}, "c": 1}"#,
                Some("1"),
            ),
            ("{\"do\": {\"{name}\": {arguments}}}", r#"{"do": {"f": {}, "g": {}}}"#, None),
            ("{\"fn\": \"{name}\", \"in\": {arguments}}", r#"{"fn": "f"}"#, None),
        ] {
            let shape = JsonShape::of(template).unwrap();
            let call = shape.find(json).filter(|call| call.name == "f");
            assert_eq!(call.map(|call| &json[call.arguments]), found, "{template}");
        }
        assert_eq!(JsonShape::of("<|x|>{name}<|y|>{arguments}"), None);
    }
}
