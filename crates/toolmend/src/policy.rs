//! Policies: which repairs are allowed, for which tools, and how much work they may take.
//!
//! A policy only answers questions. It never looks at text, and it does not know how a repair is made.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use crate::intent::Calls;
use crate::json::strict::MAX_DEPTH;
use crate::json::value::SERDE_DEPTH;
use crate::repair::{REPAIRS, RepairKind, Tier};
use crate::wire_names::wire_names;

/// A named starting point for a [`Policy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preset {
    /// Passes every byte through and judges nothing.
    Off,
    /// Judges and repairs nothing.
    Strict,
    /// Applies the repairs of all three tiers. This is the default everywhere.
    #[default]
    Balanced,
    /// Is balanced, and reads the risky forms that are off by default.
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

/// Limits on the work for one text.
///
/// ```
/// use toolmend::{FixOptions, Limits, Policy, Reason, fix_with};
/// let policy = Policy::default().limits(Limits::new().max_bytes(10));
/// let verdict = fix_with("{a: 'longer than ten bytes'}", &FixOptions::new().policy(policy)).into_owned();
/// assert_eq!(verdict.reason(), Some(Reason::Limit));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The longest text that is repaired, in bytes. Valid text of any length passes.
    pub bytes: usize,
    /// The deepest nesting, at most 1024. The default is what `serde_json` reads.
    pub depth: usize,
    /// The most edits in one text.
    pub edits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 1 << 20, depth: SERDE_DEPTH, edits: 1 << 18 }
    }
}

impl Limits {
    /// The default limits: 1 MiB, 128 levels and 262,144 edits.
    ///
    /// ```
    /// assert_eq!(toolmend::Limits::new().depth, 127);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the longest text that is repaired, in bytes.
    ///
    /// ```
    /// assert_eq!(toolmend::Limits::new().max_bytes(4096).bytes, 4096);
    /// ```
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the deepest nesting. More than 1024 counts as 1024.
    ///
    /// ```
    /// assert_eq!(toolmend::Limits::new().max_depth(5000).depth, 1024);
    /// ```
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.depth = depth.min(MAX_DEPTH);
        self
    }

    /// Sets the most edits in one text.
    ///
    /// ```
    /// assert_eq!(toolmend::Limits::new().max_edits(10).edits, 10);
    /// ```
    #[must_use]
    pub fn max_edits(mut self, edits: usize) -> Self {
        self.edits = edits;
        self
    }
}

/// Which repairs are allowed, and how much work they may take.
///
/// In JSON a policy is the name of a preset, or an object with the fields `preset`, `max_tier`, `tiers` (the highest tier
/// for single tools), `on` and `off` (names of repair kinds), `calls`, `max_bytes`, `max_depth` and `max_edits`, all
/// optional.
///
/// ```
/// use toolmend::{Policy, Tier, RepairKind};
/// let policy = Policy::default().max_tier(Tier::Guided).without(RepairKind::CommentRemoved);
/// assert!(policy.allows(RepairKind::TrailingCommaRemoved));
/// assert!(!policy.allows(RepairKind::ValueQuoted));
/// assert!(!policy.allows(RepairKind::CommentRemoved));
///
/// let same: Policy = serde_json::from_str(r#"{"max_tier": "guided", "off": ["comment_removed"]}"#)?;
/// assert_eq!(same, policy);
/// let error = serde_json::from_str::<Policy>(r#"{"off": ["coment_removed"]}"#).unwrap_err();
/// assert!(error.to_string().contains("did you mean \"comment_removed\"?"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub(crate) preset: Preset,
    pub(crate) tier: Option<Tier>,
    pub(crate) off: BTreeSet<RepairKind>,
    pub(crate) on: BTreeSet<RepairKind>,
    pub(crate) tools: BTreeMap<String, Tier>,
    pub(crate) limits: Limits,
    pub(crate) calls: Calls,
}

impl Default for Policy {
    fn default() -> Self {
        Policy::preset(Preset::Balanced)
    }
}

