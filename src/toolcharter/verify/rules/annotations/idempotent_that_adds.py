import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_ADDING = frozenset(
    {"append", "create", "insert", "send", "post", "publish", "duplicate", "clone", "buy", "pay", "order"}
)
"""Not `add` and `push`: staging a file, or pushing a commit, twice changes nothing."""
_ONCE = re.compile(
    r"\b(?:already|exist\w*|ensure\w*|upsert|idempoten\w+|same \w+ (?:twice|again)|no effect|only once|"
    r"replac\w+|overwrit\w+)",
    re.IGNORECASE,
)


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    if not tool.hint("idempotentHint") or tool.hint("readOnlyHint"):
        return
    verb = server.name_verb(tool)
    if verb in _ADDING and server.effect(tool) in {"creating", "sending"} and not _ONCE.search(tool.prose):
        yield Problem(f"idempotentHint is true, but the name says {verb!r}", "annotations.idempotentHint")


RULE = Rule(
    id="ANN006",
    name="idempotent-that-adds",
    family="annotations",
    severity="warning",
    what="A tool that creates, appends or sends something is marked idempotent, but does not say why.",
    why="Clients repeat an idempotent call if its result is lost. Then there are two notes, or two letters.",
    fix="Set idempotentHint to false, or say in the description why a second call changes nothing.",
    bad=[{"name": "create_note", "annotations": {"readOnlyHint": False, "idempotentHint": True}}],
    good=[{"name": "create_note", "annotations": {"readOnlyHint": False, "idempotentHint": False}}],
    check=check,
)
