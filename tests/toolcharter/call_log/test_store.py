"""The tables of recent calls, on both kinds of databases."""

import time

import pytest

from toolcharter.call_log.counts import CountKey, bucket_of, percentile
from toolcharter.call_log.database import calls_file
from toolcharter.call_log.entry import CallEntry, CallFilter
from toolcharter.call_log.store import CallStore, RetentionLimits, Slot, Total

ALL = CallFilter()
NOW = 1_800_000_000.0


def entry(tool: str = "add", caller: str = "user:ann", **members) -> CallEntry:
    made = CallEntry(
        time=NOW, server="s", tool=tool, caller=caller, agent="claude 4", outcome="ok", ms=1.5, tokens=10, cached=False,
        trace_id="t", correlation_id="c", error_type=None, error=None, error_id=None, details={"arguments": {"a": 1}},
    )  # fmt: skip
    return made._replace(**members)


def key(minute: int = 30_000_000, tool: str = "add", caller: str = "user:ann", **parts) -> CountKey:
    return CountKey(minute, "s", tool, caller, "claude", "ok", cached=False, bucket=40)._replace(**parts)


async def opened(db_url: str, seconds: float = 3600, size: int = 10**6) -> CallStore:
    return await CallStore.open(db_url, RetentionLimits(seconds, size))


async def test_calls_are_found_by_what_they_are_and_by_text(db_url):
    store = await opened(db_url)
    rows = [
        entry("add"),
        entry("drop", "user:bob", outcome="system", error="100%_broken", error_type="SystemError", error_id="err-1"),
        entry("find", agent="cursor 1", details={"arguments": {"q": "Grüße <b>"}}),
    ]
    await store.write(rows, {key(): (3, 30)})

    async def found(**wanted):
        kept = await store.find(ALL)
        found = [one.tool for one in await store.find(CallFilter(**wanted))]
        assert found == [one.tool for one in kept if CallFilter(**wanted).matches(one)]  # as for new calls
        return found

    assert await found() == ["find", "drop", "add"]
    assert await found(tool="add") == ["add"]
    assert await found(caller="user:bob") == ["drop"]
    assert await found(outcomes=("system", "business")) == ["drop"]
    assert await found(server="s", caller="user:ann") == ["find", "add"]
    assert await found(server="other") == []
    assert await found(visible=(("s", "user:bob"), ("other", None))) == ["drop"]
    assert await found(visible=(("s", None),)) == ["find", "drop", "add"]
    assert await found(visible=()) == []
    assert await found(text="CURSOR") == ["find"]
    assert await found(text="Grüße <b>") == ["find"]
    assert await found(text="%_B") == ["drop"]
    assert await found(text="_") == ["drop"]
    assert await found(text="err-1") == ["drop"]
    assert await found(text="' OR 1=1 --") == []
    assert [one.tool for one in await store.find(ALL, before=3, most=1)] == ["drop"]
    assert await store.get(2) == rows[1]._replace(id=2)
    assert await store.get(99) is None
    assert [one.id for one in await store.after(1, 10)] == [2, 3]
    assert await store.last_id() == 3
    await store.close()


async def test_counts_are_added_up_and_give_figures_by_slot(db_url):
    store = await opened(db_url)
    await store.write([], {key(): (2, 20), key(outcome="system", bucket=50): (1, 5)})
    await store.write([], {key(): (3, 30), key(30_000_014): (4, 0), key(caller="user:bob", tool="drop"): (1, 99)})
    since = 30_000_000 * 60.0
    slots = await store.slots(ALL, since, 15)
    assert sorted(slots) == [
        Slot(2_000_000, "ok", False, 40, 10),
        Slot(2_000_000, "system", False, 50, 1),
    ]
    assert await store.slots(CallFilter(caller="user:bob"), since, 1) == [Slot(30_000_000, "ok", False, 40, 1)]
    assert await store.slots(ALL, since + 14 * 60, 1) == [Slot(30_000_014, "ok", False, 40, 4)]
    assert await store.totals(ALL, since, 15, "tool") == [Total("drop", 1, 99), Total("add", 10, 55)]
    assert await store.totals(ALL, since, 1, "caller", most=1) == [Total("user:bob", 1, 99)]
    await store.close()


async def test_old_calls_are_deleted(db_url):
    store, now = await opened(db_url, seconds=86_400), time.time()
    await store.write(
        [entry("old", time=now - 90_000), entry("new", time=now)],
        {key(int(now - age) // 60): (1, 1) for age in (90_000, 10_000, 0)},
    )
    await store.delete_old()
    assert [one.tool for one in await store.find(ALL)] == ["new"]
    assert [len(await store.slots(ALL, 0, step)) for step in (1, 15)] == [1, 2]  # minutes for the last hours only
    await store.close()


async def test_the_oldest_calls_are_deleted_until_the_rest_has_room(db_url):
    store, now = await opened(db_url, size=100_000), time.time()
    big = {"arguments": {"text": "x" * 9_660}}
    await store.write([entry(str(number), time=now, details=big) for number in range(12)], {key(): (12, 0)})
    await store.delete_old()
    assert [one.tool for one in await store.find(ALL)] == ["11", "10", "9", "8", "7", "6", "5", "4", "3"]
    await store.write([entry("next", time=now)], {key(): (1, 0)})
    assert (await store.find(ALL, most=1))[0].id == 13  # an id is never used again
    await store.close()


@pytest.mark.parametrize(
    ("db", "place"),
    [
        ("sqlite:////data/todo.db", "/data/calls.db"),
        ("sqlite:///:memory:", ":memory:"),
        ("postgresql://me@host/tools", None),
    ],
)
def test_the_record_is_beside_the_data(db, place):
    assert calls_file(db) == place


def test_a_percentile_is_off_by_ten_percent_at_most():
    durations = [0.000_5 * 1.01**n for n in range(1000)]
    buckets: dict[int, int] = {}
    for seconds in durations:
        buckets[bucket_of(seconds)] = buckets.get(bucket_of(seconds), 0) + 1
    for share in (0.5, 0.95, 0.99):
        assert percentile(buckets, share) == pytest.approx(durations[int(share * 1000)] * 1000, rel=0.1)
    assert percentile({}, 0.5) is None
    assert percentile({0: 1}, 1.0) == pytest.approx(0.001, rel=0.2)
