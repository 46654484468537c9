"""`Guide`: finds the project of a call and its documents, for tools, prompts and resources.

Files are accessed in threads, once per call, so that the event loop stays free.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from mcp_guide import model
from mcp_guide.active_project import ActiveProjects, Reason
from mcp_guide.configuration import changes
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.content.layers import DocumentLayers
from mcp_guide.content.tree import DocumentTree
from mcp_guide.model import Configuration, Mode, Project
from mcp_guide.search.threads import SearchThreads
from mcp_guide.settings import STARTER_FOLDER, default_index_folder
from toolcharter import Conflict, Result, ToolContext, Unavailable

if TYPE_CHECKING:
    from mcp_guide.search.index import SearchIndex

P = ParamSpec("P")
T = TypeVar("T")
JsonObject = dict[str, Any]
GuideResult = Result[JsonObject]
"""The result of every tool of the guide."""
ReportIndexing = Callable[[int, int], None]
"""Called with the number of documents in the index, and of all documents."""
ANONYMOUS = "anonymous:"
"""The key of callers over HTTP without a token begins with it."""


class ProjectView(NamedTuple):
    """The project of a call, and where its documents are."""

    configuration: Configuration
    project: Project
    """Includes a category for each folder of its document root, if the project has `folders`."""
    reason: Reason
    """Why this project is the active one."""
    modes: Mapping[str, Mode | None]
    """The modes that were set in this session, by project."""
    tree: DocumentLayers
    open_searches: "Callable[[], list[SearchIndex]]"
    """Opens the search index of each layer on first use."""
    missing_root: Path | None = None
    """The folder that does not exist yet, if the starter documents are served in its place."""

    @property
    def root(self) -> Path:
        """The root folder of the documents that can be changed."""
        return Path(self.tree.own.root)

    @property
    def mode(self) -> Mode | None:
        """The mode of the project in this session; None if modes are off."""
        return self.mode_of(self.project)

    def mode_of(self, project: Project) -> Mode | None:
        """The mode of any project in this session. It begins with the configured mode."""
        return self.modes.get(project.name, project.mode)

    def require_writable(self) -> None:
        """Raise Conflict if the documents are the starter documents of the package."""
        if self.missing_root is not None:
            raise Conflict(
                "The starter documents cannot be changed. "
                f"Run `mcp-guide init` first: it writes them to {str(self.missing_root)!r}, where they can be."
            )

    def result(
        self,
        value: JsonObject,
        message: str | None = None,
        instruction: str | None = None,
        content: Sequence[Any] = (),
    ) -> GuideResult:
        """A success. It says so if the documents are the starter documents of the package."""
        message = _join(message, self._starter_notice()) or None
        return GuideResult.ok(value, message, instruction, content=content)

    def _starter_notice(self) -> str | None:
        if self.missing_root is None:
            return None
        target = str(self.missing_root)
        return f"These are the starter documents, read-only. `mcp-guide init` writes them to {target!r}."


class Guide:
    """The configuration, the documents and the active projects of one server."""

    def __init__(
        self, file: ConfigurationFile, active: ActiveProjects, docs_root: Path | None, default_docs_root: Path
    ) -> None:
        """`docs_root` is the value of --docs-root; `default_docs_root` is used if no root is set anywhere."""
        self.file, self.active = file, active
        self._docs_root, self._default_docs_root = docs_root, default_docs_root
        self._trees: dict[Path, DocumentTree] = {}
        self._with_folders: dict[tuple[str, ...], tuple[Project, list[str], Project]] = {}
        self._searches: dict[Path, SearchIndex] = {}
        self._search_lock = Lock()
        self._search_threads = SearchThreads()
        self._index_folder: Path | None = None
        self._temporary: TemporaryDirectory[str] | None = None
        self._announces_modes = True

    def for_prompt(self) -> "Guide":
        """The same guide for a prompt, whose text has the role of the user: it says nothing of modes."""
        quiet = copy(self)
        quiet._announces_modes = False  # noqa: SLF001 - it is our own class
        return quiet

    # --- reading ---------------------------------------------------------------------------------------

    async def run(
        self,
        project: str | None,
        context: ToolContext,
        function: Callable[Concatenate[ProjectView, P], GuideResult],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> GuideResult:
        """Call a function with the view of a project, in a thread."""
        roots = await _client_roots(project, context)

        def work(is_cancelled: Callable[[], bool]) -> GuideResult:
            view = self.view(project, context, roots)
            if is_cancelled():
                raise Unavailable("The call was cancelled before anything was done.")
            return self._complete(view, context, function(view, *arguments, **named))

        return await _run_in_thread(work)

    async def search(
        self, project: str | None, context: ToolContext, function: Callable[[ProjectView, ReportIndexing], GuideResult]
    ) -> GuideResult:
        """The same in a thread for searches. The client gets the progress of the index while it is being built."""
        roots = await _client_roots(project, context)
        loop, reports = asyncio.get_running_loop(), list[Future[None]]()

        def report(done: int, total: int) -> None:
            progress = context.report_progress(done, total, "Building the search index")
            reports.append(asyncio.run_coroutine_threadsafe(progress, loop))

        def work() -> GuideResult:
            view = self.view(project, context, roots)
            return self._complete(view, context, function(view, report))

        result = await self._search_threads.run(work)
        for sent in reports:
            await asyncio.wrap_future(sent)  # before the answer
        return result

    def _complete(self, view: ProjectView, context: ToolContext, result: GuideResult) -> GuideResult:
        """The result with the boundary of a mode in which the project begins, once in each session."""
        boundary = None
        session = _session(context) if self._announces_modes else None
        if (
            view.mode is not None
            and session is not None
            and self.active.announce(view.project.name, view.mode, session)
        ):
            boundary = model.BOUNDARIES[view.mode]
        instruction = _join(result.instruction, boundary) or None
        return view.result(result.value or {}, result.message, instruction, result.content)

    def view(self, project: str | None, context: ToolContext, roots: Sequence[Path] = ()) -> ProjectView:
        """The view of a project, as its files are now. Reads the disk: call it in a thread."""
        return self._view(self.file.read(), project, context, roots)

    async def load_view(self, project: str | None, context: ToolContext) -> ProjectView:
        """The same, in a thread."""
        return await asyncio.to_thread(self.view, project, context, await _client_roots(project, context))

    def check_documents(self) -> None:
        """Raise ToolError or OSError if the configuration or the documents cannot be read."""
        self.file.read()
        root = self._docs_root or self._default_docs_root
        if root.is_dir():
            next(root.iterdir(), None)
        elif self._docs_root is not None:
            raise Unavailable(
                f"The folder {str(root)!r} of --docs-root does not exist; the starter documents are served. "
                f"Write yours there: mcp-guide init --docs-root {str(root)!r}."
            )

    async def load_configuration(self) -> Configuration:
        """Read the configuration in a thread."""
        return await asyncio.to_thread(self.file.read)

    async def select_project(
        self, project: str, context: ToolContext, function: Callable[[ProjectView], GuideResult]
    ) -> GuideResult:
        """Make a project the active one of this session."""
        configuration = await self.load_configuration()
        self.active.select(configuration, project, _require_session(context))
        return await self.run(None, context, function)

    async def set_mode(self, project: str, mode: Mode | None, context: ToolContext) -> ProjectView:
        """Set the mode of a project in this session. Nothing is written."""
        session = _require_session(context)
        self.active.set_mode(project, mode, session)
        if mode is not None:
            self.active.announce(project, mode, session)  # by the answer of this call
        return await self.load_view(project, context)

    def _view(
        self, configuration: Configuration, name: str | None, context: ToolContext, roots: Sequence[Path]
    ) -> ProjectView:
        active = self.active.find(configuration, name, _session(context), roots)
        *shared, root = model.document_roots(configuration, active.project, self._docs_root, self._default_docs_root)
        missing_root = root if root == self._default_docs_root and not root.exists() else None
        # A shared root that does not exist has no documents. If the project's own is missing, reading says so.
        roots = [*filter(Path.is_dir, shared), root if missing_root is None else STARTER_FOLDER]
        tree = DocumentLayers([self._tree(root) for root in roots])
        project = self._add_folders(active.project, tree)
        modes = self.active.modes(_session(context))
        return ProjectView(
            configuration, project, active.reason, modes, tree, lambda: list(map(self._search, roots)), missing_root
        )

    def _add_folders(self, project: Project, tree: DocumentLayers) -> Project:
        """Computed again only when something has changed: a root may have thousands of folders."""
        roots = tuple(tree.root for tree in tree.trees)
        folders = list(dict.fromkeys(name for one in tree.trees for name in _category_folders(one)))
        cached = self._with_folders.get(roots)
        if cached is None or cached[0] != project or cached[1] != folders:
            documents = replace(project, documents=Path(tree.own.root))
            cached = self._with_folders[roots] = (project, folders, model.with_folders(documents, folders))
        return cached[2]

    # --- changing --------------------------------------------------------------------------------------

    async def change_project(
        self,
        project: str | None,
        context: ToolContext,
        function: Callable[Concatenate[Project, P], Project],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> ProjectView:
        """Change a project in the configuration file. The view shows it after the change."""
        roots = await _client_roots(project, context)
        views: list[ProjectView] = []

        def apply(configuration: Configuration) -> Configuration:
            view = self._view(configuration, project, context, roots)
            changed = function(view.project, *arguments, **named)
            after = changes.with_project(configuration, changed)
            views.append(view._replace(configuration=after, project=changed))
            return after

        await _run_in_thread(partial(self.file.change, apply))
        return views[-1]

    async def change_configuration(
        self,
        function: Callable[Concatenate[Configuration, P], Configuration],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Configuration:
        """Change the configuration file as a whole."""
        return await _run_in_thread(partial(self.file.change, lambda before: function(before, *arguments, **named)))

    # --- documents -------------------------------------------------------------------------------------

    def _tree(self, root: Path) -> DocumentTree:
        if root not in self._trees:
            self._trees[root] = DocumentTree(root)
        return self._trees[root]

    def _search(self, root: Path) -> "SearchIndex":
        with self._search_lock:
            if root in self._searches:
                return self._searches[root]
            from mcp_guide.search.index import SearchIndex  # noqa: PLC0415 - 8 ms, with SQLite

            self._searches[root] = SearchIndex(self._tree(root), self._index_path(root))
        return self._searches[root]

    def _index_path(self, root: Path) -> Path:
        """The file of the search index of a root. It can be rebuilt from the documents, so it is in a cache folder."""
        folder = self._index_folder or default_index_folder()
        return folder / f"{sha256(bytes(root)).hexdigest()[:16]}.db"

    def use_temporary_folder(self) -> Path:
        """Move to an empty folder, so that examples do not touch the files of a person."""
        self._temporary = TemporaryDirectory(prefix="guide-")
        folder = Path(self._temporary.name)
        self.file = ConfigurationFile(folder / "guide.yaml")
        self._docs_root, self._index_folder, self.active = folder / "docs", folder, ActiveProjects(folder=folder)
        return folder

    def close(self) -> None:
        """Close the search indexes and delete the temporary folder."""
        self._search_threads.close()
        for search in self._searches.values():
            search.close()
        if self._temporary is not None:
            self._temporary.cleanup()


async def _run_in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """Run the work in a thread. It gets a function that returns whether the caller has stopped to wait."""
    cancelled = Event()
    try:
        return await asyncio.to_thread(work, cancelled.is_set)
    except asyncio.CancelledError:
        # The thread cannot be stopped, and would write what the caller believes to have failed.
        cancelled.set()
        raise


def _category_folders(tree: DocumentTree) -> list[str]:
    """The folders that are categories: those in the root, and the root itself if it contains documents."""
    if not Path(tree.root).is_dir():
        return []
    return [*tree.folders(), *([model.ROOT] if tree.has_documents() else [])]


def _join(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


async def _client_roots(project: str | None, context: ToolContext) -> list[Path]:
    """The folders of the client, if they may decide which project is active."""
    return [] if project is not None else [Path(folder) for folder in await context.client_folders()]


def _session(context: ToolContext) -> str | None:
    """The key of what is remembered for a caller: who calls and, where the protocol has sessions, the session.

    None if callers cannot be distinguished: without a name and a session, all at one address are the same.
    """
    if context.session_id is None and context.caller_key.startswith(ANONYMOUS):
        return None
    return f"{context.caller_key}\0{context.session_id or ''}"


def _require_session(context: ToolContext) -> str:
    session = _session(context)
    if session is None:
        raise Conflict(
            "This connection has neither a user nor a session, so another agent could get what is remembered for it. "
            "Set `project` in each call, or connect with a token or with a protocol that has sessions."
        )
    return session
