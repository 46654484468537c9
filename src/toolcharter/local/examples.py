"""Runs the examples that tools declare, each in a server of its own, and compares the results with the declared ones.

In an expected result a wildcard stands for a value that differs each time:

    <uuid>    a UUID                <number>  any number
    <time>    an ISO 8601 time      <any>     anything, as long as it is there
    <text>    any text
"""

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Answer, Request
from mcp_core.calling.render import Format, value_in
from mcp_core.declare.spec import Example, ToolSpec
from mcp_core.settings.model import Settings
from mcp_core.text import json_text

Build = Callable[[Settings], App]

_CALLER = Caller(key="example", grants=frozenset({"*"}))
"""May call every tool: an example shows what a tool does, not what it refuses."""
_MAX_QUOTE = 200


class CannotRunExamples(Exception):
    """The examples of a server cannot be run. The message says why."""


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """The result of one example, with one sentence for each difference from the expected result."""

    tool: str
    example: str
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the result is the expected one."""
        return not self.differences


async def run_examples(build: Build, settings: Settings, tool: str | None = None) -> list[ExampleResult]:
    """Run every example of a server, or of one of its tools."""
    declared = declared_examples(build(settings), tool)
    return [await run_example(build, spec, example, settings) for spec, example in declared]


def declared_examples(app: App, tool: str | None = None) -> list[tuple[ToolSpec, Example]]:
    """The examples of a server, or of one of its tools."""
    chosen = [spec for spec in app.registry.get_all() if tool in (None, spec.name, app.registry.final_name(spec))]
    return [(spec, example) for spec in chosen for example in spec.examples]


async def run_example(build: Build, spec: ToolSpec, example: Example, settings: Settings) -> ExampleResult:
    """Run one example, on a new database unless the settings name one."""
    with tempfile.TemporaryDirectory(prefix="toolcharter-") as folder:
        db = settings.db or f"sqlite:///{Path(folder) / 'example.db'}"
        # Nothing that other processes share, and no file that outlives the example.
        isolated = settings.model_copy(update={"db": db, "redis": None, "audit": None})
        app = build(isolated)
        if app.settings.db != db:
            raise CannotRunExamples(
                f"{app.name!r} does not use the settings that its build function gets, so an example would change its "
                "real data. Give a function that passes them on: build(settings) -> App(..., settings=settings)."
            )
        async with app:
            if app.prepare_examples is not None:
                await app.prepare_examples(app)
            answer = await app.answer(Request(app.registry.final_name(spec), example.params, _CALLER, ask=_confirm))
    found = _compare(example.expected_result, cast(Answer, answer), app.policy.format)
    return ExampleResult(spec.name, example.description, tuple(found))


async def _confirm(_: str) -> bool:
    return True


def _compare(expected: Any, answer: Answer, format: Format) -> list[str]:
    if answer.is_error:
        return [f"expected {_quote(expected)}, but the call failed: {answer.text}"]
    return list(
        differences(json.loads(json_text.to_text(expected)), value_in(answer.text, format, is_plain=answer.is_plain))
    )


# --- differences --------------------------------------------------------------------------------------------


def differences(expected: Any, got: Any, path: str = "value") -> Iterator[str]:
    """One sentence for each place where a JSON value is not as expected."""
    if isinstance(expected, str) and expected in WILDCARDS:
        if not WILDCARDS[expected](got):
            yield f"{path}: expected {expected}, got {_quote(got)}"
    elif isinstance(expected, dict) and isinstance(got, dict):
        yield from _object_differences(cast(dict[str, Any], expected), cast(dict[str, Any], got), path)
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _list_differences(cast(list[Any], expected), cast(list[Any], got), path)
    elif not _is_equal(expected, got):
        yield f"{path}: expected {_quote(expected)}, got {_quote(got)}"


def _object_differences(expected: Mapping[str, Any], got: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in expected.items():
        if name in got:
            yield from differences(value, got[name], f"{path}.{name}")
        else:
            yield f"{path}.{name}: expected {_quote(value)}, but it is missing"
    for name in got:
        if name not in expected:
            yield f"{path}.{name}: not expected, got {_quote(got[name])}"


def _list_differences(expected: list[Any], got: list[Any], path: str) -> Iterator[str]:
    if len(expected) != len(got):
        yield f"{path}: expected {len(expected)} entries, got {len(got)}: {_quote(got)}"
        return
    for number, (one, other) in enumerate(zip(expected, got, strict=True)):
        yield from differences(one, other, f"{path}[{number}]")


def _is_equal(expected: Any, got: Any) -> bool:
    """Equal as JSON values: 1 equals 1.0, but True does not equal 1."""
    return isinstance(expected, bool) == isinstance(got, bool) and expected == got


def _quote(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}..."


# --- wildcards ----------------------------------------------------------------------------------------------


def _is_uuid(value: Any) -> bool:
    return isinstance(value, str) and _is_valid(lambda: str(UUID(value)) == value.lower())


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and "T" in value and _is_valid(lambda: bool(datetime.fromisoformat(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_valid(parse: Callable[[], bool]) -> bool:
    try:
        return parse()
    except ValueError:
        return False


WILDCARDS: Mapping[str, Callable[[Any], bool]] = {
    "<uuid>": _is_uuid,
    "<time>": _is_time,
    "<text>": lambda value: isinstance(value, str),
    "<number>": _is_number,
    "<any>": lambda _: True,
}
