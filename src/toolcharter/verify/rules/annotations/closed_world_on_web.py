import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.rules.annotations.missing_annotations import HINTS

_WEB = re.compile(
    r"\b(?:(?:search|fetch|brows|scrap|crawl|download|retriev)\w* (?:\w+ ){0,4}?"
    r"(?:web|internet|websites?|web ?pages?|urls?)|(?:from|across|on|over) the (?:web|internet))\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.hint("openWorldHint") or all(tool.hint(name) is None for name in HINTS):
        return  # a tool without any hint is a matter of another rule
    if found := _WEB.search(tool.prose):
        state = "missing" if tool.hint("openWorldHint") is None else "false"
        yield Problem(f"says {found[0]!r}, but openWorldHint is {state}", "annotations.openWorldHint")


RULE = Rule(
    id="ANN007",
    name="closed-world-on-web",
    family="annotations",
    severity="note",
    what="A tool that fetches from the web, whose other hints are given but not openWorldHint.",
    why="What comes from the web may be anyone's text. Clients that guard against that go by this hint.",
    fix="Set openWorldHint to true.",
    bad=[{"description": "Search the web for notes on a subject. Use this for news. Returns titles, at most 10."}],
    good=[{"description": "Search the notes of the user for a subject. Returns titles, at most 10."}],
    check=check,
)
