"""Write the generated parts of the docs, or check that they are up to date.

    python docs/generate.py            write
    python docs/generate.py --check    fail when something is out of date

Whole pages: tools of every server, settings, metrics, commands, rules, the picture of the architecture, the dashboard
and alert rules in deploy/, and the marketplace of Claude Code plugins (.claude-plugin/ and plugins/). In pages that are
written by hand, the text between `<!-- begin FILE -->` and `<!-- end -->` is that file, or a part that is made here or
by a server.

A server is found by its entry point. It may have a module `docs` with `PARTS`: functions that return a part of a page,
by the name after `begin`.
"""

import argparse
import contextlib
import functools
import importlib
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import api
import architecture
import installing
import monitoring
import porting
from pydantic.fields import FieldInfo

from mcp_core import Settings
from mcp_core.logs import telemetry
from mcp_core.settings.model import environment_variable, settings_type
from toolcharter.cli import COMMANDS, main
from toolcharter.commands.rules import example_json
from toolcharter.contract.changes import INPUT_KINDS, OUTPUT_KINDS, TOOL_KINDS
from toolcharter.govern.charter import (
    AnswerPolicy,
    Charter,
    OAuthTable,
    OfferPolicy,
    PinPolicy,
    ToolPolicy,
    UpstreamTable,
)
from toolcharter.local import targets
from toolcharter.packaging.plugin import SKILLS, marketplace_files
from toolcharter.packaging.published import read_server
from toolcharter.packaging.reference import tools_page
from toolcharter.verify.rule import Rule
from toolcharter.verify.rules import all_rules
from toolcharter.verify.score import MAX_WITH_ERROR, MAX_WITH_SECURITY_ERROR, REMAINING_SHARES
from toolcharter.verify.selection import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Written by docs/generate.py. Change the source, then run `make docs`. -->\n\n"
INSERTED = re.compile(r"<!-- begin (\S+) -->\n.*?<!-- end -->", re.DOTALL)
LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".yml": "yaml"}
PRECISION_SECTION = "verify.md#how-often-findings-are-right"
NAMESPACE = "io.github.toolcharter"
"""Ours in the MCP registry."""
JUDGEMENTS = ROOT / "docs/rule-judgements.jsonl"


class DocumentedServer(NamedTuple):
    """A server, and what its module `docs` says of it."""

    command: str
    settings: type[Settings]
    parts: Mapping[str, Callable[[], str]]


@functools.cache
def servers() -> tuple[DocumentedServer, ...]:
    """All servers with an entry point. What a server need not say, it has from the framework."""
    commands = {entry.value.partition(".")[0]: entry.name for entry in entry_points(group="console_scripts")}
    found: list[DocumentedServer] = []
    for entry in targets.known().values():
        package = entry.value.partition(".")[0]
        has_docs = importlib.util.find_spec(f"{package}.docs") is not None
        docs = importlib.import_module(f"{package}.docs") if has_docs else None
        settings = settings_type(entry.load())
        found.append(DocumentedServer(commands.get(package, entry.name), settings, getattr(docs, "PARTS", {})))
    return tuple(found)


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Every server command and `toolcharter serve` take the same options, except those that do nothing there.",
        "Each one has an environment variable, and can be set in a file that `--settings-file` names.",
        "An option wins over a variable, a variable over the file, and the file over the default.",
        "`toolcharter config [SERVER]` shows the settings that result, and where each was written.",
        "",
        "```toml",
        "[server]              # for every server",
        'audit = "/var/log/toolcharter/audit.jsonl"',
        'audit_keep = "90d"',
        "",
        "[servers.NAME]        # for one server; it wins over [server]",
        'db = "postgresql://host/name"',
        "```",
        "",
        "An error in the file is reported with its line and key.",
        "",
        *settings_table(Settings.model_fields),
    ]
    for server in servers():
        own = {name: field for name, field in server.settings.model_fields.items() if name not in Settings.model_fields}
        if not own:
            continue
        lines += [
            "",
            f"## {server.command}",
            "",
            f"`{server.command}` has {'this' if len(own) == 1 else 'these'} too.",
            "So have the commands of `toolcharter` that run the server.",
            *(f"It has no `--{name}`." for name in sorted(server.settings.unused)),
            "",
            *settings_table(own),
        ]
    return "\n".join(lines) + "\n"


def settings_table(fields: Mapping[str, FieldInfo]) -> list[str]:
    lines = ["| option | environment variable | default | what it does |", "|---|---|---|---|"]
    for name, field in fields.items():
        default = "" if field.default in (None, ()) else f"`{field.default}`"
        option = f"`--{name.replace('_', '-')}`"
        lines.append(f"| {option} | `{environment_variable(name)}` | {default} | {field.description} |")
    return lines


