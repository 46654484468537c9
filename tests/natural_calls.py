"""The first calls that agents make of a server, and whether each works or is corrected in one step.

They are in tests/data/natural_calls_SERVER.jsonl, as an agent sends them that has read the list of tools. A call
counts if it succeeds, or if its error has the corrected call and that succeeds.
"""

import json
import re
from pathlib import Path
from typing import Any

from mcp_core import App
from mcp_core.calling.records import Answer, Request

DATA = Path(__file__).parent / "data"
CORRECTED = re.compile(r"Corrected call: (\S+) (\{.*\})")


def natural_calls(server: str) -> list[dict[str, Any]]:
    """The calls of a server."""
    lines = (DATA / f"natural_calls_{server}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def failures(app: App, calls: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """The calls that neither succeed nor are corrected, with their errors. The app is open."""
    found: list[tuple[dict[str, Any], str]] = []
    for call in calls:
        error = await _error(app, call["tool"], call["arguments"])
        corrected = CORRECTED.search(error) if error else None
        if corrected is not None:
            error = await _error(app, corrected[1], json.loads(corrected[2]))
        if error:
            found.append((call, error))
    return found


async def _error(app: App, tool: str, arguments: dict[str, Any]) -> str:
    """The error of a call; empty if it succeeds."""
    answer = await app.answer(Request(tool, arguments, app.local_caller))
    assert isinstance(answer, Answer)
    if not answer.is_error:
        return ""
    error = json.loads(answer.text)["error"]
    return error if isinstance(error, str) else error["message"]
