"""What was answered is in the trail, also after the process was killed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_core.audit import verify
from tests.mcp_core.audited import audited

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
