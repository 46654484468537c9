"""The sources of settings: the options of a command, environment variables, and a file."""

import argparse
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from mcp_core.mcp_log import REDACTED, is_secret_name, redact_text
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.settings.model import MAY_BE_EMPTY, Settings, environment_variable, split_list

if TYPE_CHECKING:
    from mcp_core.settings.config_file import FileValue


def option(name: str) -> str:
    """The option of a setting."""
    return f"--{name.replace('_', '-')}"


def add_options(
    parser: argparse.ArgumentParser, settings_type: type[Settings] = Settings, *, without: Collection[str] = ()
) -> None:
    """Give a command an option for each setting that does something, except those in `without`."""
    for name, field in settings_type.model_fields.items():
        if name in without or name in settings_type.unused:
            continue
        flag = option(name)
        words = f"{field.description or ''} [{environment_variable(name)}]".lstrip()
        if field.annotation is bool:
            parser.add_argument(flag, action="store_true", default=None, help=words)
        elif _takes_several(field):
            parser.add_argument(flag, type=split_list, default=None, metavar="A,B", help=words)
        else:
            parser.add_argument(flag, default=None, choices=_choices(field), metavar=_metavar(name, field), help=words)


def add_own_options(parser: argparse.ArgumentParser, settings_type: type[Settings]) -> None:
    """Give a command the options of one server, besides those of every server.

    An option that the command has already means what the command says.
    """
    for name in settings_type.model_fields.keys() - Settings.model_fields.keys():
        with suppress(argparse.ArgumentError):
            add_options(parser, settings_type, without=settings_type.model_fields.keys() - {name})


class SettingsWithSources(NamedTuple):
    """Settings, and where each of them was written."""

    settings: Settings
    sources: Mapping[str, str]


def from_options(
    options: argparse.Namespace, settings_type: type[Settings] = Settings, server: str | None = None
) -> Settings:
    """The settings from the options of a command; the environment and a file fill in the rest.

    `server` is the name of the server whose table in the file is read.
    """
    return resolve_settings(options, settings_type, server).settings


def resolve_settings(
    options: argparse.Namespace, settings_type: type[Settings] = Settings, server: str | None = None
) -> SettingsWithSources:
    """The settings with their sources: an option wins over a variable, that over the file, and that over a default."""
    names = settings_type.model_fields
    options_given: dict[str, Any] = {
        name: value for name in names if (value := getattr(options, name, None)) is not None
    }
    variables = {name for name in names if _is_set(environment_variable(name))}
    file = options_given.get("settings_file") or os.environ.get(environment_variable("settings_file"))
    in_file: Mapping[str, FileValue] = {}
    if file:
        from mcp_core.settings.config_file import read_config  # noqa: PLC0415 - 5 ms that most starts do not need

        in_file = read_config(Path(file), server, Settings.model_fields, names)
    used = {name: value for name, value in in_file.items() if name not in options_given and name not in variables}
    sources = dict.fromkeys(names, "default")
    sources |= {name: value.place for name, value in used.items()}
    sources |= {name: environment_variable(name) for name in variables}
    sources |= {name: option(name) for name in options_given}
    try:
        settings = settings_type(**{name: value.value for name, value in used.items()} | options_given)
    except ValidationError as error:
        for one in error.errors():
            if (name := str(one["loc"][0])) in used:
                shown = "" if is_secret_name(name) else f", got {one['input']!r}"
                message = one["msg"].removeprefix("Value error, ")
                raise used[name].error(f"{message[0].lower()}{message[1:]}{shown}.") from None
        problems = [f"{sources[str(one['loc'][0])]}: {one['msg']}, got {one['input']!r}" for one in error.errors()]
        raise InvalidSetting("\n".join(problems)) from None
    return SettingsWithSources(settings, sources)


def _is_set(variable: str) -> bool:
    return bool(os.environ.get(variable)) or (variable in MAY_BE_EMPTY and variable in os.environ)


def shown_value(name: str, value: Any) -> str | None:
    """The value of a setting as text without secrets; None if it is not set."""
    if value is None:
        return None
    if isinstance(value, SecretStr) or (is_secret_name(name.rsplit("_", 1)[-1]) and isinstance(value, str)):
        return REDACTED
    if isinstance(value, tuple):
        value = ",".join(map(str, cast(tuple[Any, ...], value)))
    elif isinstance(value, bool):
        value = str(value).lower()
    return redact_text(str(value))


def _takes_several(field: FieldInfo) -> bool:
    return "tuple" in str(field.annotation)


def _choices(field: FieldInfo) -> tuple[str, ...] | None:
    kinds = [field.annotation, *get_args(field.annotation)]
    return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), None)


def _metavar(name: str, field: FieldInfo) -> str:
    choices = _choices(field)
    return "|".join(choices) if choices else field.title or name.rsplit("_", 1)[-1].upper()
