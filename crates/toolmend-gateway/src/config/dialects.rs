//! Custom dialects, as a TOML file.

use std::path::Path;

use toolmend::CustomDialects;

use super::ConfigError;

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
pub fn read_dialects(path: &Path) -> Result<CustomDialects, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| ConfigError::at(path, error.to_string()))?;
    // The parser's own message shows the line and marks the position.
    toml::from_str(&text).map_err(|error| ConfigError::at(path, error.to_string()))
}
