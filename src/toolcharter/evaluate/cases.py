"""Cases: what a person says, and the tool to select for it. Read from JSON lines, a JSON list or CSV."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcp_core.declare.listed import ListedTool

HALVES = ("tuning", "held-out")
_COLUMNS = ("utterance", "tool", "arguments")


class InvalidCases(Exception):
    """The case file cannot be used. The message names the line."""


@dataclass(frozen=True, slots=True)
class Case:
    """`tool` is None if no tool is expected. `arguments` has those that are compared; a call may have more."""

    utterance: str
    tool: str | None
    arguments: Mapping[str, Any] | None = None


def read_cases(file: Path) -> list[Case]:
    """Read all cases of a file. Its suffix decides the format."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidCases(f"{file} cannot be read: {error}") from None
    read = {".csv": _read_csv, ".json": _read_json}.get(file.suffix.lower(), _read_lines)
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for place, fields in read(text, file):
        case = _to_case(fields, place)
        if case.utterance in seen:
            raise InvalidCases(
                f"{place}: {case.utterance!r} is already at {seen[case.utterance]}. Remove one of the two."
            )
        seen[case.utterance] = place
        cases.append(case)
    if not cases:
        raise InvalidCases(
            f'{file} has no cases. A case is a line such as {{"utterance": "add milk", "tool": "add_task"}}.'
        )
    return cases


def check_tools(cases: Iterable[Case], tools: Sequence[ListedTool]) -> None:
    """Check that each case expects a tool that exists; otherwise it could never be correct."""
    names = [tool.name for tool in tools]
    for case in cases:
        if case.tool is not None and case.tool not in names:
            raise InvalidCases(
                f"The case {case.utterance!r} expects {case.tool!r}, which the server does not have. "
                f"Its tools: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}."  # noqa: PLR2004 - enough to read
            )


def in_half(case: Case, half: str) -> bool:
    """Whether a case is in this half. The utterance alone decides, so new cases do not move the others."""
    digest = hashlib.sha256(f"toolcharter:{case.utterance}".encode()).digest()
    return HALVES[digest[0] % 2] == half


def digest(cases: Iterable[Case]) -> str:
    """A digest that is the same for two runs on the same cases."""
    text = json.dumps([[case.utterance, case.tool] for case in cases], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_lines(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            place = f"{file}, line {number}"
            yield place, _parse(line, place)


def _read_json(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    value = _parse(text, str(file))
    if not isinstance(value, list):
        raise InvalidCases(f"{file} must be a list of cases. For one case on each line, use a .jsonl file.")
    for number, entry in enumerate(cast(list[Any], value), 1):
        yield f"{file}, entry {number}", entry


def _read_csv(text: str, file: Path) -> Iterator[tuple[str, Any]]:
    """Read CSV. An empty tool means that none is expected; arguments are a JSON object."""
    rows = csv.DictReader(io.StringIO(text))
    for row in rows:
        place = f"{file}, line {rows.line_num}"
        fields: dict[str, Any] = {key: value for key, value in row.items() if value}
        if "tool" not in (rows.fieldnames or ()):
            raise InvalidCases(f"{file}, line 1: the columns are {rows.fieldnames}, but must be {', '.join(_COLUMNS)}.")
        if "arguments" in fields:
            fields["arguments"] = _parse(fields["arguments"], place)
        yield place, {"tool": None} | fields


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidCases(f"{place} is not valid JSON: {error}") from None


def _to_case(value: Any, place: str) -> Case:
    if not isinstance(value, dict):
        raise InvalidCases(
            f'{place}: a case is an object such as {{"utterance": "...", "tool": "..."}}, not {value!r}.'
        )
    fields = cast(dict[str, Any], value)
    utterance, tool, arguments = (fields.get(name) for name in _COLUMNS)
    if unknown := sorted(map(str, set(fields) - set(_COLUMNS))):
        raise InvalidCases(f"{place}: unknown field {unknown[0]!r}. A case has {', '.join(_COLUMNS)}.")
    if not isinstance(utterance, str) or not utterance.strip():
        raise InvalidCases(f"{place}: utterance must be what a person says, not {utterance!r}.")
    if "tool" not in fields or not isinstance(tool, str | None) or tool == "":
        raise InvalidCases(f"{place}: tool must be the name of a tool, or null if none is expected, not {tool!r}.")
    if not isinstance(arguments, dict | None):
        raise InvalidCases(f"{place}: arguments must be an object, not {arguments!r}.")
    return Case(utterance.strip(), tool, cast(dict[str, Any] | None, arguments))
