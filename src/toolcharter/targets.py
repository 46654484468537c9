"""Which server a command means: an installed one by name, a file, an object in a module, or an address."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast

from mcp_core.app import App
from mcp_core.settings import Settings

SERVERS = "toolcharter.servers"
"""The entry point group by which a package makes its server known: NAME = "package.module:build"."""
EXAMPLES = "toolcharter.examples"


class NoSuchTarget(Exception):
    """Nothing is known under that name; the message says what is."""


def known() -> dict[str, EntryPoint]:
    """All servers that can be named, the example included."""
    return {entry.name: entry for group in (EXAMPLES, SERVERS) for entry in entry_points(group=group)}


def installed() -> list[str]:
    """What is served where none is named: all servers; the example where there is no other."""
    return sorted(entry_points(group=SERVERS).names) or sorted(entry_points(group=EXAMPLES).names)


def is_address(target: str) -> bool:
    """Whether a target is served elsewhere."""
    return target.startswith(("http://", "https://"))


def load(target: str, settings: Settings) -> App:
    """Build the server of ours that a name, `file.py[:object]` or `module:object` stands for."""
    app = load_any(target, settings)
    if not isinstance(app, App):
        raise NoSuchTarget(
            f"{target!r} gives a {type(app).__name__}; a server is an App, or a function that builds one."
        )
    return app


def load_any(target: str, settings: Settings) -> Any:
    """The same, but it may be a server of an MCP library too."""
    named = known()
    if target in named:
        made = named[target].load()
    elif ".py" in target:
        made = _from_file(target)
    elif ":" in target:
        made = _attribute(_module(target.partition(":")[0], target), target.partition(":")[2], target)
    else:
        names = ", ".join(named) or "none"
        forms = "Give the name of an installed server, file.py, module:object, or an http:// address."
        raise NoSuchTarget(f"No server {target!r}. Installed: {names}. {forms}")
    if not inspect.isfunction(made):
        return made
    try:
        inspect.signature(made).bind(settings)
    except TypeError:
        raise NoSuchTarget(f"{target!r} is a function, but none that builds a server from its settings.") from None
    return cast(Callable[[Settings], Any], made)(settings)


def load_all(names: Sequence[str], settings: Settings) -> list[App]:
    """The named servers, or all that are installed."""
    chosen = list(names) or installed()
    if not chosen:
        raise NoSuchTarget("No server is installed, and none was named. Give a file.py or module:object.")
    return [load(name, settings) for name in chosen]


def _module(name: str, target: str) -> Any:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise NoSuchTarget(f"{target!r}: {error}") from error
    finally:
        sys.path.pop(0)


def _from_file(target: str) -> Any:
    name, _, attribute = target.partition(".py")
    path = Path(f"{name}.py")
    if not path.is_file():
        raise NoSuchTarget(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise NoSuchTarget(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and type hints look their module up by name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return _attribute(module, attribute.removeprefix(":") or "build", target)


def _attribute(module: Any, name: str, target: str) -> Any:
    if not hasattr(module, name):
        raise NoSuchTarget(f"{target!r}: {module.__name__} has no {name!r}.")
    return getattr(module, name)
