"""Traces and metrics reach a collector: a real server process, and a receiver that decodes what arrives."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from mcp_core.process.install_command import install_command
from mcp_core.process.start_errors import CannotStart, InvalidSetting
from toolcharter.serving.otlp import set_up_export

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01",
}


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP, and keeps the decoded messages."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def spans(self) -> list[Any]:
        return [s for t in self.traces for r in t.resource_spans for scope in r.scope_spans for s in scope.spans]

    @property
    def services(self) -> set[str]:
        resources = [r.resource for t in self.traces for r in t.resource_spans]
        return {a.value.string_value for r in resources for a in r.attributes if a.key == "service.name"}

    @property
    def metric_names(self) -> set[str]:
        scopes = [scope for m in self.metrics for r in m.resource_metrics for scope in r.scope_metrics]
        return {metric.name for scope in scopes for metric in scope.metrics}


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip  # noqa: PLC0415 - rarely

            body = gzip.decompress(body)
        assert self.headers["content-type"] == "application/x-protobuf"
        if self.path == "/v1/traces":
            self.server.traces.append(ExportTraceServiceRequest.FromString(body))
        elif self.path == "/v1/metrics":
            self.server.metrics.append(ExportMetricsServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@contextmanager
def todo(tmp_path: Path, *options: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    program = "from mcp_todo.main import main; main()"
    command = [sys.executable, "-c", program, "--db", f"sqlite:///{tmp_path / 'todo.db'}", *options]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=clean | variables, **pipes) as server:
        yield server


def call(server: subprocess.Popen[bytes]) -> tuple[dict[str, Any], str]:
    """The answer to one call, and what the server says on stderr until it has ended."""
    params = {"name": "add_task", "arguments": {"user_id": "ann", "title": "Errand"}, "_meta": META}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"
    server.stdin.write(line)
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    _, errors = server.communicate(timeout=60)
    return answer, errors.decode()


@pytest.mark.requirement("OBS-2")
@pytest.mark.parametrize("by", ["option", "variable"])
def test_a_call_and_its_database_work_are_spans_in_the_callers_trace(collector: Collector, tmp_path: Path, by: str):
    options = ["--otlp", collector.url] if by == "option" else []
    variables = {} if by == "option" else {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "lists"}
    with todo(tmp_path, *options, **variables) as server:
        answer, _ = call(server)
    assert answer["result"]["isError"] is False
    spans = {span.name: span for span in collector.spans}
    call_span, write = spans["tools/call add_task"], next(s for n, s in spans.items() if n.startswith("db write "))
    assert call_span.trace_id.hex() == write.trace_id.hex() == TRACE_ID
    assert call_span.parent_span_id.hex() == SPAN_ID
    assert write.parent_span_id == call_span.span_id
    assert {a.key: a.value.string_value for a in write.attributes} == {"db.system.name": "sqlite"}
    assert collector.services == ({"-c"} if by == "option" else {"lists"})
    assert {"toolcharter.tool.calls", "toolcharter.tool.duration"} <= collector.metric_names


def test_variables_switch_signals_off_and_a_collector_that_is_away_costs_no_answer(
    tmp_path: Path, collector: Collector
):
    off = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SDK_DISABLED": "true"}
    with todo(tmp_path, **off) as server:
        assert call(server)[0]["result"]["isError"] is False
    assert (collector.spans, collector.metrics) == ([], [])
    with todo(tmp_path, OTEL_TRACES_EXPORTER="console", OTEL_METRICS_EXPORTER="none") as server:
        answer, errors = call(server)
    assert answer["result"]["isError"] is False
    assert '"name": "tools/call add_task"' in errors
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    with todo(tmp_path, "--log-level", "CRITICAL", **away) as server:
        assert call(server)[0]["result"]["isError"] is False


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "jaeger"}, "OTEL_TRACES_EXPORTER: 'jaeger' is not supported"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' is not supported"),
    ],
)
def test_what_is_not_supported_is_said_at_start(environment: dict[str, str], said: str):
    with pytest.raises(InvalidSetting, match=said):
        set_up_export("http://127.0.0.1:9", "test", environment)


def test_without_the_extra_the_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch, log):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(CannotStart, match=re.escape(install_command("otel"))):
        set_up_export("http://127.0.0.1:9", "test", {})
    assert not set_up_export(None, "test", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert [level for level, _ in log.messages] == ["WARNING"]


def test_nothing_is_set_up_where_nothing_is_wanted():
    assert not set_up_export(None, "test", {})
    assert not set_up_export("http://127.0.0.1:9", "test", {"OTEL_SDK_DISABLED": "TRUE"})
