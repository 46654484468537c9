"""Collections of schema 11, whose decks, options and note types are JSON in the table `col`."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from mcp_noema.anki.collection import (
    AnkiCollection,
    AnkiDeck,
    check_note_type,
    filtered_deck,
    normal_deck,
    parse_calendar,
)
from mcp_noema.anki.deck_options import AnkiOnlyOptions, DeckLimits, DeckOptions
from mcp_noema.anki.package import damaged
from mcp_noema.model import CardTemplate, NoteType

T = TypeVar("T")
_Text = Annotated[str, AfterValidator(lambda text: text.replace("\0", ""))]
"""Without NUL characters, which PostgreSQL cannot store."""

_UNTOUCHED = DeckOptions(is_untouched=True)


class _Settings(BaseModel):
    minutes_west: int | None = Field(None, alias="creationOffset")
    start_hour: int = Field(4, alias="rollover", ge=0, le=23)


class _WithOthers(BaseModel, extra="allow"):
    """Also has the values that only Anki uses, unchecked."""

    def other(self, name: str) -> Any:
        return (self.model_extra or {}).get(name)


class _New(_WithOthers):
    delays: list[float] = []
    per_day: int = Field(20, alias="perDay")
    bury: bool = False


class _Reviews(_WithOthers):
    maximum_interval: int = Field(36_500, alias="maxIvl")
    per_day: int = Field(200, alias="perDay")
    bury: bool = False


class _Lapses(_WithOthers):
    delays: list[float] = []
    leech_threshold: int = Field(8, alias="leechFails")


class _Options(_WithOthers):
    mod: int = 0
    new: _New = Field(default_factory=lambda: _New.model_validate({}))
    rev: _Reviews = Field(default_factory=lambda: _Reviews.model_validate({}))
    lapse: _Lapses = Field(default_factory=lambda: _Lapses.model_validate({}))
    desired_retention: float = Field(0.9, alias="desiredRetention")
    sm2_retention: float = Field(0.9, alias="sm2Retention")
    fsrs_4: list[float] = Field([], alias="fsrsWeights")
    fsrs_5: list[float] = Field([], alias="fsrsParams5")
    fsrs_6: list[float] = Field([], alias="fsrsParams6")


class _Deck(BaseModel):
    name: _Text
    desc: _Text = ""
    dyn: int = 0
    conf: int = 1
    new_limit: int | None = Field(None, alias="newLimit")
    review_limit: int | None = Field(None, alias="reviewLimit")
    desired_retention_percent: float | None = Field(None, alias="desiredRetention")


class _Schema11Field(BaseModel):
    name: _Text


class _Template(BaseModel):
    name: _Text
    qfmt: _Text
    afmt: _Text


class _NoteType(BaseModel):
    name: _Text
    type: int = 0
    css: _Text = ""
    flds: list[_Schema11Field]
    tmpls: list[_Template]


_SETTINGS = TypeAdapter(_Settings)
_OPTIONS = TypeAdapter(dict[int, _Options])
_DECKS = TypeAdapter(dict[int, _Deck])
_NOTE_TYPES = TypeAdapter(dict[int, _NoteType])


def read_collection(created: int, conf: Any, models: Any, decks: Any, dconf: Any) -> AnkiCollection:
    """The collection from the columns of the table `col`."""
    settings = _parse(_SETTINGS, conf, "settings")
    options = {options_id: _options(json) for options_id, json in _parse(_OPTIONS, dconf, "deck options").items()}
    return AnkiCollection(
        {deck_id: _deck(json, options) for deck_id, json in _parse(_DECKS, decks, "decks").items()},
        {type_id: _note_type(json) for type_id, json in _parse(_NOTE_TYPES, models, "note types").items()},
        parse_calendar(created, settings.minutes_west, settings.start_hour),
    )


def _parse(adapter: TypeAdapter[T], text: Any, what: str) -> T:
    try:
        return adapter.validate_json(text)
    except (ValidationError, TypeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "not a text"}
        location = ".".join(map(str, first["loc"]))[:100]
        raise damaged(f"The {what} in the file cannot be read: {location}: {first['msg']}.") from None


def _options(json: _Options) -> DeckOptions:
    return DeckOptions(
        learning_steps=json.new.delays,
        relearning_steps=json.lapse.delays,
        maximum_interval=json.rev.maximum_interval,
        new_per_day=json.new.per_day,
        reviews_per_day=json.rev.per_day,
        leech_threshold=json.lapse.leech_threshold,
        bury_siblings=json.new.bury or json.rev.bury,
        desired_retention=json.desired_retention,
        parameters=json.fsrs_6 or json.fsrs_5 or json.fsrs_4,
        sm2_retention=json.sm2_retention,
        anki_only=_anki_only(json),
        is_untouched=json.mod == 0,
    )


def _anki_only(json: _Options) -> AnkiOnlyOptions:
    intervals: Any = json.new.other("ints")
    good, easy = intervals[:2] if isinstance(intervals, list) and len(intervals) > 1 else (None, None)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    ease = json.new.other("initialFactor")
    return AnkiOnlyOptions.from_file(
        {
            "leech_action": json.lapse.other("leechAction"),
            "new_insert_order": int(json.new.other("order") == 0),
            "new_gather_priority": json.other("newGatherPriority"),
            "new_sort_order": json.other("newSortOrder"),
            "new_mix": json.other("newMix"),
            "review_order": json.other("reviewOrder"),
            "interday_learning_mix": json.other("interdayLearningMix"),
            "easy_days": json.other("easyDaysPercentages"),
            "initial_ease": ease / 1000 if isinstance(ease, int) else None,
            "easy_multiplier": json.rev.other("ease4"),
            "hard_multiplier": json.rev.other("hardFactor"),
            "lapse_multiplier": json.lapse.other("mult"),
            "interval_multiplier": json.rev.other("ivlFct"),
            "minimum_lapse_interval": json.lapse.other("minInt"),
            "graduating_interval_good": good,
            "graduating_interval_easy": easy,
        }
    )


def _deck(json: _Deck, options: Mapping[int, DeckOptions]) -> AnkiDeck:
    if json.dyn:
        return filtered_deck(json.name)
    percent = json.desired_retention_percent
    limits = DeckLimits(json.new_limit, json.review_limit, None if percent is None else percent / 100)
    return normal_deck(json.name, json.desc, options.get(json.conf, _UNTOUCHED), limits)


def _note_type(json: _NoteType) -> NoteType:
    templates = tuple(CardTemplate(template.name, template.qfmt, template.afmt) for template in json.tmpls)
    fields = tuple(field.name for field in json.flds)
    return check_note_type(NoteType(json.name, fields, templates, json.type == 1, json.css))
