"""Collections of schema 15 to 18, which describe themselves in tables with protobuf messages."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from mcp_noema.anki import protobuf
from mcp_noema.anki.archive import AGAIN, Limits
from mcp_noema.anki.collection import AnkiDeck, Described, OwnLimits, days, deck, filtered_deck
from mcp_noema.anki.database import check, rows
from mcp_noema.anki.deck_options import Options
from mcp_noema.anki.package import BadPackage
from mcp_noema.model import NoteType, Template

_TABLES = {
    "config": "KEY val",
    "deck_config": "id mtime_secs config",
    "decks": "id name kind",
    "notetypes": "id name config",
    "fields": "ntid ord name",
    "templates": "ntid ord name config",
}
_LAST_HOUR = 23


def describe(connection: sqlite3.Connection, created: int, limits: Limits) -> Described:
    """From the tables."""
    check(connection, _TABLES)

    def read(table: str) -> list[tuple[Any, ...]]:
        return list(rows(connection, table, _TABLES[table], limits))

    settings = dict(read("config"))
    west, hour = _setting(settings.get("creationOffset")), _setting(settings.get("rollover"))
    known = {number: _options(_bytes(config), changed) for number, changed, config in read("deck_config")}
    return Described(
        {number: _deck(str(name), _bytes(kind), known) for number, name, kind in read("decks")},
        _types(read("notetypes"), read("fields"), read("templates")),
        days(created, west, hour if hour is not None and 0 <= hour <= _LAST_HOUR else 4),
    )


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise BadPackage(f"A table in the file has {value!r:.50} where a message belongs. {AGAIN}")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise BadPackage(f"A table in the file has {value!r:.50} where a number belongs. {AGAIN}")
    return value


def _setting(value: Any) -> int | None:
    """A number among the settings, which are JSON."""
    try:
        found = from_json(value) if isinstance(value, bytes) else None
    except ValueError:
        return None
    return found if isinstance(found, int) else None


def _options(config: bytes, changed: Any) -> Options:
    fields = protobuf.message(config)
    return Options(
        learning_steps=protobuf.floats(fields, 1),
        relearning_steps=protobuf.floats(fields, 2),
        maximum_interval=protobuf.number(fields, 16),
        new_per_day=protobuf.number(fields, 9),
        reviews_per_day=protobuf.number(fields, 10),
        leech_threshold=protobuf.number(fields, 22),
        bury_siblings=bool(protobuf.number(fields, 27) or protobuf.number(fields, 28)),
        desired_retention=_one(protobuf.floats(fields, 37)) or 0.0,
        parameters=protobuf.floats(fields, 6) or protobuf.floats(fields, 5) or protobuf.floats(fields, 3),
        sm2_retention=_one(protobuf.floats(fields, 40)) or 0.9,
        is_untouched=changed == 0,
    )


def _one(numbers: list[float]) -> float | None:
    return numbers[-1] if numbers else None


def _deck(name: str, kind: bytes, known: Mapping[int, Options]) -> AnkiDeck:
    either = protobuf.message(kind)
    if 1 not in either:
        return filtered_deck(name)
    normal = protobuf.message(protobuf.raw(either, 1))
    own = OwnLimits(
        new=protobuf.number(normal, 7) if 7 in normal else None,  # noqa: PLR2004 - the number of a field
        reviews=protobuf.number(normal, 6) if 6 in normal else None,  # noqa: PLR2004 - as above
        retention=_one(protobuf.floats(normal, 10)),
    )
    options = known.get(protobuf.number(normal, 1), Options(is_untouched=True))
    return deck(name, protobuf.text(normal, 4), options, own)


def _types(
    types: list[tuple[Any, ...]], fields: list[tuple[Any, ...]], templates: list[tuple[Any, ...]]
) -> dict[int, NoteType]:
    named: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, place, name in fields:
        named[number].append((_whole(place), str(name)))
    made: defaultdict[int, list[tuple[int, Template]]] = defaultdict(list)
    for number, place, name, config in templates:
        sides = protobuf.message(_bytes(config))
        made[number].append((_whole(place), Template(str(name), protobuf.text(sides, 1), protobuf.text(sides, 2))))
    found: dict[int, NoteType] = {}
    for number, name, config in types:
        about = protobuf.message(_bytes(config))
        found[number] = NoteType(
            str(name),
            tuple(field for _, field in sorted(named[number])),
            tuple(template for _, template in sorted(made[number], key=lambda each: each[0])),
            is_cloze=protobuf.number(about, 1) == 1,
            css=protobuf.text(about, 3),
        )
    return found
