//! Flags that several commands share.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
#[cfg(feature = "serve")]
use serde::de::{
    DeserializeOwned,
    value::{Error, StrDeserializer},
};
use toolmend::{Calls, CustomDialects, Finish, Limits, Policy, Preset, Reason, Refusal, RepairKind};
#[cfg(feature = "template")]
use toolmend_dialect_files::{learn_template, name_of_template};

use crate::error::CommandError;

/// How a command writes its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Text,
    Json,
}

/// How a command writes a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Text,
    Json,
    Markdown,
}

/// What may be repaired, and how much work that may take.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// What may be repaired.
    #[arg(long = "policy", value_name = "NAME", value_parser = parse_preset(), default_value = Preset::default().name())]
    preset: Preset,
    /// The longest text to repair; valid text may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    max_bytes: usize,
    /// The deepest nesting to accept, at most 1024.
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().depth)]
    max_depth: usize,
    #[command(flatten)]
    kinds: KindArgs,
}

impl PolicyArgs {
    pub(crate) fn policy(&self) -> Policy {
        let limits = Limits::new().max_bytes(self.max_bytes).max_depth(self.max_depth);
        Policy::preset(self.preset).with_kinds(&self.kinds.on, &self.kinds.off).limits(limits)
    }
}

/// The flags that raise limits, by what the library says about them.
const LIMIT_FLAGS: &[(&str, &str)] =
    &[("brackets are nested deeper than", "--max-depth"), ("bytes to repair", "--max-bytes")];

/// Names the flag that raises the limit, if the refusal is about one.
pub(crate) fn limit_hint(refusal: &Refusal) -> Option<String> {
    if refusal.reason != Some(Reason::Limit) {
        return None;
    }
    let flag = LIMIT_FLAGS.iter().find(|(message, _)| refusal.message.contains(message));
    flag.map(|(_, flag)| format!("; raise it with {flag}"))
}

/// Single kinds of repairs that are allowed or forbidden.
#[derive(Debug, Clone, Args)]
pub(crate) struct KindArgs {
    /// Allow this kind of repair, whatever its tier; may be repeated. `toolmend repairs` lists the kinds.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) on: Vec<RepairKind>,
    /// Forbid this kind of repair; may be repeated.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) off: Vec<RepairKind>,
}

/// How the model's output ended.
#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    /// How the model's output ended; `length` and `max_tokens` mean that it was truncated.
    #[arg(long, value_name = "REASON")]
    finish_reason: Option<String>,
}

impl FinishArgs {
    pub(crate) fn finish(&self) -> Finish {
        self.finish_reason.as_deref().map_or(Finish::Unknown, Finish::from_reason)
    }
}

/// Dialects that the built-in table does not have.
#[derive(Debug, Args)]
pub(crate) struct CustomDialectArgs {
    /// A TOML file with custom dialects and model ids.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_DIALECTS")]
    dialects: Option<PathBuf>,
    /// The chat template of the model, from which its dialect is learned: a Jinja file, a `tokenizer_config.json` or the
    /// folder of the model.
    #[arg(long, value_name = "FILE", env = "TOOLMEND_TEMPLATE")]
    template: Option<PathBuf>,
}

impl CustomDialectArgs {
    pub(crate) fn read(&self) -> Result<CustomDialects, CommandError> {
        let custom = self.dialects.as_deref().map(toolmend_dialect_files::read_dialects).transpose();
        let custom = custom.map(Option::unwrap_or_default).map_err(CommandError::dialects)?;
        let Some(path) = self.template.as_deref() else { return Ok(custom) };
        #[cfg(not(feature = "template"))]
        return Err(crate::missing::error(
            &format!("a reader of templates such as {}", path.display()),
            "template",
        ));
        #[cfg(feature = "template")]
        {
            let learned = learn_template(path, &name_of_template(path)).map_err(CommandError::dialects)?;
            custom.with(learned.dialects()).map_err(CommandError::dialects)
        }
    }
}

/// The weakest evidence that makes text a call.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct CallsArgs {
    /// The weakest evidence that makes text a call.
    #[arg(long, value_name = "EVIDENCE", value_parser = parse_calls(), default_value = Calls::default().name())]
    pub(crate) calls: Calls,
}

pub(crate) fn parse_calls() -> impl TypedValueParser<Value = Calls> {
    let names = Calls::ALL.iter().map(|calls| PossibleValue::new(calls.name()).help(calls.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Calls>())
}

/// Accepts the names of the policy presets.
pub(crate) fn parse_preset() -> impl TypedValueParser<Value = Preset> {
    let names = Preset::ALL.iter().map(|preset| PossibleValue::new(preset.name()).help(preset.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Preset>())
}

/// Accepts these names, and reads them as the configuration file does.
#[cfg(feature = "serve")]
pub(crate) fn parse_setting<T>(
    names: impl IntoIterator<Item = impl Into<PossibleValue>>,
) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.into_iter().map(Into::into).collect::<Vec<PossibleValue>>())
        .try_map(|name| T::deserialize(StrDeserializer::<Error>::new(&name)))
}
