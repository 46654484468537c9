"""The configuration of a project: `[tool.toolcharter.verify]` in its pyproject.toml.

[tool.toolcharter.verify]
select = ["schema", "DSC", "missing-description"]
ignore = { "PAR003" = "the upstream API has no bounds", "DSC004:legacy_*" = "will be removed in March" }

[tool.toolcharter.verify.servers.todo]
ignore = { "NAM002:add_task" = "the contract requires this name" }
"""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from toolcharter.verify.rule import Rule
from toolcharter.verify.selection import UnknownRule, parse_selector

DEFAULT_FILE = Path("pyproject.toml")
TABLE = "tool.toolcharter.verify"


class InvalidConfig(ValueError):
    """The configuration is not valid. The message says where and why."""


@dataclass(frozen=True)
class Config:
    """Which rules are selected and ignored, as written in the file."""

    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict[str, str])

    def merge(self, server: "Config") -> "Config":
        """This configuration with that of a server: its `select` replaces, its `ignore` is added."""
        return Config(server.select or self.select, {**self.ignore, **server.ignore})


def read(file: Path | None, servers: Collection[str], known: Sequence[Rule]) -> Config:
    """The configuration for a server that has any of these names. Raises InvalidConfig."""
    path = file or DEFAULT_FILE
    if file is None and not path.is_file():
        return Config()
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidConfig(f"{path}: {error}") from None
    for part in TABLE.split("."):
        content = cast(dict[str, Any], content).get(part, {}) if isinstance(content, dict) else {}
    place = f"{path}: {TABLE}"
    table = _table(content, place)
    tables = _table(table.pop("servers", {}), f"{place}.servers")
    config = _parse(table, known, place)
    for name, value in tables.items():
        # All tables are parsed, so that a mistake shows up for every server.
        server_place = f"{place}.servers.{name}"
        server_config = _parse(_table(value, server_place), known, server_place)
        if name in servers:
            config = config.merge(server_config)
    return config


def _parse(table: dict[str, Any], known: Sequence[Rule], place: str) -> Config:
    for key in table:
        if key not in ("select", "ignore"):
            near = get_close_matches(key, ["select", "ignore", "servers"], n=1)
            raise InvalidConfig(f"{place}: unknown setting {key!r}{f'; did you mean {near[0]!r}?' if near else '.'}")
    select = table.get("select", [])
    if not isinstance(select, list) or not all(isinstance(text, str) for text in cast(list[Any], select)):
        raise InvalidConfig(f'{place}: select must be a list of rules, such as ["schema", "DSC001"].')
    ignore = _parse_ignore(table.get("ignore", {}), place)
    for text in (*cast(list[str], select), *ignore):
        try:
            parse_selector(text, known)
        except UnknownRule as error:
            raise InvalidConfig(f"{place}: {error}") from None
    return Config(tuple(cast(list[str], select)), ignore)


def _parse_ignore(value: Any, place: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InvalidConfig(f'{place}: ignore must have a reason for each rule: ignore = {{ "PAR003" = "why" }}.')
    for text, reason in cast(dict[str, Any], value).items():
        if not isinstance(reason, str) or not reason.strip():
            raise InvalidConfig(f'{place}: ignoring {text!r} needs a reason: "{text}" = "why".')
    return cast(dict[str, str], value)


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidConfig(f"{place} must be a table, not {value!r}.")
    return dict(cast(dict[str, Any], value))
