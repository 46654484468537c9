"""The Grafana dashboard and the Prometheus alert rules of deploy/, made from the metrics that are declared.

Every metric gets a panel by its kind. An alert is written here by hand, and names its metrics by their constants.
"""

import json
from typing import Any, NamedTuple

import yaml

from mcp_core.logs import telemetry
from mcp_core.logs.telemetry import METRICS, Metric, exposed_name

QUANTILES = (0.5, 0.95, 0.99)
WIDTH, HEIGHT = 12, 8
SELECTOR = '{server=~"$server"}'
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
RATES = frozenset({telemetry.ERROR_RATE, telemetry.CACHE_HIT_RATE})


COMBINED_BY = {
    **dict.fromkeys((*RATES, telemetry.BUILD, telemetry.LOOP_LAG), "max"),
    telemetry.DEPENDENCY_UP: "min",
}
"""How a gauge of several workers or machines becomes one figure, where their sum means nothing."""


class Alert(NamedTuple):
    """A rule: when it fires, and what a person who is woken by it reads."""

    name: str
    expression: str
    after: str
    severity: str
    summary: str
    action: str


def metric(name: str, selector: str = "") -> str:
    """A metric as PromQL names it."""
    return exposed_name(name) + selector


def alerts() -> list[Alert]:
    """All rules, the most urgent first."""
    lost, system, stuck = '{result="lost"}', '{outcome="system"}', '{state="stuck"}'
    # Not those of a server that stops: its clients try again.
    refused = '{reason!="draining"}'
    system_errors = f"sum by (server) (rate({metric(telemetry.CALLS, system)}[5m]))"
    all_calls = f"sum by (server) (rate({metric(telemetry.CALLS)}[5m]))"
    buckets = f"sum by (server, tool, le) (rate({metric(telemetry.DURATION)}_bucket[5m]))"
    return [
        Alert(
            "ToolcharterAuditRecordsLost",
            f"sum by (server) (increase({metric(telemetry.AUDIT_RECORDS, lost)}[10m])) > 0",
            "0m",
            "critical",
            "Audit records of {{ $labels.server }} are lost.",
            "Make room where --audit writes, or repair its database. The log has the reason.",
        ),
        Alert(
            "ToolcharterSystemErrors",
            f"{system_errors} / {all_calls} > 0.05",
            "5m",
            "critical",
            "{{ $value | humanizePercentage }} of the calls of {{ $labels.server }} fail because of the server.",
            "See /health/ready for what cannot be reached, and the log at ERROR.",
        ),
        Alert(
            "ToolcharterWorkerRestarts",
            f"increase({metric(telemetry.WORKER_RESTARTS)}[15m]) > 3",
            "0m",
            "critical",
            "Workers on {{ $labels.instance }} die again and again.",
            "The log says how each worker ended; signal 9 is mostly a lack of memory.",
        ),
        Alert(
            "ToolcharterDependencyDown",
            f"min by (instance, server, dependency) ({metric(telemetry.DEPENDENCY_UP)}) == 0",
            "2m",
            "warning",
            "{{ $labels.server }} on {{ $labels.instance }} cannot use {{ $labels.dependency }}.",
            "See /health/ready since when, and docs/serving.md for what does not work meanwhile.",
        ),
        Alert(
            "ToolcharterStuckThreads",
            f"max by (instance, server) ({metric(telemetry.THREADS, stuck)}) > 0",
            "10m",
            "warning",
            "{{ $value }} threads of {{ $labels.server }} hang past the deadline of their calls.",
            "Find what the tools wait for. Threads cannot be stopped: restart with SIGHUP (workers) or SIGTERM.",
        ),
        Alert(
            "ToolcharterEventLoopBlocked",
            f"max by (instance, server) ({metric(telemetry.LOOP_LAG)}) > 1",
            "5m",
            "warning",
            "Requests to {{ $labels.instance }} wait {{ $value | humanizeDuration }} for the event loop.",
            "A tool computes in an async function, or the machine is too small: use --workers, or a plain function.",
        ),
        Alert(
            "ToolcharterRefusals",
            f"sum by (instance, reason) (rate({metric(telemetry.HTTP_REFUSALS, refused)}[5m])) > 1",
            "10m",
            "warning",
            "{{ $labels.instance }} refuses requests: {{ $labels.reason }}.",
            "A client misbehaves, or a limit is too low: docs/serving.md lists the limits and their settings.",
        ),
        Alert(
            "ToolcharterSlowCalls",
            f"histogram_quantile(0.95, {buckets}) > 2.5",
            "10m",
            "warning",
            "5 % of the calls of {{ $labels.tool }} take longer than {{ $value | humanizeDuration }}.",
            "Compare with the calls in flight and the threads on the dashboard; trace a slow call.",
        ),
    ]


