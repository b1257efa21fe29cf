//! Resolves the name in a call to a declared tool: exactly, or uniquely after undoing what models are known to do to names.
//!
//! It never resolves by similarity. A name that is merely close is a suggestion in the feedback, not a call.

mod split;

use std::collections::HashMap;

pub(crate) use self::split::GluedArguments;
use crate::repair::RepairKind;
use crate::spelling::{fold_name, fold_name_within};

/// Longer names are not looked up: what is longer is text that was taken for a name.
const MAX_NAME: usize = 4096;
/// What has more namespaces than this is no name either.
pub(crate) const MAX_NAMESPACES: usize = 32;

/// Prefixes that mean nothing, because hosts, or the training of a model, put them before the name of every tool.
const NEUTRAL_PREFIXES: &[&str] = &[
    "functions",
    "function",
    "tools",
    "tool",
    "toolcode",
    "toolcall",
    "defaultapi",
    "mcp",
    "call",
    "repobrowser",
];
/// The prefix after which the next one is the name of a server.
const SERVER_PREFIX: &str = "mcp";

const LONGEST_NEUTRAL: usize = 16;

/// An index of the declared tools by name.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    exact: HashMap<Box<str>, usize>,
    folded: HashMap<String, Vec<usize>>,
    /// Declared names without their leading namespaces, which models leave out.
    tails: HashMap<String, Vec<usize>>,
    /// The first letters of all names, one bit for each.
    firsts: u128,
    /// The length of the longest name by its letters. What has more letters need not be compared.
    longest: usize,
}

/// The declared tools that a name can mean.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NameMatch {
    One(ResolvedName),
    /// It could be any of the tools with these indices.
    Several(Vec<usize>),
    Unknown,
}

/// The one tool that a name means, and the repairs that it takes to see that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResolvedName {
    pub(crate) index: usize,
    pub(crate) kinds: Vec<RepairKind>,
    /// Arguments that were glued to the name.
    pub(crate) glued: Option<GluedArguments>,
}

