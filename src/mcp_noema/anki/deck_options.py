"""Anki's deck options, converted to a preset and back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from fsrs_rs_python import check_and_fill_parameters

from mcp_noema.model import Preset
from mcp_noema.schedule import clamp_parameters

LOWEST_RETENTION, HIGHEST_RETENTION = 0.7, 0.99
LONGEST_INTERVAL = 36_500
MAX_CARDS_PER_DAY = 9999
MAX_LEECH_THRESHOLD = 99
MAX_STEPS = 10
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class DeckOptions:
    """A preset in Anki's units, with Anki's defaults. Steps are minutes."""

    learning_steps: Sequence[float] = (1.0, 10.0)
    relearning_steps: Sequence[float] = (10.0,)
    maximum_interval: int = LONGEST_INTERVAL
    new_per_day: int = 20
    reviews_per_day: int = 200
    leech_threshold: int = 8
    bury_siblings: bool = False
    desired_retention: float = 0.9
    parameters: Sequence[float] = ()
    sm2_retention: float = 0.9
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
        maximum_interval=_clamp(options.maximum_interval, 1, LONGEST_INTERVAL),
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
    return min(max(value, LOWEST_RETENTION), HIGHEST_RETENTION) if isfinite(value) and value else 0.9


def _seconds(minutes: Sequence[float]) -> tuple[int, ...]:
    """Steps in seconds, in ascending order and without empty ones."""
    steps = [round(step * 60) for step in minutes if isfinite(step) and 0 < step * 60 <= LONGEST_INTERVAL * DAY_SECONDS]
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


def to_json(preset: Preset, id: int, name: str, modified: int) -> dict[str, Any]:
    """Deck options in the JSON of schema 11."""
    bury = preset.bury_siblings
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
            "initialFactor": 2500,
            "ints": [1, 4, 0],
            "order": 1,
            "perDay": preset.new_per_day,
        },
        "rev": {
            "bury": bury,
            "ease4": 1.3,
            "hardFactor": 1.2,
            "ivlFct": 1.0,
            "maxIvl": preset.maximum_interval,
            "perDay": preset.reviews_per_day,
        },
        "lapse": {
            "delays": [step / 60 for step in preset.relearning_steps],
            # A leech is tagged, not suspended, as in our own scheduling.
            "leechAction": 1,
            "leechFails": preset.leech_threshold,
            "minInt": 1,
            "mult": 0.0,
        },
        "buryInterdayLearning": bury,
        "desiredRetention": preset.desired_retention,
        "fsrsParams6": list(preset.parameters or ()),
        "sm2Retention": 0.9,
    }
