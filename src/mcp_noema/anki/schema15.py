"""Collections of schema 15 to 18, whose decks, options and note types are tables with protobuf messages."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from mcp_noema.anki import protobuf
from mcp_noema.anki.collection import (
    AnkiCollection,
    AnkiDeck,
    check_note_type,
    filtered_deck,
    normal_deck,
    parse_calendar,
)
from mcp_noema.anki.database import check_tables, parse_text, read_rows
from mcp_noema.anki.deck_options import AnkiOnlyOptions, DeckLimits, DeckOptions
from mcp_noema.anki.limits import ReadLimits
from mcp_noema.anki.package import damaged
from mcp_noema.model import CardTemplate, NoteType

_TABLES = {
    "config": "KEY val",
    "deck_config": "id mtime_secs config",
    "decks": "id name kind",
    "notetypes": "id name config",
    "fields": "ntid ord name",
    "templates": "ntid ord name config",
}
_LAST_HOUR = 23
_DEFAULT_START_HOUR = 4


def read_collection(connection: sqlite3.Connection, created: int, limits: ReadLimits) -> AnkiCollection:
    """The collection from its tables."""
    check_tables(connection, _TABLES)

    def rows(table: str) -> list[tuple[Any, ...]]:
        return list(read_rows(connection, table, _TABLES[table], limits))

    settings = dict(rows("config"))
    minutes_west, start_hour = _setting(settings.get("creationOffset")), _setting(settings.get("rollover"))
    if start_hour is None or not 0 <= start_hour <= _LAST_HOUR:
        start_hour = _DEFAULT_START_HOUR
    options = {options_id: _options(_bytes(config), modified) for options_id, modified, config in rows("deck_config")}
    return AnkiCollection(
        {deck_id: _deck(parse_text(name), _bytes(kind), options) for deck_id, name, kind in rows("decks")},
        _note_types(rows("notetypes"), rows("fields"), rows("templates")),
        parse_calendar(created, minutes_west, start_hour),
    )


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise damaged(f"A table in the file has {value!r:.50} where a message is expected.")
    return value


def _int(value: Any) -> int:
    if not isinstance(value, int):
        raise damaged(f"A table in the file has {value!r:.50} where a number is expected.")
    return value


def _setting(value: Any) -> int | None:
    """An integer setting, stored as JSON."""
    try:
        setting = from_json(value) if isinstance(value, bytes) else None
    except ValueError:
        return None
    return setting if isinstance(setting, int) else None


def _options(config: bytes, modified: Any) -> DeckOptions:
    message = protobuf.parse(config)
    return DeckOptions(
        learning_steps=protobuf.get_floats(message, 1),
        relearning_steps=protobuf.get_floats(message, 2),
        maximum_interval=protobuf.get_int(message, 16),
        new_per_day=protobuf.get_int(message, 9),
        reviews_per_day=protobuf.get_int(message, 10),
        leech_threshold=protobuf.get_int(message, 22),
        bury_siblings=bool(protobuf.get_int(message, 27) or protobuf.get_int(message, 28)),
        desired_retention=_last(protobuf.get_floats(message, 37)) or 0.0,
        parameters=(
            protobuf.get_floats(message, 6) or protobuf.get_floats(message, 5) or protobuf.get_floats(message, 3)
        ),
        sm2_retention=_last(protobuf.get_floats(message, 40)) or 0.9,
        anki_only=_anki_only(message),
        is_untouched=modified == 0,
    )


def _anki_only(message: protobuf.Message) -> AnkiOnlyOptions:
    def number(field: int) -> float:
        return _last(protobuf.get_floats(message, field)) or 0.0

    return AnkiOnlyOptions.from_file(
        {
            "leech_action": protobuf.get_int(message, 21),
            "new_insert_order": protobuf.get_int(message, 20),
            "new_gather_priority": protobuf.get_int(message, 34),
            "new_sort_order": protobuf.get_int(message, 32),
            "new_mix": protobuf.get_int(message, 30),
            "review_order": protobuf.get_int(message, 33),
            "interday_learning_mix": protobuf.get_int(message, 31),
            "easy_days": tuple(protobuf.get_floats(message, 4)),
            "initial_ease": number(11),
            "easy_multiplier": number(12),
            "hard_multiplier": number(13),
            "lapse_multiplier": number(14),
            "interval_multiplier": number(15),
            "minimum_lapse_interval": protobuf.get_int(message, 17),
            "graduating_interval_good": protobuf.get_int(message, 18),
            "graduating_interval_easy": protobuf.get_int(message, 19),
        }
    )


def _last(values: list[float]) -> float | None:
    return values[-1] if values else None


def _deck(name: str, kind: bytes, options: Mapping[int, DeckOptions]) -> AnkiDeck:
    kind_message = protobuf.parse(kind)
    if 1 not in kind_message:
        return filtered_deck(name)
    normal = protobuf.parse(protobuf.get_bytes(kind_message, 1))
    limits = DeckLimits(
        new_per_day=protobuf.get_int(normal, 7) if 7 in normal else None,  # noqa: PLR2004 - a field number
        reviews_per_day=protobuf.get_int(normal, 6) if 6 in normal else None,  # noqa: PLR2004 - as above
        desired_retention=_last(protobuf.get_floats(normal, 10)),
    )
    deck_options = options.get(protobuf.get_int(normal, 1), DeckOptions(is_untouched=True))
    return normal_deck(name, protobuf.get_text(normal, 4), deck_options, limits)


def _note_types(
    types: list[tuple[Any, ...]], fields: list[tuple[Any, ...]], templates: list[tuple[Any, ...]]
) -> dict[int, NoteType]:
    fields_of: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for type_id, ordinal, name in fields:
        fields_of[type_id].append((_int(ordinal), parse_text(name)))
    templates_of: defaultdict[int, list[tuple[int, CardTemplate]]] = defaultdict(list)
    for type_id, ordinal, name, config in templates:
        sides = protobuf.parse(_bytes(config))
        template = CardTemplate(parse_text(name), protobuf.get_text(sides, 1), protobuf.get_text(sides, 2))
        templates_of[type_id].append((_int(ordinal), template))
    note_types: dict[int, NoteType] = {}
    for type_id, name, config in types:
        message = protobuf.parse(_bytes(config))
        note_type = NoteType(
            parse_text(name),
            tuple(field for _, field in sorted(fields_of[type_id])),
            tuple(template for _, template in sorted(templates_of[type_id], key=lambda pair: pair[0])),
            is_cloze=protobuf.get_int(message, 1) == 1,
            css=protobuf.get_text(message, 3),
        )
        note_types[type_id] = check_note_type(note_type)
    return note_types
