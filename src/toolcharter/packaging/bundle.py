"""An `.mcpb` bundle: a zip file with a manifest, that Claude Desktop and others install with a double click.

With the type `uv`, the client brings Python and installs what `pyproject.toml` requires. With `python`, all libraries
are in the bundle, so that it is for one platform and one Python.
"""

import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from toolcharter.packaging.json_file import json_text
from toolcharter.packaging.published import PublishedServer
from toolcharter.packaging.user_config import questions, variables

BundleType = Literal["uv", "python"]
Files = Mapping[str, bytes]

MANIFEST_VERSIONS: Mapping[BundleType, str] = {"uv": "0.4", "python": "0.3"}
ENTRY_POINT = "server/main.py"
LIBRARIES = "server/lib"
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest time in a zip file. The same files make the same bundle, whenever they were written."""


def manifest(server: PublishedServer, kind: BundleType = "uv") -> dict[str, Any]:
    """The manifest, from what the server declares."""
    launch, about = server.launch, server.about
    fields: dict[str, Any] = {
        "manifest_version": MANIFEST_VERSIONS[kind],
        "name": launch.script or launch.name,
        "display_name": launch.title,
        "version": server.version,
        "description": launch.description,
        "author": {"name": about.author, **({"email": about.email} if about.email else {})},
        "repository": {"type": "git", "url": about.repository} if about.repository else None,
        "homepage": about.homepage,
        "license": about.license,
        "keywords": list(about.keywords),
        "server": {"type": kind, "entry_point": ENTRY_POINT, "mcp_config": _start(server, kind)},
        "tools": [{"name": tool.name, "description": tool.description} for tool in server.app.list_tools()],
        "prompts_generated": bool(server.app.library.prompts),
        "compatibility": {"runtimes": {"python": about.python}},
        "user_config": questions(server.settings),
    }
    if kind == "python":
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        fields["compatibility"] = {"platforms": [sys.platform], "runtimes": {"python": f"=={version}.*"}}
    return {key: value for key, value in fields.items() if value}


def _start(server: PublishedServer, kind: BundleType) -> dict[str, Any]:
    main = f"${{__dirname}}/{ENTRY_POINT}"
    environment = variables(server.settings)
    if kind == "uv":
        # Not --directory: the working directory of the client may mean something to the server.
        return {"command": "uv", "args": ["run", "--project", "${__dirname}", main], "env": environment}
    return {"command": "python3", "args": [main], "env": {"PYTHONPATH": f"${{__dirname}}/{LIBRARIES}", **environment}}


def bundle_files(server: PublishedServer, kind: BundleType = "uv", libraries: Path | None = None) -> Files:
    """The files of the bundle. `libraries` is the folder with everything installed, for the type `python`."""
    files = {"manifest.json": json_text(manifest(server, kind)).encode(), ENTRY_POINT: _main(server).encode()}
    if libraries is not None:
        return files | _below(libraries, LIBRARIES)
    if server.folder is not None:
        return files | _project(server.folder, server.sources)
    return files | {"pyproject.toml": _requirements(server).encode()}


def _main(server: PublishedServer) -> str:
    return f'''"""Starts the server. Some clients leave `${{user_config...}}` where their user has filled in nothing."""

import os

from toolcharter.cli import main

for name, value in list(os.environ.items()):
    if value.startswith("${{user_config."):
        del os.environ[name]
main(["stdio", "{server.name}"])
'''


def _requirements(server: PublishedServer) -> str:
    """The project of a server that the client installs from a package index."""
    return f"""[project]
name = "{server.launch.script or server.name}-bundle"
version = "{server.launch.distribution_version}"
requires-python = "{server.about.python}"
dependencies = ["{server.launch.requirement(pinned=True)}"]

[tool.uv]
package = false
"""


def _project(folder: Path, sources: str) -> dict[str, bytes]:
    """The sources of a project: what its build needs, and its package."""
    wanted = [folder / "pyproject.toml", *folder.glob("README*"), *folder.glob("LICENSE*"), folder / sources]
    files = {file.name: file.read_bytes() for file in wanted if file.is_file()}
    return files | _below(folder / sources, sources)


def _below(folder: Path, place: str) -> dict[str, bytes]:
    """The files of a folder but those that Python and setuptools leave there."""
    files = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {
        f"{place}/{name.as_posix()}": file.read_bytes()
        for name, file in files.items()
        if not any(part == "__pycache__" or part.endswith(".egg-info") for part in name.parts)
    }


def zip_bytes(files: Files) -> bytes:
    """A zip file that depends on nothing but the files. Only libraries are compressed, as compressors differ."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _FIRST_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED if name.startswith(LIBRARIES) else zipfile.ZIP_STORED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, also on Windows
            archive.writestr(entry, files[name])
    return out.getvalue()
