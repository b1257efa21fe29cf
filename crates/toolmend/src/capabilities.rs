//! The configuration of everruns, which its users already have.
//!
//! It only translates: what is listed becomes a [`Policy`] and a limit for [`Reprompt`](crate::Reprompt). Capabilities
//! other than `tool_call_repair` are not ours and are ignored.

use serde::{Deserialize, Deserializer, de};

use crate::policy::{Limits, Policy, Preset};
use crate::reprompt::Reprompt;

/// The capability that repairs calls.
const REPAIR: &str = "tool_call_repair";
/// Longer arguments are not repaired if the capability is on.
const MAX_BYTES: usize = 256 << 10;
/// How often a call is sent back if the configuration does not say it.
const DEFAULT_REPROMPTS: u8 = 1;

/// A list of capabilities, as an agent of everruns is configured with.
///
/// ```
/// use toolmend::{Capabilities, Policy, Preset, RepairKind};
/// let listed = r#"{"capabilities": [{"ref": "tool_call_repair", "config": {"max_reprompts": 2}}]}"#;
/// let capabilities: Capabilities = serde_json::from_str(listed)?;
/// assert_eq!(capabilities.max_reprompts(), Some(2));
/// assert!(capabilities.policy().allows(RepairKind::TrailingCommaRemoved));
///
/// let other: Capabilities = serde_json::from_str(r#"{"capabilities": ["web_fetch"]}"#)?;
/// assert_eq!(other.max_reprompts(), None);
/// assert_eq!(other.policy(), Policy::preset(Preset::Off));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    max_reprompts: Option<u8>,
}

impl Capabilities {
    /// Returns how often a call may be sent back, or `None` if `tool_call_repair` is not listed.
    ///
    /// ```
    /// let capabilities: toolmend::Capabilities = serde_json::from_str(r#"{"capabilities": ["tool_call_repair"]}"#)?;
    /// assert_eq!(capabilities.max_reprompts(), Some(1));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn max_reprompts(&self) -> Option<u8> {
        self.max_reprompts
    }

    /// Returns the policy: off unless `tool_call_repair` is listed, and then with its limit of 256 KiB for a text.
    ///
    /// ```
    /// use toolmend::{Limits, Policy};
    /// let capabilities: toolmend::Capabilities = serde_json::from_str(r#"{"capabilities": ["tool_call_repair"]}"#)?;
    /// assert_eq!(capabilities.policy(), Policy::default().limits(Limits::new().max_bytes(256 * 1024)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn policy(&self) -> Policy {
        match self.max_reprompts {
            None => Policy::preset(Preset::Off),
            Some(_) => Policy::default().limits(Limits::new().max_bytes(MAX_BYTES)),
        }
    }
}

impl Policy {
    /// Returns the policy of a configuration of everruns: off unless it lists `tool_call_repair`.
    ///
    /// ```
    /// use toolmend::{Policy, Preset};
    /// assert_eq!(Policy::from_capabilities(r#"{"capabilities": []}"#)?, Policy::preset(Preset::Off));
    /// let error = Policy::from_capabilities(
    ///     r#"{"capabilities": [{"ref": "tool_call_repair", "config": {"max_reprompts": 9}}]}"#,
    /// );
    /// assert!(error.unwrap_err().to_string().starts_with("expected at most 5 re-prompts for a call, found 9"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not JSON, has no list of capabilities, or configures more than 5 re-prompts.
    pub fn from_capabilities(json: &str) -> serde_json::Result<Policy> {
        serde_json::from_str::<Capabilities>(json).map(|capabilities| capabilities.policy())
    }
}

/// The file of an agent. Its other members are not ours.
#[derive(Deserialize)]
struct AgentFile {
    capabilities: Vec<Entry>,
}

/// A capability: its name, or its name and settings.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Name(String),
    Configured {
        #[serde(rename = "ref")]
        name: String,
        #[serde(default)]
        config: Settings,
    },
}

/// Settings of any capability, of which only one is ours.
#[derive(Default, Deserialize)]
struct Settings {
    max_reprompts: Option<u8>,
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let file = AgentFile::deserialize(from)?;
        let listed = file.capabilities.into_iter().find_map(|entry| match entry {
            Entry::Name(name) => (name == REPAIR).then_some(None),
            Entry::Configured { name, config } => (name == REPAIR).then_some(config.max_reprompts),
        });
        let max_reprompts = listed.map(|limit| limit.unwrap_or(DEFAULT_REPROMPTS));
        max_reprompts.map(Reprompt::new).transpose().map_err(de::Error::custom)?;
        Ok(Capabilities { max_reprompts })
    }
}
