import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import UNFINISHED_WORDS

_VERSION = re.compile(r"(?:^|[_\-. ])[vV]\d+(?:[_.]\d+)*(?=$|[_\-. ])|(?<=[a-z])V\d+$")


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    version = _VERSION.search(tool.name)
    if version:
        yield Problem(f"{tool.name!r} contains the version {version[0].strip('_-. ')!r}", "name")
    words = server.unprefixed_words(tool)
    for word in words:
        if word in tool.words:
            continue  # explained: npm_deprecated checks whether packages are deprecated
        if word in UNFINISHED_WORDS or (word == "test" and word == words[-1] and words[0] not in _TEST_VERBS):
            yield Problem(f"{tool.name!r} contains {word!r}, so it looks unfinished", "name")


_TEST_VERBS = frozenset(["run", "test", "create", "get", "generate", "execute", "start", "delete", "add", "list"])
"""Verbs for tests: run_test is a finished name."""

RULE = Rule(
    id="NAM008",
    name="unfinished-name",
    family="naming",
    severity="note",
    what="A name with a version, or a word such as `test`, `tmp` or `old`.",
    why=(
        "A name must not change once agents know it. "
        "A version belongs to the server, and users should not see test tools."
    ),
    fix="Name what the tool does. Give a changed tool a new name that says what is different.",
    bad=[{"name": "list_notes_v2"}],
    good=[{"name": "list_archived_notes"}],
    check=check,
)
