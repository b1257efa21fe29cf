//! Custom dialects as rows of a TOML file.

use std::path::Path;

use toolmend::CustomDialects;

use crate::error::DialectFileError;

/// Reads a file with custom dialects and model ids.
///
/// ```toml
/// [[dialect]]
/// name = "acme"
/// families = "Acme 7B"
/// models = ["acme-[0-9]+b"]
/// section = ["<|acts|>", "<|/acts|>"]
/// call = "<|act|>{name}<|with|>{arguments}<|/act|>"
/// reasoning = ["<ponder>", "</ponder>"]
///
/// [[model]]
/// id = "our-finetune"
/// dialect = "qwen3_xml"
/// ```
///
/// # Errors
/// If the file cannot be read or a row cannot be used. The message names the line.
///
/// ```
/// let file = std::env::temp_dir().join("toolmend-doc-dialects.toml");
/// std::fs::write(&file, "[[dialect]]\nname = \"acme\"\ncall = \"<|act|>{name}<|with|>{arguments}<|/act|>\"\n").unwrap();
/// let custom = toolmend_dialect_files::read_dialects(&file).unwrap();
/// assert_eq!(custom.rows().next().unwrap().name(), "acme");
/// ```
pub fn read_dialects(path: &Path) -> Result<CustomDialects, DialectFileError> {
    let text = std::fs::read_to_string(path).map_err(|error| DialectFileError::new(path, error))?;
    // The parser's own message shows the line and marks the position.
    toml::from_str(&text).map_err(|error| DialectFileError::new(path, error))
}
