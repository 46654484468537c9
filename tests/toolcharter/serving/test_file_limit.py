"""A process may open a file for each connection, as far as the system allows."""

import resource

import pytest

from tests.conftest import Log
from toolcharter.serving.connections import raise_file_limit

UNLIMITED = resource.RLIM_INFINITY


@pytest.mark.requirement("OPS-8")
@pytest.mark.parametrize(
    ("limits", "set_to", "warned"),
    [
        ((1024, 4096), [(1256, 4096)], False),
        ((1024, UNLIMITED), [(1256, UNLIMITED)], False),
        ((1024, 1100), [(1100, 1100)], True),
        ((1024, 1024), [], True),
        ((20_000, 20_000), [], False),
        ((UNLIMITED, UNLIMITED), [], False),
    ],
)
def test_the_soft_limit_is_raised(
    monkeypatch: pytest.MonkeyPatch, log: Log, limits: tuple[int, int], set_to: list[tuple[int, int]], warned: bool
):
    changes: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: changes.append(both))
    raise_file_limit(1000)
    assert changes == set_to
    assert [level for level, words in log.messages if "ulimit" in words] == ["WARNING"] * warned
