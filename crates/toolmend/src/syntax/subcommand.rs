//! Command lines that begin with a subcommand: `read --file main.go` for a tool that does several things.
//!
//! The subcommand is the value of the tool's command field, and the flags are its other fields, or the members of its one
//! object for arguments. The schema has to declare all of them. If it declares only the command, the whole line is the command.

use super::ReadContext;
use crate::schema::guide::{SchemaPosition, Types, fold};

/// Tools that take subcommands, folded.
const TOOLS: [&str; 1] = ["coder"];
/// Their subcommands.
const SUBCOMMANDS: [&str; 14] = [
    "read",
    "write",
    "patch",
    "tree",
    "search",
    "exec",
    "test",
    "rollback",
    "clean",
    "git-status",
    "git-diff",
    "git-log",
    "git-changed",
    "git-branch",
];
/// The fields that hold a subcommand.
const COMMAND_FIELDS: [&str; 3] = ["cmd", "command", "subcommand"];
/// The fields that hold the arguments of a subcommand.
const ARGUMENT_FIELDS: [&str; 4] = ["args", "arguments", "flags", "options"];

/// Where the parts of a command line with a subcommand go.
pub(super) struct Subcommand {
    /// The field of the subcommand.
    pub(super) field: String,
    /// The field whose members are the flags; `None` if they are members of the arguments.
    pub(super) container: Option<String>,
    /// The position of the object that the flags belong to.
    pub(super) position: SchemaPosition,
}

/// Whether the word is a subcommand of a tool that has subcommands, by the tool's name or by the values that its command field
/// lists.
pub(super) fn is_subcommand(word: &str, tool: &str, context: &ReadContext<'_>) -> bool {
    let is_listed = || {
        find_field(&COMMAND_FIELDS, context).is_some_and(|(_, position)| context.guide.lists(position, word))
    };
    TOOLS.contains(&fold(tool).as_str()) && SUBCOMMANDS.contains(&word) || is_listed()
}

/// Finds the fields for a subcommand with these flags.
// Case: syntax/subcommand, syntax/subcommand-with-arguments
pub(super) fn find_fields<'w>(
    mut flags: impl Iterator<Item = &'w str>,
    context: &ReadContext<'_>,
) -> Option<Subcommand> {
    let root = context.guide.root();
    let (field, _) = find_field(&COMMAND_FIELDS, context)?;
    // `exec --cmd ls` has the command field twice, so its flags belong elsewhere.
    if flags.all(|flag| context.guide.declares_key(root, flag) && fold(flag) != fold(&field)) {
        return Some(Subcommand { field, container: None, position: root });
    }
    let (container, position) = find_field(&ARGUMENT_FIELDS, context)?;
    let takes_members = context.guide.types(position) == Types::OBJECT;
    takes_members.then_some(Subcommand { field, container: Some(container), position })
}

/// The first of these fields that is declared.
fn find_field(names: &[&str], context: &ReadContext<'_>) -> Option<(String, SchemaPosition)> {
    let root = context.guide.root();
    names.iter().find_map(|name| {
        let mut declared = context.guide.properties(root);
        declared.find(|(known, ..)| known == name).map(|(name, position, _)| (name.to_owned(), position))
    })
}
