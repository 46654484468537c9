"""`Item` and `Listing`: what a command found, before the fields that were asked for are selected."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcp_atl.client.connection import Json
from toolcharter import Image

Shape = Mapping[str, Any]
"""The fields that an answer can have. A field with fields of its own has a Shape; any other has None."""


class Item(NamedTuple):
    """One thing."""

    value: Json
    shape: Shape | None = None


class Listing(NamedTuple):
    """Several things of one kind, and where the next ones begin."""

    kind: str
    items: Sequence[Json]
    next_cursor: str | None = None
    total: int | None = None
    shape: Shape | None = None
    notes: Sequence[str] = ()
    """Notes for the reader of this list, such as a part that could not be read."""
    images: Sequence[Image] = ()
    """Pictures that are shown beside the list."""
    fields: tuple[str, ...] | None = None
    """Those of the fields that were asked for that things of this kind have, where a list of another kind is beside."""
