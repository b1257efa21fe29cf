//! Which declared tool a name means: exactly, or uniquely after undoing what models are known to do to names.
//!
//! Never by similarity. A name that is merely close belongs to the feedback, not to a call.

mod parts;

use std::collections::HashMap;

pub(crate) use self::parts::Glued;
use crate::repair::RepairKind;
use crate::spelling::fold_name;

/// Words that stand before a name and mean nothing: hosts put them there for every tool.
const NEUTRAL: &[&str] = &["functions", "function", "tools", "tool", "defaultapi", "mcp", "call"];

/// The declared tools by name.
#[derive(Debug, Default)]
pub(crate) struct Names {
    exact: HashMap<Box<str>, usize>,
    folded: HashMap<String, Vec<usize>>,
    /// Declared names without their leading namespaces: models leave those out.
    tails: HashMap<String, Vec<usize>>,
    /// The first letters of all of them, one bit each.
    firsts: u128,
}

/// What an emitted name means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    One(Resolved),
    /// It could be any of these.
    Several(Vec<usize>),
    Unknown,
}

/// The one tool that an emitted name means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) index: usize,
    pub(crate) kinds: Vec<RepairKind>,
    /// Arguments that were glued to the name.
    pub(crate) glued: Option<Glued>,
}

impl Names {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut all = Names::default();
        for (index, name) in names.enumerate() {
            for name in std::iter::once(name).chain(tails(name)) {
                // Letters of other alphabets are not told apart.
                all.firsts |= fold_name(name).bytes().next().map_or(0, |byte| 1 << (byte & 127));
            }
            all.exact.insert(name.into(), index);
            all.folded.entry(fold_name(name)).or_default().push(index);
            for tail in tails(name) {
                all.tails.entry(fold_name(tail)).or_default().push(index);
            }
        }
        all
    }

    pub(crate) fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    /// Whether a declared name, with its namespaces or without, could begin like this.
    pub(crate) fn begins(&self, text: &str) -> bool {
        self.may_begin(text) && {
            let text = fold_name(text);
            self.folded.keys().chain(self.tails.keys()).any(|name| name.starts_with(&text))
        }
    }

    /// The same by the first letter alone, which costs nothing.
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        match text.bytes().find(|&byte| !matches!(byte, b'_' | b'-')) {
            Some(byte) if byte.is_ascii() => self.firsts >> byte.to_ascii_lowercase() & 1 == 1,
            _ => true,
        }
    }

    pub(crate) fn resolve(&self, emitted: &str) -> Named {
        match self.look_up(emitted) {
            Named::Unknown => {}
            known => return known,
        }
        let Some(parts) = parts::take_apart(emitted) else { return Named::Unknown };
        match self.look_up(parts.core) {
            Named::One(mut resolved) => {
                let kind = match parts.glued {
                    Some(_) => RepairKind::ArgumentsTakenFromName,
                    None => RepairKind::NameCleaned,
                };
                if !resolved.kinds.contains(&kind) {
                    resolved.kinds.push(kind);
                }
                Named::One(Resolved { glued: parts.glued, ..resolved })
            }
            other => other,
        }
    }

    /// A name without anything around it: as it is, by its letters, without namespaces, without the namespaces
    /// of the declared names.
    fn look_up(&self, name: &str) -> Named {
        if let Some(index) = self.exact(name) {
            return one(index, &[]);
        }
        match self.by_letters(name, &self.folded) {
            Named::One(resolved) => return one(resolved.index, &[RepairKind::NameRespelled]),
            Named::Several(all) => return Named::Several(all),
            Named::Unknown => {}
        }
        let name = without_index(name);
        for tail in std::iter::once(name).chain(tails(name)) {
            match self.by_letters(tail, &self.folded) {
                Named::One(resolved) if self.exact(tail).is_some() => {
                    return one(resolved.index, &[RepairKind::NameCleaned]);
                }
                Named::One(resolved) => {
                    return one(resolved.index, &[RepairKind::NameCleaned, RepairKind::NameRespelled]);
                }
                Named::Several(all) => return Named::Several(all),
                Named::Unknown => {}
            }
        }
        // A namespace of its own says that another tool is meant; only words that mean nothing may go here.
        let bare = without_neutral(name);
        match self.by_letters(bare, &self.tails) {
            Named::One(resolved) if bare.len() == name.len() => {
                one(resolved.index, &[RepairKind::NameRespelled])
            }
            Named::One(resolved) => {
                one(resolved.index, &[RepairKind::NameCleaned, RepairKind::NameRespelled])
            }
            other => other,
        }
    }

    fn by_letters(&self, name: &str, index: &HashMap<String, Vec<usize>>) -> Named {
        // Among names that fold alike the exact one is meant.
        if let Some(exact) = self.exact(name) {
            return one(exact, &[]);
        }
        let folded = fold_name(name);
        match index.get(&folded).map(Vec::as_slice) {
            Some(_) if folded.is_empty() => Named::Unknown,
            Some(&[index]) => one(index, &[]),
            Some(all) => Named::Several(all.to_vec()),
            None => Named::Unknown,
        }
    }
}

