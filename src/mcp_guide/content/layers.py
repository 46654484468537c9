"""The documents of several roots as one: those of the company, of a team, and of the project, in this order."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from mcp_guide.content.documents import Document
from mcp_guide.content.tree import DocumentTree, Entry
from toolcharter import Conflict, NotFound

T = TypeVar("T")


class DocumentLayers:
    """Document trees, the most general first. All are read; only the last, that of the project, is written."""

    def __init__(self, trees: Sequence[DocumentTree]) -> None:
        self.trees = tuple(trees)
        self.own = self.trees[-1]
        """The tree that is written."""

    def require_root(self) -> None:
        """Raise Unavailable if the root of the project does not exist."""
        self.own.require_root()

    def match(self, folder: str, patterns: Sequence[str]) -> list[Entry]:
        """The documents of all layers that match, layer by layer. Raises NotFound if no layer has the folder."""
        found: list[Entry] = []
        missing: NotFound | None = None
        is_found = False
        for tree in self.trees:
            try:
                found += tree.match(folder, patterns)
                is_found = True
            except NotFound as error:
                missing = error
        if missing is not None and not is_found:
            raise missing
        return found

    def entry(self, path: str) -> Entry:
        """The document at a path, in the layer nearest to the project that has it. Raises NotFound."""
        return self._nearest(lambda tree: tree.entry(path))

    def own_entry(self, path: str) -> Entry:
        """The document at a path in the project. Raises Conflict if only another layer has it."""
        try:
            return self.own.entry(path)
        except NotFound:
            shared = self.entry(path)
            raise Conflict(
                f"The document {shared.path!r} is one of those that several projects share, in {shared.root!r}. "
                "It cannot be changed from this project; create a document of its own instead."
            ) from None

    def exists(self, path: str) -> bool:
        """Whether a layer has a document at exactly this path."""
        try:
            self._nearest(lambda tree: tree.status(path))
        except NotFound:
            return False
        return True

    def read(self, path: str) -> Document:
        """Read the document at a path, in the nearest layer that has it. Raises NotFound."""
        return self._nearest(lambda tree: tree.read(path))

    def similar(self, wanted: str, folder: str = "") -> list[str]:
        """Up to five paths with a similar name, as DocumentTree.similar."""
        names: list[str] = []
        for tree in reversed(self.trees):
            try:
                names += tree.similar(wanted, folder)
            except NotFound:
                continue
        return list(dict.fromkeys(names))[:5]

    def unreadable(self) -> dict[str, str]:
        """Folders that cannot be listed, with the reason."""
        return {folder: reason for tree in self.trees for folder, reason in tree.unreadable().items()}

    def _nearest(self, look: Callable[[DocumentTree], T]) -> T:
        for tree in reversed(self.trees[1:]):
            try:
                return look(tree)
            except NotFound:
                continue
        return look(self.trees[0])
