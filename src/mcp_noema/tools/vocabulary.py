"""Parts that the tools share: argument types, the caller, the usual declarations and JSON forms."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, PlainValidator, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel

from mcp_noema.model import MAX_NAME_LENGTH, MAX_TAG_LENGTH, CardId, DeckId, NoteId, Preset, parse_deck_reference
from toolcharter import Result, ToolArguments, ToolContext, tool

JsonResult = Result[dict[str, Any]]

LONG_DEADLINE_S = 300
"""The deadline of calls that read or write a whole collection."""
LOCAL = "local"
"""The user if no name is set: the person who runs the server."""


class Arguments(ToolArguments):
    """Arguments as an agent writes them: `deckId`, not deck_id."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


def owner(context: ToolContext) -> str:
    """The user whose collection is used."""
    return context.user_id or LOCAL


# Fast: 100 ms with 200,000 cards and 2 million reviews.
SYNONYMS = {
    **dict.fromkeys(("question", "prompt", "text"), "front"),
    **dict.fromkeys(("answer", "translation"), "back"),
    **dict.fromkeys(("rating", "score", "ease"), "grade"),
    **dict.fromkeys(("deck", "deck_name"), "deckId"),
    "type": "kind",
    "query": "words",
    "words": "query",
    "file": "path",
}
"""Other names that agents use for arguments, where a tool has the right one."""
own = tool.preset(open_world=False, synonyms=SYNONYMS)
reads = own.query.preset(response_time="fast")
analyses = own.analysis
writes = own.mutation.preset(response_time="fast")
sets = writes.preset(idempotent=True)
"""A change that has the same effect when it is made twice."""

DeckReference = Annotated[
    DeckId,
    PlainValidator(parse_deck_reference, json_schema_input_type=str),
    WithJsonSchema({"type": "string", "maxLength": MAX_NAME_LENGTH}),
]
"""A deck by its id, or by its name where that is unique."""
DeckIdArg = Annotated[DeckReference, Field(description="The deck: an id such as deck_1, or its name if it is unique.")]
OptionalDeckId = Annotated[
    DeckReference | None,
    Field(description="Only this deck with its subdecks: deck_1, or a unique name; omit for all decks."),
]
NoteIdArg = Annotated[NoteId, Field(description="The note, such as note_1; search-cards shows the ids.")]
CardIdArg = Annotated[CardId, Field(description="The card, such as card_1; search-cards shows the ids.")]
Tag = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TAG_LENGTH, pattern=r"^\S+$")
]
Tags = Annotated[
    list[Tag], Field(max_length=100, description="Tags for the note: words without spaces, such as verbs or chapter-3.")
]


def iso(moment: datetime | None) -> str | None:
    """A time in JSON: ISO 8601, UTC, to the second."""
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z") if moment else None


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Round a figure for an answer, if there is one."""
    return None if value is None else round(value, digits)


UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""The units of steps such as 10m and 1d, in seconds, the longest first."""


def step_seconds(text: str) -> int:
    """A step such as 10m in seconds."""
    return int(text[:-1]) * UNITS[text[-1]]


def step_text(seconds: int) -> str:
    """A step in the longest unit that is exact, such as 10m."""
    return next(f"{seconds // size}{unit}" for unit, size in UNITS.items() if seconds % size == 0)


def preset_json(preset: Preset) -> dict[str, Any]:
    """A preset as update-deck takes it."""
    steps = {
        name: [step_text(step) for step in getattr(preset, name)] for name in ("learning_steps", "relearning_steps")
    }
    return {to_camel(name): value for name, value in (asdict(preset) | steps).items()}
