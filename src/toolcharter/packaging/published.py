"""A server with all that is published of it: how it is started, its tools, and the metadata of its distribution."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from importlib.metadata import Distribution
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mcp_core.app import App
from mcp_core.process.extras import package_of
from mcp_core.process.start_errors import CannotStart
from toolcharter.local import targets
from toolcharter.packaging.launch import Launch, LaunchSetting, app_of, launch_of
from toolcharter.packaging.names import EXAMPLE, check_namespace, declared_names, github_namespace

MAX_DESCRIPTION_LENGTH = 100
"""Of the registry."""
SHARED_SETTINGS = ("user", "db")
"""The settings of every server that people are asked for, if it stores something: where, and for whom."""
_REPOSITORY = ("repository", "source", "sourcecode", "github")
"""Labels of the address of the source code, as packaging.python.org lists them."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_PRE_RELEASE = re.compile(r"(\d+(?:\.\d+){0,2})\.?(a|b|rc|dev)?(\d*)")


class CannotPackage(CannotStart):
    """Something that a server needs to be published is missing. The message says what, and where to write it."""


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a distribution."""

    author: str
    email: str | None
    license: str | None
    homepage: str | None
    repository: str | None
    keywords: tuple[str, ...]
    python: str
    readme: str


@dataclass(frozen=True, slots=True)
class PublishedServer:
    """A server, its distribution and its name in the registry."""

    launch: Launch
    app: App
    about: About
    registry_name: str
    folder: Path | None
    """The folder of its project, if the project is packaged, not what an index has of it."""

    @property
    def name(self) -> str:
        """The name of the server."""
        return self.launch.name

    @property
    def sources(self) -> str:
        """The place of the code in the folder of the project: `src`, or the package itself."""
        package = package_of(targets.known()[self.name])
        found = [name for name in ("src", package, f"{package}.py") if self.folder and (self.folder / name).exists()]
        if not found:
            raise CannotPackage(f"{self.folder} has neither a folder src nor the package {package!r}.")
        return found[0]

    @property
    def version(self) -> str:
        """The version of the distribution in the form of Semantic Versioning, which all but Python use."""
        found = _PRE_RELEASE.match(self.launch.distribution_version)
        if found is None:
            return self.launch.distribution_version
        numbers = (found[1] + ".0.0").split(".")[:3]
        return ".".join(numbers) + (f"-{found[2]}.{found[3] or 0}" if found[2] else "")

    @property
    def settings(self) -> tuple[LaunchSetting, ...]:
        """The settings that people may give at the start."""
        shared = SHARED_SETTINGS if any(one.name == "db" for one in self.launch.settings) else ()
        return tuple(one for one in self.launch.settings if one.own or one.name in shared)

    def problems(self) -> list[str]:
        """The problems to solve before the registry accepts the server."""
        found: list[str] = []
        namespace = self.registry_name.partition("/")[0]
        if namespace == EXAMPLE:
            found.append(f"Replace {EXAMPLE} in the line mcp-name of the README by a namespace of yours.")
        elif self.registry_name not in declared_names(self.about.readme):
            line = f"<!-- mcp-name: {self.registry_name} -->"
            found.append(f"Add this line to the README of {self.launch.distribution}: {line}")
        if self.launch.distribution not in (self.launch.script, "toolcharter"):
            found.append(
                f"Clients of the registry start it with `uvx {self.launch.distribution}`, so name its command like "
                f"that under [project.scripts]."
            )
        return found


def read_server(
    name: str,
    *,
    namespace: str | None = None,
    folder: Path | None = None,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> PublishedServer:
    """Read an installed server. `folder` is that of its project, whose README is newer than what was installed."""
    launch = launch_of(name)
    _check_texts(launch)
    if len(launch.description) > MAX_DESCRIPTION_LENGTH:
        raise CannotPackage(
            f"The description of {name!r} has {len(launch.description)} characters, and the registry allows "
            f"{MAX_DESCRIPTION_LENGTH}. Shorten `description` of its App: {launch.description!r}"
        )
    about = _about(targets.distribution_of(targets.known()[name]), folder)
    return PublishedServer(launch, app_of(name, given), about, _registry_name(launch, about, namespace), folder)


def _check_texts(launch: Launch) -> None:
    """Refuse what could leave its line or its folder in the files that are written."""
    if not _FILE_NAME.fullmatch(launch.name):
        raise CannotPackage(
            f"The server {launch.name!r} cannot be packaged: its files are named for it. Name it with letters, digits, "
            "hyphens, underscores and dots."
        )
    for field, text in (("title", launch.title), ("description", launch.description)):
        if not text.isprintable():
            raise CannotPackage(f"The {field} of {launch.name!r} must be one line of plain text: {text!r}")


def project_servers(folder: Path) -> list[str]:
    """The servers that the project in a folder registers. They must be installed here, to be loaded."""
    file = folder / "pyproject.toml"
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        names = list(project["entry-points"][targets.SERVERS])
    except FileNotFoundError:
        names = ", ".join(targets.known())
        raise CannotPackage(
            f"{file} does not exist. Give the folder of a project, or an installed server: {names}."
        ) from None
    except OSError as error:
        raise CannotPackage(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CannotPackage(f"{file} is not TOML: {error}.") from None
    except (LookupError, TypeError):
        raise CannotPackage(
            f'{file} registers no server. Add [project.entry-points."{targets.SERVERS}"] with NAME = "module:build".'
        ) from None
    missing = [name for name in names if name not in targets.known()]
    if missing:
        raise CannotPackage(
            f"The server {missing[0]!r} of {folder} is not installed here. Run: pip install --editable {folder}"
        )
    return names


def _about(distribution: Distribution, folder: Path | None) -> About:
    fields = distribution.metadata

    def one(field: str) -> str:
        return next(iter(fields.get_all(field) or ()), "")

    name, email = parseaddr(one("Author-email"))
    urls = dict(_label_and_url(line) for line in fields.get_all("Project-URL") or ())
    return About(
        author=name or one("Author") or f"The authors of {distribution.name}",
        email=email or None,
        license=one("License-Expression") or None,
        homepage=urls.get("homepage") or urls.get("documentation"),
        repository=next((urls[label] for label in _REPOSITORY if label in urls), None),
        keywords=tuple(word.strip() for word in one("Keywords").split(",") if word.strip()),
        python=one("Requires-Python") or ">=3.11",
        readme=_readme(folder) or str(fields.json.get("description", "")),
    )


def _label_and_url(line: str) -> tuple[str, str]:
    """`Source Code, https://...` as packages write it; labels are compared without case and punctuation."""
    label, _, url = line.partition(",")
    return re.sub(r"[^a-z]", "", label.lower()), url.strip()


def _readme(folder: Path | None) -> str | None:
    file = folder / "README.md" if folder else None
    return file.read_text(encoding="utf-8", errors="replace") if file and file.is_file() else None


def _registry_name(launch: Launch, about: About, namespace: str | None) -> str:
    """The name that the README declares for the server; or its name in the given or the repository's namespace."""
    declared = declared_names(about.readme)
    own = [name for name in declared if name.partition("/")[2] in (launch.name, launch.script, launch.distribution)]
    if namespace is None and own:
        return own[0]
    namespace = namespace or github_namespace(about.repository or "")
    if namespace is None:
        raise CannotPackage(
            f"The name of {launch.name!r} in the registry is not known. Give --namespace io.github.ana, or add a line "
            f"such as <!-- mcp-name: io.github.ana/{launch.name} --> to the README of {launch.distribution}."
        )
    check_namespace(namespace)
    return f"{namespace}/{launch.name}"
