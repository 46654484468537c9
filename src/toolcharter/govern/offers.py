"""Prompts and resources that upstreams offer: under which policy, and which of them a caller may see."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from mcp_core.auth import Caller
from mcp_core.errors import Conflict
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.answers import hidden_orders
from toolcharter.govern.charter import Charter, OfferPolicy
from toolcharter.govern.metadata import with_foreign_meta
from toolcharter.govern.policies import EffectiveOffer, offer_policy
from toolcharter.govern.upstream.session import PROMPTS, TEMPLATES, Listed
from toolcharter.govern.upstream.transport import as_object
from toolcharter.verify.rule import Finding


class Offer(NamedTuple):
    """A prompt, a resource or a template of a server, as the server lists it."""

    server: str
    listed: Listed
    wire: JsonObject
    policy: EffectiveOffer

    @property
    def key(self) -> str:
        """The name of a prompt, or the address of a resource or a template."""
        return str(self.wire.get(key_of(self.listed)))

    @property
    def finding(self) -> Finding | None:
        """The finding of a rule in the texts that a model may read in a list."""
        return None if self.policy.is_trusted else _finding(tuple(_texts(self.wire)))

    def is_visible_to(self, caller: Caller) -> bool:
        """Return whether the offer is in the lists of a caller."""
        return self.policy.allowed and not caller.lacks(self.policy.permissions) and self.finding is None

    def check(self) -> None:
        """Raise Conflict for one that is quarantined."""
        if (finding := self.finding) is not None:
            table = "prompts" if self.listed is PROMPTS else "resources"
            raise Conflict(
                f"{self.key!r} of {self.server!r} is quarantined: {finding.rule} {finding.message} A person who has "
                f'read its definition can pass it on with [{table}."{self.server}:{self.key}"] and allow = true in '
                "the charter."
            )


def key_of(listed: Listed) -> str:
    """The member that identifies an item of a list."""
    if listed is PROMPTS:
        return "name"
    return "uriTemplate" if listed is TEMPLATES else "uri"


def offers_of(server: str, listed: Listed, items: Iterable[JsonObject], charter: Charter) -> list[Offer]:
    """The items of a list that can be used, each with its policy."""
    key, patterns = key_of(listed), charter.prompts if listed is PROMPTS else charter.resources
    return [
        Offer(server, listed, with_foreign_meta(item), offer_policy(server, str(item[key]), patterns))
        for item in items
        if isinstance(item.get(key), str)
    ]


def address_policy(server: str, uri: str, patterns: Mapping[str, OfferPolicy]) -> EffectiveOffer:
    """The policy of an address. What is denied in one spelling is denied in all that mean the same."""
    policies = [offer_policy(server, form, patterns) for form in _spellings(uri)]
    return EffectiveOffer(
        allowed=all(policy.allowed for policy in policies),
        is_trusted=all(policy.is_trusted for policy in policies),
        permissions=tuple(dict.fromkeys(name for policy in policies for name in policy.permissions)),
        deadline=policies[0].deadline,
        limit=next((policy.limit for policy in policies if policy.limit is not None), None),
    )


def _spellings(uri: str) -> Sequence[str]:
    """An address as it is, without percent signs, and without `.` and `..` in its path."""
    plain = unquote(uri)
    scheme, mark, rest = plain.partition("://")
    parts: list[str] = []
    for part in rest.split("/"):
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return list(dict.fromkeys((uri, plain, f"{scheme}{mark}{'/'.join(parts)}")))


def _texts(wire: JsonObject) -> Iterable[str]:
    arguments = cast(list[Any], wire["arguments"]) if isinstance(wire.get("arguments"), list) else []
    for item in (wire, *map(as_object, arguments)):
        yield from (text for key in ("name", "title", "description") if isinstance(text := item.get(key), str))


@lru_cache(maxsize=4096)
def _finding(texts: tuple[str, ...]) -> Finding | None:
    return next(iter(hidden_orders(texts)), None)