impl Policy {
    /// The policy of a preset.
    ///
    /// ```
    /// use toolmend::{Policy, Preset, RepairKind};
    /// assert!(!Policy::preset(Preset::Strict).allows(RepairKind::QuotesReplaced));
    /// ```
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
            calls: Calls::default(),
        }
    }

    /// Allows repairs up to this tier.
    ///
    /// ```
    /// use toolmend::{Policy, RepairKind, Tier};
    /// assert!(!Policy::default().max_tier(Tier::Lossless).allows(RepairKind::InnerQuoteEscaped));
    /// ```
    #[must_use]
    pub fn max_tier(mut self, tier: Tier) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Allows repairs up to this tier for one tool.
    ///
    /// ```
    /// use toolmend::{Mender, Policy, Reason, Tier};
    /// let mender = Mender::builder()
    ///     .tools(&serde_json::json!(["delete", "search"]))
    ///     .policy(Policy::default().max_tier_for("delete", Tier::Lossless))
    ///     .build()?;
    /// let arguments = r#"{"reason": "he said "yes" to it"}"#;
    /// assert_eq!(mender.mend("delete", arguments).reason(), Some(Reason::Policy));
    /// assert!(mender.mend("search", arguments).json().is_some());
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn max_tier_for(mut self, tool: impl Into<String>, tier: Tier) -> Self {
        self.tools.insert(tool.into(), tier);
        self
    }

    /// Forbids one kind of repair.
    ///
    /// ```
    /// use toolmend::{Policy, RepairKind};
    /// let policy = Policy::default().without(RepairKind::ValueQuoted);
    /// assert!(!policy.allows(RepairKind::ValueQuoted));
    /// ```
    #[must_use]
    pub fn without(mut self, kind: RepairKind) -> Self {
        self.on.remove(&kind);
        self.off.insert(kind);
        self
    }

    /// Allows one kind of repair, whatever its tier.
    ///
    /// ```
    /// use toolmend::{Policy, RepairKind};
    /// assert!(!Policy::default().allows(RepairKind::UnknownKeyDropped), "it is opt-in");
    /// assert!(Policy::default().with(RepairKind::UnknownKeyDropped).allows(RepairKind::UnknownKeyDropped));
    /// ```
    #[must_use]
    pub fn with(mut self, kind: RepairKind) -> Self {
        self.off.remove(&kind);
        self.on.insert(kind);
        self
    }

    /// Allows the kinds of the first list, then forbids those of the second, so that a kind in both is forbidden.
    ///
    /// Flags, configuration files and JSON give kinds this way.
    ///
    /// ```
    /// use toolmend::{Policy, RepairKind};
    /// let both = [RepairKind::UnknownKeyDropped];
    /// let policy = Policy::default().with_kinds(&both, &both);
    /// assert!(!policy.allows(RepairKind::UnknownKeyDropped));
    /// ```
    #[must_use]
    pub fn with_kinds(self, on: &[RepairKind], off: &[RepairKind]) -> Self {
        let policy = on.iter().copied().fold(self, Policy::with);
        off.iter().copied().fold(policy, Policy::without)
    }

    /// Sets the limits. A depth over 1024 counts as 1024.
    ///
    /// ```
    /// use toolmend::{Limits, Policy};
    /// let policy = Policy::default().limits(Limits::new().max_depth(16));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Limits { depth: limits.depth.min(MAX_DEPTH), ..limits };
        self
    }

    /// Sets the weakest evidence that makes text of a model's output a call.
    ///
    /// ```
    /// use toolmend::{Calls, Finish, Mender, Policy, TurnOptions};
    /// let policy = Policy::default().calls(Calls::Marked);
    /// let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).policy(policy).build()?;
    /// assert!(mender.turn("[get_time()]", &TurnOptions::new(), Finish::Stop).calls.is_empty());
    /// # Ok::<(), toolmend::ToolsError>(())
    /// ```
    #[must_use]
    pub fn calls(mut self, lowest: Calls) -> Self {
        self.calls = lowest;
        self
    }

    /// Returns the longest text that is repaired, in bytes.
    ///
    /// ```
    /// assert_eq!(toolmend::Policy::default().max_bytes(), 1 << 20);
    /// ```
    pub fn max_bytes(&self) -> usize {
        self.limits.bytes
    }

    /// Returns whether this kind of repair is allowed.
    ///
    /// ```
    /// use toolmend::{Policy, RepairKind};
    /// assert!(Policy::default().allows(RepairKind::KeyQuoted));
    /// ```
    pub fn allows(&self, kind: RepairKind) -> bool {
        self.on.contains(&kind)
            || (!self.off.contains(&kind) && self.tier.is_some_and(|tier| kind.tier() <= tier))
    }

    /// Returns whether any repair is allowed.
    pub(crate) fn repairs(&self) -> bool {
        self.tier.is_some() || !self.on.is_empty()
    }

    /// Returns the policy for one tool.
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

