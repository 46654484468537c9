"""Write what publishes a server, from what it declares: for the MCP registry, Claude, VS Code, Cursor and containers.

DIR gets a folder for each server: server.json (MCP registry), a bundle (.mcpb, for Claude Desktop and others),
Dockerfile and compose.yaml, badges.md (links that install it in VS Code and Cursor), tools.md and llms.txt. DIR itself
is a marketplace of Claude Code plugins, one for each server.
"""

import argparse
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_core.foreign.terminal import print_text
from mcp_core.settings.model import Settings, settings_type
from mcp_core.settings.sources import resolve_settings
from toolcharter.commands import CannotRun, UsageError, lock
from toolcharter.local import targets
from toolcharter.packaging.bundle import MANIFEST_VERSIONS
from toolcharter.packaging.folder import bundle_name, package_files, write_files
from toolcharter.packaging.libraries import install_libraries
from toolcharter.packaging.plugin import marketplace_name
from toolcharter.packaging.published import PublishedServer, project_servers, read_server


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [options] [SERVER | FOLDER ...]"
    parser.add_argument(
        "servers",
        nargs="*",
        metavar="SERVER | FOLDER",
        help="installed servers, which are fetched from PyPI where they are used; or folders of projects, whose "
        "sources are packaged [.]",
    )
    parser.add_argument("--output", type=Path, default=Path("dist"), metavar="DIR", help="folder to write to [dist]")
    parser.add_argument(
        "--namespace", metavar="NAME", help="yours in the MCP registry, such as io.github.ana [as in the README]"
    )
    parser.add_argument(
        "--bundle",
        choices=MANIFEST_VERSIONS,
        default="uv",
        help="uv: the client installs the libraries; python: they are in the bundle, for this platform [uv]",
    )
    parser.set_defaults(takes_server_options=True)


def run(options: argparse.Namespace) -> int:
    """Package the servers, and say what is left to do."""
    named = _targets(options.servers or ["."])
    servers = [
        read_server(name, namespace=options.namespace, folder=folder, given=_given(options, name))
        for name, folder in named
    ]
    output: Path = options.output
    try:
        files = _files(servers, options)
        write_files(files, output)
    except OSError as error:
        raise CannotRun(f"{error.filename} cannot be written: {error.strerror}.") from None
    for server in servers:
        _report(server, files, output)
    for folder in {folder for _, folder in named if folder is not None}:
        for file in lock.mark_released(folder):
            print_text(f"{file}: the tools are a contract from now on; `toolcharter lock` refuses what would break it.")
    return os.EX_OK


def _targets(named: list[str]) -> list[tuple[str, Path | None]]:
    """The servers, with the folder of their project if it was named."""
    found: dict[str, Path | None] = {}
    for word in named:
        if word in targets.known():
            found[word] = None
        elif Path(word).is_dir():
            found |= dict.fromkeys(project_servers(Path(word)), Path(word))
        else:
            names = ", ".join(targets.known())
            raise UsageError(
                f"{word!r} is neither an installed server nor the folder of a project. Installed: {names}."
            )
    return list(found.items())


def _given(options: argparse.Namespace, name: str) -> Mapping[str, Any]:
    """The settings of the server's own that were given as options, such as the folder of its documents."""
    kind = settings_type(targets.find(name))
    own = [key for key in kind.model_fields if key not in Settings.model_fields]
    named = [key for key in own if getattr(options, key, None) is not None]
    return {key: getattr(resolve_settings(options, kind).settings, key) for key in named} if named else {}


def _files(servers: list[PublishedServer], options: argparse.Namespace) -> dict[str, bytes]:
    if options.bundle == "uv":
        return package_files(servers, options.output)
    with tempfile.TemporaryDirectory() as folder:
        libraries = {server.name: Path(folder, server.name) for server in servers}
        for server in servers:
            install_libraries(server, libraries[server.name])
        return package_files(servers, options.output, options.bundle, libraries)


def _report(server: PublishedServer, files: Mapping[str, bytes], output: Path) -> None:
    bundle = f"{server.name}/{bundle_name(server)}"
    plugin = f"{server.name}@{marketplace_name(server)}"
    print_text(f"{output / server.name}: {server.registry_name} {server.version}")
    print_text(f"  bundle: {output / bundle}, sha256 {hashlib.sha256(files[bundle]).hexdigest()}")
    print_text(f"  plugin: claude plugin marketplace add {_as_folder(output)} && claude plugin install {plugin}")
    for problem in server.problems():
        print_text(f"  to do before you publish: {problem}")


def _as_folder(path: Path) -> str:
    """A path that cannot be taken for the name of a repository."""
    return str(path) if path.is_absolute() or path.parts[:1] == ("..",) else f"./{path.as_posix()}"
