"""Which server a command means: an installed one by name, a file, an object in a module, or an address."""

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from mcp_core.app import App
from mcp_core.errors import DeclarationError
from mcp_core.process.extras import SERVERS, MissingExtra, check_extra, missing_extra
from mcp_core.process.install_command import installer
from mcp_core.process.loading import loading
from mcp_core.process.start_errors import CannotStart
from mcp_core.settings.model import Settings, settings_type

EXAMPLES = "toolcharter.examples"


class UnknownTarget(CannotStart):
    """A target does not lead to a server. The message says why, and which targets are known."""

    exit_code = 2


def known() -> dict[str, EntryPoint]:
    """All servers that can be named, the example included."""
    installed = entry_points()  # each call reads the metadata of all installed distributions
    return {entry.name: entry for group in (EXAMPLES, SERVERS) for entry in installed.select(group=group)}


def installed() -> list[str]:
    """The servers that are served where none is named: all installed ones, or the example if there are none."""
    return sorted(entry_points(group=SERVERS).names) or sorted(entry_points(group=EXAMPLES).names)


def available() -> list[str]:
    """Those of the installed servers whose libraries are installed too."""
    return [name for name in installed() if missing_libraries(name) is None]


def missing_libraries(name: str) -> MissingExtra | None:
    """Why an installed server cannot be loaded: an extra is not installed. None if nothing is missing."""
    try:
        check_extra(known()[name])
    except MissingExtra as missing:
        return missing
    return None


def distribution_of(entry: EntryPoint) -> Distribution:
    """The distribution that registers a server."""
    if entry.dist is None:
        raise UnknownTarget(f"The server {entry.name!r} was registered by no installed distribution.")
    return entry.dist


def is_file(target: str) -> bool:
    """Whether a target is a file of Python, or `file.py:object`."""
    return target not in known() and ".py" in target


def absolute(target: str) -> str:
    """A target that means the same in every folder, where it is a file."""
    name, suffix, rest = target.partition(".py")
    return f"{Path(name).expanduser().absolute()}{suffix}{rest}" if is_file(target) else target


def load(target: str, settings: Settings) -> App:
    """Build the App that a name, `file.py[:object]` or `module:object` stands for."""
    return require_app(load_any(target, settings), target)


def load_any(target: str, settings: Settings) -> Any:
    """Build an App or a server of an MCP library."""
    return build(find(target), target, settings)


_ADDRESS = re.compile(r"(?:\w+://)?([\w.-]+:\d+(?:/.*)?|(?<=://)[\w.-]+(?:/.*)?)")
"""Targets that are meant as addresses: a host with a port, or another scheme than http."""


def find(target: str, servers: Mapping[str, EntryPoint] | None = None) -> Any:
    """The App, the server of an MCP library, or the function `build` that a target stands for.

    `servers` are those that are `known()`, where they were looked up already.
    """
    servers = known() if servers is None else servers
    if target in servers:
        with _load_errors(target), loading():
            return servers[target].load()
    if ".py" in target:
        return _load_file(target)
    if address := _ADDRESS.fullmatch(target):
        raise UnknownTarget(f"{target!r} is not an address of a server. Did you mean http://{address[1]}?")
    if ":" in target:
        module, _, name = target.partition(":")
        return _attribute(_import(module, target), name, target)
    raise UnknownTarget(not_installed(target, "file.py, module:object, or an http:// address"))


def not_installed(name: str, otherwise: str) -> str:
    """The error for a name that no installed server has. `otherwise` is what can be given in place of a name."""
    names = ", ".join(known()) or "none"
    nearest = get_close_matches(name, known(), n=1, cutoff=0.7)
    hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
    return f"No server {name!r} is installed. {hint}Installed: {names}. Give the name of one, {otherwise}."


def require_app(server: Any, target: str) -> App:
    """Refuse a server of an MCP library, which has no declarations."""
    if not isinstance(server, App):
        kind = type(server).__name__
        raise UnknownTarget(f"{target!r} is of type {kind}. Give an App, or a function that builds one.")
    return server


