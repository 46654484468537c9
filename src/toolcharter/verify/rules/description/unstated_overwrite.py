import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WRITING = frozenset(["write", "save", "put", "copy", "move", "rename", "store"])
_ONTO = frozenset(["file", "files", "path", "filepath", "filename", "document", "key", "destination", "dest"])
_OVERWRITE = re.compile(
    r"\b(?:overwrit\w+|replac\w+|exist\w*|append\w*|already|new|creat\w+|if |merge\w*|fails?|"
    r"upsert|updat\w+|conflict\w*)",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or server.name_verb(tool) not in _WRITING:
        return
    things = {*tool.name_words, *(argument.name.lower() for argument in tool.arguments)}
    if not things.isdisjoint(_ONTO) and "overwrite" not in things and not _OVERWRITE.search(tool.prose):
        yield Problem("does not say what happens to what is already there", "description")


RULE = Rule(
    id="DSC012",
    name="unstated-overwrite",
    family="description",
    severity="warning",
    what="A tool that writes, copies or moves to a file or key, and does not say what happens to one that is there.",
    why="Whether the old content is replaced, kept or added to is the one thing that cannot be found out safely.",
    fix="Say it, such as: An existing file is replaced. Or: Fails if the file exists.",
    bad=[{"name": "write_file", "description": "Write text to a file in the folder. Use this to keep a result."}],
    good=[{"name": "write_file", "description": "Write text to a file. An existing file is replaced."}],
    check=check,
)
