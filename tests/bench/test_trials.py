"""A small share of what `python -m bench --only kills`, `--only fuzz` and `--only govern-faults` do with thousands."""

from pathlib import Path

import pytest

from bench import fuzz, govern_faults, kills


@pytest.mark.requirement("OPS-4", "OPS-6")
def test_kills_lose_nothing_and_double_nothing(db_url: str):
    trial = kills.kill_servers("any", db_url, 5, lambda _: None)
    assert (trial.kills, len(trial.answers)) == (5, 5 * kills.BATCH)
    assert (trial.missing, trial.doubled, trial.changed) == (0, 0, 0)


@pytest.mark.requirement("ERR-2")
def test_requests_that_are_wrong_in_every_way_break_nothing(tmp_path: Path):
    fuzzed = fuzz.measure(4_000, tmp_path, lambda _: None, seed=7)
    assert [one.faults for one in fuzzed] == [[], [], []]
    assert [one.sent for one in fuzzed] == [2_000, 1_000, 1_000]
    for one in fuzzed:
        assert one.outcomes.keys() & {"200", "result"}, "some requests are right"


@pytest.mark.requirement("GOV-5")
def test_a_governor_survives_the_end_of_its_upstream_and_keeps_nothing_of_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, small in (("KILLS", 2), ("CALLS", 100), ("WARM_UP", 32)):
        monkeypatch.setattr(govern_faults, name, small)
    faults = govern_faults.measure(32, tmp_path, lambda _: None)
    assert faults.killed.is_clean, faults.killed
    assert (faults.after.processes, faults.after.files) == (faults.before.processes, faults.before.files)
