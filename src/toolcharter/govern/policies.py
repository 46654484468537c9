"""The policy of each tool: patterns of the charter, over the tool's own declaration."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from typing import Any, NamedTuple

from mcp_core.declare.spec import RateLimit
from toolcharter.govern.charter import AnswerPolicy, Consent, OfferPolicy, ToolPolicy, parse_rate
from toolcharter.govern.intent import Intent


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """The policy that holds for one tool."""

    allowed: bool = True
    name: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    consent: Consent = "never"
    rate_limit: RateLimit | None = None
    deadline: float | None = None
    cache: float | None = None
    read_only: bool = False
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    answers: AnswerPolicy | None = None


def policy_for(server: str, tool: str, intent: Intent, patterns: Mapping[str, ToolPolicy]) -> EffectivePolicy:
    """The policy of a tool. For each field the most exact pattern that sets it wins; `deny` wins over all.

    What looks destructive asks first until the file says otherwise.
    """
    matching = [patterns[pattern] for pattern in _matching(server, tool, patterns)]
    fields: dict[str, Any] = {}
    arguments: dict[str, dict[str, Any]] = {}
    for policy in matching:  # from the least exact to the most exact
        fields |= {name: getattr(policy, name) for name in policy.model_fields_set}
        for name, keywords in policy.arguments.items():
            arguments[name] = {**arguments.get(name, {}), **keywords}
    read_only = fields.get("read_only")
    is_read_only = intent.is_read_only if read_only is None else read_only
    rate = fields.get("rate_limit")
    return EffectivePolicy(
        allowed=fields.get("allow", True) is not False and not any(policy.deny for policy in matching),
        name=fields.get("rename"),
        description=fields.get("description"),
        tags=tuple(fields.get("tags") or (server,)),
        permissions=tuple(fields.get("permissions") or ()),
        consent=fields.get("consent") or ("required" if intent.is_destructive and not is_read_only else "never"),
        rate_limit=None if rate is None else parse_rate(rate),
        deadline=fields.get("deadline"),
        # Only what the tool says itself, or the file, makes an answer reusable: a guess does not.
        cache=fields.get("cache") if read_only or (read_only is None and intent.declares_read_only) else None,
        read_only=is_read_only,
        arguments=arguments,
        answers=fields.get("answers"),
    )


def is_denied(server: str, tool: str, patterns: Mapping[str, ToolPolicy]) -> bool:
    """Whether the file hides a tool, whatever the tool is."""
    return not policy_for(server, tool, Intent(), patterns).allowed


class OfferLimit(NamedTuple):
    """How often a caller may request what matches a pattern, all of it together: addresses have many spellings."""

    pattern: str
    allowed: RateLimit


@dataclass(frozen=True, slots=True)
class EffectiveOffer:
    """The policy that holds for one prompt or resource."""

    allowed: bool = True
    is_trusted: bool = False
    """Whether the file says that it is passed on whatever a rule finds in its definition."""
    permissions: tuple[str, ...] = ()
    deadline: float | None = None
    limit: OfferLimit | None = None


def offer_policy(server: str, name: str, patterns: Mapping[str, OfferPolicy]) -> EffectiveOffer:
    """The policy of a prompt or a resource, by the same order as that of a tool."""
    names = _matching(server, name, patterns)
    matching = [patterns[pattern] for pattern in names]
    fields: dict[str, Any] = {}
    for policy in matching:
        fields |= {field: getattr(policy, field) for field in policy.model_fields_set}
    limits = [OfferLimit(one, parse_rate(rate)) for one in names if (rate := patterns[one].rate_limit)]
    return EffectiveOffer(
        allowed=fields.get("allow", True) is not False and not any(policy.deny for policy in matching),
        is_trusted=fields.get("allow") is True,
        permissions=tuple(fields.get("permissions") or ()),
        deadline=fields.get("deadline"),
        limit=limits[-1] if limits else None,
    )


def _matching(server: str, tool: str, patterns: Mapping[str, Any]) -> list[str]:
    """The patterns that match, the most exact one last."""
    return sorted((pattern for pattern in patterns if matches(pattern, server, tool)), key=_exactness)


def matches(pattern: str, server: str, tool: str) -> bool:
    """Whether a pattern such as `github:delete_*` means this tool."""
    return pattern == "*" or _expression(pattern).fullmatch(f"{server}:{tool}") is not None


def _exactness(pattern: str) -> tuple[bool, int, int]:
    """Without a wildcard first, then by the number of literal characters, then by how few wildcards there are."""
    wildcards = sum(character in "*?[" for character in pattern)
    return wildcards == 0, len(pattern) - wildcards, -wildcards


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
