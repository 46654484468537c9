"""A case: what a person says, and the tool that serves it. Read from JSON lines, a JSON list or CSV."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcp_core.declare.listed import ListedTool

_COLUMNS = ("utterance", "tool", "arguments")


class BadCases(Exception):
    """The case file cannot be used; the message names the line."""


@dataclass(frozen=True, slots=True)
class Case:
    """`tool` is None where no tool serves. `arguments` holds those that are looked at; a call may carry more."""

    utterance: str
    tool: str | None
    arguments: Mapping[str, Any] | None = None


def read_cases(file: Path) -> list[Case]:
    """All cases of a file; its ending says which form it has."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCases(f"{file} cannot be read: {error}") from None
    read = {".csv": _csv, ".json": _json}.get(file.suffix.lower(), _lines)
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for place, fields in read(text, file):
        case = _case(fields, place)
        if case.utterance in seen:
            raise BadCases(
                f"{place}: {case.utterance!r} stands at {seen[case.utterance]} already; keep one of the two."
            )
        seen[case.utterance] = place
        cases.append(case)
    if not cases:
        raise BadCases(
            f'{file} has no cases. A case is a line such as {{"utterance": "add milk", "tool": "add_task"}}.'
        )
    return cases


def check_tools(cases: Iterable[Case], tools: Sequence[ListedTool]) -> None:
    """A case must expect a tool that exists: otherwise it could never be right."""
    names = [tool.name for tool in tools]
    for case in cases:
        if case.tool is not None and case.tool not in names:
            raise BadCases(
                f"The case {case.utterance!r} expects {case.tool!r}, which the server does not have. "
                f"It has: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}."  # noqa: PLR2004 - enough to read
            )


def digest(cases: Iterable[Case]) -> str:
    """Tells whether two runs looked at the same cases."""
    text = json.dumps([[case.utterance, case.tool] for case in cases], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _lines(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            place = f"{file}, line {number}"
            yield place, _parsed(line, place)


def _json(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    value = _parsed(text, str(file))
    if not isinstance(value, list):
        raise BadCases(f"{file} must hold a list of cases, or one case a line in a .jsonl file.")
    for number, entry in enumerate(cast(list[Any], value), 1):
        yield f"{file}, entry {number}", entry


def _csv(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    """An empty tool means that none serves; arguments are a JSON object."""
    rows = csv.DictReader(io.StringIO(text))
    for row in rows:
        place = f"{file}, line {rows.line_num}"
        fields: dict[str, Any] = {key: value for key, value in row.items() if value}
        if "tool" not in (rows.fieldnames or ()):
            raise BadCases(f"{file}, line 1: the columns are {rows.fieldnames}, but must be {', '.join(_COLUMNS)}.")
        if "arguments" in fields:
            fields["arguments"] = _parsed(fields["arguments"], place)
        yield place, {"tool": None} | fields


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadCases(f"{place} is not valid JSON: {error}") from None


def _case(value: Any, place: str) -> Case:
    if not isinstance(value, dict):
        raise BadCases(f'{place}: a case is an object such as {{"utterance": "...", "tool": "..."}}, not {value!r}.')
    fields = cast(dict[str, Any], value)
    utterance, tool, arguments = (fields.get(name) for name in _COLUMNS)
    if unknown := sorted(map(str, set(fields) - set(_COLUMNS))):
        raise BadCases(f"{place}: {unknown[0]!r} is unknown; a case has {', '.join(_COLUMNS)}.")
    if not isinstance(utterance, str) or not utterance.strip():
        raise BadCases(f"{place}: utterance must be what a person says, not {utterance!r}.")
    if "tool" not in fields or not isinstance(tool, str | None) or tool == "":
        raise BadCases(f"{place}: tool must be the name of a tool, or null where none serves, not {tool!r}.")
    if not isinstance(arguments, dict | None):
        raise BadCases(f"{place}: arguments must be an object, not {arguments!r}.")
    return Case(utterance.strip(), tool, cast(dict[str, Any] | None, arguments))
