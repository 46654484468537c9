"""`server.json`: the entry of a server in the MCP registry, in the form of its schema 2025-12-11."""

from typing import Any

from toolcharter.packaging.launch import Kind, LaunchSetting
from toolcharter.packaging.published import PublishedServer

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_FORMATS: dict[Kind, str] = {"number": "number", "boolean": "boolean", "directory": "filepath", "file": "filepath"}


def server_json(server: PublishedServer) -> dict[str, Any]:
    """The entry. Clients make a command of it: `uvx`, runtime arguments, package, package arguments."""
    launch, about = server.launch, server.about
    entry: dict[str, Any] = {
        "$schema": SCHEMA,
        "name": server.registry_name,
        "title": launch.title,
        "description": launch.description,
        "version": server.version,
        "repository": _repository(about.repository),
        "websiteUrl": about.homepage if (about.homepage or "").startswith("https://") else None,
        "packages": [_package(server)],
    }
    return {key: value for key, value in entry.items() if value}


def _repository(url: str | None) -> dict[str, str] | None:
    """The registry knows repositories at two hosts."""
    for source in ("github", "gitlab"):
        if url and url.startswith(f"https://{source}.com/"):
            return {"url": url, "source": source}
    return None


def _package(server: PublishedServer) -> dict[str, Any]:
    launch = server.launch
    package: dict[str, Any] = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": launch.distribution,
        "version": launch.distribution_version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    if launch.script != launch.distribution:
        # `uvx NAME` runs the command that is named like the package: here the one that starts any server.
        if launch.extra:
            package["runtimeArguments"] = [
                {"type": "named", "name": "--with", "value": launch.requirement(pinned=True)}
            ]
        package["packageArguments"] = [{"type": "positional", "value": word} for word in ("stdio", launch.name)]
    if server.settings:
        package["environmentVariables"] = [_variable(setting) for setting in server.settings]
    return package


def _variable(setting: LaunchSetting) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": setting.variable,
        "description": setting.description,
        "isRequired": setting.required,
        "isSecret": setting.kind == "secret",
        "format": _FORMATS.get(setting.kind),
        "default": None if setting.default is None else text_of(setting.default),
        "choices": list(setting.choices),
    }
    return {key: value for key, value in fields.items() if value}


def text_of(default: str | float | bool) -> str:  # noqa: FBT001 - a value, not a switch
    """A default as an environment variable has it."""
    return str(default).lower() if isinstance(default, bool) else str(default)
