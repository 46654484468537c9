"""`Guide`: what tools, prompts and resources work with. Finds the project that is meant, and its documents.

Files are looked at in threads, one hop a call, so that the event loop is free.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

from mcp_core import Result, ToolContext
from mcp_guide import configuration_changes as changes
from mcp_guide import model
from mcp_guide.active_project import ActiveProject, Reason
from mcp_guide.configuration_file import ConfigurationFile
from mcp_guide.model import Configuration, Project

if TYPE_CHECKING:
    from mcp_guide.content.search import Search
    from mcp_guide.content.tree import DocumentTree

P = ParamSpec("P")
Value = dict[str, Any]
Answer = Result[Value]
"""What every tool here returns."""


class View(NamedTuple):
    """What a call sees: the project it means, and where its documents are."""

    configuration: Configuration
    project: Project
    """With a category for each folder of its document root, where it has them."""
    by: Reason
    """Why this project."""
    root: Path
    tree: "DocumentTree"
    search: "Callable[[], Search]"
    """Opened by the first who searches."""

    def answer(self, value: Value, message: str | None = None, instruction: str | None = None) -> Answer:
        """A success that carries the boundary of the mode."""
        words = [instruction, model.boundary(self.project.mode)]
        return Answer.ok(value, message, " ".join(word for word in words if word))


class Guide:
    """The configuration, the documents and the active project of one server."""

    def __init__(self, file: ConfigurationFile, active: ActiveProject, given: Path | None, otherwise: Path) -> None:
        """`given` is the document root of the option --docs-root; `otherwise` holds where nobody named one."""
        self.file, self.active = file, active
        self._given, self._otherwise = given, otherwise
        self._trees: dict[Path, DocumentTree] = {}
        self._complete: dict[Path, tuple[Project, list[str], Project]] = {}
        self._searches: dict[Path, Search] = {}
        self._opening = Lock()
        self._indexes: Path | None = None
        self._borrowed: TemporaryDirectory[str] | None = None

    # --- looking ---------------------------------------------------------------------------------------

    async def look(
        self,
        project: str | None,
        context: ToolContext,
        function: Callable[Concatenate[View, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """What a function makes of the project that is meant, with the boundary of its mode."""
        roots = await _roots(project, context)

        def work() -> Answer:
            view = self.view(project, context, roots)
            made = function(view, *arguments, **named)
            return view.answer(made.value or {}, made.message, made.instruction)

        return await asyncio.to_thread(work)

    def view(self, project: str | None, context: ToolContext, roots: Sequence[Path] = ()) -> View:
        """The project that is meant, as its files say now. Looks at the disk: call it in a thread."""
        return self._view(self.file.read(), project, context, roots)

    async def seen(self, project: str | None, context: ToolContext) -> View:
        """The same, without holding up the event loop."""
        return await asyncio.to_thread(self.view, project, context, await _roots(project, context))

    async def configuration(self) -> Configuration:
        """All that is configured."""
        return await asyncio.to_thread(self.file.read)

    async def choose(self, project: str, context: ToolContext, function: Callable[[View], Answer]) -> Answer:
        """Make a project the active one of this session."""
        configuration = await self.configuration()
        self.active.choose(configuration, project, _session(context))
        return await self.look(None, context, function)

    def _view(
        self, configuration: Configuration, named: str | None, context: ToolContext, roots: Sequence[Path]
    ) -> View:
        found = self.active.find(configuration, named, _session(context), roots)
        root = model.document_root(configuration, found.project, self._given, self._otherwise)
        tree = self._tree(root)
        # A root that is not there yet has no folders; whoever reads a document is told that it is missing.
        project = self._with_folders(found.project, root, tree.folders() if root.is_dir() else [])
        return View(configuration, project, found.by, root, tree, lambda: self._search(root))

    def _with_folders(self, project: Project, root: Path, folders: list[str]) -> Project:
        """Worked out again only when something has changed: a root may have thousands of folders."""
        known = self._complete.get(root)
        if known is None or known[0] != project or known[1] != folders:
            known = self._complete[root] = (project, folders, model.with_folders(project, folders))
        return known[2]

    # --- changing --------------------------------------------------------------------------------------

    async def change(
        self,
        project: str | None,
        context: ToolContext,
        function: Callable[Concatenate[Project, P], Project],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> View:
        """Change the project that is meant; the view shows it as it is now."""
        roots = await _roots(project, context)
        seen: list[View] = []

        def apply(configuration: Configuration) -> Configuration:
            view = self._view(configuration, project, context, roots)
            changed = function(view.project, *arguments, **named)
            after = changes.with_project(configuration, changed)
            seen.append(view._replace(configuration=after, project=changed))
            return after

        await asyncio.to_thread(self.file.change, apply)
        return seen[-1]

    async def change_all(
        self,
        function: Callable[Concatenate[Configuration, P], Configuration],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Configuration:
        """Change the configuration as a whole."""
        return await asyncio.to_thread(self.file.change, lambda before: function(before, *arguments, **named))

    # --- documents -------------------------------------------------------------------------------------

    def _tree(self, root: Path) -> "DocumentTree":
        if root not in self._trees:
            self._trees[root] = import_module("mcp_guide.content.tree").DocumentTree(root)
        return self._trees[root]

    def _search(self, root: Path) -> "Search":
        with self._opening:
            if root in self._searches:
                return self._searches[root]
            self._searches[root] = import_module("mcp_guide.content.search").Search(self._tree(root), self._index(root))
        return self._searches[root]

    def _index(self, root: Path) -> Path:
        """The file of a root's search index. It holds nothing that is not in the documents, so a cache is its place."""
        folder = self._indexes or import_module("platformdirs").user_cache_path("toolcharter") / "guide"
        return folder / f"{sha256(bytes(root)).hexdigest()[:16]}.db"

    def move_to_a_temporary_folder(self) -> Path:
        """Work on nothing from now on: for examples, which must not touch what a person keeps."""
        self._borrowed = TemporaryDirectory(prefix="guide-")
        folder = Path(self._borrowed.name)
        self.file = ConfigurationFile(folder / "guide.yaml")
        self._given, self._indexes, self.active = folder / "docs", folder, ActiveProject(folder=folder)
        return folder

    def close(self) -> None:
        """Let go of what is open."""
        for search in self._searches.values():
            search.close()
        if self._borrowed is not None:
            self._borrowed.cleanup()


async def _roots(project: str | None, context: ToolContext) -> list[Path]:
    """The client's folders, where they may decide which project is meant."""
    return [] if project is not None else [Path(folder) for folder in await context.client_folders()]


def _session(context: ToolContext) -> str | None:
    """Whose choice it is. The newer protocol has no sessions: there a choice is the user's, or the process's."""
    return context.session_id or context.user_id
