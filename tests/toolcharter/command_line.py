"""The command line, for tests."""

import logging
from contextlib import contextmanager

import pytest

from toolcharter import cli

LIBRARIES = ("mcp", "uvicorn", "fastmcp", "alembic", "httpx2", "sse_starlette")


@contextmanager
def keep_logging():
    """A command that serves sets up the log of its process, which here is that of all tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in LIBRARIES}
    try:
        yield
    finally:
        # Not closed, as they are those of other tests.
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, one in levels.items():
            logging.getLogger(name).setLevel(one)


def run(capsys, *words):
    """The exit code, stdout and stderr of a command."""
    with keep_logging(), pytest.raises(SystemExit) as ended:
        cli.main(words)
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err
