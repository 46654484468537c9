"""Changes to charter.toml that keep its comments and order."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError

from mcp_core.process.start_errors import CannotStart
from toolcharter.govern.charter import read_charter

_HEADER = """\
# The servers that toolcharter governs, and under which policies.
# docs/govern.md describes every key. Look at what waits for you: toolcharter govern review
"""


def add_upstream(path: Path, name: str, fields: Mapping[str, Any]) -> None:
    """Add a server. Raises CannotStart if one of this name exists."""
    document = _read(path)
    upstreams = _table(document, "upstream")
    if name in upstreams:
        raise CannotStart(f"{path} has a server {name!r} already. Remove it first: toolcharter govern remove {name}.")
    entry = tomlkit.table()
    for key, value in fields.items():
        entry.add(key, value)
    upstreams.append(name, entry)
    _write(path, document)


def remove_upstream(path: Path, name: str) -> None:
    """Remove a server. Policies that name it stay."""
    document = _read(path)
    del _table(document, "upstream")[name]
    _write(path, document)


def set_oauth(path: Path, name: str) -> None:
    """Say that callers sign in to a server."""
    document = _read(path)
    table = tomlkit.inline_table()
    table.append("tokens", "caller")
    cast(Container, _table(document, "upstream")[name])["oauth"] = table
    _write(path, document)


def deny_tools(path: Path, patterns: Sequence[str]) -> None:
    """Deny the tools that match these patterns."""
    document = _read(path)
    tools = _table(document, "tools")
    for pattern in patterns:
        if pattern in tools:
            tools[pattern]["deny"] = True
        else:
            entry = tomlkit.table()
            entry.add("deny", value=True)
            tools.append(pattern, entry)
    _write(path, document)


def _read(path: Path) -> tomlkit.TOMLDocument:
    if not path.exists():
        return tomlkit.parse(_HEADER)
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise CannotStart(f"{path} cannot be changed: {error}.") from None


def _table(document: tomlkit.TOMLDocument, name: str) -> Container:
    if name not in document:
        document.append(name, tomlkit.table(is_super_table=True))
    return cast(Container, document[name])


def _write(path: Path, document: tomlkit.TOMLDocument) -> None:
    """Write the file if it is valid. The old one stays until the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    # Variables that were imported from a client may be secrets.
    new.touch(mode=0o600)
    if path.exists():
        shutil.copymode(path, new)
    new.write_text(tomlkit.dumps(document), encoding="utf-8")
    try:
        read_charter(new)
    except CannotStart:
        new.unlink()
        raise
    new.replace(path)
