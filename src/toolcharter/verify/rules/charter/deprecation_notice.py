import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any, cast

from mcp_core.declare.charter import META, NOTICE
from toolcharter.verify.declaration import declared_value
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?")
_PLACE = f"_meta.{META}deprecated"


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    notice = declared_value(tool, "deprecated")
    if notice is None:
        return
    fields = cast(dict[str, Any], notice) if isinstance(notice, dict) else {}
    since, replacement, removal = (fields.get(name) for name in ("since", "replacement", "removalDate"))
    if not (isinstance(since, str) and isinstance(replacement, str) and isinstance(removal, str)):
        yield Problem(f"{json.dumps(notice)[:60]} has no since, replacement or removalDate", _PLACE)
        return
    if not any(name == replacement or name.endswith(("_" + replacement, "-" + replacement)) for name in server.by_name):
        yield Problem(f"its replacement {replacement!r} is not a tool of this server", _PLACE)
    yield from _dates(since, removal)


def _dates(since: str, removal: str) -> Iterator[Problem]:
    try:
        due = date.fromisoformat(removal)
        notice = None if _VERSION.fullmatch(since) else due - date.fromisoformat(since)
    except ValueError:
        yield Problem(f"{since!r} is not a version or an ISO date, or {removal!r} is not an ISO date", _PLACE)
        return
    if notice is not None and notice < NOTICE:
        yield Problem(f"is removed {notice.days} days after it was deprecated, on {removal}", _PLACE)
    if due <= datetime.now(UTC).date():
        yield Problem(f"was to be removed on {removal}, and is still there", _PLACE)


_NOTICE = {"since": "2026-09-01", "replacement": "list_notes", "removalDate": "9999-03-01"}

RULE = Rule(
    id="CHA004",
    name="deprecation-notice",
    family="charter",
    severity="warning",
    what="A deprecated tool does not say since when, what replaces it, or when it is removed: 90 days later or more. "
    "Or the day of its removal has passed.",
    why="Agents and prompts change slowly. A tool that is removed without notice or replacement breaks them.",
    fix="Declare `Deprecation(since, replacement, removal_date)`, with ISO dates (since may be a version) and an "
    "existing tool. Remove the tool when its day has come.",
    bad=[{"_meta": {META + "deprecated": _NOTICE | {"removalDate": "2026-10-01"}}}],
    good=[{"_meta": {META + "deprecated": _NOTICE}}],
    check=check,
)
