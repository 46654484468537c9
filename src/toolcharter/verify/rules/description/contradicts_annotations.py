import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_READ_ONLY = re.compile(
    r"\b(?:(?:is|are|this|a|an)\s+(?:strictly\s+|purely\s+)?read[- ]only(?:\s+(?:tool|operation|query|call|and))?"
    r"|(?:does not|doesn't|never|without)\s+(?:modify|modifying|chang\w+|alter\w*|writ\w+)\s+"
    r"(?:any|anything|data|the data))\b",
    re.IGNORECASE,
)
_DESTROYS = re.compile(
    r"\b(?:permanently\s+(?:delet|remov|eras|destroy)\w*|irreversibly|"
    r"(?:this|it|action|deletion|operation)\s+(?:is irreversible|cannot be undone|can't be undone))\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    read_only, destroys = _READ_ONLY.search(tool.prose), _DESTROYS.search(tool.prose)
    if read_only and tool.hint("destructiveHint") and not tool.hint("readOnlyHint"):
        yield Problem(f"says {read_only[0]!r}, but destructiveHint is true", "description")
    elif read_only and tool.hint("readOnlyHint") is False:
        yield Problem(f"says {read_only[0]!r}, but readOnlyHint is false", "description")
    if destroys and tool.hint("readOnlyHint"):
        yield Problem(f"says {destroys[0]!r}, but readOnlyHint is true", "description")
    elif destroys and tool.hint("destructiveHint") is False:
        yield Problem(f"says {destroys[0]!r}, but destructiveHint is false", "description")


RULE = Rule(
    id="DSC014",
    name="contradicts-annotations",
    family="description",
    severity="error",
    what="The description and the annotations contradict each other about what the tool changes.",
    why=(
        "Clients decide by the annotations whether to ask the user; agents use the description. "
        "One of the two is deceived, perhaps about deleting data."
    ),
    fix="Find out which is true, and correct the other.",
    bad=[{"description": "Permanently deletes the notes of a folder. Use this to tidy up."}],
    good=[{"description": "List the notes of a folder. This is read-only. Returns the id of each."}],
    check=check,
)
