import re
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHER = re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff]")
_MIN_SHARE = 0.25
"""A smaller share of the second script may be a name or two."""


def check(server: Server) -> Iterable[Problem]:
    tools: dict[str, bool] = {}
    for tool in server.tools:
        latin, other = len(_LATIN.findall(tool.prose)), 3 * len(_OTHER.findall(tool.prose))
        if min(latin, other) > _MIN_SHARE * (latin + other):
            yield Problem("mixes two scripts", "description", tool=tool.name)
        elif latin + other:
            tools[tool.name] = latin >= other
    mostly_latin = sum(tools.values()) * 2 >= len(tools)
    for name, is_latin in tools.items():
        if is_latin != mostly_latin:
            yield Problem("is in another script than the other descriptions", "description", tool=name)


RULE = Rule(
    id="DSC023",
    name="mixed-languages",
    family="description",
    severity="note",
    what="Descriptions of one server in two scripts, or one description with both.",
    why="Agents compare descriptions with each other and with the request. This works badly in two languages.",
    fix="Write all descriptions in one language. Models understand English best.",
    bad=[{"name": "list_notes"}, {"name": "get_note", "description": "\u83b7\u53d6\u7b14\u8bb0\u5185\u5bb9"}],
    good=[{"name": "list_notes"}, {"name": "get_note"}],
    check_server=check,
    optional=True,
)
