import re
from collections.abc import Iterable, Iterator
from datetime import date

from mcp_core.calling.render import META
from mcp_core.declare.checks import NOTICE
from toolcharter.verify.declared import declared
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool

_PLACE = f"_meta.{META}deprecated"
_SENTENCE = re.compile(r"Deprecated since (\S+); use (\S+) instead\. Removal: (\S+)\.", re.IGNORECASE)


def check(tool: Tool, server: Server) -> Iterable[Found]:
    said = declared(tool, "deprecated")
    if said is None:
        return
    match = _SENTENCE.fullmatch(said) if isinstance(said, str) else None
    if match is None:
        yield Found(f"{str(said)[:60]!r} lacks since, replacement or removal date", _PLACE)
        return
    since, replacement, removal = match.groups()
    if not any(name == replacement or name.endswith(("_" + replacement, "-" + replacement)) for name in server.by_name):
        yield Found(f"its replacement {replacement!r} is no tool of this server", _PLACE)
    yield from _dates(since, removal)


def _dates(since: str, removal: str) -> Iterator[Found]:
    try:
        notice = date.fromisoformat(removal) - date.fromisoformat(since)
    except ValueError:
        yield Found(f"{since!r} and {removal!r} are not both ISO dates", _PLACE)
        return
    if notice < NOTICE:
        yield Found(f"is removed {notice.days} days after it was deprecated, on {removal}", _PLACE)


RULE = Rule(
    id="CHA004",
    name="deprecation-notice",
    family="charter",
    severity="warning",
    what="A deprecated tool does not say since when, what replaces it, and when it goes, at least ninety days later.",
    why="Agents and their prompts change slowly. A tool that goes without notice, or without a successor, breaks them.",
    fix="Give `Deprecation(since, replacement, removal_date)`: ISO dates ninety days apart, and a tool that is there.",
    bad=[{"_meta": {META + "deprecated": "Deprecated since 2026-09-01; use list_notes instead. Removal: 2026-10-01."}}],
    good=[
        {"_meta": {META + "deprecated": "Deprecated since 2026-09-01; use list_notes instead. Removal: 2027-03-01."}}
    ],
    check=check,
)
