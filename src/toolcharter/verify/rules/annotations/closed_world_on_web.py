import re
from collections.abc import Iterable

from toolcharter.verify.model import HINTS, Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WEB = re.compile(
    r"\b(?:(?:search|fetch|brows|scrap|crawl|download|retriev)\w* (?:\w+ ){0,4}?"
    r"(?:web|internet|websites?|web ?pages?|urls?)|(?:from|across|on|over) the (?:web|internet))\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.hint("openWorldHint") or all(tool.hint(name) is None for name in HINTS):
        return  # another rule finds tools without any hint
    if found := _WEB.search(tool.prose):
        state = "missing" if tool.hint("openWorldHint") is None else "false"
        yield Problem(f"says {found[0]!r}, but openWorldHint is {state}", "annotations.openWorldHint")


RULE = Rule(
    id="ANN007",
    name="closed-world-on-web",
    family="annotations",
    severity="note",
    what="A tool that fetches from the web has hints, but openWorldHint is not true.",
    why="Content from the web may contain instructions from anyone. Clients use this hint to guard against them.",
    fix="Set openWorldHint to true.",
    bad=[{"description": "Search the web for notes on a subject. Use this for news. Returns titles, at most 10."}],
    good=[{"description": "Search the notes of the user for a subject. Returns titles, at most 10."}],
    check=check,
)