impl ToolNames {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut all = ToolNames::default();
        for (index, name) in names.enumerate() {
            for name in std::iter::once(name).chain(namespace_tails(name)) {
                // Letters of other alphabets may share a bit.
                all.firsts |= fold_name(name).bytes().next().map_or(0, |byte| 1 << (byte & 127));
            }
            all.exact.insert(name.into(), index);
            all.folded.entry(fold_name(name)).or_default().push(index);
            for tail in namespace_tails(name) {
                all.tails.entry(fold_name(tail)).or_default().push(index);
            }
        }
        all.longest = all.folded.keys().map(String::len).max().unwrap_or(0);
        all
    }

    pub(crate) fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    /// Returns whether a declared name, with or without its namespaces, starts with this text.
    pub(crate) fn begins(&self, text: &str) -> bool {
        self.may_begin(text) && {
            let text = fold_name(text);
            self.folded.keys().chain(self.tails.keys()).any(|name| name.starts_with(&text))
        }
    }

    /// Checks the first letter only, which is fast. May return true for text that starts no name.
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        match text.bytes().find(|&byte| !matches!(byte, b'_' | b'-')) {
            Some(byte) if byte.is_ascii() => self.firsts >> byte.to_ascii_lowercase() & 1 == 1,
            _ => true,
        }
    }

    /// Finds the declared tool that a name means, as the model emitted it.
    pub(crate) fn resolve_tool_name(&self, emitted: &str) -> NameMatch {
        match self.look_up_name(emitted) {
            NameMatch::Unknown => {}
            known => return known,
        }
        if let Some(resolved) = self.look_up_distorted(emitted) {
            return NameMatch::One(resolved);
        }
        let Some(parts) = split::split_emitted_name(emitted) else { return NameMatch::Unknown };
        match self.look_up_name(parts.core) {
            NameMatch::One(mut resolved) => {
                let kind = match parts.glued {
                    Some(_) => RepairKind::ArgumentsTakenFromName,
                    None => RepairKind::NameCleaned,
                };
                if !resolved.kinds.contains(&kind) {
                    resolved.kinds.push(kind);
                }
                NameMatch::One(ResolvedName { glued: parts.glued, ..resolved })
            }
            other => other,
        }
    }

    /// Looks up a name that was escaped for Markdown, written twice in a row, or glued to the word and the number of a host.
    // Case: dialects/hermes_json/markdown-name
    // Case: dialects/hermes_json/doubled-name
    fn look_up_distorted(&self, emitted: &str) -> Option<ResolvedName> {
        let plain = split::without_markdown_escapes(emitted);
        let candidates =
            [plain.as_deref(), split::half_of_doubled(emitted), split::between_host_marks(emitted)];
        candidates.into_iter().flatten().find_map(|name| match self.look_up_name(name) {
            NameMatch::One(mut resolved) => {
                if !resolved.kinds.contains(&RepairKind::NameCleaned) {
                    resolved.kinds.insert(0, RepairKind::NameCleaned);
                }
                Some(resolved)
            }
            _ => None,
        })
    }

    /// Looks up a name that has nothing around it: as it is, by its letters, without its namespaces, and without the
    /// namespaces of the declared names.
    fn look_up_name(&self, name: &str) -> NameMatch {
        if name.len() > MAX_NAME {
            return NameMatch::Unknown;
        }
        if let Some(index) = self.exact(name) {
            return match_one(index, &[]);
        }
        match self.look_up_letters(name, &self.folded) {
            NameMatch::One(resolved) => return match_one(resolved.index, &[RepairKind::NameRespelled]),
            NameMatch::Several(all) => return NameMatch::Several(all),
            NameMatch::Unknown => {}
        }
        let name = strip_call_index(name);
        let meaningless = namespace_tails(name).filter(|tail| is_meaningless_prefix(name, tail));
        for tail in std::iter::once(name).chain(meaningless) {
            match self.look_up_letters(tail, &self.folded) {
                NameMatch::One(resolved) if self.exact(tail).is_some() => {
                    return match_one(resolved.index, &[RepairKind::NameCleaned]);
                }
                NameMatch::One(resolved) => {
                    return match_one(resolved.index, &[RepairKind::NameCleaned, RepairKind::NameRespelled]);
                }
                NameMatch::Several(all) => return NameMatch::Several(all),
                NameMatch::Unknown => {}
            }
        }
        // An unknown namespace means another tool. Only prefixes that mean nothing are dropped here.
        let bare = strip_neutral_prefixes(name);
        match self.look_up_letters(bare, &self.tails) {
            NameMatch::One(resolved) if bare.len() == name.len() => {
                match_one(resolved.index, &[RepairKind::NameRespelled])
            }
            NameMatch::One(resolved) => {
                match_one(resolved.index, &[RepairKind::NameCleaned, RepairKind::NameRespelled])
            }
            other => other,
        }
    }

    fn look_up_letters(&self, name: &str, index: &HashMap<String, Vec<usize>>) -> NameMatch {
        // Among names with the same letters, the exact one is meant.
        if let Some(exact) = self.exact(name) {
            return match_one(exact, &[]);
        }
        let Some(folded) = fold_name_within(name, self.longest) else { return NameMatch::Unknown };
        match index.get(&folded).map(Vec::as_slice) {
            Some(_) if folded.is_empty() => NameMatch::Unknown,
            Some(&[index]) => match_one(index, &[]),
            Some(all) => NameMatch::Several(all.to_vec()),
            None => NameMatch::Unknown,
        }
    }
}

fn match_one(index: usize, kinds: &[RepairKind]) -> NameMatch {
    NameMatch::One(ResolvedName { index, kinds: kinds.to_vec(), glued: None })
}

/// Returns what remains without the first namespace, without the first two, and so on. A single `_` or `-` is part of a
/// word: `bulk_delete` is not `delete`.
fn namespace_tails(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let (at, length) = bytes.iter().enumerate().find_map(|(at, byte)| match byte {
            b'.' | b':' | b'/' => Some((at, 1)),
            b'_' if bytes.get(at + 1) == Some(&b'_') => Some((at, 2)),
            _ => None,
        })?;
        rest = rest[at + length..].trim_start_matches(['_', '.', ':', '/']);
        Some(rest)
    })
    .take(MAX_NAMESPACES)
    .filter(|tail| !tail.is_empty())
}

/// Removes the number that some hosts append to tell calls apart: `read_file:0`.
fn strip_call_index(name: &str) -> &str {
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

/// Whether what is before the tail says nothing: prefixes of hosts, the name of a server after `mcp`, or the name of the tool
/// itself. Any other prefix has a meaning of its own, and so the name is that of another tool: `dry_run.delete`.
// Case: dialects/hostile/prefix-with-a-meaning
fn is_meaningless_prefix(name: &str, tail: &str) -> bool {
    let prefix = &name[..name.len() - tail.len()];
    let parts = prefix.split("__").flat_map(|part| part.split(['.', ':', '/'])).map(fold_name);
    let mut parts = parts.filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        if part == SERVER_PREFIX {
            parts.next();
        } else if !NEUTRAL_PREFIXES.contains(&part.as_str()) && part != fold_name(tail) {
            return false;
        }
    }
    true
}

