//! How a server has to be spoken to.

use std::sync::Arc;

use toolmend_protocol::Protocol;

use super::call_ids::KnownIdForms;
use super::known_protocols::KnownProtocols;
use super::route::matches_pattern;
use crate::config::{ToolMode, Upstream};

/// The hosts of vendors, who reject what they do not know.
const VENDOR_HOSTS: [&str; 2] = ["api.openai.com", "api.anthropic.com"];

/// How a server has to be spoken to.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamProfile {
    /// The configured protocol. `None`: it has to be found out.
    pub(crate) protocol: Option<Protocol>,
    pub(crate) known_protocols: Arc<KnownProtocols>,
    /// The ids of calls that it accepts.
    pub(crate) known_ids: Arc<KnownIdForms>,
    tools: ToolMode,
    /// Models whose tools are written into the prompt, whatever the others do.
    prompt_models: Vec<String>,
    /// The dialect of calls in prompts, if it is configured.
    pub(crate) dialect: Option<String>,
    /// Whether the server is a vendor's own.
    pub(crate) is_vendor: bool,
    /// Whether system prompts between other messages become reminders in the user's turns.
    pub(crate) inlines_system_prompts: bool,
}

impl UpstreamProfile {
    /// Reads the profile of a configured server on this host.
    pub(crate) fn new(upstream: &Upstream, host: &str) -> Self {
        let is_vendor = VENDOR_HOSTS.contains(&host);
        UpstreamProfile {
            protocol: upstream.surface,
            known_protocols: Arc::default(),
            known_ids: Arc::default(),
            tools: upstream.tools,
            prompt_models: upstream.prompt_models.clone(),
            dialect: upstream.dialect.clone(),
            is_vendor,
            inlines_system_prompts: upstream.fold_system.unwrap_or(!is_vendor),
        }
    }

    /// Whether the tools of this model are written into its prompt.
    pub(crate) fn writes_tools_into_prompt(&self, model: &str) -> bool {
        let takes_no_tools = self.protocol.is_some_and(|protocol| !protocol.features().declares_tools);
        self.tools == ToolMode::Prompt
            || takes_no_tools
            || self.prompt_models.iter().any(|pattern| matches_pattern(pattern, model))
    }

    /// Whether the model decides how its requests are sent.
    pub(crate) fn depends_on_model(&self) -> bool {
        !self.prompt_models.is_empty()
    }
}
