"""The figures of the last hour or day, as plots show them."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from toolcharter.call_log.counts import MINUTE, QUARTER, percentile
from toolcharter.call_log.entry import FAILURES, CallFilter

if TYPE_CHECKING:
    from toolcharter.call_log.store import CallStore, Slot


class Span(NamedTuple):
    """How far back figures go, and how many minutes each of them is about, as the store counts them."""

    minutes: int
    step: int


SPANS: Mapping[str, Span] = {"hour": Span(60, 1), "day": Span(1440, QUARTER)}


async def read_figures(
    store: "CallStore", wanted: CallFilter, span: Span, clock: Callable[[], float] = time.time
) -> dict[str, Any]:
    """Calls, errors, percentiles and cache hits by slot, and tokens by tool, caller and agent."""
    last = int(clock()) // MINUTE // span.step
    first = last - span.minutes // span.step + 1
    since = first * span.step * MINUTE
    slots = await store.slots(wanted, since, span.step)
    by_slot: dict[int, list[Slot]] = {}
    for slot in slots:
        by_slot.setdefault(slot.slot, []).append(slot)
    return {
        "step": span.step,
        "slots": [_point(at * span.step * MINUTE, by_slot.get(at, [])) for at in range(first, last + 1)],
        "total": _point(since, slots),
        **{
            by: [total._asdict() for total in await store.totals(wanted, since, span.step, by)]
            for by in ("tool", "caller", "agent")
        },
    }


def _point(at: int, slots: "list[Slot]") -> dict[str, Any]:
    """The figures of some slots. Durations are in milliseconds, and None without calls."""
    buckets: dict[int, int] = {}
    for slot in slots:
        if slot.outcome != "asked":  # the person has not answered, so that it is not known how long it takes
            buckets[slot.bucket] = buckets.get(slot.bucket, 0) + slot.calls
    return {
        "time": at,
        "calls": sum(slot.calls for slot in slots),
        "errors": sum(slot.calls for slot in slots if slot.outcome in FAILURES),
        "cached": sum(slot.calls for slot in slots if slot.cached),
        **{f"p{share}": _rounded(percentile(buckets, share / 100)) for share in (50, 95, 99)},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")
