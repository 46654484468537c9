"""Settings in a TOML file: `[server]` for every server, `[servers.NAME]` for one. The keys are names of settings."""

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcp_core.files.toml_file import TomlFile, read_toml
from mcp_core.files.toml_lines import line_of
from mcp_core.process.start_errors import InvalidSetting

SHARED = "server"
SERVERS = "servers"
NOT_IN_FILE = frozenset({"settings_file"})


class FileValue(NamedTuple):
    """A value in a file, and where it is."""

    value: Any
    file: TomlFile
    keys: tuple[str, ...]

    @property
    def place(self) -> str:
        """`FILE, line 3`."""
        return f"{self.file.path}, line {line_of(self.file.text, self.keys)}"

    def error(self, problem: str) -> InvalidSetting:
        """The error for this value."""
        return self.file.error(self.keys, problem)


def read_config(
    path: Path, server: str | None, shared: Collection[str], own: Collection[str]
) -> Mapping[str, FileValue]:
    """The settings of a server in a file. A server's own table wins over `[server]`.

    `shared` are the names of the settings of every server, `own` those of this one. Raises InvalidSetting for a key
    that is not a setting.
    """
    file = read_toml(path)
    for name in file.content:
        if name not in (SHARED, SERVERS):
            raise file.error((name,), _unknown(name, (SHARED, SERVERS)))
    values = _table(file, (SHARED,), file.content.get(SHARED, {}), shared)
    tables = file.content.get(SERVERS, {})
    if not isinstance(tables, dict):
        raise file.error((SERVERS,), "is not a table; write [servers.NAME].")
    table = cast(dict[str, Any], tables).get(server or "", {})
    return values | _table(file, (SERVERS, server or ""), table, own)


def _table(file: TomlFile, keys: tuple[str, ...], table: Any, names: Collection[str]) -> dict[str, FileValue]:
    if not isinstance(table, dict):
        raise file.error(keys, "is not a table of settings.")
    values: dict[str, FileValue] = {}
    for key, value in cast(dict[str, Any], table).items():
        name = key.replace("-", "_")
        if name not in names or name in NOT_IN_FILE:
            raise file.error((*keys, key), _unknown(name, sorted(set(names) - NOT_IN_FILE)))
        values[name] = FileValue(value, file, (*keys, key))
    return values


def _unknown(name: str, known: Collection[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1)
    return f"is not a setting.{f' Did you mean {nearest[0]}?' if nearest else ' docs/settings.md lists all.'}"
