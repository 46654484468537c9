"""The files in deploy/ are accepted by the tools that read them, and fit the server as it is."""

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import crossplane
import httpx2
import kubernetes_validate
import promql_parser
import pytest
import yaml

from mcp_core.settings.model import Settings
from mcp_core.settings.sources import add_options, from_options
from tests.forkserver.commands import INSTALLED, command_path
from tests.toolcharter.serving.processes import (
    GATE_SERVER,
    META,
    PATIENCE,
    Process,
    call,
    headers,
    message,
    started,
    until,
)
from tests.toolcharter.serving.test_listener import write_certificate

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ALERTS, DASHBOARD = DEPLOY / "prometheus" / "toolcharter-alerts.yml", DEPLOY / "grafana" / "toolcharter.json"
UNIT, NGINX = DEPLOY / "systemd" / "toolcharter.service", DEPLOY / "nginx" / "toolcharter.conf"
MANIFESTS = DEPLOY / "kubernetes" / "toolcharter.yaml"
OF_PROMETHEUS = {"instance", "job", "le"}
"""Labels that Prometheus adds, or that belong to every histogram."""


def settings_of(arguments: list[str]) -> Settings:
    """The settings that a command line in an example means; an option that does not exist is an error."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_options(parser)
    return from_options(parser.parse_args(arguments))


# --- dashboard and alerts ----------------------------------------------------------------------------------


def queries() -> list[str]:
    rules = [rule["expr"] for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    panels = json.loads(DASHBOARD.read_text())["panels"]
    targets = [target["expr"] for panel in panels for target in panel["targets"]]
    return rules + [text.replace("$__rate_interval", "5m") for text in targets]


def used(query: str) -> tuple[dict[str, set[str]], set[str]]:
    """The metrics of a query with the labels that it selects by, and the labels that it groups by."""
    metrics: dict[str, set[str]] = {}
    grouped: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            metrics.setdefault(node.name, set()).update(matcher.name for matcher in node.matchers.matchers)
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            grouped.update(node.modifier.labels)

    promql_parser.walk(promql_parser.parse(query), visit)
    return metrics, grouped


async def read_resource(http: httpx2.AsyncClient, uri: str) -> None:
    request = message(2, "") | {"method": "resources/read", "params": {"uri": uri, "_meta": META}}
    await http.post("/mcp", json=request, headers=headers("") | {"Mcp-Method": "resources/read", "Mcp-Name": uri})


async def shown_metrics(redis_url: str, folder: Path) -> dict[str, set[str]]:
    """The metrics that two workers show after a call, with their labels."""
    options = ["--redis", redis_url, "--redis-timeout", "20", "--workers", "2", "--audit", str(folder / "audit.jsonl")]
    options += ["--db", f"sqlite:///{folder / 'todo.db'}", "--calls-keep", "1h"]
    with started(str(INSTALLED / "mcp-todo"), "http", "--port", "0", *options) as server:
        base = await asyncio.to_thread(server.base_url)
        async with httpx2.AsyncClient(base_url=base, timeout=PATIENCE) as http:
            await call(http, 1, "list_tasks", user_id="ana")
            await read_resource(http, "tool-docs://nothing")
            text = (await http.get("/metrics")).text
        server.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(server.wait)
    shown: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)\{(.*)\} \S+$", text, re.MULTILINE):
        shown.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return shown


async def test_every_alert_and_panel_asks_for_metrics_and_labels_that_a_server_shows(tmp_path: Path, redis_url: str):
    shown = await shown_metrics(redis_url, tmp_path)
    wrong: list[str] = []
    for query in queries():
        metrics, grouped = used(query)
        assert metrics, query
        for name, labels in metrics.items():
            missing = (labels | grouped) - OF_PROMETHEUS - shown.get(name, set())
            wrong += [f"{name} has no label {label}: {query}" for label in missing] if name in shown else [name]
    assert wrong == []


def test_every_alert_says_what_happened_and_what_to_do():
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"].endswith(".")


# --- Kubernetes --------------------------------------------------------------------------------------------


def test_kubernetes_accepts_the_manifests_and_nothing_runs_as_root():
    manifests = list(yaml.safe_load_all(MANIFESTS.read_text()))
    for manifest in manifests:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    by_kind = {manifest["kind"]: manifest for manifest in manifests}
    assert set(by_kind) == {"ServiceAccount", "Deployment", "Service", "PodDisruptionBudget"}
    pod = by_kind["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["readinessProbe"]["httpGet"]["path"] == "/health/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/health/live"
    settings = settings_of(container["args"])
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + settings.drain_seconds + 10
    labels = by_kind["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in ("Service", "PodDisruptionBudget"):
        chosen = by_kind[selector]["spec"]["selector"]
        assert chosen.get("matchLabels", chosen) == labels


# --- systemd -----------------------------------------------------------------------------------------------


def test_the_command_of_the_unit_is_one_that_the_server_takes():
    text = UNIT.read_text().replace("\\\n", "")
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    settings = settings_of(shlex.split(command)[2:])
    stop = int(re.findall(r"^TimeoutStopSec=(\d+)s$", text, re.MULTILINE)[0])
    assert stop > settings.drain_seconds + 10
    assert settings.workers == 2


def test_systemd_accepts_the_unit(tmp_path: Path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/toolcharter/bin", str(INSTALLED)))
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert UNIT.name not in done.stderr, done.stderr


# --- nginx -------------------------------------------------------------------------------------------------


def test_the_configuration_of_nginx_has_only_directives_that_exist(tmp_path: Path):
    main = tmp_path / "nginx.conf"
    main.write_text(f"events {{}}\nhttp {{ include {NGINX}; }}\n")
    payload = crossplane.parse(str(main), strict=True)
    assert (payload["status"], payload["errors"]) == ("ok", [])


@contextmanager
def running_nginx(folder: Path, front: Path) -> Iterator[None]:
    """nginx with our configuration, and with the addresses and files of a test: servers at todo-1.sock and so on."""
    binary = shutil.which("nginx")
    if binary is None:
        assert os.environ.get("CI") != "true", "nginx must be installed when CI=true; .ci/run installs it"
        pytest.skip("nginx is not installed")
    write_certificate(folder)
    text = NGINX.read_text().replace("listen [::]:443 ssl;", "").replace("listen 443 ssl;", f"listen unix:{front} ssl;")
    text = re.sub(r"/etc/ssl/certs/\S+;", f"{folder}/cert.pem;", text)
    text = re.sub(r"/etc/ssl/private/\S+;", f"{folder}/key.pem;", text)
    (folder / "site.conf").write_text(text.replace("/run/toolcharter", str(folder)))
    temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; include {folder}/site.conf;\n"
        + "".join(f"{name}_temp_path {folder}/{name};\n" for name in temporary)
        + "}\n"
    )
    with subprocess.Popen([binary, "-e", "stderr", "-c", str(folder / "nginx.conf")]) as process:
        try:
            yield
        finally:
            process.terminate()


async def test_a_call_goes_through_nginx_to_the_server(tmp_path: Path):
    gate, socket, front = tmp_path / "gate", tmp_path / "todo-1.sock", tmp_path / "front.sock"
    gate.touch()
    options = ["--unix-socket", str(socket), "--trusted-proxies", "unix", "--allow-hosts", "mcp.example.com"]
    with running_nginx(tmp_path, front), started(GATE_SERVER, "http", *options) as server:
        await asyncio.to_thread(server.read_until, "Stop: Ctrl")
        await until(front.exists)
        transport = httpx2.AsyncHTTPTransport(uds=str(front), verify=False)
        async with httpx2.AsyncClient(transport=transport, base_url="https://mcp.example.com") as http:
            answer = await call(http, 1, "wait", gate=str(gate))
    assert "passed" in answer.text


async def test_servers_behind_nginx_are_restarted_one_after_the_other_without_a_failed_call(tmp_path: Path):
    front, stop = tmp_path / "front.sock", asyncio.Event()
    answers: list[httpx2.Response] = []

    @contextmanager
    def serving(number: int) -> Iterator[Process]:
        options = ["--unix-socket", str(tmp_path / f"todo-{number}.sock"), "--trusted-proxies", "unix"]
        command = [command_path("mcp-todo"), "http", "--db", f"sqlite:///{tmp_path}/todo.db", *options]
        with started(*command, "--allow-hosts", "mcp.example.com", program=True) as server:
            server.read_until("Stop: Ctrl")
            yield server

    async def call_without_end(http: httpx2.AsyncClient, caller: int) -> None:
        while not stop.is_set():
            answers.append(await call(http, caller, "add_task", user_id=f"user{caller}", title="A task"))

    async def restart(stack: ExitStack, server: Process, number: int) -> Process:
        """Stop a server and start it again, each while calls go on."""
        server.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.wait) == 0, server.log
        before = len(answers)
        await until(lambda: len(answers) > before + 20)
        new = await asyncio.to_thread(stack.enter_context, serving(number))
        await until(lambda: len(answers) > before + 40)
        return new

    with ExitStack() as stack:
        servers = [stack.enter_context(serving(number)) for number in (1, 2)]
        stack.enter_context(running_nginx(tmp_path, front))
        await until(front.exists)
        transport = httpx2.AsyncHTTPTransport(uds=str(front), verify=False)
        async with httpx2.AsyncClient(transport=transport, base_url="https://mcp.example.com", timeout=60) as http:
            callers = [asyncio.create_task(call_without_end(http, caller)) for caller in range(4)]
            for number, server in enumerate(servers, start=1):
                await restart(stack, server, number)
            stop.set()
            await asyncio.gather(*callers)
    failed = [answer.text for answer in answers if answer.status_code != 200 or answer.json()["result"]["isError"]]
    assert failed == []
    with sqlite3.connect(tmp_path / "todo.db") as database:
        assert database.execute("SELECT count(*) FROM todo_tasks").fetchone() == (len(answers),)
