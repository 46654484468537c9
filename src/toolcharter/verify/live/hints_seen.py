"""The hints of answers, for the rules about them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from toolcharter.verify.observed import Exchange, Observed

HINTS = "agentHints"


def hinting(observed: Observed) -> list[Exchange]:
    """The answered calls of a server that gives hints; none where it gives none at all."""
    answered = [exchange for exchange in observed.exchanges if exchange.answer is not None]
    return answered if any(HINTS in exchange.document for exchange in answered) else []


def hints_of(exchange: Exchange) -> Mapping[str, Any]:
    """The hints of an answer; empty where it has none."""
    return object_at(exchange.document, HINTS)


def object_at(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object inside an object; empty where it is none."""
    value = fields.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def objects_at(fields: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a list inside an object."""
    value = fields.get(name)
    for one in cast(list[Any], value) if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield cast(dict[str, Any], one)
