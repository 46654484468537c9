"""The page of the installation, and one start of an installed server."""

from pathlib import Path

import pytest

from bench.install import Row, Taken, page, run
from mcp_core.process.start_errors import CannotStart
from tests.forkserver.commands import command_path


def test_a_server_is_started_and_asked_for_its_tools(tmp_path: Path):
    taken = run([command_path("mcp-todo")], tmp_path / "cache")
    assert taken.tools == 5
    assert taken.seconds > 0


def test_a_server_that_does_not_start_is_skipped_with_its_last_words(tmp_path: Path):
    script = tmp_path / "fails.py"
    script.write_text("import sys; sys.exit('no wheel at https://index.example/simple here')")
    with pytest.raises(CannotStart, match=r"^no wheel at the index here$"):
        run([command_path("python"), str(script)], tmp_path / "cache")


def test_the_page_has_the_medians_and_the_reason_for_what_is_missing():
    measured = Row("`mcp-todo`", [Taken(9.0, 3.0, 5)], [Taken(1.0, 0.5, 5), Taken(3.0, 0.7, 5)], [Taken(0.4, 0.3, 5)])
    text = page([measured, Row("other", skipped="no index")], "make bench", "2 cores")
    assert "| `mcp-todo` | 5 | 9.00 | 2.00 | 0.40 | 3.00 | 0.60 | 0.30 |" in text
    assert "| other | | skipped: no index | | | | | |" in text
