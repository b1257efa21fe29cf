//! What toolmend may do: tiers, single kinds, limits.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::strict::MAX_DEPTH;
use crate::repair::{REPAIRS, RepairKind, Tier};
use crate::wire_names::wire_names;

/// A named starting point for a [`Policy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preset {
    /// Pass the bytes through.
    Off,
    /// Give verdicts, repair nothing.
    Strict,
    /// All three tiers. The default everywhere.
    #[default]
    Balanced,
    /// Balanced, and the risky forms that are off by default.
    Eager,
}

wire_names!(
    Preset, "policy preset",
    Off => "off",
    Strict => "strict",
    Balanced => "balanced",
    Eager => "eager",
);

impl Preset {
    /// Returns one line that says what the preset does, for help texts.
    ///
    /// ```
    /// assert_eq!(toolmend::Preset::Strict.summary(), "Judge, repair nothing");
    /// ```
    pub const fn summary(self) -> &'static str {
        match self {
            Preset::Off => "Pass every byte through, judge nothing",
            Preset::Strict => "Judge, repair nothing",
            Preset::Balanced => "Repair wherever one reading stands out",
            Preset::Eager => "Balanced, and the risky forms that are off by default",
        }
    }
}

/// Bounds on the work for one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text that is repaired, in bytes. Valid text of any length passes.
    pub bytes: usize,
    /// The deepest nesting, at most 1024.
    pub depth: usize,
    /// The most edits in one text.
    pub edits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 1 << 20, depth: 128, edits: 1 << 18 }
    }
}

/// What may be repaired, and how much work that may be.
///
/// ```
/// use toolmend::{Policy, Tier, RepairKind};
/// let policy = Policy::default().max_tier(Tier::Guided).without(RepairKind::CommentRemoved);
/// assert!(policy.allows(RepairKind::TrailingCommaRemoved));
/// assert!(!policy.allows(RepairKind::ValueQuoted));
/// assert!(!policy.allows(RepairKind::CommentRemoved));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub(crate) preset: Preset,
    pub(crate) tier: Option<Tier>,
    pub(crate) off: BTreeSet<RepairKind>,
    pub(crate) on: BTreeSet<RepairKind>,
    pub(crate) tools: BTreeMap<String, Tier>,
    pub(crate) limits: Limits,
}

impl Default for Policy {
    fn default() -> Self {
        Policy::preset(Preset::Balanced)
    }
}

impl Policy {
    /// The policy of that name.
    pub fn preset(preset: Preset) -> Self {
        let tier = match preset {
            Preset::Off | Preset::Strict => None,
            Preset::Balanced | Preset::Eager => Some(Tier::Assumed),
        };
        Policy {
            preset,
            tier,
            off: REPAIRS.iter().filter(|row| row.is_opt_in).map(|row| row.kind).collect(),
            on: BTreeSet::new(),
            tools: BTreeMap::new(),
            limits: Limits::default(),
        }
    }

    /// Applies repairs up to this tier.
    #[must_use]
    pub fn max_tier(mut self, tier: Tier) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Applies repairs up to this tier for one tool.
    #[must_use]
    pub fn max_tier_for(mut self, tool: impl Into<String>, tier: Tier) -> Self {
        self.tools.insert(tool.into(), tier);
        self
    }

    /// Turns one kind of repair off.
    #[must_use]
    pub fn without(mut self, kind: RepairKind) -> Self {
        self.on.remove(&kind);
        self.off.insert(kind);
        self
    }

    /// Turns one kind of repair on, whatever its tier.
    #[must_use]
    pub fn with(mut self, kind: RepairKind) -> Self {
        self.off.remove(&kind);
        self.on.insert(kind);
        self
    }

    /// Sets the limits. A depth over 1024 counts as 1024.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Limits { depth: limits.depth.min(MAX_DEPTH), ..limits };
        self
    }

    /// Whether this kind of repair may be applied.
    pub fn allows(&self, kind: RepairKind) -> bool {
        self.on.contains(&kind)
            || (!self.off.contains(&kind) && self.tier.is_some_and(|tier| kind.tier() <= tier))
    }

    /// Whether anything may be repaired at all.
    pub(crate) fn repairs(&self) -> bool {
        self.tier.is_some() || !self.on.is_empty()
    }

    /// This policy as it holds for one tool.
    pub(crate) fn for_tool(&self, tool: &str, destructive: bool) -> Policy {
        let mut policy = self.clone();
        match self.tools.get(tool) {
            Some(&tier) => policy.tier = policy.tier.map(|_| tier),
            None if destructive => policy.tier = policy.tier.map(|tier| tier.min(Tier::Guided)),
            None => {}
        }
        policy
    }
}
