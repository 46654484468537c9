"""A Claude Code plugin: the server and its skills; and a marketplace, which is a list of plugins.

Source: code.claude.com/docs/en/plugins/manifest-reference and marketplace-reference. A skill is a folder with SKILL.md,
in the form of agentskills.io/specification.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from toolcharter.packaging.json_file import json_text
from toolcharter.packaging.published import PublishedServer
from toolcharter.packaging.user_config import questions, variables

FOLDER = "plugins"
SKILLS = f"{FOLDER}/*/skills/*/SKILL.md"
"""The folder of skills in a marketplace."""


def marketplace_name(server: PublishedServer) -> str:
    """The name of the marketplace that has the server's plugin, by which people choose the plugin."""
    return re.sub(r"[^a-z0-9]+", "-", server.launch.distribution.lower())


def marketplace_files(servers: Sequence[PublishedServer]) -> dict[str, str]:
    """A marketplace with a plugin for each server. People add its folder, or the repository that has it."""
    files = {".claude-plugin/marketplace.json": json_text(_marketplace(servers))}
    for server in servers:
        files |= {f"{FOLDER}/{server.name}/{place}": text for place, text in _plugin_files(server).items()}
    return files


def _marketplace(servers: Sequence[PublishedServer]) -> dict[str, Any]:
    first = servers[0]
    return {
        "name": marketplace_name(first),
        "description": f"Plugins of {first.launch.distribution}.",
        "owner": _author(first),
        "plugins": [
            {"name": server.name, "source": f"./{FOLDER}/{server.name}", "description": server.launch.description}
            for server in servers
        ],
    }


def _plugin_files(server: PublishedServer) -> dict[str, str]:
    files = {".claude-plugin/plugin.json": json_text(_manifest(server)), "README.md": _readme(server)}
    for skill in server.app.skills():
        for path, data in skill.contents().items():
            with suppress(UnicodeDecodeError):  # files of a plugin are text
                files[f"skills/{skill.name}/{path}"] = data.decode()
    return files


def _readme(server: PublishedServer) -> str:
    launch = server.launch
    tools = [f"- `{one.name}`: {one.doc.summary}" for one in server.app.registry.get_all()]
    lines = [f"# {launch.title}", "", launch.description, "", "## Tools", "", *tools]
    source = server.app.library.skills
    if source is not None and source.left_out is not None and (left_out := source.left_out()):
        lines += ["", "## Not among the skills", "", *(f"- `{path}`: {reason}" for path, reason in left_out.items())]
    return "\n".join(lines) + "\n"


def _manifest(server: PublishedServer) -> dict[str, Any]:
    launch, about = server.launch, server.about
    command, *words = launch.uvx(pinned=True)
    fields: dict[str, Any] = {
        "name": server.name,
        "displayName": launch.title,
        "version": server.version,
        "description": launch.description,
        "author": _author(server),
        "homepage": about.homepage,
        "repository": about.repository,
        "license": about.license,
        "keywords": list(about.keywords),
        "mcpServers": {
            server.name: {
                "command": command,
                "args": words,
                "env": variables(server.settings),
            }
        },
        "userConfig": questions(server.settings),
    }
    return {key: value for key, value in fields.items() if value}


def _author(server: PublishedServer) -> dict[str, str]:
    return {"name": server.about.author, **({"email": server.about.email} if server.about.email else {})}
