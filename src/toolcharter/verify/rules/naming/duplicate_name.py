from collections import Counter
from collections.abc import Iterable

from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(server: Server) -> Iterable[Problem]:
    for name, count in Counter(tool.name for tool in server.tools).items():
        if count > 1:
            yield Problem(f"{count} tools are named {name!r}", "name", tool=name)


RULE = Rule(
    id="NAM001",
    name="duplicate-name",
    family="naming",
    severity="error",
    what="Two tools with the same name.",
    why="A call names a tool, and cannot say which of the two. Most clients keep only the last one.",
    fix="Rename one of them.",
    bad=[{"name": "list_notes"}, {"name": "list_notes"}],
    good=[{"name": "list_notes"}, {"name": "list_folders"}],
    check_server=check,
)