fn strip_neutral_prefixes(name: &str) -> &str {
    let mut rest = name;
    for tail in namespace_tails(name) {
        let dropped = &rest[..rest.len() - tail.len()];
        let is_neutral = |folded: String| NEUTRAL_PREFIXES.contains(&folded.as_str());
        if !fold_name_within(dropped, LONGEST_NEUTRAL).is_some_and(is_neutral) {
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
        let names = ToolNames::new(TOOLS.iter().copied());
        match names.resolve_tool_name(emitted) {
            NameMatch::One(resolved) => {
                assert_eq!(TOOLS[resolved.index], expected, "{emitted}");
                assert_eq!(resolved.kinds, kinds, "{emitted}");
            }
            other => panic!("{emitted}: {other:?}"),
        }
    }

    fn check_refused(emitted: &str, several: &[&str]) {
        let names = ToolNames::new(TOOLS.iter().copied());
        let all = match names.resolve_tool_name(emitted) {
            NameMatch::Several(all) => all,
            NameMatch::Unknown => Vec::new(),
            NameMatch::One(resolved) => panic!("{emitted} became {}", TOOLS[resolved.index]),
        };
        assert_eq!(all.iter().map(|&index| TOOLS[index]).collect::<Vec<_>>(), several, "{emitted}");
    }

    #[test]
    fn names_match_by_their_letters() {
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
    fn namespaces_are_removed() {
        for emitted in [
            "functions.read_file",
            "repo_browser.read_file",
            "default_api:read_file",
            "mcp__fs__read_file",
            "read_file.read_file",
            "functions.mcp__fs__read_file",
        ] {
            check(emitted, "read_file", &[NameCleaned]);
        }
        check("functions.read_file:0", "read_file", &[NameCleaned]);
        check("functions.ReadFile", "read_file", &[NameCleaned, NameRespelled]);
        check("functions.developer__shell", "developer__shell", &[NameCleaned]);
        check("list_toolsets", "mcp__unreal-mcp__list_toolsets", &[NameRespelled]);
        check("functions.shell", "developer__shell", &[NameCleaned, NameRespelled]);
    }

    #[test]
    fn residue_is_removed() {
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
            r"read\_file",
            "read_fileread_file",
            "functionsread_file5",
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
    fn similar_names_are_not_resolved() {
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
            "read_filewrite_file",
            "read_fileread_fil",
            "functionsread_files5",
            r"read\file\x",
            "dry_run.read_file",
            "help:read_file",
            "no_op::read_file",
            "undo/delete",
            "mcp__a__b__read_file",
            "functions.undo.delete",
        ] {
            check_refused(emitted, &[]);
        }
    }

    #[test]
    fn ambiguous_names_are_refused() {
        check_refused("get_time", &["get-time", "getTime"]);
        check_refused("functions.GetTime", &["get-time", "getTime"]);
        check_refused("search", &["mcp__a__search", "mcp__b__search"]);
    }

    #[test]
    fn arguments_are_taken_out_of_the_name() {
        let names = ToolNames::new(TOOLS.iter().copied());
        let text = |text: &str| Some(GluedArguments::Text(text.to_owned()));
        for (emitted, glued) in [
            (r#"read_file{"path":"x"}"#, text(r#"{"path":"x"}"#)),
            (r#"read_file({"path":"x"})"#, Some(GluedArguments::Call(r#"({"path":"x"})"#.to_owned()))),
            (r#"functions.read_file(path="x")"#, Some(GluedArguments::Call(r#"(path="x")"#.to_owned()))),
            (r#"{"name":"read_file","arguments":{"path":"x"}}"#, text(r#"{"path":"x"}"#)),
            (r#"read_file","arguments":"{\"path\":\"x\"}"#, text(r#""{\"path\":\"x\"}"#)),
            (r#"readfile path="x""#, text(r#"path="x""#)),
            (
                "read_file<tool_call>path</arg_key><arg_value>say \"x\"</arg_value>\n<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>",
                text(r#"{"path":"say \"x\"","n":"5"}"#),
            ),
            ("read_file>\n<parameter=path>x</parameter></function>", text(r#"{"path":"x"}"#)),
        ] {
            match names.resolve_tool_name(emitted) {
                NameMatch::One(resolved) => {
                    assert_eq!(TOOLS[resolved.index], "read_file", "{emitted}");
                    assert!(resolved.kinds.contains(&ArgumentsTakenFromName), "{emitted}");
                    assert_eq!(resolved.glued, glued, "{emitted}");
                }
                other => panic!("{emitted}: {other:?}"),
            }
        }
    }

    #[test]
    fn no_name_makes_the_resolution_panic() {
        let names = ToolNames::new(TOOLS.iter().copied());
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
                    let _ = names.resolve_tool_name(&text);
                }
            }
        }
    }
}
