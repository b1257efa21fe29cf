"""Policies: what may be repaired, and how much work that may take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Preset = Literal["off", "strict", "balanced", "eager"]
Tier = Literal["lossless", "guided", "assumed"]


@dataclass(frozen=True)
class Policy:
    """What may be repaired.

    ``tiers`` sets the highest tier for single tools. ``on`` and ``off`` turn single kinds of repair on and off by name.
    """

    preset: Preset = "balanced"
    max_tier: Tier | None = None
    tiers: Mapping[str, Tier] | Sequence[tuple[str, Tier]] = ()
    on: Sequence[str] = ()
    off: Sequence[str] = ()
    max_bytes: int | None = None
    max_depth: int | None = None

    def __post_init__(self) -> None:
        pairs = self.tiers.items() if isinstance(self.tiers, Mapping) else self.tiers
        for name, value in (("tiers", tuple(pairs)), ("on", tuple(self.on)), ("off", tuple(self.off))):
            object.__setattr__(self, name, value)


def to_rules(policy: Policy | Preset | None) -> str:
    """Returns the policy as the JSON text that the native module reads."""
    if isinstance(policy, str):
        policy = Policy(policy)
    policy = policy or Policy()
    return json.dumps({**policy.__dict__, "tiers": dict(policy.tiers)})
