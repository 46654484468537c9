"""Third-party data that lies beside the repository and is never part of it."""

import json
import os
from pathlib import Path

import pytest

from mcp_core.declare.listed import ListedTool

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(path: str) -> Path:
    """A file or folder of ../shared. Without it a test is skipped, and fails where CI=true."""
    found = SHARED / path
    if not found.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"../shared/{path} must lie beside the repository when CI=true")
        pytest.skip(f"there is no ../shared/{path} beside this repository")
    return found


def real_tools() -> list[ListedTool]:
    """Real tools of other people."""
    files = sorted(shared("data/tools").glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [ListedTool.from_wire(json.loads(line)["tool"]) for line in lines if line]
