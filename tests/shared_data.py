"""Real tools of other people, which lie beside this repository and are never part of it."""

import json
import os
from pathlib import Path

import pytest

from mcp_core.listed import ListedTool

TOOLS = Path(__file__).resolve().parents[2] / "shared" / "data" / "tools"


def real_tools() -> list[ListedTool]:
    """All of them. Skips the test where they are missing; fails it when CI=true."""
    if not TOOLS.exists():
        assert os.environ.get("CI") != "true", "real tools must lie in ../shared/data/tools when CI=true"
        pytest.skip("there is no ../shared/data/tools beside this repository, with real tools to try")
    lines = [line for file in sorted(TOOLS.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()]
    return [ListedTool.from_wire(json.loads(line)["tool"]) for line in lines if line]
