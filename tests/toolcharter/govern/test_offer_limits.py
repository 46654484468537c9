"""Rate limits of prompts and resources."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Caller, Settings
from mcp_core.calling.records import Request
from mcp_core.errors import Refused
from tests.toolcharter.govern.governed import OFFERING
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor
from toolcharter.govern.remote_library import RemoteLibrary

CHARTER = f"""
[upstream.pipe]
command = {json.dumps([sys.executable, OFFERING, "stdio", "pipe"])}

[prompts."pipe:*"]
rate_limit = "2/hour"
[prompts."pipe:secret"]
rate_limit = "1/hour"
[resources."pipe:pipe://page/*"]
rate_limit = "2/hour"
"""
ANN, BOB = Caller("ann", "ann"), Caller("bob", "bob")
COMPLETION = {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "topic", "value": "t"}}


@pytest.mark.requirement("GOV-1")
async def test_a_limit_counts_what_a_caller_requests_of_all_that_its_pattern_matches(tmp_path: Path):
    path = tmp_path / "charter.toml"
    path.write_text(CHARTER, encoding="utf-8")
    governor = Governor(path, read_charter(path), Settings(), "1")
    async with governor.apps["pipe"] as app, governor.all_tools:
        library = app.library
        assert isinstance(library, RemoteLibrary)

        async def outcome(method: str, caller: Caller, name: str, /, **params: Any) -> str:
            try:
                await library.answer(method, params, Request(name, {}, caller))
            except Refused as refused:
                return str(refused.data["errorType"])
            return "ok"

        async def prompt(name: str, caller: Caller = ANN) -> str:
            return await outcome("prompts/get", caller, name, name=name, arguments={"topic": "tea"})

        async def read(uri: str, caller: Caller = ANN) -> str:
            return await outcome("resources/read", caller, uri, uri=uri)

        for _ in range(3):
            assert await outcome("completion/complete", ANN, "review", **COMPLETION) == "ok"
        assert [await prompt(name) for name in ("review", "evil_text", "review")] == ["ok", "ok", "RateLimitError"]
        assert await prompt("review", BOB) == "ok"
        # A more exact pattern counts for itself.
        assert [await prompt("secret") for _ in range(2)] == ["ok", "RateLimitError"]
        # Other addresses, and other spellings of one, count together.
        uris = ("pipe://page/1", "pipe://pag%65/1", "pipe://page/x/../1", "pipe://page/2")
        assert [await read(uri) for uri in uris] == ["ok", "ok", "RateLimitError", "RateLimitError"]
        assert await read("pipe://page/3", BOB) == "ok"
        assert await read("pipe://readme") == "ok"
        with pytest.raises(Refused, match="Rate limit of 'pipe://page/9' reached: 2 calls in 3600 seconds"):
            await library.subscribe("pipe://page/9", Request("pipe://page/9", {}, ANN), lambda _: None)
