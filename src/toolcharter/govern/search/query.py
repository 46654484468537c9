"""The query of an agent, in the form in which tools are searched."""

import re

from toolcharter.evaluate.words import content_words

_PLACE = re.compile(r"https?://\S+|(?<![\w.~-])[\w.~-]*+/[\w./-]+|(?<![\w-])[\w-]++\.[a-z][a-z0-9]{1,4}\b")
_FORMATS = {
    "csv": "csv table",
    "docx": "word document",
    "html": "html web page",
    "jpg": "image",
    "md": "markdown",
    "mp3": "audio",
    "mp4": "video",
    "png": "image",
    "pptx": "powerpoint presentation",
    "wav": "audio",
    "xlsx": "excel spreadsheet",
}
"""The common name of a file with this ending."""
_CLAUSE_BREAK = re.compile(r"(?<=[.!?;:])\s+|,\s+|\band then\b|\bthen\b|\band\b")
_MAX_CLAUSES, _MAX_LINES = 4, 6


def simplify(query: str) -> str:
    """The query with what an address or a path is, in place of the address or path itself."""
    return _PLACE.sub(_kind_of_place, query)


def _kind_of_place(match: re.Match[str]) -> str:
    place = match[0]
    if place.startswith("http"):
        return " url web page "
    ending = place.rpartition(".")[2].lower() if "." in place else ""
    return f" {_FORMATS.get(ending, ending if ending.isalnum() else '')} file "


def parts(query: str) -> list[str]:
    """The parts of a query that asks for several things: its lines, or the clauses of its one line."""
    lines = query.splitlines()
    found = lines if len(lines) > 1 else [clause.strip(" ,.") for clause in _CLAUSE_BREAK.split(query)]
    found = [part for part in found if len(content_words(part)) > 1]
    return found[: _MAX_LINES if len(lines) > 1 else _MAX_CLAUSES] if len(found) > 1 else []
