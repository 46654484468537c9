"""What was answered is in the trail, also after the process was killed."""

import asyncio
import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mcp_core.audit import verify
from mcp_core.audit.chain import parse
from tests.mcp_core.audited import audited
from tests.toolcharter.serving.processes import started
from tests.toolcharter.serving.raw_http import call_bytes, connection, response

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALLS = 200


@pytest.mark.requirement("OPS-5")
def test_no_answered_call_is_missing_after_kill_9(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    imports = "from toolcharter import run; from toolcharter_examples.demo import build"
    program = f"{imports}; run(build, ['--audit', {str(path)!r}])"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as server:
        for number in range(CALLS):
            params = {"name": "add", "arguments": {"a": number, "b": 1}, "_meta": META}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            assert b'"isError":false' in server.stdout.readline()
        server.kill()
    report = verify([("audit", path.read_bytes().splitlines())])
    (chain,) = report.chains.values()
    assert (report.problems, chain.closed) == ([], False)
    assert [record["outcome"] for record in audited(path)] == ["ok"] * CALLS


@pytest.mark.requirement("OPS-5")
async def test_no_answered_call_is_missing_after_kill_9_of_a_server_with_many_calls_in_flight(tmp_path: Path):
    path, answered = tmp_path / "audit.jsonl", set[str]()
    imports = "from toolcharter import run; from toolcharter_examples.demo import build"
    arguments = ["http", "--port", "0", "--audit", str(path)]
    with started("-c", f"{imports}; run(build, {arguments!r})") as server:
        port = int(server.base_url().rpartition(":")[2])

        async def call_again_and_again(client: int) -> None:
            async with connection(port) as (reader, writer):
                for number in count():
                    name = f"c{client}-{number}"
                    writer.write(call_bytes("add", number, f"X-Correlation-Id: {name}", a=client, b=number))
                    assert (await response(reader))[0] == 200
                    answered.add(name)
                    if len(answered) == CALLS:
                        server.process.kill()

        clients = [call_again_and_again(client) for client in range(16)]
        ended = await asyncio.gather(*clients, return_exceptions=True)
    assert all(isinstance(error, OSError | EOFError) for error in ended)
    assert len(answered) >= CALLS
    lines = path.read_bytes().splitlines()
    recorded = {record.members.get("correlationId") for record in filter(None, map(parse, lines))}
    assert answered - recorded == set()
    assert verify([("audit", lines)]).problems == []
