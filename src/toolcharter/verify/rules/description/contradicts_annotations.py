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


_NEGATION = re.compile(r"\b(?:neither|none|nor|not|nothing|no)\b[^.;]*\Z", re.IGNORECASE)


def _is_negated(text: str, found: re.Match[str]) -> bool:
    """Whether the sentence denies it, as in `neither action is read-only`."""
    return _NEGATION.search(text, 0, found.start()) is not None


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    destroys = _DESTROYS.search(tool.prose)
    read_only = next((found for found in _READ_ONLY.finditer(tool.prose) if not _is_negated(tool.prose, found)), None)
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
    good=[
        {"description": "List the notes of a folder. This is read-only. Returns the id of each."},
        {
            "description": "List or delete notes. Neither action is read-only: the first one writes an index.",
            "annotations": {"readOnlyHint": False, "destructiveHint": True},
        },
    ],
    check=check,
)
