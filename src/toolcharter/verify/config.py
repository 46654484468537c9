"""What a project has decided about rules: `[tool.toolcharter.verify]` in its pyproject.toml.

[tool.toolcharter.verify]
select = ["schema", "DSC", "missing-description"]
ignore = { "PAR003" = "the upstream API has no bounds", "DSC004:legacy_*" = "goes away in March" }

[tool.toolcharter.verify.servers.todo]
ignore = { "NAM002:add_task" = "the name is given by the contract" }
"""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from toolcharter.verify.rule import Rule
from toolcharter.verify.selection import UnknownRule, read_selector

DEFAULT = Path("pyproject.toml")
TABLE = "tool.toolcharter.verify"


class BadConfig(ValueError):
    """What is written down cannot be followed; the message says where and why."""


@dataclass(frozen=True)
class Config:
    """What is selected and ignored, as it is written."""

    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict[str, str])

    def then(self, own: "Config") -> "Config":
        """This, refined for one server: its own selection, and what it ignores besides."""
        return Config(own.select or self.select, {**self.ignore, **own.ignore})


def read(file: Path | None, servers: Collection[str], known: Sequence[Rule]) -> Config:
    """What the project says about a server that goes by any of these names. Raises BadConfig."""
    path = file or DEFAULT
    if file is None and not path.is_file():
        return Config()
    try:
        whole: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadConfig(f"{path}: {error}") from None
    for part in TABLE.split("."):
        whole = cast(dict[str, Any], whole).get(part, {}) if isinstance(whole, dict) else {}
    return _merged(_table(whole, f"{path}: {TABLE}"), servers, known, f"{path}: {TABLE}")


def _merged(table: dict[str, Any], servers: Collection[str], known: Sequence[Rule], place: str) -> Config:
    tables = _table(table.pop("servers", {}), f"{place}.servers")
    config = _read(table, known, place)
    for name, own in tables.items():
        # All of them are read, so that a mistake shows whichever server is looked at.
        where = f"{place}.servers.{name}"
        refined = _read(_table(own, where), known, where)
        if name in servers:
            config = config.then(refined)
    return config


def _read(table: dict[str, Any], known: Sequence[Rule], place: str) -> Config:
    for key in table:
        if key not in ("select", "ignore"):
            near = get_close_matches(key, ["select", "ignore", "servers"], n=1)
            raise BadConfig(f"{place}: {key!r} is no setting{f'; did you mean {near[0]!r}?' if near else '.'}")
    select = table.get("select", [])
    if not isinstance(select, list) or not all(isinstance(text, str) for text in cast(list[Any], select)):
        raise BadConfig(f'{place}: select is a list of rules, such as ["schema", "DSC001"].')
    ignore = _ignore(table.get("ignore", {}), place)
    for text in (*cast(list[str], select), *ignore):
        try:
            read_selector(text, known)
        except UnknownRule as error:
            raise BadConfig(f"{place}: {error}") from None
    return Config(tuple(cast(list[str], select)), ignore)


def _ignore(given: Any, place: str) -> dict[str, str]:
    if not isinstance(given, dict):
        raise BadConfig(f'{place}: ignore has a reason for each rule: ignore = {{ "PAR003" = "why" }}.')
    for text, reason in cast(dict[str, Any], given).items():
        if not isinstance(reason, str) or not reason.strip():
            raise BadConfig(f'{place}: ignoring {text!r} needs a reason: "{text}" = "why".')
    return cast(dict[str, str], given)


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadConfig(f"{place} is a table, but here it is {value!r}.")
    return dict(cast(dict[str, Any], value))
