import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WRITING = frozenset(["write", "save", "put", "copy", "move", "rename", "store"])
_TARGETS = frozenset(["file", "files", "path", "filepath", "filename", "document", "key", "destination", "dest"])
_OVERWRITE = re.compile(
    r"\b(?:overwrit\w+|replac\w+|exist\w*|append\w*|already|new|creat\w+|if |merge\w*|fails?|"
    r"upsert|updat\w+|conflict\w*)",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.is_english or server.name_verb(tool) not in _WRITING:
        return
    words = {*tool.name_words, *(argument.name.lower() for argument in tool.arguments)}
    if not words.isdisjoint(_TARGETS) and "overwrite" not in words and not _OVERWRITE.search(tool.prose):
        yield Problem("does not say what happens to existing content", "description")


RULE = Rule(
    id="DSC012",
    name="unstated-overwrite",
    family="description",
    severity="note",
    what="A tool that writes, copies or moves to a file or key does not say what happens to an existing one.",
    why="An agent cannot safely find out whether the old content is replaced, kept or extended.",
    fix="Say it, such as: An existing file is replaced. Or: Fails if the file exists.",
    bad=[{"name": "write_file", "description": "Write text to a file in the folder. Use this to keep a result."}],
    good=[{"name": "write_file", "description": "Write text to a file. An existing file is replaced."}],
    check=check,
)
