//! A parameter that ran on into the next: `text</content>\n<parameter name="path">x`.
//!
//! Markup that is merely part of a text is never split off: it has to be whole parameters up to the end of the string.

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::patch::Edit;
use crate::repair::RepairKind;

use super::member_edits;
use crate::schema::fault::Wants;
use crate::shape::mismatch::{Change, SchemaMismatch};

/// How a parameter starts, and what ends its name.
const OPENERS: [(&str, &str); 3] =
    [("<parameter name=\"", "\">"), ("<parameter=", ">"), ("<arg_key>", "</arg_key>")];
/// What may end a parameter's value, beside a tag of its own name.
const CLOSERS: [&str; 3] = ["</parameter>", "</arg_value>", "</arg_key>"];
/// What may follow the last parameter.
const TAILS: [&str; 5] = ["</invoke>", "</function>", "</tool_call>", "</function_calls>", "</tool_calls>"];

/// Splits the swallowed parameters off the string that swallowed them. Each must be declared and absent, and
/// the missing one must be among them.
pub(super) fn split_swallowed_parameters(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    let Wants::Key(missing) = &mismatch.fault.wants else { return None };
    if mismatch.kind() != Kind::Object {
        return None;
    }
    let position = mismatch.position();
    let absent =
        |name: &str| mismatch.declares(position, name) && mismatch.tree.member(mismatch.id, name).is_none();
    for child in mismatch.tree.children(mismatch.id) {
        let (Some(text), Some(key)) = (mismatch.tree.string(child), mismatch.tree.key(child)) else {
            continue;
        };
        let Some((kept, swallowed)) = split(&text, &key) else { continue };
        let mut names: Vec<&str> = swallowed.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let fits = names.windows(2).all(|pair| pair[0] != pair[1])
            && names.iter().all(|name| absent(name))
            && names.contains(&missing.as_str());
        if !fits {
            continue;
        }
        let values: Vec<(&str, String)> =
            swallowed.iter().map(|(name, value)| (*name, quote(value))).collect();
        let members: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let kind = RepairKind::SwallowedParameterSplit;
        return Some(Change::new(vec![
            Edit::new(mismatch.tree.nodes[child].span.clone(), quote(kept), kind),
            member_edits::insert_members(mismatch.tree, mismatch.id, &members, kind),
        ]));
    }
    None
}

/// The string before the closing tag of its own parameter, and the parameters after it.
fn split<'t>(text: &'t str, key: &str) -> Option<(&'t str, Vec<(&'t str, &'t str)>)> {
    let mut end = text.trim_end();
    while let Some(shorter) = TAILS.iter().find_map(|tail| end.strip_suffix(tail)) {
        end = shorter.trim_end();
    }
    let starts = OPENERS.iter().flat_map(|(opener, _)| end.match_indices(opener)).map(|(at, _)| at);
    let mut starts: Vec<usize> = starts.collect();
    starts.sort_unstable();
    // From the last to the first, as long as each is a whole parameter; the first whole one with the closing
    // tag of the string itself before it is where the string should have ended.
    let mut found = None;
    let mut parameters = Vec::new();
    let mut next = end.len();
    for &start in starts.iter().rev() {
        let Some(parameter) = parameter(&end[start..next], next == end.len()) else { break };
        parameters.push(parameter);
        if let Some(kept) = strip_closer(end[..start].trim_end(), key) {
            found = Some((kept, parameters.len()));
        }
        next = start;
    }
    let (kept, count) = found?;
    parameters.truncate(count);
    parameters.reverse();
    Some((kept, parameters))
}

fn strip_closer<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let own = || text.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</");
    CLOSERS.iter().find_map(|closer| text.strip_suffix(closer)).or_else(own)
}

/// The name and value of one parameter. Only the last may lack its closing tag.
fn parameter(text: &str, last: bool) -> Option<(&str, &str)> {
    let (opener, name_end) = OPENERS.iter().find(|(opener, _)| text.starts_with(opener))?;
    let (name, value) = text[opener.len()..].split_once(name_end)?;
    let value = if *opener == "<arg_key>" { value.trim_start().strip_prefix("<arg_value>")? } else { value };
    let value = value.trim_end();
    let value = strip_closer(value, name).or_else(|| last.then_some(value))?;
    Some((name, value.trim_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_tails_are_split() {
        let check = |text: &str, expected: Option<(&str, Vec<(&str, &str)>)>| {
            assert_eq!(split(text, "content"), expected);
        };
        check("x</content>\n<parameter name=\"path\">p", Some(("x", vec![("path", "p")])));
        check(
            "x\n</parameter>\n<parameter=path>\np\n</parameter>\n</function>",
            Some(("x\n", vec![("path", "p")])),
        );
        check("x</arg_value><arg_key>a</arg_key>\n<arg_value>1</arg_value>", Some(("x", vec![("a", "1")])));
        check(
            "x</parameter><parameter name=\"a\">1</parameter><parameter name=\"b\">2</parameter></invoke>",
            Some(("x", vec![("a", "1"), ("b", "2")])),
        );
        check("see <parameter name=\"path\">p", None);
        check("x</content> and <parameter name=\"path\">", None);
    }
}
