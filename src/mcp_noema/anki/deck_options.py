"""Anki's deck options, converted to a preset and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any

from fsrs_rs_python import check_and_fill_parameters

from mcp_noema.model import Preset
from mcp_noema.scheduling.schedule import clamp_parameters

MIN_RETENTION, MAX_RETENTION = 0.7, 0.99
MAX_INTERVAL_DAYS = 36_500
MAX_CARDS_PER_DAY = 9999
MAX_LEECH_THRESHOLD = 99
MAX_STEPS = 10
DAY_SECONDS = 86_400
_DAYS_OF_WEEK = 7
_MAX_OPTION = 36_500


@dataclass(frozen=True, slots=True)
class AnkiOnlyOptions:
    """Options that only Anki uses, with its defaults. They are kept for an export. Orders are Anki's numbers."""

    leech_action: int = 1
    """0 suspends a leech, 1 only tags it."""
    new_insert_order: int = 0
    new_gather_priority: int = 0
    new_sort_order: int = 0
    new_mix: int = 0
    review_order: int = 0
    interday_learning_mix: int = 0
    easy_days: tuple[float, ...] = ()
    """The share of the usual reviews for each day of the week, from Monday on; empty for all of them."""
    initial_ease: float = 2.5
    easy_multiplier: float = 1.3
    hard_multiplier: float = 1.2
    lapse_multiplier: float = 0.0
    interval_multiplier: float = 1.0
    minimum_lapse_interval: int = 1
    graduating_interval_good: int = 1
    graduating_interval_easy: int = 4

    @classmethod
    def from_file(cls, values: Mapping[str, Any]) -> "AnkiOnlyOptions":
        """The options with these values from a file, without those that are not valid."""
        numbers: dict[str, Any] = {
            each.name: type(each.default)(number)
            for each in fields(cls)
            if each.name != "easy_days" and (number := _number(values.get(each.name), _MAX_OPTION)) is not None
        }
        return cls(**numbers, easy_days=_shares(values.get("easy_days")))

    def changes(self) -> dict[str, Any]:
        """The values that are not Anki's defaults."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    @classmethod
    def from_changes(cls, changes: Mapping[str, Any]) -> "AnkiOnlyOptions":
        """The options with these changes."""
        # JSON stores a tuple as a list.
        values: dict[str, Any] = {**changes, "easy_days": tuple(changes.get("easy_days", ()))}
        return cls(**values)


def _number(value: Any, highest: float) -> int | float | None:
    """A number from 0 to the highest; None for all other values."""
    return value if isinstance(value, int | float) and 0 <= value <= highest else None


def _shares(value: Any) -> tuple[float, ...]:
    """The shares of a week; empty if they are not valid, or all of them are 1."""
    shares = [_number(share, 1) for share in value] if isinstance(value, Iterable) else []  # pyright: ignore[reportUnknownVariableType]
    numbers = tuple(float(share) for share in shares if share is not None)
    return numbers if len(shares) == len(numbers) == _DAYS_OF_WEEK and min(numbers) < 1 else ()


ANKI_DEFAULTS = AnkiOnlyOptions()


@dataclass(frozen=True, slots=True)
class DeckOptions:
    """A preset in Anki's units, with Anki's defaults. Steps are minutes."""

    learning_steps: Sequence[float] = (1.0, 10.0)
    relearning_steps: Sequence[float] = (10.0,)
    maximum_interval: int = MAX_INTERVAL_DAYS
    new_per_day: int = 20
    reviews_per_day: int = 200
    leech_threshold: int = 8
    bury_siblings: bool = False
    desired_retention: float = 0.9
    parameters: Sequence[float] = ()
    sm2_retention: float = 0.9
    anki_only: AnkiOnlyOptions = ANKI_DEFAULTS
    is_untouched: bool = False
    """Never edited, so it does not say what the user wants."""


@dataclass(frozen=True, slots=True)
class DeckLimits:
    """The settings that a single deck overrides; None for the others."""

    new_per_day: int | None = None
    reviews_per_day: int | None = None
    desired_retention: float | None = None


def deck_preset(options: DeckOptions, limits: DeckLimits) -> Preset | None:
    """The preset of a deck; None if neither its options nor the deck itself set anything."""
    preset = None if options.is_untouched else to_preset(options)
    if limits == DeckLimits():
        return preset
    preset = preset or to_preset(DeckOptions())
    changes: dict[str, Any] = {}
    if limits.new_per_day is not None:
        changes["new_per_day"] = _clamp(limits.new_per_day, 0, MAX_CARDS_PER_DAY)
    if limits.reviews_per_day is not None:
        changes["reviews_per_day"] = _clamp(limits.reviews_per_day, 0, MAX_CARDS_PER_DAY)
    if limits.desired_retention is not None:
        changes["desired_retention"] = _retention(limits.desired_retention)
    return replace(preset, **changes)


def to_preset(options: DeckOptions) -> Preset:
    """The preset, with every value clamped to the bounds of update-deck."""
    return Preset(
        desired_retention=_retention(options.desired_retention),
        learning_steps=_seconds(options.learning_steps),
        relearning_steps=_seconds(options.relearning_steps),
        maximum_interval=_clamp(options.maximum_interval, 1, MAX_INTERVAL_DAYS),
        new_per_day=_clamp(options.new_per_day, 0, MAX_CARDS_PER_DAY),
        reviews_per_day=_clamp(options.reviews_per_day, 0, MAX_CARDS_PER_DAY),
        leech_threshold=_clamp(options.leech_threshold, 1, MAX_LEECH_THRESHOLD),
        bury_siblings=options.bury_siblings,
        parameters=_parameters(options.parameters),
    )


def _clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def _retention(value: float) -> float:
    """Files from before FSRS have 0 or no value."""
    return min(max(value, MIN_RETENTION), MAX_RETENTION) if isfinite(value) and value else 0.9


def _seconds(minutes: Sequence[float]) -> tuple[int, ...]:
    """Steps in seconds, in ascending order and without empty ones."""
    steps = [
        round(step * 60) for step in minutes if isfinite(step) and 0 < step * 60 <= MAX_INTERVAL_DAYS * DAY_SECONDS
    ]
    return tuple(sorted(max(step, 1) for step in steps)[:MAX_STEPS])


def _parameters(parameters: Sequence[float]) -> tuple[float, ...] | None:
    """FSRS-6 parameters, filled up from older versions and clamped to their bounds, as in Anki."""
    if not parameters:
        return None
    try:
        filled = check_and_fill_parameters(list(parameters))
    except (ValueError, OverflowError):
        return None
    # FSRS-6 parameters keep all their digits: the library returns 32-bit floats.
    full = parameters if len(parameters) == len(filled) else filled
    return clamp_parameters(full)


def to_json(
    preset: Preset, id: int, name: str, modified: int, anki_only: AnkiOnlyOptions = ANKI_DEFAULTS
) -> dict[str, Any]:
    """Deck options in the JSON of schema 11."""
    bury, other = preset.bury_siblings, anki_only
    return {
        "id": id,
        "mod": modified,
        "name": name,
        "usn": -1,
        "maxTaken": 60,
        "autoplay": True,
        "timer": 0,
        "replayq": True,
        "dyn": False,
        "new": {
            "bury": bury,
            "delays": [step / 60 for step in preset.learning_steps],
            "initialFactor": round(other.initial_ease * 1000),
            "ints": [other.graduating_interval_good, other.graduating_interval_easy, 0],
            # Here 1 is in order and 0 is random; in the protobuf message it is the other way round.
            "order": 1 - min(other.new_insert_order, 1),
            "perDay": preset.new_per_day,
        },
        "rev": {
            "bury": bury,
            "ease4": other.easy_multiplier,
            "hardFactor": other.hard_multiplier,
            "ivlFct": other.interval_multiplier,
            "maxIvl": preset.maximum_interval,
            "perDay": preset.reviews_per_day,
        },
        "lapse": {
            "delays": [step / 60 for step in preset.relearning_steps],
            "leechAction": other.leech_action,
            "leechFails": preset.leech_threshold,
            "minInt": other.minimum_lapse_interval,
            "mult": other.lapse_multiplier,
        },
        "newMix": other.new_mix,
        "newSortOrder": other.new_sort_order,
        "newGatherPriority": other.new_gather_priority,
        "reviewOrder": other.review_order,
        "interdayLearningMix": other.interday_learning_mix,
        "easyDaysPercentages": list(other.easy_days),
        "buryInterdayLearning": bury,
        "desiredRetention": preset.desired_retention,
        "fsrsParams6": list(preset.parameters or ()),
        "sm2Retention": 0.9,
    }
