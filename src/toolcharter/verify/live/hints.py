"""The agent hints in results, for the rules about them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_core.schema.fields import list_at, object_at
from toolcharter.verify.live.observations import Exchange, Observations

HINTS = "agentHints"


def exchanges_with_hints(observations: Observations) -> list[Exchange]:
    """The answered calls of a server that gives hints; none if it never gives any."""
    answered = [exchange for exchange in observations.exchanges if exchange.answer is not None]
    return answered if any(HINTS in exchange.json_object for exchange in answered) else []


def hints_of(exchange: Exchange) -> Mapping[str, Any]:
    """The hints in a result; empty if it has none."""
    return object_at(exchange.json_object, HINTS)


def suggested_actions(exchange: Exchange) -> Iterator[Mapping[str, Any]]:
    """The next actions that a result suggests."""
    for action in list_at(hints_of(exchange), "suggestedNextActions"):
        if isinstance(action, dict):
            yield cast(dict[str, Any], action)
