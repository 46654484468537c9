"""How a server is started, read from its entry point and its settings: for bundles, registries and clients.

It is the same for our servers and for those of other distributions, which register them in `toolcharter.servers` too.
"""

import shutil
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import BeforeValidator, SecretStr
from pydantic.fields import FieldInfo

from mcp_core.app import App
from mcp_core.mcp_log import is_secret_name
from mcp_core.process.extras import extra_of, package_of
from mcp_core.settings.model import Settings, environment_variable, settings_type
from mcp_core.settings.sources import option
from toolcharter.local import targets

Kind = Literal["string", "number", "boolean", "directory", "file", "secret"]
DIRECTORY = "DIR"
"""The title of a setting whose path is a folder, as the help shows it."""
_PLAIN = (str, int, float, bool)


@dataclass(frozen=True, slots=True)
class LaunchSetting:
    """A value that a user can set when a server is started over stdio."""

    name: str
    variable: str
    option: str | None
    """None for a variable that has no option, such as a credential."""
    kind: Kind
    description: str
    default: str | float | bool | None = None
    required: bool = False
    choices: tuple[str, ...] = ()
    multiple: bool = False
    """Whether it takes several values, separated by commas."""
    own: bool = False
    """Whether the server declares it itself; the others are those of every server."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A server and how it is started."""

    name: str
    title: str
    description: str
    version: str
    distribution: str
    distribution_version: str
    extra: str | None
    """The extra of the distribution that brings the libraries of this server."""
    script: str | None
    """The command of the server's own, if its distribution has one."""
    settings: tuple[LaunchSetting, ...]
    file: str | None = None
    """The file, or `file.py:object`, of a server that no distribution registers."""

    @property
    def command(self) -> tuple[str, ...]:
        """The words that serve over stdio where the distribution is installed."""
        return (self.script,) if self.script else ("toolcharter", "stdio", self.file or self.name)

    def requirement(self, *, pinned: bool = False) -> str:
        """The requirement for a package installer, such as `toolcharter[todo]`."""
        extra = f"[{self.extra}]" if self.extra else ""
        return f"{self.distribution}{extra}" + (f"=={self.distribution_version}" if pinned else "")

    def uvx(self, *, pinned: bool = False) -> tuple[str, ...]:
        """The command that needs nothing installed but uv."""
        requirement = self.requirement(pinned=pinned)
        if requirement == self.script:
            return ("uvx", requirement)
        return ("uvx", "--from" if self.script else "--with", requirement, *self.command)

    def pipx(self, *, pinned: bool = False) -> tuple[str, ...] | None:
        """The command that needs nothing installed but pipx; None for a server without a command of its own."""
        return ("pipx", "run", "--spec", self.requirement(pinned=pinned), self.script) if self.script else None

    def installed(self) -> tuple[str, ...]:
        """The command with the absolute path of this environment: desktop programs do not have a shell's PATH."""
        folder = sysconfig.get_path("scripts")
        program = shutil.which(self.command[0], path=folder) or str(Path(folder, self.command[0]))
        return (program, *self.command[1:])


def launch_of(name: str) -> Launch:
    """How the installed server of that name, or that of a file, is started.

    Raises UnknownTarget, or CannotStart if it cannot be loaded.
    """
    if targets.is_file(name):
        return _launch_of_file(name)
    app = app_of(name)
    entry = targets.known()[name]
    distribution = targets.distribution_of(entry)
    return Launch(
        name=name,
        title=app.title,
        description=app.description or app.title,
        version=app.version,
        distribution=distribution.name,
        distribution_version=distribution.version,
        extra=extra_of(entry),
        script=script.name if (script := script_of(entry)) else None,
        settings=_settings(settings_type(targets.find(name))),
    )


def _launch_of_file(target: str) -> Launch:
    build = targets.find(target)
    app = targets.require_app(targets.build(build, target, _without_environment(settings_type(build), {})), target)
    return Launch(
        name=app.name,
        title=app.title,
        description=app.description or app.title,
        version=app.version,
        distribution="toolcharter",
        distribution_version=version("toolcharter"),
        extra=None,
        script=None,
        settings=_settings(settings_type(build)),
        file=target,
    )


def app_of(name: str, given: Mapping[str, Any] = MappingProxyType({})) -> App:
    """An installed server with the defaults of its settings and those that are given, whatever the environment says."""
    build = targets.find(name)
    settings = _without_environment(settings_type(build), given)
    return targets.require_app(targets.build(build, name, settings), name)


def script_of(entry: EntryPoint) -> EntryPoint | None:
    """The command of the same package as a server, with its name if there are several."""
    scripts = targets.distribution_of(entry).entry_points.select(group="console_scripts")
    same = [script for script in scripts if package_of(script) == package_of(entry)]
    return min(same, key=lambda script: (entry.name not in script.name, script.name), default=None)


def _settings(kind: type[Settings]) -> tuple[LaunchSetting, ...]:
    """The settings of the server, those that it declares first."""
    every = Settings.model_fields
    found = [
        _setting(name, field, own=name not in every)
        for name, field in kind.model_fields.items()
        if name not in kind.http_only and name not in kind.unused
    ]
    credentials = [
        LaunchSetting(
            name=variable.name.lower(),
            variable=variable.name,
            option=None,
            kind="secret" if variable.secret else "string",
            description=variable.description,
            required=variable.required,
            own=True,
        )
        for variable in kind.variables
    ]
    return (*credentials, *sorted(found, key=lambda setting: not setting.own))


def _setting(name: str, field: FieldInfo, *, own: bool) -> LaunchSetting:
    types = _types(field)
    choices = next((get_args(each) for each in types if get_origin(each) is Literal), ())
    default: Any = None if field.is_required() else field.default
    return LaunchSetting(
        name=name,
        variable=environment_variable(name),
        option=option(name),
        kind=_kind(name, field, types),
        description=field.description or "",
        default=str(default) if isinstance(default, Path) else default if isinstance(default, _PLAIN) else None,
        required=field.is_required(),
        choices=choices,
        multiple=any(get_origin(each) is tuple for each in types),
        own=own,
    )


def _kind(name: str, field: FieldInfo, types: list[Any]) -> Kind:
    if bool in types:
        return "boolean"
    if Path in types:
        return "directory" if field.title == DIRECTORY else "file"
    # A number with a validator before it is written with its unit, such as 100MB.
    has_unit = any(isinstance(each, BeforeValidator) for each in (*field.metadata, *types))
    if (int in types or float in types) and not has_unit:
        return "number"
    return "secret" if SecretStr in types or is_secret_name(name) else "string"


def _types(field: FieldInfo) -> list[Any]:
    """The parts of an annotation: `Annotated[int, x] | None` has int, x and None."""
    found: list[Any] = [field.annotation]
    for each in found:
        if get_origin(each) not in (tuple, Literal):
            found.extend(get_args(each))
    return found


def _without_environment(kind: type[Settings], given: Mapping[str, Any]) -> Settings:
    """Settings to read a server's title with: the defaults, and something for each that has none."""
    values: dict[str, Any] = dict(given)
    for name, field in kind.model_fields.items():
        if field.is_required() and name not in given:
            setting = _setting(name, field, own=True)
            values[name] = _stand_in(setting)
    return kind.model_construct(**values)


def _stand_in(setting: LaunchSetting) -> Any:
    match setting.kind:
        case "secret":
            return SecretStr("none")
        case "boolean":
            return False
        case "number":
            return 1
        case "directory" | "file":
            return Path()
        case "string":
            return setting.choices[0] if setting.choices else () if setting.multiple else ""