/// The JSON form of a policy. The camel-case names are those of the Node package.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PolicyFields {
    preset: Option<Preset>,
    #[serde(alias = "maxTier")]
    max_tier: Option<Tier>,
    tiers: BTreeMap<String, Tier>,
    on: Vec<RepairKind>,
    off: Vec<RepairKind>,
    calls: Option<Calls>,
    #[serde(alias = "maxBytes")]
    max_bytes: Option<usize>,
    #[serde(alias = "maxDepth")]
    max_depth: Option<usize>,
    #[serde(alias = "maxEdits")]
    max_edits: Option<usize>,
}

impl From<PolicyFields> for Policy {
    fn from(fields: PolicyFields) -> Self {
        let mut policy = Policy::preset(fields.preset.unwrap_or_default());
        policy.tier = fields.max_tier.or(policy.tier);
        policy.calls = fields.calls.unwrap_or_default();
        policy.tools = fields.tiers;
        let defaults = Limits::default();
        policy.with_kinds(&fields.on, &fields.off).limits(Limits {
            bytes: fields.max_bytes.unwrap_or(defaults.bytes),
            depth: fields.max_depth.unwrap_or(defaults.depth),
            edits: fields.max_edits.unwrap_or(defaults.edits),
        })
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PolicyVisitor)
    }
}

/// Reads the name of a preset, or the fields of a policy.
struct PolicyVisitor;

impl<'de> Visitor<'de> for PolicyVisitor {
    type Value = Policy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a policy preset or an object with the fields of a policy")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Policy, E> {
        name.parse().map(Policy::preset).map_err(E::custom)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Policy, A::Error> {
        PolicyFields::deserialize(de::value::MapAccessDeserializer::new(map)).map(Policy::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_policy_is_read() {
        let json = r#"{"preset": "eager", "maxTier": "guided", "tiers": {"rm": "lossless"}, "on": ["value_quoted"],
            "off": ["comment_removed"], "calls": "named", "max_bytes": 10, "maxDepth": 5000, "max_edits": 7}"#;
        let expected = Policy::preset(Preset::Eager)
            .max_tier(Tier::Guided)
            .max_tier_for("rm", Tier::Lossless)
            .with(RepairKind::ValueQuoted)
            .without(RepairKind::CommentRemoved)
            .calls(Calls::Named)
            .limits(Limits::new().max_bytes(10).max_depth(1024).max_edits(7));
        assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), expected);
        assert_eq!(serde_json::from_str::<Policy>("\"strict\"").unwrap(), Policy::preset(Preset::Strict));
        assert_eq!(serde_json::from_str::<Policy>("{}").unwrap(), Policy::default());
    }

    #[test]
    fn a_policy_that_cannot_be_read_says_why() {
        for (json, message) in [
            (
                "\"bold\"",
                "expected \"off\", \"strict\", \"balanced\" or \"eager\" as the policy preset, found \"bold\"",
            ),
            (r#"{"on": ["key_quotd"]}"#, "did you mean \"key_quoted\"?"),
            (r#"{"max_tier": "sure"}"#, "expected \"lossless\", \"guided\" or \"assumed\" as the tier"),
            (r#"{"max_teir": "guided"}"#, "unknown field `max_teir`"),
            ("3", "expected the name of a policy preset or an object"),
        ] {
            let error = serde_json::from_str::<Policy>(json).unwrap_err().to_string();
            assert!(error.contains(message), "{json}: {error}");
        }
    }
}