def metrics_page() -> str:
    lines = [
        "# Metrics and spans",
        "",
        "Served at `/metrics` in Prometheus' text format, where dots become underscores.",
        "Where an OpenTelemetry SDK is set up, the same figures are emitted as OpenTelemetry metrics.",
        "",
        "Each has the label `server`, besides those in the table.",
        "",
        "| metric | kind | labels | what it counts |",
        "|---|---|---|---|",
        *(_metric_row(name, metric) for name, metric in telemetry.METRICS.items()),
        "",
        f"Every call is one span, named `{telemetry.SPAN}`, in the caller's trace.",
        "",
        "Inside it, in the same trace:",
        "",
        "| span | what it is |",
        "|---|---|",
        *(f"| `{name}` | {words} |" for name, words in telemetry.CHILD_SPANS.items()),
        "",
        "| attribute of a call | what it says |",
        "|---|---|",
        *(f"| `{name}` | {words} |" for name, words in telemetry.SPAN_ATTRIBUTES.items()),
    ]
    return "\n".join(lines) + "\n"


def _metric_row(name: str, metric: telemetry.Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{name}` | {metric.kind} | {labels} | {metric.description} |"


EXIT_CODES = [
    "## Exit codes",
    "",
    "The same for `toolcharter` and for each server:",
    "",
    "| code | what it means |",
    "|---|---|",
    "| 0 | success |",
    "| 1 | failure: a tool failed, something was found, or a server could not be reached, loaded or started |",
    "| 2 | usage: an option or a value is not valid, or a server, tool, command or file that is named does not exist |",
    "| 130 | ended with Ctrl+C |",
]


def commands_page() -> str:
    lines = ["# Commands", "", *EXIT_CODES, ""]
    for words in ([], *([name] for name in COMMANDS)):
        out = io.StringIO()
        argv = [*words, "--help"]
        # A fixed width, so that the page does not depend on the terminal it was made in.
        with (
            mock.patch.dict(os.environ, COLUMNS="100"),
            contextlib.redirect_stdout(out),
            contextlib.suppress(SystemExit),
        ):
            main(argv)
        lines += [f"## toolcharter {' '.join(words)}".rstrip(), "", "```text", out.getvalue().rstrip(), "```", ""]
    return "\n".join(lines)


def rules_page() -> str:
    rules = all_rules()
    judged = judgements()
    lines = [
        "# Rules",
        "",
        f"The {len(rules)} rules of [`toolcharter verify`](verify.md), by family.",
        "An example shows only the fields that its rule is about.",
        f"Precision is how many findings were right [on servers that no rule was tuned on]({PRECISION_SECTION}).",
        "",
    ]
    for family in FAMILIES:
        members = [rule for rule in rules if rule.family == family]
        if members:
            lines += [f"## {family.capitalize()}", "", *family_summary(members[0]), ""]
            lines += ["| rule | | severity | what it finds |", "|---|---|---|---|"]
            lines += [f"| [{r.id}](#{r.id.lower()}-{r.name}) | {r.name} | {r.severity} | {r.what} |" for r in members]
            for rule in members:
                lines += ["", *rule_section(rule, [one for one in judged if one["rule"] == rule.id])]
            lines.append("")
    return "\n".join([*lines, *score_section()]) + "\n"


def family_summary(rule: Rule) -> list[str]:
    """The first line of the docstring of a family's package."""
    package = importlib.import_module(f"toolcharter.verify.rules.{rule.family}")
    return (package.__doc__ or "").strip().splitlines()[:1]


def judgements() -> list[dict[str, Any]]:
    """The findings that were judged by reading, with what was judged."""
    return [json.loads(line) for line in JUDGEMENTS.read_text(encoding="utf-8").splitlines()]


def rule_precision() -> str:
    """The table of judged findings, by severity."""
    judged = judgements()
    lines = ["| | judged | right | |", "|---|---:|---:|---:|"]
    for severity in ("error", "warning"):
        right = [one["right"] for one in judged if one["severity"] == severity]
        lines.append(f"| {severity}s | {len(right)} | {sum(right)} | {sum(right) / len(right):.0%} |")
    return "\n".join(lines)


def rule_section(rule: Rule, judged: list[dict[str, Any]]) -> list[str]:
    optional = " It runs only if it is selected by its id or name." if rule.optional else ""
    lines = [f"### {rule.id} {rule.name}", "", f"**{rule.severity.capitalize()}.** {rule.what}{optional}", ""]
    lines += [rule.why, ""]
    if rule.bad:
        lines += ["Found:", "", *fenced(example_json(rule.bad)), ""]
        lines += ["Not found:", "", *fenced(example_json(rule.good)), ""]
    lines.append(f"**Fix.** {rule.fix}")
    if judged:
        lines += ["", f"Precision: {sum(one['right'] for one in judged)} of {len(judged)} findings were right."]
    return lines


def fenced(text: str) -> list[str]:
    """A block of JSON; the fence is longer if the text contains one."""
    fence = "````" if "```" in text else "```"
    return [f"{fence}json", text, fence]


def score_section() -> list[str]:
    lines = ["## Scores", "", "The score of a tool is 100, reduced by each finding:", ""]
    lines += [
        "| finding | remaining share |",
        "|---|---:|",
        *(f"| {severity} | {share:.0%} |" for severity, share in REMAINING_SHARES.items()),
        "",
    ]
    lines += [
        "The second finding of one rule on the same tool counts half, the third a third, and so on.",
        "The score of a server is the mean of its tools, reduced by findings about the server as a whole.",
        f"With an error it is at most {MAX_WITH_ERROR}, with a security error at most {MAX_WITH_SECURITY_ERROR}.",
    ]
    return lines


def pages() -> dict[Path, str]:
    """Every generated page, and every page with insertions."""
    made = {
        ROOT / "docs/api.md": NOTE + api.api_page(),
        ROOT / "docs/settings.md": NOTE + settings_page(),
        ROOT / "docs/metrics.md": NOTE + metrics_page(),
        ROOT / "docs/commands.md": NOTE + commands_page(),
        ROOT / "docs/rules.md": NOTE + rules_page(),
        ROOT / "docs/architecture.svg": architecture.draw(),
        ROOT / "deploy/grafana/toolcharter.json": monitoring.dashboard(),
        ROOT / "deploy/prometheus/toolcharter-alerts.yml": monitoring.alert_rules(),
        ROOT / "src/toolcharter/govern/charter.schema.json": charter_schema(),
    }
    for name in targets.known():
        made[ROOT / f"docs/tools/{name}.md"] = NOTE + tools_page(targets.load(name, Settings()))
    published = [read_server(name, namespace=NAMESPACE) for name in targets.installed()]
    made |= {ROOT / place: text for place, text in marketplace_files(published).items()}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if path not in made:
            made[path] = INSERTED.sub(insertion, path.read_text(encoding="utf-8"))
    return made


def kinds_of_change() -> str:
    """The table of all changes that `toolcharter diff` finds."""
    lines: list[str] = []
    for title, kinds in (("Tools", TOOL_KINDS), ("Arguments", INPUT_KINDS), ("Results", OUTPUT_KINDS)):
        lines += ["", f"### {title}", "", "| kind | effect | what changed | needs |", "|---|---|---|---|"]
        lines += [f"| `{name}` | {kind.effect} | {kind.what} | {kind.rule.needs} |" for name, kind in kinds.items()]
    return "\n".join(lines).strip()


def charter_keys() -> str:
    """The keys of charter.toml."""
    lines: list[str] = []
    tables = {
        "[upstream.NAME]": UpstreamTable,
        "[upstream.NAME.oauth]": OAuthTable,
        '[tools."SERVER:TOOL"]': ToolPolicy,
        '[tools."SERVER:TOOL".answers]': AnswerPolicy,
        '[prompts."SERVER:PROMPT"] and [resources."SERVER:ADDRESS"]': OfferPolicy,
        "[pins]": PinPolicy,
    }
    for title, model in tables.items():
        lines += ["", f"### `{title}`", "", "| key | default | |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            default = "" if field.default in (None, {}, []) else f"`{str(field.default).lower()}`"
            lines.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(lines).strip()


def charter_schema() -> str:
    """The JSON Schema of charter.toml, for editors."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Charter.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "charter-keys": charter_keys,
    "install-blocks": installing.blocks,
    "install-files": installing.files,
    "install-servers": installing.servers,
    "kinds-of-change": kinds_of_change,
    "porting-answers": porting.answers,
    "porting-scores": porting.scores,
    "rule-precision": rule_precision,
}
for server in servers():
    PARTS |= server.parts


def insertion(found: re.Match[str]) -> str:
    if found[1] in PARTS:
        return f"<!-- begin {found[1]} -->\n{PARTS[found[1]]()}\n<!-- end -->"
    path = ROOT / found[1]
    text = path.read_text(encoding="utf-8").rstrip()
    return f"<!-- begin {found[1]} -->\n```{LANGUAGES.get(path.suffix, 'text')}\n{text}\n```\n<!-- end -->"


def run(*, check: bool) -> int:
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    left_over = [path for path in ROOT.glob(SKILLS) if path not in made]
    if check:
        for path in (*stale, *left_over):
            print(f"{path.relative_to(ROOT)} is out of date; run `make docs` and commit what it writes")
        return 1 if stale or left_over else 0
    for path in left_over:
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail when something is out of date")
    sys.exit(run(check=parser.parse_args().check))