def build(found: Any, target: str, settings: Settings) -> Any:
    """The server that was found for a target, or that the function makes which was found, with these settings."""
    if isinstance(found, App):
        found.use_settings(settings)
    if not inspect.isfunction(found):
        return found
    try:
        inspect.signature(found).bind(settings)
    except TypeError:
        raise UnknownTarget(
            f"The function {target!r} does not take the settings alone. Give build(settings) -> App."
        ) from None
    with _load_errors(target):
        return cast(Callable[[Settings], Any], found)(settings_type(found).of(settings))


def choose(names: Sequence[str]) -> list[str]:
    """The named servers, or all that are installed."""
    chosen = list(names) or installed()
    if not chosen:
        raise UnknownTarget("No server is installed, and none was named. Give a file.py or module:object.")
    return chosen


def _import(name: str, target: str) -> Any:
    sys.path.insert(0, str(Path.cwd()))
    try:
        with _load_errors(target), loading():
            return importlib.import_module(name)
    except CannotStart as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            raise
        raise UnknownTarget(f"{target!r}: No module named {missing!r}.") from None
    finally:
        sys.path.pop(0)


@contextmanager
def _load_errors(target: str) -> Generator[None]:
    """Say in one line why a server cannot be loaded, and for a file in which of its lines."""
    try:
        yield
    except (DeclarationError, CannotStart):
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (missing := missing_extra(target, error)):
            raise missing from None
        name, is_file, _ = target.partition(".py")
        path = f"{name}.py" if is_file else target
        line = f", line {_line(error, path)}" if is_file else ""
        reason = f"{path} cannot be loaded{line}: {type(error).__name__}: {error}"
        raise CannotStart(f"{reason}{_where_to_install(error)}") from error


def _where_to_install(error: Exception) -> str:
    """For a library that a server imports: toolcharter loads the server in its own environment."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    return f". Install what has it beside toolcharter: {installer()} PACKAGE"


def _load_file(target: str) -> Any:
    name, _, attribute = target.partition(".py")
    path = Path(f"{name}.py")
    if not path.is_file():
        raise UnknownTarget(f"The file {path} does not exist.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UnknownTarget(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and type hints look their module up by name.
    sys.modules[path.stem] = module
    if (folder := str(path.absolute().parent)) not in sys.path:
        sys.path.append(folder)  # for the modules beside it, which `python FILE` finds too
    with _load_errors(target), loading() as offered:
        spec.loader.exec_module(module)
    if attribute:
        return _attribute(module, attribute.removeprefix(":"), target)
    build = getattr(module, "build", None)
    if inspect.isfunction(build) and build.__module__ == module.__name__:
        return build
    return _only_server(path, module, offered)


def _only_server(path: Path, module: ModuleType, offered: Sequence[Any]) -> Any:
    """The server that a file runs, or the only App that it makes."""
    # An app may have several names; it is shown by the first.
    apps = {id(value): name for name, value in reversed(vars(module).items()) if isinstance(value, App)}
    if len(served := {id(server): server for server in offered}) == 1:
        return next(iter(served.values()))
    if len(apps) == 1:
        return next(value for value in vars(module).values() if id(value) in apps)
    raise UnknownTarget(_without_server(path, module))


def _line(error: Exception, path: str) -> int:
    """The line of a file that led to an exception."""
    whole = str(Path(path).absolute())
    if isinstance(error, SyntaxError) and error.filename in (path, whole):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename in (path, whole)), 1)


def _without_server(path: Path, module: ModuleType) -> str:
    """The error for a file in which no server, or more than one, is found."""
    servers = [f"{path}:{name}" for name, value in vars(module).items() if _is_server(value)]
    if not servers:
        return f"{path} makes no App. Make one, app = App(NAME), or name what makes it: {path}:FUNCTION."
    problem = "makes several servers" if len(servers) > 1 else "makes no App"
    return f"{path} {problem}. Name the server: {' or '.join(servers)}."


def _is_server(value: Any) -> bool:
    """Whether a value is an App, or a server of an MCP library, which are not imported only to ask."""
    return type(value).__name__ in ("App", "FastMCP", "MCPServer", "Server")


def _attribute(module: Any, name: str, target: str) -> Any:
    if not hasattr(module, name):
        raise UnknownTarget(f"{target!r}: {module.__name__} has no {name!r}.")
    return getattr(module, name)
