"""The arguments that a description documents, in a section `Args:` as in docstrings."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"^[ \t]*(?:args|arguments|parameters|params)[ \t]*:[ \t]*$", re.IGNORECASE | re.MULTILINE)
_ENTRY = re.compile(
    r"([ \t]*)(?:[-*][ \t]{1,3})?[`*]{0,2}([A-Za-z_]\w*)[`*]{0,2}[ \t]{0,3}"
    r"(?:\(([^)\n]*)\)[`*]{0,2}[ \t]{0,3})?:(?=\s|$)(.*)"
)
_END = re.compile(
    r"[ \t]*(?:returns?|raises|yields|examples?|notes?|usage|output|errors?|warnings?|see also)\b.*:", re.IGNORECASE
)
_NOT_ARGUMENTS = frozenset(
    ["self", "ctx", "context", "args", "kwargs", "none", "note", "default", "example", "examples"]
)


class DocumentedArgument(NamedTuple):
    """An argument in the section `Args:`."""

    name: str
    text: str


def documented_arguments(description: str) -> Iterator[DocumentedArgument]:
    """The entries of the section `Args:`, one on each line."""
    heading = _HEADING.search(description)
    if heading is None:
        return
    depth = -1
    for line in description[heading.end() :].lstrip("\n").splitlines():
        if _END.match(line):
            return
        entry = _ENTRY.match(line)
        if entry is None:
            if not line.strip() and depth >= 0:
                return
            continue
        indent = len(entry[1].expandtabs())
        depth = indent if depth < 0 else depth
        if indent < depth:
            return
        if indent == depth and entry[2].lower() not in _NOT_ARGUMENTS:
            yield DocumentedArgument(entry[2], f"{entry[3] or ''} {entry[4]}".strip())
