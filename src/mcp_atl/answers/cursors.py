"""Cursors of answers that come from several lists: one text that has the place in each of them."""

import base64
import binascii
import json
from typing import Any, cast

from toolcharter import InvalidArguments

Places = dict[str, str | None]
"""The cursor of each list by its name; None for one that is at its end."""


def pack(places: Places) -> str | None:
    """One cursor for several lists; None if all are at their end."""
    if not any(places.values()):
        return None
    left = {name: cursor for name, cursor in places.items() if cursor is not None}
    return base64.urlsafe_b64encode(json.dumps(left, separators=(",", ":")).encode()).decode().rstrip("=")


def unpack(cursor: str | None, names: list[str]) -> Places:
    """The lists that go on, with their cursors. Without a cursor, all begin."""
    if cursor is None:
        return dict.fromkeys(names)
    try:
        places: Any = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        known = {name: str(places[name]) for name in names if name in places}
    except (binascii.Error, ValueError, TypeError) as error:
        raise bad_cursor(cursor) from error
    if not known:
        raise bad_cursor(cursor)
    return cast(Places, known)


def bad_cursor(cursor: str) -> InvalidArguments:
    """The error for a cursor that this server did not make."""
    return InvalidArguments(
        f"parameters.cursor: {cursor[:40]!r} is not a cursor of this search. Use the next_cursor of the answer before, "
        "with the same subject and product.",
        fields=("parameters",),
    )
