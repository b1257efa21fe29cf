//! Chat templates, as files of a model.

use std::fs;
use std::path::Path;

use toolmend::{ChatTemplate, LearnedDialect};

use crate::error::DialectFileError;

/// The file with the names of special tokens, and in older models the template.
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// Where models keep their template, the one for tools first.
const TEMPLATES: &[&str] = &["additional_chat_templates/tool_use.jinja", "chat_template.jinja"];

/// Learns the dialect of a model from its chat template: a file in Jinja, a `tokenizer_config.json`, or the folder of a
/// model.
///
/// # Errors
/// If the files cannot be read, or nothing can be learned from them. The message shows what was written and how it was
/// read.
pub fn learn_template(path: &Path, name: &str) -> Result<LearnedDialect, DialectFileError> {
    read_template(path)?.learn(name).map_err(|error| DialectFileError::new(path, error))
}

fn read_template(path: &Path) -> Result<ChatTemplate, DialectFileError> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| DialectFileError::new(path, error));
    let unusable = |error: toolmend::TemplateError| DialectFileError::new(path, error);
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    if !path.is_dir() && !is_json {
        let config = path.with_file_name(TOKENIZER_CONFIG);
        if config.exists() {
            return ChatTemplate::with_tokenizer_config(read(path)?, &read(&config)?).map_err(unusable);
        }
        return Ok(ChatTemplate::new(read(path)?));
    }
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let config = if path.is_dir() { path.join(TOKENIZER_CONFIG) } else { path.to_owned() };
    let template = TEMPLATES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    match template {
        // A file of its own replaces the template in the configuration.
        Some(template) if config.exists() => {
            ChatTemplate::with_tokenizer_config(read(&template)?, &read(&config)?).map_err(unusable)
        }
        Some(template) => Ok(ChatTemplate::new(read(&template)?)),
        None => ChatTemplate::from_tokenizer_config(&read(&config)?).map_err(unusable),
    }
}

/// A name for the dialect of a file: that of the file or its folder, in lower case.
///
/// ```
/// use std::path::Path;
/// assert_eq!(toolmend_dialect_files::name_of_template(Path::new("Acme-7B/tokenizer_config.json")), "acme_7b");
/// assert_eq!(toolmend_dialect_files::name_of_template(Path::new("acme.jinja")), "acme");
/// ```
pub fn name_of_template(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let chosen = match stem {
        "tokenizer_config" | "chat_template" | "tool_use" | "" => parent.unwrap_or_default(),
        stem => stem,
    };
    let word = |ch: char| if ch.is_alphanumeric() { ch.to_ascii_lowercase() } else { '_' };
    let name: String = chosen.chars().map(word).collect();
    let name = name.trim_matches('_');
    if name.is_empty() { "learned".to_owned() } else { name.to_owned() }
}