def alert_rules() -> str:
    """The file for Prometheus' `rule_files`."""
    rules = [
        {
            "alert": alert.name,
            "expr": alert.expression,
            "for": alert.after,
            "labels": {"severity": alert.severity},
            "annotations": {"summary": alert.summary, "description": alert.action},
        }
        for alert in alerts()
    ]
    text = yaml.safe_dump({"groups": [{"name": "toolcharter", "rules": rules}]}, sort_keys=False, width=1000)
    return f"# Written by docs/generate.py. Change docs/monitoring.py, then run `make docs`.\n{text}"


def dashboard() -> str:
    """The dashboard as Grafana imports it."""
    panels = [_panel(number, name, declared) for number, (name, declared) in enumerate(METRICS.items())]
    variables: list[dict[str, Any]] = [
        {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
        {
            "name": "server",
            "type": "query",
            "label": "Server",
            "datasource": DATASOURCE,
            "query": f"label_values({metric(telemetry.BUILD)}, server)",
            "includeAll": True,
            "multi": True,
            "allValue": ".*",
            "refresh": 2,
        },
    ]
    made = {
        "uid": "toolcharter",
        "title": "toolcharter",
        "tags": ["mcp", "toolcharter"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": variables},
        "panels": panels,
    }
    return json.dumps(made, indent=2) + "\n"


def _panel(number: int, name: str, declared: Metric) -> dict[str, Any]:
    return {
        "id": number + 1,
        "type": "table" if name == telemetry.BUILD else "timeseries",
        "title": name.removeprefix("toolcharter.").replace(".", " ").replace("_", " ").capitalize(),
        "description": declared.description,
        "datasource": DATASOURCE,
        "gridPos": {"x": number % 2 * WIDTH, "y": number // 2 * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": _unit(name, declared), "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": DATASOURCE, "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(_queries(name, declared))
        ],
    }


def _unit(name: str, declared: Metric) -> str:
    if name in RATES:
        return "percentunit"
    if declared.unit:
        return declared.unit
    return "ops" if declared.kind == "counter" else "short"


def _queries(name: str, declared: Metric) -> list[tuple[str, str]]:
    """What a panel shows of a metric, by its kind: the queries and their legends."""
    # Figures of a site belong to no server, and are shown whichever is chosen.
    selector = "" if name in (telemetry.WORKERS, telemetry.WORKER_RESTARTS) else SELECTOR
    labels = ", ".join(("server", *declared.labels))
    legend = " ".join(f"{{{{{label}}}}}" for label in ("server", *declared.labels))
    if declared.kind == "histogram":
        rate = f"sum by ({labels}, le) (rate({metric(name)}_bucket{selector}[$__rate_interval]))"
        return [(f"histogram_quantile({q}, {rate})", f"{legend} p{q * 100:g}") for q in QUANTILES]
    if declared.kind == "counter":
        return [(f"sum by ({labels}) (rate({metric(name, selector)}[$__rate_interval]))", legend)]
    combine = COMBINED_BY.get(name, "sum")
    return [(f"{combine} by ({labels}) ({metric(name, selector)})", legend)]
