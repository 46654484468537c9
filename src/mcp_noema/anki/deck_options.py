"""What Anki calls deck options and we call a preset, in both languages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from fsrs.scheduler import LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS
from fsrs_rs_python import check_and_fill_parameters

from mcp_noema.model import Preset

LOWEST_RETENTION, HIGHEST_RETENTION = 0.7, 0.99
LONGEST_INTERVAL = 36_500
MOST_A_DAY = 9999
MOST_LAPSES = 99
MOST_STEPS = 10
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Options:
    """A preset as Anki has it, with its defaults. Steps are minutes."""

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
    """Nobody has ever changed it: then it says nothing about what the person wants."""


def as_preset(options: Options) -> Preset:
    """The preset, with everything within the bounds that update-deck has too."""
    return Preset(
        desired_retention=_retention(options.desired_retention),
        learning_steps=_seconds(options.learning_steps),
        relearning_steps=_seconds(options.relearning_steps),
        maximum_interval=_within(options.maximum_interval, 1, LONGEST_INTERVAL),
        new_per_day=_within(options.new_per_day, 0, MOST_A_DAY),
        reviews_per_day=_within(options.reviews_per_day, 0, MOST_A_DAY),
        leech_threshold=_within(options.leech_threshold, 1, MOST_LAPSES),
        bury_siblings=options.bury_siblings,
        parameters=_weights(options.parameters),
    )


def with_limits(preset: Preset | None, new: int | None, reviews: int | None, retention: float | None) -> Preset | None:
    """The preset of one deck that has limits of its own."""
    if new is None and reviews is None and retention is None:
        return preset
    preset = preset or as_preset(Options())
    return replace(
        preset,
        new_per_day=preset.new_per_day if new is None else _within(new, 0, MOST_A_DAY),
        reviews_per_day=preset.reviews_per_day if reviews is None else _within(reviews, 0, MOST_A_DAY),
        desired_retention=preset.desired_retention if retention is None else _retention(retention),
    )


def _within(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def _retention(value: float) -> float:
    """Files from before FSRS have 0, or none at all."""
    return min(max(value, LOWEST_RETENTION), HIGHEST_RETENTION) if isfinite(value) and value else 0.9


def _seconds(minutes: Sequence[float]) -> tuple[int, ...]:
    """Steps in seconds, without those of no length. They never get shorter."""
    steps = [round(each * 60) for each in minutes if isfinite(each) and 0 < each * 60 <= LONGEST_INTERVAL * DAY]
    return tuple(sorted(max(step, 1) for step in steps)[:MOST_STEPS])


def _weights(parameters: Sequence[float]) -> tuple[float, ...] | None:
    """The weights of FSRS-6, also from those before it. They are cut to their bounds, as Anki cuts what it uses."""
    if not parameters:
        return None
    try:
        filled = check_and_fill_parameters(list(parameters))
    except (ValueError, OverflowError):
        return None
    # What is there already keeps all its digits.
    whole = parameters if len(parameters) == len(filled) else filled
    bounds = zip(whole, LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS, strict=True)
    return tuple(min(max(value, low), high) for value, low, high in bounds)


def as_json(preset: Preset, number: int, name: str, changed: int) -> dict[str, Any]:
    """Deck options as Anki's schema 11 has them."""
    bury = preset.bury_siblings
    return {
        "id": number,
        "mod": changed,
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
            # Only tagged, not suspended: as here.
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
