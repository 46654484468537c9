"""Collections of schema 11, which describe themselves in JSON."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from mcp_noema.anki.archive import AGAIN
from mcp_noema.anki.collection import AnkiDeck, Described, OwnLimits, days, deck, filtered_deck
from mcp_noema.anki.deck_options import Options
from mcp_noema.anki.package import BadPackage
from mcp_noema.model import NoteType, Template

T = TypeVar("T")

_UNTOUCHED = Options(is_untouched=True)


class _Settings(BaseModel):
    west: int | None = Field(None, alias="creationOffset")
    hour: int = Field(4, alias="rollover", ge=0, le=23)


class _New(BaseModel):
    delays: list[float] = []
    per_day: int = Field(20, alias="perDay")
    bury: bool = False


class _Reviews(BaseModel):
    longest: int = Field(36_500, alias="maxIvl")
    per_day: int = Field(200, alias="perDay")
    bury: bool = False


class _Lapses(BaseModel):
    delays: list[float] = []
    fails: int = Field(8, alias="leechFails")


class _Options(BaseModel):
    mod: int = 0
    new: _New = Field(default_factory=lambda: _New.model_validate({}))
    rev: _Reviews = Field(default_factory=lambda: _Reviews.model_validate({}))
    lapse: _Lapses = Field(default_factory=lambda: _Lapses.model_validate({}))
    retention: float = Field(0.9, alias="desiredRetention")
    sm2_retention: float = Field(0.9, alias="sm2Retention")
    weights_4: list[float] = Field([], alias="fsrsWeights")
    weights_5: list[float] = Field([], alias="fsrsParams5")
    weights_6: list[float] = Field([], alias="fsrsParams6")


class _Deck(BaseModel):
    name: str
    desc: str = ""
    dyn: int = 0
    conf: int = 1
    new_limit: int | None = Field(None, alias="newLimit")
    review_limit: int | None = Field(None, alias="reviewLimit")
    retention: float | None = Field(None, alias="desiredRetention")


class _Field(BaseModel):
    name: str


class _Template(BaseModel):
    name: str
    qfmt: str
    afmt: str


class _Type(BaseModel):
    name: str
    type: int = 0
    css: str = ""
    flds: list[_Field]
    tmpls: list[_Template]


_SETTINGS = TypeAdapter(_Settings)
_OPTIONS = TypeAdapter(dict[int, _Options])
_DECKS = TypeAdapter(dict[int, _Deck])
_TYPES = TypeAdapter(dict[int, _Type])


def describe(created: int, conf: Any, models: Any, decks: Any, dconf: Any) -> Described:
    """From the columns of the table `col`."""
    settings = _parsed(_SETTINGS, conf, "settings")
    known = {number: _options(each) for number, each in _parsed(_OPTIONS, dconf, "deck options").items()}
    return Described(
        {number: _deck(each, known) for number, each in _parsed(_DECKS, decks, "decks").items()},
        {number: _type(each) for number, each in _parsed(_TYPES, models, "note types").items()},
        days(created, settings.west, settings.hour),
    )


def _parsed(form: TypeAdapter[T], text: Any, what: str) -> T:
    try:
        return form.validate_json(text)
    except (ValidationError, TypeError) as error:
        where = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "no text"}
        place = ".".join(map(str, where["loc"]))[:100]
        raise BadPackage(f"The {what} in the file cannot be read: {place}: {where['msg']}. {AGAIN}") from None


def _options(read: _Options) -> Options:
    return Options(
        learning_steps=read.new.delays,
        relearning_steps=read.lapse.delays,
        maximum_interval=read.rev.longest,
        new_per_day=read.new.per_day,
        reviews_per_day=read.rev.per_day,
        leech_threshold=read.lapse.fails,
        bury_siblings=read.new.bury or read.rev.bury,
        desired_retention=read.retention,
        parameters=read.weights_6 or read.weights_5 or read.weights_4,
        sm2_retention=read.sm2_retention,
        is_untouched=read.mod == 0,
    )


def _deck(read: _Deck, known: Mapping[int, Options]) -> AnkiDeck:
    if read.dyn:
        return filtered_deck(read.name)
    own = OwnLimits(read.new_limit, read.review_limit, read.retention)
    return deck(read.name, read.desc, known.get(read.conf, _UNTOUCHED), own)


def _type(read: _Type) -> NoteType:
    templates = tuple(Template(each.name, each.qfmt, each.afmt) for each in read.tmpls)
    return NoteType(read.name, tuple(each.name for each in read.flds), templates, read.type == 1, read.css)
