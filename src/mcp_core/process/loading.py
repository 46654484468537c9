"""Whether a file is being run, or only loaded by a command that needs the server in it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_offered: ContextVar[list[Any] | None] = ContextVar("_offered", default=None)


@contextmanager
def loading() -> Generator[list[Any]]:
    """A block in which `run` serves nothing. Gives the list of what it was called with."""
    offered: list[Any] = []
    token = _offered.set(offered)
    try:
        yield offered
    finally:
        _offered.reset(token)


def is_only_loaded(server: Any) -> bool:
    """Whether `run` was called in a file that is only loaded; the server is then remembered for the loader."""
    offered = _offered.get()
    if offered is None:
        return False
    offered.append(server)
    return True
