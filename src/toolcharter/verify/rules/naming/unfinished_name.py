import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import UNFINISHED_WORDS

_VERSION = re.compile(r"(?:^|[_\-. ])[vV]\d+(?:[_.]\d+)*(?=$|[_\-. ])|(?<=[a-z])V\d+$")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    version = _VERSION.search(tool.name)
    if version:
        yield Problem(f"{tool.name!r} holds the version {version[0].strip('_-. ')!r}", "name")
    words = server.unprefixed_words(tool)
    for word in words:
        if word in tool.words:
            continue  # explained: npm_deprecated checks whether packages are deprecated
        if word in UNFINISHED_WORDS or (word == "test" and word == words[-1] and words[0] not in _TESTING):
            yield Problem(f"{tool.name!r} holds {word!r}, which reads as unfinished", "name")


_TESTING = frozenset(["run", "test", "create", "get", "generate", "execute", "start", "delete", "add", "list"])
"""Acts on tests: run_test is a finished name."""

RULE = Rule(
    id="NAM008",
    name="unfinished-name",
    family="naming",
    severity="note",
    what="A name that holds a version, or a word such as `test`, `tmp` or `old`.",
    why=(
        "A name must stay as it is once agents know it. "
        "A version belongs to the server, and a tool for trying out does not belong in front of users."
    ),
    fix="Name what the tool does. Offer a changed tool under a new name that says what is different.",
    bad=[{"name": "list_notes_v2"}],
    good=[{"name": "list_archived_notes"}],
    check=check,
)
