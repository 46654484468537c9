"""Which server an address belongs to, where several servers share one address of ours."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from mcp_core.errors import Conflict
from toolcharter.govern.offers import Offer
from toolcharter.govern.upstream.session import TEMPLATES

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_MAX_URI_LENGTH = 8_192
_MAX_TEMPLATE_LENGTH = 1_024
_MAX_EXPRESSIONS = 20


def owner_of(uri: str, offers: Sequence[Offer], linking: Collection[str] = ()) -> Offer | str | None:
    """The resource or template that an address belongs to, or only the server; None if nobody offers it.

    The list decides, then the templates; then the servers `linking` to it from a tool; then the only server with
    addresses of the same scheme, because a tool may name addresses that no list has. Raises Conflict if two servers
    offer it.
    """
    for candidates in (
        [offer for offer in offers if offer.listed is not TEMPLATES and offer.key == uri],
        [offer for offer in offers if offer.listed is TEMPLATES and matches_template(offer.key, uri)],
    ):
        if candidates:
            _check_single(uri, {offer.server for offer in candidates})
            return candidates[0]
    if linking:
        _check_single(uri, set(linking))
        return next(iter(linking))
    scheme = uri.partition(":")[0]
    servers = {offer.server for offer in offers if offer.key.partition(":")[0] == scheme}
    return next(iter(servers)) if len(servers) == 1 else None


def template_owner(template: str, offers: Sequence[Offer]) -> Offer | None:
    """The template of which a client wants completions. Raises Conflict if two servers have it."""
    candidates = [offer for offer in offers if offer.key == template]
    _check_single(template, {offer.server for offer in candidates})
    return next(iter(candidates), None)


def _check_single(uri: str, servers: set[str]) -> None:
    if len(servers) > 1:
        names = sorted(servers)
        raise Conflict(
            f"{' and '.join(map(repr, names))} all offer {uri!r}. Over HTTP, use the address of one of them, such as "
            f'/{names[0]}/mcp; or hide it at the other: [resources."{names[1]}:{uri}"] and deny = true in the charter.'
        )


def matches_template(template: str, uri: str) -> bool:
    """Whether an address has the form of a template (RFC 6570)."""
    if len(uri) > _MAX_URI_LENGTH:
        return False
    expression = _expression(template)
    return expression is not None and expression.fullmatch(uri) is not None


@lru_cache(maxsize=4096)
def _expression(template: str) -> re.Pattern[str] | None:
    parts = _EXPRESSION.split(template)
    if len(template) > _MAX_TEMPLATE_LENGTH or len(parts) > 2 * _MAX_EXPRESSIONS:
        return None
    pattern = "".join(_variable(part) if number % 2 else re.escape(part) for number, part in enumerate(parts))
    return re.compile(pattern)


def _variable(expression: str) -> str:
    """A pattern for the values of an expression. Possessive, so that no address takes long to compare."""
    operator = expression[:1]
    if operator in ("?", "&"):
        return rf"(?:\{operator}[^#]*+)?"
    if operator == "#":
        return "(?:#.*+)?"
    if operator == "+" or expression.endswith("*"):
        return ".+"
    if operator == "/":
        return "(?:/[^/?#]*+)*+"
    return "[^/?#]*"
