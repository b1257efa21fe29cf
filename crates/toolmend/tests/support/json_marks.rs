//! The marks that broken JSON is made of, for tests and programs that make up texts.

/// Brackets, separators, quotes, spaces, comments and fences, as JSON and its relatives write them.
pub(crate) const JSON_MARKS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ":",
    ",",
    "\"",
    "'",
    "`",
    "\"\"\"",
    " ",
    "\n",
    "\t",
    "=",
    "=>",
    "//",
    "/*",
    "*/",
    "#",
    "```",
    "```json\n",
];
