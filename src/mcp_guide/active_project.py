"""Which project is meant, when a call may not say so."""

import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from mcp_core import Conflict
from mcp_guide.model import DEFAULT_PROJECT, Configuration, Project, find_project

MOST_SESSIONS = 1000
"""Of so many sessions the choice is remembered, the oldest being forgotten."""

Reason = Literal["argument", "set_project", "option", "roots", "folder", "default"]


class Active(NamedTuple):
    """A project, and what decided for it."""

    project: Project
    by: Reason


class ActiveProject:
    """Knows what was chosen at start and in each session; finds the rest from the configuration it is given."""

    def __init__(self, given: str | None = None, folder: Path | None = None) -> None:
        """`given` is the option --project; `folder` is where the server was started."""
        self._given = given
        self._folder = Path.cwd() if folder is None else folder
        self._chosen: OrderedDict[str | None, str] = OrderedDict()
        self._owners: tuple[Configuration, dict[str, list[Project]]] | None = None

    def choose(self, configuration: Configuration, name: str, session: str | None = None) -> Project:
        """From now on, this session means that project. One that is not there is not chosen, nor made."""
        project = find_project(configuration, name)
        self._chosen[session] = name
        self._chosen.move_to_end(session)
        if len(self._chosen) > MOST_SESSIONS:
            self._chosen.popitem(last=False)
        return project

    def find(
        self,
        configuration: Configuration,
        named: str | None = None,
        session: str | None = None,
        roots: Sequence[Path] = (),
    ) -> Active:
        """The project of a call: the one it names, else the session's, the option's, the client's roots', the folder's.

        A name that leads nowhere is an error; it never falls through to another project.
        `roots` are the client's folders.
        """
        names: list[tuple[str | None, Reason]] = [
            (named, "argument"),
            (self._chosen.get(session), "set_project"),
            (self._given, "option"),
        ]
        for name, reason in names:
            if name is not None:
                return Active(find_project(configuration, name), reason)
        for folder in roots:
            if (project := self._owner(configuration, folder)) is not None:
                return Active(project, "roots")
        if (project := self._owner(configuration, self._folder)) is not None:
            return Active(project, "folder")
        return Active(find_project(configuration, DEFAULT_PROJECT), "default")

    def _owner(self, configuration: Configuration, folder: Path) -> Project | None:
        """The project whose folder this is, or the nearest folder around it. The name of the folder says nothing."""
        owners = self._by_folder(configuration)
        if not owners:
            return None
        real = Path(os.path.realpath(folder))
        for place in (real, *real.parents):
            found = owners.get(str(place), [])
            if len(found) > 1:
                names = " and ".join(repr(one.name) for one in found)
                raise Conflict(f"The projects {names} both have the folder {place}; say which one with `project`.")
            if found:
                return found[0]
        return None

    def _by_folder(self, configuration: Configuration) -> dict[str, list[Project]]:
        """Looked up once for each state of the configuration: the file gives the same object while it is unchanged."""
        if self._owners is None or self._owners[0] is not configuration:
            owners: dict[str, list[Project]] = {}
            for project in configuration.projects.values():
                if project.folder is not None:
                    owners.setdefault(os.path.realpath(project.folder), []).append(project)
            self._owners = (configuration, owners)
        return self._owners[1]
