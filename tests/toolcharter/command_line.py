"""The command line, for tests."""

import pytest

from toolcharter import cli


def run(capsys, *words):
    """The exit code, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err
