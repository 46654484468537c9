"""Builds a guide with its own document root, and calls its tools."""

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mcp_core import App
from mcp_core.auth import Caller
from mcp_guide.app import build
from mcp_guide.settings import GuideSettings

Response = tuple[bool, dict[str, Any]]
"""Whether it is an error, and the JSON."""
Call = Callable[..., Awaitable[Response]]

DOCUMENTS: Mapping[str, str] = {
    "lang/python.md": "---\ntitle: Python\ninstruction: Run ruff before you show code.\n---\n# Python\n",
    "lang/java.md": "# Java\n",
    "lang/rust.md": "# Rust\n",
    "docs/api.md": "# API\n",
    "guidelines/review.md": "# Review\n",
}


def write_documents(root: Path, documents: Mapping[str, str | bytes] = DOCUMENTS) -> Path:
    """Write documents below a folder."""
    for path, text in documents.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def build_guide(folder: Path, **settings: Any) -> App:
    """The server, with its documents and its configuration in a folder."""
    (folder / "docs").mkdir(exist_ok=True)
    defaults = {"docs_root": folder / "docs", "config": folder / "guide.yaml", "deadline": 30}
    return build(GuideSettings(**{**defaults, **settings}))


def make_call(app: App, caller: Caller | None = None) -> Call:
    """A function to call tools through the pipeline: `await call("get_content", expression="lang/python")`."""

    async def call(tool: str, /, **arguments: Any) -> Response:
        answer = await app.call(tool, arguments, caller)
        return answer.is_error, json.loads(answer.text)

    return call


async def value(call: Call, tool: str, /, **arguments: Any) -> Any:
    """The value of a call that succeeds."""
    failed, answer = await call(tool, **arguments)
    assert not failed, answer
    return answer["value"]


async def error(call: Call, tool: str, /, **arguments: Any) -> tuple[str, str]:
    """The error type and message of a call that fails."""
    failed, answer = await call(tool, **arguments)
    assert failed, answer
    return answer["error_type"], answer["error"]
