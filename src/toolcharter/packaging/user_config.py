"""The inputs that a client asks its user for, in the form that bundles and Claude Code plugins share."""

from collections.abc import Iterable
from typing import Any

from toolcharter.packaging.launch import LaunchSetting

_TITLES = {"db": "Database"}


def questions(settings: Iterable[LaunchSetting]) -> dict[str, dict[str, Any]]:
    """One question for each setting, by the name that `variables` refers to."""
    return {setting.name: _question(setting) for setting in settings}


def variables(settings: Iterable[LaunchSetting]) -> dict[str, str]:
    """The environment of the server, with the answers."""
    return {setting.variable: f"${{user_config.{setting.name}}}" for setting in settings}


def _question(setting: LaunchSetting) -> dict[str, Any]:
    untold = [choice for choice in setting.choices if choice not in setting.description]
    choices = f" One of {', '.join(setting.choices)}." if untold else ""
    several = " Several are separated by commas." if setting.multiple else ""
    kind = "string" if setting.kind == "secret" else setting.kind
    default = setting.default
    if default is None and kind not in ("number", "boolean"):
        default = ""  # the same as not set; without a default, some clients pass on the placeholder
    fields: dict[str, Any] = {
        "type": kind,
        "title": _TITLES.get(setting.name) or setting.name.replace("_", " ").capitalize(),
        "description": f"{setting.description}{choices}{several}",
        "required": setting.required,
        "sensitive": setting.kind == "secret" or None,
        "default": None if setting.required else default,
    }
    return {key: value for key, value in fields.items() if value is not None}
