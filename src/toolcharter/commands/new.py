"""Make a new server: a project with one tool, its test, its contract, a CI job and a README."""

import argparse
import os
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from mcp_core.foreign.terminal import print_text
from mcp_core.process.install_command import source_folder
from toolcharter.commands import CannotRun, lock
from toolcharter.packaging.names import EXAMPLE
from toolcharter.packaging.project import NewProject, write_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="name of the server, such as weather")
    parser.add_argument("--path", type=Path, metavar="DIR", help="folder to make [mcp-NAME]")
    parser.add_argument(
        "--namespace", default=EXAMPLE, help=f"yours in the MCP registry, such as io.github.ana [{EXAMPLE}]"
    )


def run(options: argparse.Namespace) -> int:
    """Write the project and its lock, and print how to go on."""
    project = NewProject(options.name, options.namespace)
    folder: Path = options.path or Path(project.project)
    try:
        write_project(project, folder)
        _lock(project, folder)
    except OSError as error:
        raise CannotRun(f"{error.filename} cannot be written: {error.strerror}.") from None
    print_text(_next_steps(project, folder))
    return os.EX_OK


def _lock(project: NewProject, folder: Path) -> None:
    """Write the contract of the tools, which is read from the new package."""
    parser = argparse.ArgumentParser()
    lock.add_arguments(parser)
    file = folder / "contracts" / f"{project.project}.json"
    options = parser.parse_args([f"{project.package}.app:build", "--output", str(file), "--unreleased"])
    options.command = []
    with _importing_from(folder.absolute() / "src"):
        lock.run(options)


@contextmanager
def _importing_from(folder: Path) -> Generator[None]:
    """Import the new package without leaving bytecode in its folder."""
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes_bytecode


def _next_steps(project: NewProject, folder: Path) -> str:
    tool = project.values()["tool"]
    ours = source_folder()
    # What came from a clone may not be in a package index.
    first = f"{shlex.quote(str(ours.path))} " if ours else ""
    return f"""
{folder} has the server {project.name!r}, with one tool to begin with: src/{project.package}/tools.py.

  cd {folder}
  python3 -m venv .venv
  .venv/bin/pip install {first}--editable '.[test]'
  .venv/bin/pytest
  .venv/bin/toolcharter call {project.name} {tool} name=first

README.md has the rest: changing it, using it in a client, publishing it."""
