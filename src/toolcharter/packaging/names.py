"""Names in the MCP registry: a namespace in reverse DNS, a slash, and the server, such as `io.github.ana/weather`."""

import re

from mcp_core.process.start_errors import CannotStart

EXAMPLE = "io.github.example"
"""The namespace of a new project. The registry accepts only one that its publisher owns."""
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_NAMESPACE = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")
_DECLARED = re.compile(r"mcp-name: *([A-Za-z0-9.-]+/[A-Za-z0-9._-]+)")
_GITHUB = re.compile(r"https?://github\.com/([A-Za-z0-9-]+)/")


class InvalidNamespace(CannotStart):
    """A namespace that the registry does not accept."""

    exit_code = 2


def check_namespace(namespace: str) -> None:
    """Refuse what is not a domain in reverse order."""
    if not _NAMESPACE.fullmatch(namespace):
        raise InvalidNamespace(
            f"{namespace!r} is not a namespace. Write a domain of yours in reverse, such as com.example, "
            "or io.github. and your name there."
        )


def declared_names(readme: str) -> list[str]:
    """The names that a README declares with `mcp-name: NAME`, by which the registry knows who owns a package."""
    return [name.rstrip(".-_") for name in _DECLARED.findall(readme)]


def github_namespace(url: str) -> str | None:
    """The namespace of the owner of a repository."""
    found = _GITHUB.match(f"{url}/")
    return f"io.github.{found[1]}" if found else None
