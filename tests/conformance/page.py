"""docs/conformance.md: what the suite says about our fixture and the SDK's, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.conformance.offers import CHECKS, NEED_A_QUESTION, NO_TASKS, NOT_JUDGED, NOT_PASSED_ON, SCENARIOS, TASKS
from tests.conformance.real_clients import Attempt

APPS = ("plain", "asking")
GOVERNED, SDK = "governed", "sdk"
OURS = (*APPS, GOVERNED)
NOT_OFFERED = {
    **dict.fromkeys(APPS, SCENARIOS),
    "plain": SCENARIOS | dict.fromkeys(TASKS, NO_TASKS),
    GOVERNED: NOT_PASSED_ON,
    SDK: dict.fromkeys(NOT_JUDGED, ""),
}
"""The scenarios that count as neither passed nor failed, by column."""


@dataclass(frozen=True)
class Scenario:
    """The suite's checks of one scenario, and why it does not count for conformance, if it does not."""

    checks: Sequence[Mapping[str, Any]]
    unscored: str | None = None

    def ids(self, status: str) -> list[str]:
        return [check["id"] for check in self.checks if check["status"] == status]


Column = dict[str, Scenario]
Tables = Mapping[str, Mapping[str, Column]]

INTRODUCTION = (
    "# Conformance\n\n"
    "Written by `make conformance`; do not edit.\n\n"
    "The official suite runs the scenarios that each revision requires of a server.\n"
    "*plain* and *asking* are [our fixture](../tests/conformance/fixture.py), on the native host with the fast path: "
    "*plain* has no tool that asks the person, *asking* has some.\n"
    "*SDK* is the judge: [a fixture with what the suite asks for](../tests/conformance/sdk_fixture.py) "
    "on the SDK's own `MCPServer`, because the SDK's everything-server is not in a package.\n"
    "*governed* is `toolcharter govern` in front of that fixture, with `handshake = true` for 2025-11-25.\n"
    "The number in brackets counts checks; every message is also checked against the schema of its revision.\n"
    "*advice* is a check of something that a server should do; it does not fail the scenario.\n"
    "*not offered* needs something that an App does not have, or the governor does not pass on; "
    "it counts as neither passed nor failed, "
    "and [offers.py](../tests/conformance/offers.py) lists it.\n"
    "Two scenarios call a tool that must be confirmed; the suite fills in its own form and does not say yes, so the "
    "call ends with a refusal, and they check the messages up to that point.\n"
    "The suite runs a scenario marked with *, but it does not count for conformance.\n"
)

PYTHON_CLIENTS = (
    "The MCP Python client and FastMCP's (both eras), and an agent of Pydantic AI, "
    "run over stdio and HTTP with every `make test`: see [tests/clients](../tests/clients).\n"
)


def page(tables: Tables, tried: Sequence[Attempt], packages: Mapping[str, str]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in packages.items())
    parts = [INTRODUCTION, f"Versions: {versions}.\n"]
    for revision, columns in tables.items():
        parts += [f"## {revision}\n", summary(columns), table(columns)]
    parts += ["## What we fail and the SDK passes\n", differences(tables)]
    parts += ["## Other clients against the demo\n", PYTHON_CLIENTS, clients(tried)]
    return "\n".join(parts)


def summary(columns: Mapping[str, Column]) -> str:
    lines = ["| | passed | failed | not offered |", "|---|---:|---:|---:|"]
    for column in (*OURS, SDK):
        cells = [cell(column, name, scenario) for name, scenario in columns[column].items()]
        counts = [sum(c.startswith(word) for c in cells) for word in ("passed", "**failed", "not offered")]
        lines.append(f"| {label(column)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def table(columns: Mapping[str, Column]) -> str:
    lines = ["| scenario | plain | asking | governed | SDK | not offered is |", "|---|---|---|---|---|---|"]
    for name, scenario in columns[SDK].items():
        cells = [cell(column, name, columns[column][name]) for column in (*OURS, SDK)]
        inner = {CHECKS[i] for s in OURS for i in columns[s][name].ids("FAILURE") if i in CHECKS}
        whole = dict.fromkeys(filter(None, (SCENARIOS.get(name), NOT_PASSED_ON.get(name))))
        reason = "; ".join(whole or sorted(inner))
        mark = "*" if scenario.unscored else ""
        lines.append(f"| {name}{mark} | {' | '.join(cells)} | {reason} |")
    return "\n".join(lines) + "\n"


def cell(column: str, name: str, scenario: Scenario) -> str:
    if name in NOT_OFFERED[column]:
        return "not offered"
    if column == "plain" and name in NEED_A_QUESTION:
        return "asks nobody"
    passed, failed = len(scenario.ids("SUCCESS")), counted(column, scenario)
    advice = len(scenario.ids("WARNING"))
    left_out = len(scenario.ids("FAILURE")) - len(failed)
    words = f"**failed** ({len(failed)} of {passed + len(failed)})" if failed else f"passed ({passed})"
    words += f", {advice} advice not taken" if advice else ""
    words += f", {left_out} not offered" if left_out else ""
    skipped = len(scenario.ids("SKIPPED"))
    return words + (f", {skipped} skipped" if skipped else "")


def counted(column: str, scenario: Scenario) -> list[str]:
    """The failed checks that count against a column."""
    failed = scenario.ids("FAILURE")
    if column not in OURS:
        return failed
    excused = CHECKS.keys() | (NEED_A_QUESTION if column == "plain" else set())
    return [check for check in failed if check not in excused]


def worse(tables: Tables, status: str) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Checks that end with this status for us, and with success for the SDK."""
    for revision, columns in tables.items():
        for column in OURS:
            for name, scenario in columns[column].items():
                if name in NOT_OFFERED[column] or (column == "plain" and name in NEED_A_QUESTION):
                    continue
                fine = columns[SDK][name].ids("SUCCESS")
                seen = counted(column, scenario) if status == "FAILURE" else scenario.ids(status)
                for check in scenario.checks:
                    if check["id"] in seen and check["status"] == status and check["id"] in fine:
                        yield revision, column, name, check


def failures(tables: Tables) -> list[str]:
    """What must not be: one line each."""
    return [
        f"{revision}, {column}, {name}: {check['id']}: {check.get('errorMessage', '')}"
        for revision, column, name, check in worse(tables, "FAILURE")
    ]


def differences(tables: Tables) -> str:
    found: dict[tuple[str, str, str], list[str]] = {}
    for status, kind in (("FAILURE", "failed"), ("WARNING", "advice")):
        for revision, column, name, check in worse(tables, status):
            words = str(check.get("errorMessage", "")).replace("|", "\\|")
            found.setdefault((kind, f"{revision}, {name}", f"`{check['id']}`: {words}"), []).append(column)
    if not found:
        return "Nothing.\n"
    lines = ["| | scenario | check | with |", "|---|---|---|---|"]
    lines += [
        f"| {kind} | {scenario} | {check} | {', '.join(columns)} |"
        for (kind, scenario, check), columns in found.items()
    ]
    return "\n".join(lines) + "\n"


def clients(tried: Sequence[Attempt]) -> str:
    lines = ["| client | transport | era | lists and calls |", "|---|---|---|---|"]
    lines += [f"| {a.client} | {a.transport} | {a.era} | {'**no**' if a.problem else 'yes'} |" for a in tried]
    return "\n".join(lines) + "\n"


def label(column: str) -> str:
    return "SDK" if column == SDK else column
