"""The parts of a tool's docstring: what it does, when to use it, its arguments, what it returns."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Usage|Examples?|Note|Notes):\s*$")
_ARGUMENT = re.compile(r"^(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """The parts that descriptions are made of."""

    summary: str = ""
    body: str = ""
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    returns: str = ""
    usage: str = ""

    @property
    def text(self) -> str:
        """Summary and body, without the sections."""
        return f"{self.summary}\n\n{self.body}".strip()

    @property
    def when(self) -> str:
        """The paragraphs that say when to use the tool: those that begin with "Use"."""
        return " ".join(_one_line(part) for part in self.body.split("\n\n") if part.lstrip().startswith("Use "))


def parse(function: Callable[..., Any]) -> Docstring:
    """Read a docstring in Google style. Sections are optional."""
    blocks: dict[str, list[str]] = {"": []}
    current = ""
    for line in (inspect.getdoc(function) or "").splitlines():
        if heading := _SECTION.match(line):
            current = heading[1]
            blocks[current] = []
        elif current and line and not line[0].isspace():
            current = ""
            blocks[""].extend(["", line])
        else:
            blocks[current].append(line)
    summary, _, body = "\n".join(blocks[""]).strip().partition("\n\n")
    arguments = blocks.get("Args") or blocks.get("Arguments") or blocks.get("Parameters") or []
    return Docstring(
        summary=_one_line(summary),
        body=body.strip(),
        arguments=_arguments(arguments),
        returns=_one_line("\n".join(blocks.get("Returns", []))),
        usage=inspect.cleandoc("\n".join(["", *blocks.get("Usage", [])])),
    )


def _arguments(lines: list[str]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc("\n".join(["", *lines])).splitlines():
        match = _ARGUMENT.match(line)
        if match:
            name = match[1]
            arguments[name] = match[2]
        elif name and line.strip():
            arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return arguments


def _one_line(text: str) -> str:
    return " ".join(text.split())
