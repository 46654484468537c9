"""Puts a server into the text of a client's settings, and takes it out. What else is in the text stays as it is.

Each result is read again before it is used: if it does not say what it should, the text is refused, not damaged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, cast

from toolcharter.clients.documents import jsonc, toml, yaml_block
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit
from toolcharter.clients.documents.values import find, with_value

Format = Literal["json", "toml", "yaml"]
_STARTED, _REMOTE = {"command", "cmd"}, {"url", "serverUrl", "httpUrl", "uri"}
"""The keys that say whether a client starts a server or reaches it at an address."""


class DocumentFormat(Protocol):
    """The interface of each module of `documents`."""

    read: Callable[[str], dict[str, Any]]
    set_value: Callable[[str, Sequence[str], Any], str]
    remove: Callable[[str, Sequence[str]], str]


DOCUMENTS: Mapping[Format, DocumentFormat] = {
    "json": cast(DocumentFormat, jsonc),
    "toml": cast(DocumentFormat, toml),
    "yaml": cast(DocumentFormat, yaml_block),
}


def read(text: str, format: Format) -> dict[str, Any]:
    """The settings in a text. Raises BrokenDocument."""
    return DOCUMENTS[format].read(text)


def put(text: str, format: Format, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with a server. In an entry that exists, only what starts the server is changed."""
    document = DOCUMENTS[format]
    old = find(document.read(text), path)
    if isinstance(old, dict) and not _is_same_kind(cast(dict[str, Any], old), entry):
        text, old = take_out(text, format, path), None
    expected = with_value(document.read(text), path, _merged(old, entry))
    new = text
    if isinstance(old, dict):
        for keys, value in _leaves(entry):
            new = document.set_value(new, [*path, *keys], value)
    else:
        new = document.set_value(new, path, dict(entry))
    return _checked(document, new, expected, path)


def take_out(text: str, format: Format, path: Sequence[str]) -> str:
    """The text without a server."""
    document = DOCUMENTS[format]
    data = document.read(text)
    if find(data, path) is None:
        return text
    new = document.remove(text, path)
    return _checked(document, new, _without(data, path), path)


def _checked(document: DocumentFormat, new: str, expected: dict[str, Any], path: Sequence[str]) -> str:
    try:
        is_right = _pruned(document.read(new), path) == _pruned(expected, path)
    except BrokenDocument:
        is_right = False
    if not is_right:
        raise CannotEdit(f"{'.'.join(path)} is written in a way that cannot be changed here")
    return new


def _is_same_kind(old: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    return bool(_STARTED & old.keys()) == bool(_STARTED & entry.keys()) and (
        bool(_REMOTE & old.keys()) == bool(_REMOTE & entry.keys())
    )


def _leaves(entry: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """The changes to an existing entry: variables and headers one by one, because others may be there."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in entry.items():
        if isinstance(value, dict):
            found += [((key, name), one) for name, one in cast(dict[str, Any], value).items()]
        else:
            found.append(((key,), value))
    return found


def _merged(old: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = cast(dict[str, Any], old) if isinstance(old, dict) else {}
    if not merged:
        return dict(entry)
    for keys, value in _leaves(entry):
        merged = with_value(merged, keys, value)
    return merged


def _without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    return {**data, path[0]: _without(data[path[0]], path[1:])}


def _pruned(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Data without the mappings on the way to a path that have nothing in them, which mean the same as none."""
    if len(path) <= 1 or path[0] not in data:
        return dict(data)
    inner = data[path[0]]
    inner = _pruned(cast(dict[str, Any], inner), path[1:]) if isinstance(inner, dict) else inner
    return {key: value for key, value in data.items() if key != path[0]} | ({path[0]: inner} if inner else {})
