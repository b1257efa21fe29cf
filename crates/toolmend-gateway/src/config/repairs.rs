//! Which repairs the gateway makes, beyond the preset.

use serde::{Deserialize, Serialize};
use toolmend::{Limits, Policy, Preset, RepairKind};

/// Single kinds of repairs, and limits on the text of one call.
///
/// ```
/// use toolmend_gateway::Config;
/// let config = Config::from_toml("[repairs]\non = [\"code_quotes_normalised\"]\nmax_bytes = 262144").unwrap();
/// assert_eq!(config.repairs.on[0].name(), "code_quotes_normalised");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepairSettings {
    /// Kinds that are allowed, whatever their tier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<RepairKind>,
    /// Kinds that are forbidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<RepairKind>,
    /// The longest arguments or output that are repaired, in bytes. Valid text of any length passes.
    pub max_bytes: usize,
    /// The deepest nesting that is accepted, at most 1024.
    pub max_depth: usize,
}

impl Default for RepairSettings {
    fn default() -> Self {
        let limits = Limits::default();
        RepairSettings { on: Vec::new(), off: Vec::new(), max_bytes: limits.bytes, max_depth: limits.depth }
    }
}

impl RepairSettings {
    /// Returns the policy of a preset with these settings.
    pub(crate) fn policy(&self, preset: Preset) -> Policy {
        let limits = Limits::new().max_bytes(self.max_bytes).max_depth(self.max_depth);
        Policy::preset(preset).with_kinds(&self.on, &self.off).limits(limits)
    }
}
