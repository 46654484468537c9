"""A new server as a project of its own, written from the files in `template/`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcp_core.process.start_errors import CannotStart
from toolcharter.local import targets
from toolcharter.packaging.names import check_namespace

TEMPLATE = Path(__file__).parent / "template"
SUFFIX = ".template"
_PLACEHOLDER = re.compile(r"<<(\w+)>>")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_NAME_LENGTH = 32
"""So that `mcp__NAME__get_NAME`, as some clients write it, is not longer than the 64 or more characters they allow."""


class InvalidProject(CannotStart):
    """A project cannot be made as it was requested. The message says what to write instead."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class NewProject:
    """The names of a new project: the server `weather` is the package `mcp_weather` of the project `mcp-weather`."""

    name: str
    namespace: str

    def __post_init__(self) -> None:
        """Refuse names that the server, its package or the registry cannot have."""
        if not _NAME.fullmatch(self.name) or len(self.name) > MAX_NAME_LENGTH or self.name.startswith("mcp-"):
            raise InvalidProject(_invalid_name(self.name))
        if self.name in targets.known():
            raise InvalidProject(f"A server {self.name!r} is installed here already. Choose another name.")
        check_namespace(self.namespace)

    @property
    def project(self) -> str:
        """The name of the distribution, of its command and of its folder."""
        return f"mcp-{self.name}"

    @property
    def package(self) -> str:
        """The name that Python imports."""
        return self.project.replace("-", "_")

    def values(self) -> Mapping[str, str]:
        """The values of the placeholders of the template."""
        words = self.name.replace("-", " ")
        major, minor = version("toolcharter").split(".")[:2]
        return {
            "name": self.name,
            "project": self.project,
            "package": self.package,
            "title": words.capitalize(),
            "description": f"An MCP server for {words}.",
            "tool": f"get_{self.name.replace('-', '_')}",
            "requirement": f"toolcharter>={major}.{minor},<{int(major) + 1}",
            "registry_name": f"{self.namespace}/{self.name}",
        }


def _invalid_name(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower().removeprefix("mcp-"))
    suggestion = "-".join(words).lstrip("0123456789-")[:MAX_NAME_LENGTH].rstrip("-") or "weather"
    rule = "small letters, digits and hyphens, beginning with a letter, without mcp-, "
    rule += f"at most {MAX_NAME_LENGTH} characters"
    return f"{name!r} is not a name for a server. Use {rule}: toolcharter new {suggestion}"


def write_project(project: NewProject, folder: Path) -> None:
    """Write the files of a project to a new folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidProject(f"{folder} exists already, and nothing in it was changed. Choose another --path.")
    values = project.values()
    for source in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
        place = source.relative_to(TEMPLATE).as_posix().removesuffix(SUFFIX)
        file = folder / place.replace("__package__", project.package).replace("dot-", ".")
        text = _PLACEHOLDER.sub(lambda found: values[found[1]], source.read_text(encoding="utf-8"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
