//! Edits that insert members into objects and remove them, in the style of the surrounding text.

use crate::json::strict;
use crate::json::text::quote_into;
use crate::json::tree::Tree;
use crate::patch::Edit;
use crate::repair::RepairKind;

/// Appends members, given as name and JSON text, after the last one.
pub(super) fn insert_members(
    tree: &Tree<'_>,
    object: usize,
    members: &[(&str, &str)],
    kind: RepairKind,
) -> Edit {
    let children: Vec<usize> = tree.children(object).collect();
    let style = Style::of(tree, object, &children);
    let mut text = String::new();
    let mut comma = !children.is_empty();
    for (name, value) in members {
        if comma {
            text.push(',');
            text.push_str(style.gap);
        }
        comma = true;
        quote_into(&mut text, name);
        text.push_str(style.colon);
        text.push_str(value);
    }
    let at = children.last().map_or(tree.nodes[object].span.start + 1, |&last| tree.nodes[last].span.end);
    Edit::new(at..at, text, kind)
}

/// How an object separates its members.
struct Style<'t> {
    /// What is between a comma and the next key.
    gap: &'t str,
    /// What is between a key and its value.
    colon: &'t str,
}

impl<'t> Style<'t> {
    fn of(tree: &Tree<'t>, object: usize, children: &[usize]) -> Self {
        let Some((&last, before)) = children.split_last() else { return Style { gap: "", colon: ":" } };
        let Some(key) = tree.nodes[last].key.clone() else { return Style { gap: "", colon: ":" } };
        let from = before.last().map_or(tree.nodes[object].span.start, |&id| tree.nodes[id].span.end);
        let colon = &tree.text[key.end..tree.nodes[last].span.start];
        let gap = tree.text[from..key.start].trim_start_matches([' ', '\n', '\r', '\t']);
        let gap = gap.get(1..).unwrap_or("");
        // An object of one member shows no comma; a space after its colon suggests one after commas.
        let gap = if gap.is_empty() && before.is_empty() && colon.ends_with(' ') { " " } else { gap };
        Style { gap, colon }
    }
}

/// Removes one member from its object, with one comma. Looks only at the text around it, so the cost does not depend on
/// the size of the object.
pub(super) fn remove_member(tree: &Tree<'_>, member: usize, kind: RepairKind) -> Option<Edit> {
    let node = &tree.nodes[member];
    let key = node.key.as_ref()?;
    let bytes = tree.text.as_bytes();
    let before = bytes[..key.start].iter().rposition(|byte| !byte.is_ascii_whitespace())?;
    if bytes[before] == b',' {
        return Some(Edit::new(before..node.span.end, "", kind));
    }
    let after = strict::skip_whitespace(bytes, node.span.end);
    let end = if bytes.get(after) == Some(&b',') {
        strict::skip_whitespace(bytes, after + 1)
    } else {
        node.span.end
    };
    Some(Edit::new(key.start..end, "", kind))
}

/// Removes several members of one object, each with one comma.
pub(super) fn remove_members(
    tree: &Tree<'_>,
    object: usize,
    members: &[usize],
    kind: RepairKind,
) -> Vec<Edit> {
    let children: Vec<usize> = tree.children(object).collect();
    let leading = children.iter().take_while(|child| members.contains(child)).count();
    // Those in front have no comma before them, so they go up to the first that stays.
    let key_start = |id: usize| tree.nodes[id].key.as_ref().map(|key| key.start);
    let front = children[..leading].first().and_then(|&first| {
        let last_end = tree.nodes[*children[..leading].last()?].span.end;
        let end = children.get(leading).and_then(|&kept| key_start(kept)).unwrap_or(last_end);
        Some(Edit::new(key_start(first)?..end, "", kind))
    });
    let rest = children[leading..].iter().filter(|child| members.contains(child));
    front.into_iter().chain(rest.filter_map(|&member| remove_member(tree, member, kind))).collect()
}

/// Whether the key of this member occurs only once in its object.
pub(super) fn has_unique_key(tree: &Tree<'_>, object: usize, member: usize) -> bool {
    let key = tree.key(member);
    tree.children(object).filter(|&child| tree.key(child) == key).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Patch;

    const KIND: RepairKind = RepairKind::NullDropped;

    #[test]
    fn a_member_goes_with_one_comma() {
        let check = |text: &str, name: &str, expected: &str| {
            let tree = Tree::of_strict(text);
            let edit = tree.member(0, name).and_then(|member| remove_member(&tree, member, KIND)).unwrap();
            assert_eq!(Patch::new(vec![edit]).apply(text), expected, "{text} without {name}");
        };
        check(r#"{"a": 1, "b": 2, "c": 3}"#, "a", r#"{"b": 2, "c": 3}"#);
        check(r#"{"a": 1, "b": 2, "c": 3}"#, "b", r#"{"a": 1, "c": 3}"#);
        check(r#"{"a": 1, "b": 2, "c": 3}"#, "c", r#"{"a": 1, "b": 2}"#);
        check(r#"{ "a": 1 }"#, "a", "{  }");
        check("{\n \"a\": 1 ,\n \"b\": 2\n}", "a", "{\n \"b\": 2\n}");
    }

    #[test]
    fn several_members_go_with_their_commas() {
        let check = |names: &[&str], expected: &str| {
            let text = r#"{"a": 1, "b": 2, "c": 3}"#;
            let tree = Tree::of_strict(text);
            let members: Vec<usize> = names.iter().filter_map(|name| tree.member(0, name)).collect();
            assert_eq!(Patch::new(remove_members(&tree, 0, &members, KIND)).apply(text), expected);
        };
        check(&["a", "b"], r#"{"c": 3}"#);
        check(&["a", "c"], r#"{"b": 2}"#);
        check(&["b", "c"], r#"{"a": 1}"#);
        check(&["a", "b", "c"], "{}");
    }

    #[test]
    fn members_come_in_the_style_of_the_object() {
        let check = |text: &str, expected: &str| {
            let tree = Tree::of_strict(text);
            let edit = insert_members(&tree, 0, &[("n", "0")], KIND);
            assert_eq!(Patch::new(vec![edit]).apply(text), expected);
        };
        check("{}", r#"{"n":0}"#);
        check("{ }", r#"{"n":0 }"#);
        check(r#"{"a":1}"#, r#"{"a":1,"n":0}"#);
        check(r#"{"a": 1}"#, r#"{"a": 1, "n": 0}"#);
        check("{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"n\": 0\n}");
    }
}
