"""The project that a call works on, and its mode."""

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from mcp_guide.model import DEFAULT_PROJECT, Configuration, Mode, Project, find_project
from toolcharter import Conflict

MAX_SESSIONS = 1000
"""The number of sessions whose project and modes are remembered. The oldest is forgotten first."""

Reason = Literal["argument", "set_project", "option", "roots", "folder", "default"]


class ActiveProject(NamedTuple):
    """A project, and why it is the active one."""

    project: Project
    reason: Reason


class _SessionSelection:
    """The selection of a session. It is in no file: what a person has agreed to ends with the session."""

    __slots__ = ("announced", "modes", "project")

    def __init__(self) -> None:
        self.project: str | None = None
        self.modes: dict[str, Mode | None] = {}
        self.announced: dict[str, Mode] = {}
        """The modes that the agent knows of, by project."""


class ActiveProjects:
    """Finds the active project of each call. Remembers what was selected at start and in each session."""

    def __init__(self, option: str | None = None, folder: Path | None = None) -> None:
        """`option` is the value of --project; `folder` is the working directory of the server."""
        self._option = option
        self._folder = Path.cwd() if folder is None else folder
        self._sessions: OrderedDict[str | None, _SessionSelection] = OrderedDict()
        self._folder_owners: tuple[Configuration, dict[str, list[Project]]] | None = None

    def select(self, configuration: Configuration, name: str, session: str | None = None) -> Project:
        """Make a project the active one of a session. It must exist."""
        project = find_project(configuration, name)
        self._session(session).project = name
        return project

    def set_mode(self, project: str, mode: Mode | None, session: str | None = None) -> None:
        """Set the mode of a project in a session; None switches modes off."""
        modes = self._session(session).modes
        self._session(session).modes = {**modes, project: mode}

    def modes(self, session: str | None = None) -> Mapping[str, Mode | None]:
        """The modes that were set in a session, by project."""
        known = self._sessions.get(session)
        return known.modes if known else {}

    def announce(self, project: str, mode: Mode, session: str) -> bool:
        """Whether the answer must state the mode: no answer in this session did so yet. It counts as stated now."""
        announced = self._session(session).announced
        is_new = announced.get(project) != mode
        self._session(session).announced = {**announced, project: mode}
        return is_new

    def forget_modes(self, project: str) -> None:
        """Forget the modes of a project in all sessions: another project has its name now."""
        for session in list(self._sessions.values()):
            session.modes = {name: mode for name, mode in session.modes.items() if name != project}

    def _session(self, key: str | None) -> _SessionSelection:
        session = self._sessions.setdefault(key, _SessionSelection())
        self._sessions.move_to_end(key)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def find(
        self,
        configuration: Configuration,
        name: str | None = None,
        session: str | None = None,
        roots: Sequence[Path] = (),
    ) -> ActiveProject:
        """The project of a call, by its `name`, else of the session, --project, the client's roots, the folder.

        An unknown name is an error; it never falls through to another project.
        """
        known = self._sessions.get(session)
        names: list[tuple[str | None, Reason]] = [
            (name, "argument"),
            (known.project if known else None, "set_project"),
            (self._option, "option"),
        ]
        for candidate, reason in names:
            if candidate is not None:
                return ActiveProject(find_project(configuration, candidate), reason)
        for folder in roots:
            if (project := self._find_owner(configuration, folder)) is not None:
                return ActiveProject(project, "roots")
        if (project := self._find_owner(configuration, self._folder)) is not None:
            return ActiveProject(project, "folder")
        return ActiveProject(find_project(configuration, DEFAULT_PROJECT), "default")

    def _find_owner(self, configuration: Configuration, folder: Path) -> Project | None:
        """The project of this folder or of its nearest parent. The path counts, not the name of the folder."""
        owners = self._owners_by_folder(configuration)
        if not owners:
            return None
        real = Path(os.path.realpath(folder))
        for path in (real, *real.parents):
            projects = owners.get(str(path), [])
            if len(projects) > 1:
                names = " and ".join(repr(project.name) for project in projects)
                raise Conflict(f"The projects {names} both have the folder {path}. Set `project` to one of them.")
            if projects:
                return projects[0]
        return None

    def _owners_by_folder(self, configuration: Configuration) -> dict[str, list[Project]]:
        """Computed once for each configuration: an unchanged file gives the same object."""
        if self._folder_owners is None or self._folder_owners[0] is not configuration:
            owners: dict[str, list[Project]] = {}
            for project in configuration.projects.values():
                if project.folder is not None:
                    owners.setdefault(os.path.realpath(project.folder), []).append(project)
            self._folder_owners = (configuration, owners)
        return self._folder_owners[1]
