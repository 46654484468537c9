"""The libraries that an extra of a distribution brings, such as those of a server: a plain install has none of them.

The extra of a server has the server's name: `toolcharter[todo]`.
"""

import re
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, entry_points
from types import TracebackType

from mcp_core.process.install_command import install_command
from mcp_core.process.start_errors import CannotStart

SERVERS = "toolcharter.servers"
"""The entry point group in which a package registers its server: NAME = "package.module:build"."""
OPTIONAL = frozenset({"keyring"})
"""Libraries that servers use where they are installed; `toolcharter.keyring` does without for all of them."""
_REQUIREMENT = re.compile(r"""([\w.-]++)\s*+(?:\[([^\]]*+)\])?[^;]*+;\s*+extra == ["']([^"']+)["']\s*""")
"""A requirement of an extra on every platform."""


class MissingExtra(CannotStart):
    """A server needs a library that is not installed. The message says which install brings it."""


class RequiresExtra:
    """Says which extra of toolcharter brings what cannot be imported inside it.

    A class, because a type checker cannot know that a generator does not suppress the exception.
    """

    def __init__(self, extra: str, what: str) -> None:
        self._extra, self._what = extra, what

    def __enter__(self) -> None:
        """Nothing is needed before the imports."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, ImportError):
            missing = error.name or error
            raise MissingExtra(f"{self._what} needs {missing}: {install_command(self._extra)}") from None


def missing_extra(server: str, error: ModuleNotFoundError) -> MissingExtra | None:
    """The error for a server whose library is not installed; None where something else is missing."""
    entry = next(iter(entry_points(group=SERVERS, name=server)), None)
    module = error.name or ""
    if entry is None or module.partition(".")[0] == package_of(entry) or (extra := extra_of(entry)) is None:
        return None
    return _missing(entry, extra, module)


def extra_of(entry: EntryPoint) -> str | None:
    """The extra that brings the libraries of a server."""
    return entry.name if entry.dist and entry.name in (entry.dist.metadata.get_all("Provides-Extra") or ()) else None


def requirement_of(server: str) -> str:
    """The requirement of an installed server, such as `toolcharter[todo]`; else that of toolcharter."""
    entry = next(iter(entry_points(group=SERVERS, name=server)), None)
    if entry is None or entry.dist is None:
        return "toolcharter"
    extra = extra_of(entry)
    return f"{entry.dist.name}[{extra}]" if extra else entry.dist.name


def check_extra(entry: EntryPoint) -> None:
    """Raise MissingExtra unless everything that a server needs of its extra is installed."""
    extra = extra_of(entry)
    missing = _missing_packages(entry.dist, extra) if entry.dist and extra else []
    if extra and missing:
        raise _missing(entry, extra, ", ".join(missing))


def package_of(entry: EntryPoint) -> str:
    """The package that an entry point leads to."""
    return entry.module.partition(".")[0]


def _missing(entry: EntryPoint, extra: str, library: str) -> MissingExtra:
    name = entry.dist.name if entry.dist else entry.name
    return MissingExtra(f"The server {entry.name!r} needs {library}: {install_command(extra, name)}")


def _missing_packages(of: Distribution, extra: str) -> list[str]:
    """The packages of an extra that are needed and not installed. An extra may name others of its own distribution."""
    missing: list[str] = []
    for requirement in of.requires or ():
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None or match[3] != extra:
            continue
        if match[1] == of.name:
            for each in (match[2] or "").split(","):
                missing += _missing_packages(of, each.strip())
        elif match[1] not in OPTIONAL and not _is_installed(match[1]):
            missing.append(match[1])
    return missing


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
