"""Compares two lists of tools: every change that an agent or a client can notice, in a fixed order."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from mcp_core.declare.charter import META
from mcp_core.declare.listed import ListedTool
from toolcharter.contract.changed_words import changed_words
from toolcharter.contract.changes import Change, Difference, output_kind
from toolcharter.contract.normalize import canonical, canonical_json
from toolcharter.contract.schema_diff import SchemaTooLarge, diff_schemas

_VERSION, _DEPRECATED, _PERMISSIONS = (META + name for name in ("version", "deprecated", "permissions"))
_MAJOR = re.compile(r"v?(\d+)")
_TEXT_PATHS = {"description": "$.description", "title": "$.title"}


@dataclass(frozen=True, slots=True)
class Hint:
    """An annotation of a tool: what clients assume if it is missing, and the kinds of its changes."""

    default: bool
    gained: str
    lost: str
    label: str


HINTS: Mapping[str, Hint] = {
    "readOnlyHint": Hint(
        default=False, gained="read-only-hint-flipped", lost="read-only-hint-flipped", label="read-only"
    ),
    "destructiveHint": Hint(
        default=True, gained="destructive-hint-flipped", lost="destructive-hint-flipped", label="destructive"
    ),
    "idempotentHint": Hint(
        default=False, gained="idempotent-hint-gained", lost="idempotent-hint-lost", label="idempotent"
    ),
    "openWorldHint": Hint(
        default=True, gained="open-world-hint-gained", lost="open-world-hint-lost", label="open-world"
    ),
}
_HINTS_OF_CHANGES = ("destructiveHint", "idempotentHint")
"""By the protocol, these hints have a meaning only for a tool that is not read-only."""


def diff_tools(old: Iterable[ListedTool], new: Iterable[ListedTool], today: date) -> list[Change]:
    """All changes, by tool. `today` decides whether an announced removal is due."""
    before, after = ({tool.name: tool for tool in tools} for tools in (old, new))
    removed = [before[name] for name in sorted(before.keys() - after.keys())]
    added = [after[name] for name in sorted(after.keys() - before.keys())]
    renamed = _renamed(removed, added)
    found: list[Change] = []
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            found += tool_changes(before[name], after[name])
        elif name in renamed:
            sentence = f"{name} was renamed to {renamed[name].name}"
            found.append(Change("tool-renamed", name, "$.name", sentence, _removal_is_due(before[name], today)))
            found += tool_changes(before[name], renamed[name])
        elif name in before:
            sentence = f"{name} was removed"
            found.append(Change("tool-removed", name, "$", sentence, _removal_is_due(before[name], today)))
        elif after[name] not in renamed.values():
            found.append(Change("tool-added", name, "$", f"{name} is new"))
    return found


def _renamed(removed: Sequence[ListedTool], added: Sequence[ListedTool]) -> dict[str, ListedTool]:
    """Tools of which only the name changed, by the old name."""
    left = list(added)
    found: dict[str, ListedTool] = {}
    for tool in removed:
        same = next((other for other in left if tool.description and _content(tool) == _content(other)), None)
        if same is not None:
            left.remove(same)
            found[tool.name] = same
    return found


def _content(tool: ListedTool) -> tuple[str, str]:
    return tool.description, canonical_json(canonical(tool.input_schema))


def tool_changes(old: ListedTool, new: ListedTool) -> list[Change]:
    found = [
        *_text_changes(old, new),
        *_annotation_changes(old, new),
        *_meta_changes(old, new),
        *_schema_changes(old, new),
    ]
    bump = _major_bump(old, new)
    if bump is None:
        return found
    return [replace(change, accepted=bump) if _needs_major_bump(change) else change for change in found]


def _needs_major_bump(change: Change) -> bool:
    return change.kind in ("required-parameter-added", "consent-added")


def _major_bump(old: ListedTool, new: ListedTool) -> str | None:
    """The sentence that accepts a change, if the tool has a higher major version."""
    versions = [version_of(tool) for tool in (old, new)]
    majors = [_MAJOR.match(version) if version else None for version in versions]
    if majors[0] is None or majors[1] is None or int(majors[1][1]) <= int(majors[0][1]):
        return None
    return f"the tool has a new major version, from {versions[0]} to {versions[1]}"


def version_of(tool: ListedTool) -> str | None:
    """The version that a tool declares."""
    version = tool.meta.get(_VERSION)
    return version if isinstance(version, str) else None


def _removal_is_due(tool: ListedTool, today: date) -> str | None:
    """The sentence that accepts a removal, if it was announced and is due."""
    announced = tool.meta.get(_DEPRECATED)
    try:
        due = date.fromisoformat(cast(Any, announced)["removalDate"])
    except (KeyError, TypeError, ValueError):
        return None
    return f"its removal was announced for {due}" if due <= today else None


def _text_changes(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for name, path in _TEXT_PATHS.items():
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            sentence = f"the {name} of {old.name} changed: {changed_words(before, after)}"
            yield Change(f"{name}-changed", old.name, path, sentence)


def _annotation_changes(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for key in sorted(old.annotations.keys() | new.annotations.keys()):
        before, after = old.annotations.get(key), new.annotations.get(key)
        if canonical_json(before) == canonical_json(after):
            continue
        path = f"$.annotations.{key}"
        if key in _HINTS_OF_CHANGES and _is_read_only(old) and _is_read_only(new):
            sentence = f"{HINTS[key].label} hint of {old.name} changed, which says nothing about a read-only tool"
            yield Change("hint-stated", old.name, path, f"the {sentence}")
        elif key in HINTS:
            yield _hint_change(old.name, HINTS[key], path, before, after)
        else:
            kind = "title-changed" if key == "title" else "meta-changed"
            yield Change(
                kind, old.name, path, f"{key} changed from {canonical_json(before)} to {canonical_json(after)}"
            )


def _is_read_only(tool: ListedTool) -> bool:
    return tool.annotations.get("readOnlyHint") is True


def _hint_change(tool: str, hint: Hint, path: str, before: Any, after: Any) -> Change:
    was = hint.default if before is None else before is True
    is_now = hint.default if after is None else after is True
    # Clients assume the worst if a hint is missing, so a new hint can only improve what they know.
    if was == is_now or before is None:
        return Change("hint-stated", tool, path, f"{tool} sets its {hint.label} hint to {canonical_json(after)}")
    sentence = f"{tool} has become {hint.label}" if is_now else f"{tool} is no longer {hint.label}"
    return Change(hint.gained if is_now else hint.lost, tool, path, sentence)


def _meta_changes(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for key in sorted(old.meta.keys() | new.meta.keys()):
        before, after = old.meta.get(key), new.meta.get(key)
        if canonical_json(before) == canonical_json(after):
            continue
        path = f"$._meta[{canonical_json(key)}]"
        change = f"changed from {canonical_json(before)} to {canonical_json(after)}"
        if key == _PERMISSIONS and before is not None and after is not None:
            yield from _permission_changes(old.name, path, _names(before), _names(after))
        elif key == _VERSION:
            yield Change("version-changed", old.name, path, f"the version of {old.name} {change}")
        elif key == _DEPRECATED:
            state = (
                f"{old.name} is deprecated: {canonical_json(after)}" if after else f"{old.name} is no longer deprecated"
            )
            yield Change("tool-deprecated", old.name, path, state)
        else:
            yield Change("meta-changed", old.name, path, f"{key} {change}")


def _names(value: Any) -> set[str]:
    return {str(item) for item in cast(list[Any], value)} if isinstance(value, list) else set()


def _permission_changes(tool: str, path: str, before: set[str], after: set[str]) -> Iterator[Change]:
    for name in sorted(after - before):
        yield Change("permission-added", tool, path, f"{tool} now requires the permission {name}")
    for name in sorted(before - after):
        yield Change("permission-removed", tool, path, f"{tool} no longer requires the permission {name}")


def _schema_changes(old: ListedTool, new: ListedTool) -> Iterator[Change]:
    for found in _schema_differences(old.input_schema, new.input_schema, "$.inputSchema"):
        yield Change(found.kind, old.name, found.path, found.sentence)
    before, after = old.output_schema, new.output_schema
    if before is None and after is None:
        return
    path = "$.outputSchema"
    if before is None:
        yield Change("output-schema-added", old.name, path, f"{old.name} has an output schema")
    elif after is None:
        yield Change("output-schema-removed", old.name, path, f"{old.name} no longer has an output schema")
    else:
        for found in _schema_differences(before, after, path):
            kind = found.kind if found.kind == "unjudged" else output_kind(found.kind)
            yield Change(kind, old.name, found.path, f"in the result, {found.sentence}")


def _schema_differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> list[Difference]:
    try:
        if old == new or canonical_json(canonical(old)) == canonical_json(canonical(new)):
            return []  # the usual case, and fast
        return diff_schemas(old, new, path)
    except (SchemaTooLarge, RecursionError):
        return [Difference("unjudged", path, "the schemas differ, and are too deep or too large to compare")]
