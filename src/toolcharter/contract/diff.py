"""Two lists of tools compared: every change that an agent or a client can notice, in a fixed order."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from mcp_core.calling.render import META
from mcp_core.declare.listed import ListedTool
from toolcharter.contract.changes import Change, Difference, output_kind
from toolcharter.contract.compare import TooLarge, compare
from toolcharter.contract.schemas import canonical, text

_VERSION, _DEPRECATED, _PERMISSIONS = (META + name for name in ("version", "deprecated", "permissions"))
_MAJOR = re.compile(r"v?(\d+)")
_ROOTS = {"description": "$.description", "title": "$.title"}


@dataclass(frozen=True, slots=True)
class Hint:
    """An annotation of a tool: what clients take for granted where it is missing, and what a change of it is."""

    default: bool
    gained: str
    lost: str
    words: str


HINTS: Mapping[str, Hint] = {
    "readOnlyHint": Hint(
        default=False, gained="read-only-hint-flipped", lost="read-only-hint-flipped", words="read-only"
    ),
    "destructiveHint": Hint(
        default=True, gained="destructive-hint-flipped", lost="destructive-hint-flipped", words="destructive"
    ),
    "idempotentHint": Hint(
        default=False, gained="idempotent-hint-gained", lost="idempotent-hint-lost", words="idempotent"
    ),
    "openWorldHint": Hint(
        default=True, gained="open-world-hint-gained", lost="open-world-hint-lost", words="open-world"
    ),
}


def diff(old: Iterable[ListedTool], new: Iterable[ListedTool], today: date) -> list[Change]:
    """All changes, by tool. `today` decides whether an announced removal is due."""
    before, after = ({tool.name: tool for tool in tools} for tools in (old, new))
    gone = [before[name] for name in sorted(before.keys() - after.keys())]
    come = [after[name] for name in sorted(after.keys() - before.keys())]
    renamed = _renamed(gone, come)
    found: list[Change] = []
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            found += tool_changes(before[name], after[name])
        elif name in renamed:
            words = f"{name} is called {renamed[name].name} now"
            found.append(Change("tool-renamed", name, "$.name", words, _removal_is_due(before[name], today)))
            found += tool_changes(before[name], renamed[name])
        elif name in before:
            words = f"{name} is gone"
            found.append(Change("tool-removed", name, "$", words, _removal_is_due(before[name], today)))
        elif after[name] not in renamed.values():
            found.append(Change("tool-added", name, "$", f"{name} is new"))
    return found


def _renamed(gone: Sequence[ListedTool], come: Sequence[ListedTool]) -> dict[str, ListedTool]:
    """Tools that only changed their name, by the old one."""
    left = list(come)
    found: dict[str, ListedTool] = {}
    for tool in gone:
        same = next((other for other in left if tool.description and _essence(tool) == _essence(other)), None)
        if same is not None:
            left.remove(same)
            found[tool.name] = same
    return found


def _essence(tool: ListedTool) -> tuple[str, str]:
    return tool.description, text(canonical(tool.input_schema))


def tool_changes(old: ListedTool, new: ListedTool) -> list[Change]:
    """What changed at one tool."""
    found = [*_words(old, new), *_annotations(old, new), *_meta(old, new), *_schemas(old, new)]
    raised = _raised_major(old, new)
    if raised is None:
        return found
    return [replace(change, accepted=raised) if _wants_major(change) else change for change in found]


def _wants_major(change: Change) -> bool:
    return change.kind in ("required-parameter-added", "consent-added")


def _raised_major(old: ListedTool, new: ListedTool) -> str | None:
    """Says that the tool has a higher major version, where it has."""
    versions = [version_of(tool) for tool in (old, new)]
    majors = [_MAJOR.match(version) if version else None for version in versions]
    if majors[0] is None or majors[1] is None or int(majors[1][1]) <= int(majors[0][1]):
        return None
    return f"the tool went from version {versions[0]} to {versions[1]}"


def version_of(tool: ListedTool) -> str | None:
    """The version that a tool says it has."""
    version = tool.meta.get(_VERSION)
    return version if isinstance(version, str) else None


def _removal_is_due(tool: ListedTool, today: date) -> str | None:
    """Says that a tool was to be removed by now, where that was announced."""
    announced = tool.meta.get(_DEPRECATED)
    try:
        due = date.fromisoformat(cast(Any, announced)["removalDate"])
    except (KeyError, TypeError, ValueError):
        return None
    return f"its removal was announced for {due}" if due <= today else None


def _words(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for name, path in _ROOTS.items():
        if getattr(old, name) != getattr(new, name):
            yield Change(f"{name}-changed", old.name, path, f"the {name} of {old.name} changed")


def _annotations(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for key in sorted(old.annotations.keys() | new.annotations.keys()):
        before, after = old.annotations.get(key), new.annotations.get(key)
        if text(before) == text(after):
            continue
        path = f"$.annotations.{key}"
        if key in HINTS:
            yield _hint(old.name, HINTS[key], path, before, after)
        else:
            kind = "title-changed" if key == "title" else "meta-changed"
            yield Change(kind, old.name, path, f"{key} goes from {text(before)} to {text(after)}")


def _hint(tool: str, hint: Hint, path: str, before: Any, after: Any) -> Change:
    was = hint.default if before is None else before is True
    is_now = hint.default if after is None else after is True
    # What clients take for granted is the worst; to say better for the first time takes nothing from anybody.
    if was == is_now or before is None:
        return Change("hint-stated", tool, path, f"{tool} says about being {hint.words}: {text(after)}")
    words = f"{tool} is {hint.words}, and was not" if is_now else f"{tool} is no longer {hint.words}"
    return Change(hint.gained if is_now else hint.lost, tool, path, words)


def _meta(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for key in sorted(old.meta.keys() | new.meta.keys()):
        before, after = old.meta.get(key), new.meta.get(key)
        if text(before) == text(after):
            continue
        path = f"$._meta[{text(key)}]"
        words = f"goes from {text(before)} to {text(after)}"
        if key == _PERMISSIONS and before is not None and after is not None:
            yield from _permissions(old.name, path, _names(before), _names(after))
        elif key == _VERSION:
            yield Change("version-changed", old.name, path, f"the version of {old.name} {words}")
        elif key == _DEPRECATED:
            state = f"{old.name} is deprecated: {text(after)}" if after else f"{old.name} is no longer deprecated"
            yield Change("tool-deprecated", old.name, path, state)
        else:
            yield Change("meta-changed", old.name, path, f"{key} {words}")


def _names(value: Any) -> set[str]:
    return {str(item) for item in cast(list[Any], value)} if isinstance(value, list) else set()


def _permissions(tool: str, path: str, before: set[str], after: set[str]) -> Iterator[Change]:
    for name in sorted(after - before):
        yield Change("permission-added", tool, path, f"{tool} wants the permission {name}, and did not")
    for name in sorted(before - after):
        yield Change("permission-removed", tool, path, f"{tool} no longer wants the permission {name}")


def _schemas(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for found in _compared(old.input_schema, new.input_schema, "$.inputSchema"):
        yield Change(found.kind, old.name, found.path, found.sentence)
    before, after = old.output_schema, new.output_schema
    if before is None and after is None:
        return
    path = "$.outputSchema"
    if before is None:
        yield Change("output-schema-added", old.name, path, f"the answer of {old.name} has a schema")
    elif after is None:
        yield Change("output-schema-removed", old.name, path, f"the answer of {old.name} has no schema any more")
    else:
        for found in _compared(before, after, path):
            kind = found.kind if found.kind == "unjudged" else output_kind(found.kind)
            yield Change(kind, old.name, found.path, f"in the answer, {found.sentence}")


def _compared(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> list[Difference]:
    try:
        if text(canonical(old)) == text(canonical(new)):
            return []  # mostly so
        return compare(old, new, path)
    except (TooLarge, RecursionError):
        return [Difference("unjudged", path, "the schemas differ, and are too deep or too large to be compared")]
