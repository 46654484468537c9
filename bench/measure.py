"""What every measurement shares: cells, interleaved rounds, medians, ratios of what was measured side by side."""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import psutil

Sample = Mapping[str, float]
"""What one round of one cell showed, by metric."""


@dataclass(frozen=True, order=True)
class Cell:
    """One figure of a table: who, measured how, under which conditions."""

    kind: str
    peer: str
    era: str
    tools: int = 1
    in_flight: int = 1
    client: str = ""
    """The real client that calls; empty for the load generator."""

    @property
    def group(self) -> tuple[str, str, int, str]:
        """Cells of one group are compared with each other, so they are measured close together."""
        return (self.kind, self.era, self.in_flight, self.client)


Samples = Mapping[Cell, Sequence[Sample]]


def interleave(
    cells: Sequence[Cell],
    rounds: int,
    take: Callable[[Cell, int], Sample],
    log: Callable[[str], None] = lambda _: None,
) -> dict[Cell, list[Sample]]:
    """Measure every cell once in each round, so that load on the machine affects all of them.

    Within a group the order is different in each round.
    """
    samples: dict[Cell, list[Sample]] = {cell: [] for cell in cells}
    for number in range(rounds):
        log(f"round {number + 1} of {rounds}")
        for cell in in_order(cells, number):
            samples[cell].append(take(cell, number))
    return samples


def in_order(cells: Iterable[Cell], number: int) -> list[Cell]:
    groups: dict[tuple[str, str, int, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    for group in groups.values():
        random.Random(number).shuffle(group)
    return [cell for group in groups.values() for cell in group]


def values(samples: Samples, cell: Cell, metric: str) -> list[float]:
    return [sample[metric] for sample in samples.get(cell, ())]


def median(numbers: Sequence[float]) -> float:
    return statistics.median(numbers)


def spread(numbers: Sequence[float]) -> float:
    """Half the distance between the quartiles, as a share of the median: a measure of its reliability."""
    if len(numbers) < 3:
        return 0.0
    low, _, high = statistics.quantiles(numbers, n=4, method="inclusive")
    middle = median(numbers)
    return (high - low) / 2 / middle if middle else 0.0


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of what each round showed: both sides of a round were measured under the same load."""
    return median([a / b for a, b in zip(ours, theirs, strict=True)])


def difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median difference of a round."""
    return median([a - b for a, b in zip(ours, theirs, strict=True)])


def cpu_seconds(pid: int) -> float:
    """The processor time a process has used so far. Linux has it in nanoseconds, psutil in hundredths of a second."""
    try:
        return time.clock_gettime(((~pid) << 3) | 2)  # what clock_getcpuclockid(pid) returns
    except (OSError, AttributeError):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
