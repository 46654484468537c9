import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "a server": [str(Path(sys.executable).with_name("mcp-guide"))],
    "a command": [str(Path(sys.executable).with_name("toolcharter")), "call", "demo", "add", "a=1", "b=2"],
}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_standard_stream_that_is_closed_is_not_an_error(command: list[str], closed: str, tmp_path: Path):
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
