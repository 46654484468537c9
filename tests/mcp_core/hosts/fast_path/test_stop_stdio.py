"""What happens to calls over stdio when the input ends, or the server gets a signal."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_core.audited import audited
from tests.toolcharter.serving.processes import GATE_SERVER, PATIENCE, message, started

STOPPED = "The server is stopping, and 'wait' was stopped: its outcome is unknown."
REFUSED = {
    "code": -32603,
    "message": "The server is stopping. Try again.",
    "data": {"reason": "draining", "retryable": True},
}


def audit_outcomes(file: Path) -> list[tuple[str, str]]:
    return [(record["tool"], record["outcome"]) for record in audited(file) if "tool" in record]


@pytest.mark.requirement("OPS-6")
@pytest.mark.parametrize("how", ["end of input", "signal"])
def test_over_stdio_calls_that_do_not_finish_are_answered_and_recorded(tmp_path: Path, how: str):
    audit = tmp_path / "audit.jsonl"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(GATE_SERVER, "--audit", str(audit), "--deadline", "600", **pipes) as server:
        process = server.process
        process.stdin.write(json.dumps(message(1, "wait", gate="/never")) + "\n")
        process.stdin.flush()
        server.read_until("running")
        if how == "signal":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        answer = json.loads(process.stdout.readline())
        code = server.wait()
    assert STOPPED in answer["result"]["content"][0]["text"]
    assert audit_outcomes(audit) == [("wait", "cancelled")]
    assert code == 0


def test_over_stdio_calls_finish_after_a_signal_and_new_ones_are_refused(tmp_path: Path):
    gate, audit = tmp_path / "gate", tmp_path / "audit.jsonl"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [GATE_SERVER, "--audit", str(audit), "--deadline", "600", "--drain-seconds", str(PATIENCE)]
    with started(*command, **pipes) as server:
        process = server.process

        def send(number: int) -> None:
            process.stdin.write(json.dumps(message(number, "wait", gate=str(gate))) + "\n")
            process.stdin.flush()

        send(1)
        server.read_until("running")
        process.send_signal(signal.SIGTERM)
        server.read_until("Waiting up to 60 seconds for 1 call that is running")
        send(2)
        refused = json.loads(process.stdout.readline())
        gate.touch()
        answer = json.loads(process.stdout.readline())
        code = server.wait()
    assert refused == {"jsonrpc": "2.0", "id": 2, "error": REFUSED}
    assert "passed" in answer["result"]["content"][0]["text"]
    assert audit_outcomes(audit) == [("wait", "ok")]
    assert code == 0


def test_over_stdio_a_signal_ends_a_process_whose_event_loop_is_held():
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(GATE_SERVER, "--drain-seconds", "0.1", **pipes) as server:
        process = server.process
        process.stdin.write(json.dumps(message(1, "hold")) + "\n")
        process.stdin.flush()
        server.read_until("holding")
        process.send_signal(signal.SIGTERM)
        assert server.wait() == 128 + signal.SIGTERM
