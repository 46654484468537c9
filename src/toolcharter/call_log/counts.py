"""How many calls there were in each minute, by what they are counted by, and percentiles from these counts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

MINUTE = 60
QUARTER = 15
"""Minutes of the longer of the two steps that are counted by."""
MAX_NAMES = 1000
"""Different names of tools, callers and agents together, in a quarter of an hour and process.

Callers choose the names of agents, so that there could be any number. A name that is used once takes 200 to 400 bytes
of the file.
"""
OTHER = "(other)"
_STEPS = 4
"""Durations are counted in buckets, each 2^(1/4) as wide as the one before: a percentile is off by at most 10 %."""


class CountKey(NamedTuple):
    """The key by which calls are counted."""

    minute: int
    """In minutes since the epoch."""
    server: str
    tool: str
    caller: str
    agent: str
    outcome: str
    cached: bool
    bucket: int
    """Of the duration."""


PlainKey = tuple[int, str, str, str, str, str, bool, int]
"""The members of a `CountKey`: it has the same hash, and takes a quarter of the time to make."""


def bucket_of(seconds: float) -> int:
    """The bucket of a duration: 0 for a microsecond or less."""
    microseconds = seconds * 1e6
    return int(math.log2(microseconds) * _STEPS) if microseconds > 1 else 0


def bucket_ms(bucket: int, share: float = 0.5) -> float:
    """The duration at a share of the width of a bucket, in milliseconds."""
    return 2 ** ((bucket + share) / _STEPS) / 1000


def percentile(buckets: Mapping[int, int], share: float) -> float | None:
    """The duration that this share of calls did not exceed, in milliseconds. None without calls."""
    total = sum(buckets.values())
    wanted, seen = share * total, 0
    for bucket in sorted(buckets):
        number = buckets[bucket]
        if seen + number >= wanted and number:
            return bucket_ms(bucket, (wanted - seen) / number)
        seen += number
    return None


class Counts:
    """Calls and tokens by key, since they were last taken."""

    def __init__(self) -> None:
        self._counts: dict[CountKey, list[int]] = {}
        self._quarter = 0
        self._names: set[tuple[str, ...]] = set()
        """Those of the quarter of an hour."""

    def add(self, key: PlainKey, tokens: int) -> None:
        """Count a call."""
        count = self._counts.get(key)  # pyright: ignore[reportArgumentType, reportCallIssue] - it has the same hash
        if count is None:
            count = self._counts.setdefault(self._bounded(CountKey(*key)), [0, 0])
        count[0] += 1
        count[1] += tokens

    def _bounded(self, key: CountKey) -> CountKey:
        """The key, without its names if the quarter of an hour has too many."""
        if (quarter := key.minute // QUARTER) != self._quarter:
            self._quarter, self._names = quarter, set()
        names = (key.server, key.tool, key.caller, key.agent)
        if names not in self._names:
            if len(self._names) >= MAX_NAMES:
                return key._replace(tool=OTHER, caller=OTHER, agent=OTHER)
            self._names.add(names)
        return key

    def take(self) -> dict[CountKey, list[int]]:
        """The counts, which begin again."""
        taken, self._counts = self._counts, {}
        return taken
