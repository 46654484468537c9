"""The index of tags: which notes have which tag. `notes.tags` is the source; searches use the index."""

from collections.abc import Iterable, Mapping

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.store.row_mapping import parse_tags
from mcp_noema.store.tables import note_tags, tags

_MAX_NAMES = 1000
"""How many tags one statement looks up."""


def add(connection: Connection, user_id: int, texts: Mapping[int, str]) -> None:
    """Index new notes, given as the column `tags` by note id."""
    pairs = [(note_id, name) for note_id, text in texts.items() for name in dict.fromkeys(parse_tags(text))]
    if not pairs:
        return
    ids = _get_or_create(connection, user_id, {name for _, name in pairs})
    connection.execute(sa.insert(note_tags), [{"tag_id": ids[name], "note_id": note_id} for note_id, name in pairs])


def replace(connection: Connection, user_id: int, texts: Mapping[int, str]) -> None:
    """Index notes whose tags have changed."""
    if texts:
        connection.execute(sa.delete(note_tags).where(note_tags.c.note_id.in_(list(texts))))
        add(connection, user_id, texts)


def _get_or_create(connection: Connection, user_id: int, names: set[str]) -> dict[str, int]:
    ids = _get(connection, user_id, names)
    missing = sorted(names - ids.keys())
    if missing:
        connection.execute(sa.insert(tags), [{"user_id": user_id, "name": name} for name in missing])
        ids |= _get(connection, user_id, missing)
    return ids


def _get(connection: Connection, user_id: int, names: Iterable[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    ordered = sorted(names)
    for start in range(0, len(ordered), _MAX_NAMES):
        chunk = ordered[start : start + _MAX_NAMES]
        query = sa.select(tags.c.name, tags.c.id).where(tags.c.user_id == user_id, tags.c.name.in_(chunk))
        ids |= {row.name: row.id for row in connection.execute(query)}
    return ids