fn one(index: usize, kinds: &[RepairKind]) -> Named {
    Named::One(Resolved { index, kinds: kinds.to_vec(), glued: None })
}

/// What remains after dropping one leading namespace, then two, and so on. A single `_` or `-` is part of a word:
/// `bulk_delete` is not `delete`.
fn tails(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let (at, length) = ["__", ".", ":", "/"]
            .iter()
            .filter_map(|separator| rest.find(separator).map(|at| (at, separator.len())))
            .min()?;
        rest = rest[at + length..].trim_start_matches(['_', '.', ':', '/']);
        Some(rest)
    })
    .filter(|tail| !tail.is_empty())
}

/// The name without the number that some hosts append to tell calls apart: `read_file:0`.
fn without_index(name: &str) -> &str {
    match name.rsplit_once([':', '#']) {
        Some((before, number))
            if !before.is_empty()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            before
        }
        _ => name,
    }
}

fn without_neutral(name: &str) -> &str {
    let mut rest = name;
    for tail in tails(name) {
        let dropped = &rest[..rest.len() - tail.len()];
        if !NEUTRAL.contains(&fold_name(dropped).as_str()) {
            break;
        }
        rest = tail;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use RepairKind::{ArgumentsTakenFromName, NameCleaned, NameRespelled};

    const TOOLS: &[&str] = &[
        "read_file",
        "write_file",
        "Bash",
        "developer__shell",
        "mcp__unreal-mcp__list_toolsets",
        "mcp__a__search",
        "mcp__b__search",
        "tool_1_2",
        "get-time",
        "getTime",
        "command",
        "delete",
    ];

    fn check(emitted: &str, expected: &str, kinds: &[RepairKind]) {
        let names = Names::new(TOOLS.iter().copied());
        match names.resolve(emitted) {
            Named::One(resolved) => {
                assert_eq!(TOOLS[resolved.index], expected, "{emitted}");
                assert_eq!(resolved.kinds, kinds, "{emitted}");
            }
            other => panic!("{emitted}: {other:?}"),
        }
    }

    fn check_refused(emitted: &str, several: &[&str]) {
        let names = Names::new(TOOLS.iter().copied());
        let all = match names.resolve(emitted) {
            Named::Several(all) => all,
            Named::Unknown => Vec::new(),
            Named::One(resolved) => panic!("{emitted} became {}", TOOLS[resolved.index]),
        };
        assert_eq!(all.iter().map(|&index| TOOLS[index]).collect::<Vec<_>>(), several, "{emitted}");
    }

    #[test]
    fn names_are_known_by_their_letters() {
        check("read_file", "read_file", &[]);
        for emitted in ["ReadFile", "read-file", "READ_FILE", "Read File", " read_file ", "read.file"] {
            check(emitted, "read_file", &[NameRespelled]);
        }
        check("bash", "Bash", &[NameRespelled]);
        check("developer.shell", "developer__shell", &[NameRespelled]);
        check("mcp__unreal_mcp__list_toolsets", "mcp__unreal-mcp__list_toolsets", &[NameRespelled]);
        check("getTime", "getTime", &[]);
    }

    #[test]
    fn namespaces_go() {
        for emitted in
            ["functions.read_file", "repo_browser.read_file", "default_api:read_file", "mcp__fs__read_file"]
        {
            check(emitted, "read_file", &[NameCleaned]);
        }
        check("functions.read_file:0", "read_file", &[NameCleaned]);
        check("functions.ReadFile", "read_file", &[NameCleaned, NameRespelled]);
        check("functions.developer__shell", "developer__shell", &[NameCleaned]);
        check("list_toolsets", "mcp__unreal-mcp__list_toolsets", &[NameRespelled]);
        check("functions.shell", "developer__shell", &[NameCleaned, NameRespelled]);
    }

    #[test]
    fn residue_goes() {
        for emitted in [
            "read_file<|channel|>commentary",
            "<|tool_call|>read_file",
            "read_file</arg_value>",
            "<tool_call>read_file",
            "name\":\"read_file",
            "\"read_file\"",
            "`read_file`",
            "read_file()",
            "<function=read_file>",
        ] {
            check(
                emitted,
                "read_file",
                &[if emitted.ends_with("()") { ArgumentsTakenFromName } else { NameCleaned }],
            );
        }
        check("to=functions.read_file<|constrain|>json", "read_file", &[NameCleaned]);
    }

    #[test]
    fn similar_is_not_the_same() {
        for emitted in [
            "",
            "shell_command",
            "read_fil",
            "readfiles",
            "bulk_delete",
            "_",
            "tool_12",
            "tool12",
            "other__shell",
            "slack.list_toolsets",
            "read_file<|x|>write_file",
            "read_file write_file",
            "delete, read_file",
        ] {
            check_refused(emitted, &[]);
        }
    }

    #[test]
    fn doubt_is_refusal() {
        check_refused("get_time", &["get-time", "getTime"]);
        check_refused("functions.GetTime", &["get-time", "getTime"]);
        check_refused("search", &["mcp__a__search", "mcp__b__search"]);
    }

    #[test]
    fn arguments_come_out_of_the_name() {
        let names = Names::new(TOOLS.iter().copied());
        let text = |text: &str| Some(Glued::Text(text.to_owned()));
        for (emitted, glued) in [
            (r#"read_file{"path":"x"}"#, text(r#"{"path":"x"}"#)),
            (r#"read_file({"path":"x"})"#, Some(Glued::Call(r#"({"path":"x"})"#.to_owned()))),
            (r#"functions.read_file(path="x")"#, Some(Glued::Call(r#"(path="x")"#.to_owned()))),
            (r#"{"name":"read_file","arguments":{"path":"x"}}"#, text(r#"{"path":"x"}"#)),
            (r#"read_file","arguments":"{\"path\":\"x\"}"#, text(r#""{\"path\":\"x\"}"#)),
            (r#"readfile path="x""#, text(r#"path="x""#)),
            (
                "read_file<tool_call>path</arg_key><arg_value>say \"x\"</arg_value>\n<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>",
                text(r#"{"path":"say \"x\"","n":"5"}"#),
            ),
            ("read_file>\n<parameter=path>x</parameter></function>", text(r#"{"path":"x"}"#)),
        ] {
            match names.resolve(emitted) {
                Named::One(resolved) => {
                    assert_eq!(TOOLS[resolved.index], "read_file", "{emitted}");
                    assert!(resolved.kinds.contains(&ArgumentsTakenFromName), "{emitted}");
                    assert_eq!(resolved.glued, glued, "{emitted}");
                }
                other => panic!("{emitted}: {other:?}"),
            }
        }
    }

    #[test]
    fn any_name_has_an_answer() {
        let names = Names::new(TOOLS.iter().copied());
        for piece in [
            "é",
            "<",
            "<|",
            "｜>",
            "{",
            "(",
            "\"",
            "=",
            "__",
            ".",
            "<arg_value>",
            "</arg_key>",
            "name",
            "\u{200b}",
            "\0",
        ] {
            for name in [
                piece.repeat(3),
                format!("read_file{piece}"),
                format!("{piece}read_file"),
                format!("{piece}é{piece}"),
            ] {
                for text in [name.clone(), format!("{name}{name}"), format!("functions.{name}:7")] {
                    let _ = names.resolve(&text);
                }
            }
        }
    }
}
