from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_ENDS = (".", "!", "?", ":", ")", "`", '"', "。", "\uff01", "\uff1f", "…", "}", "]")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    text = tool.prose
    if not text:
        return
    if text[0].islower():
        yield Problem(f"begins with a lower-case letter: {text[:30]!r}", "description")
    elif not text.endswith(_ENDS):
        yield Problem(f"does not end with a full stop: {text[-30:]!r}", "description")


RULE = Rule(
    id="DSC020",
    name="no-sentences",
    family="description",
    severity="note",
    what="A description that does not begin with a capital letter, or does not end with a full stop.",
    why="Clients join descriptions with other text. Sentences stay separate, fragments run together.",
    fix="Write complete sentences.",
    bad=[{"description": "list all notes of a folder, with the id and title of each"}],
    good=[{"description": "List all notes of a folder. Returns the id and title of each."}],
    check=check,
    optional=True,
)
