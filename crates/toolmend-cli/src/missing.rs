//! What a build without all features says where one is missing.

use std::ffi::OsString;

use clap::Args;

use crate::error::CommandError;

/// Any arguments, for a command that is not in this build.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct MissingArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

/// The error for something that needs a feature of the build.
pub(crate) fn error(what: &str, feature: &str) -> CommandError {
    CommandError::Missing(format!(
        "this build does not contain {what}; build it with `--features {feature}`, or with `--features full` for everything"
    ))
}
