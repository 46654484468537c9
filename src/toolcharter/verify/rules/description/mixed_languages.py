import re
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHER = re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff]")
_MIXED = 0.25
"""So much of the lesser script, in letters, is more than a name or two."""


def check(server: Server) -> Iterable[Problem]:
    latin: dict[str, bool] = {}
    for tool in server.tools:
        ours, others = len(_LATIN.findall(tool.prose)), 3 * len(_OTHER.findall(tool.prose))
        if min(ours, others) > _MIXED * (ours + others):
            yield Problem("mixes two scripts in one text", "description", tool=tool.name)
        elif ours + others:
            latin[tool.name] = ours >= others
    most = sum(latin.values()) * 2 >= len(latin)
    for name, is_latin in latin.items():
        if is_latin != most:
            yield Problem("is in another script than those of the other tools", "description", tool=name)


RULE = Rule(
    id="DSC023",
    name="mixed-languages",
    family="description",
    severity="note",
    what="Descriptions of one server in two scripts, or one description in both.",
    why="Agents compare descriptions with each other and with what was asked. Two languages compare badly.",
    fix="Write all descriptions in one language; English is understood best.",
    bad=[{"name": "list_notes"}, {"name": "get_note", "description": "\u83b7\u53d6\u7b14\u8bb0\u5185\u5bb9"}],
    good=[{"name": "list_notes"}, {"name": "get_note"}],
    check_server=check,
    optional=True,
)
