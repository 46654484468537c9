"""What agents write: documents in the folder of a category, and files where the person allowed it.

All of it looks at files, and is called in a thread (`Guide.look`).
"""

import json
from pathlib import Path, PurePosixPath

from mcp_core import NotFound, PermissionDenied
from mcp_guide import retrieval
from mcp_guide.content import formats
from mcp_guide.content.tree import DocumentTree
from mcp_guide.guide import Answer, Value, View
from mcp_guide.model import Category, nearest_names
from mcp_guide.retrieval import Format


def create(view: View, category_dir: str, name: str, content: str) -> Answer:
    """A new document. The folder of the category, and the document root, are made with the first one."""
    path = f"{_category(view, category_dir).dir}/{_file_name(name)}"
    view.root.mkdir(parents=True, exist_ok=True)
    view.tree.create(path, content)
    return Answer.ok({"path": path, "size": len(content.encode())}, f"The document {path} is made.")


def update(view: View, category_dir: str, name: str, content: str) -> Answer:
    """Another text for a document that is there."""
    path = view.tree.entry(f"{_category(view, category_dir).dir}/{name}").path
    view.tree.replace(path, content)
    return Answer.ok({"path": path, "size": len(content.encode())}, f"The document {path} has a new text.")


def delete(view: View, category_dir: str, name: str) -> Answer:
    """A document less."""
    path = view.tree.entry(f"{_category(view, category_dir).dir}/{name}").path
    view.tree.delete(path)
    return Answer.ok({"path": path}, f"The document {path} is deleted.")


def _category(view: View, name_or_dir: str) -> Category:
    """By its name, else by its folder. No category, no document: what nobody can ask for is not written."""
    categories = view.project.categories
    if name_or_dir in categories:
        return categories[name_or_dir]
    folder = name_or_dir.rstrip("/")
    found = next((category for category in categories.values() if category.dir == folder), None)
    if found is None:
        raise NotFound(
            f"Project {view.project.name!r} has no category {name_or_dir[:100]!r}. {nearest_names(folder, categories)}"
        )
    return found


def _file_name(name: str) -> str:
    return name if PurePosixPath(name).suffix else f"{name}.md"


# --- export -------------------------------------------------------------------------------------------


def export(view: View, expression: str, destination: str, format: Format) -> Answer:
    """The text of documents as a new file. What the person has not allowed is refused, and stays so."""
    folder, inside = _allowed(view.configuration.export_folders, destination)
    got = retrieval.read(view, retrieval.find(view, expression).entries)
    rendered = formats.render(got.documents, format)
    text = rendered if isinstance(rendered, str) else json.dumps(rendered, ensure_ascii=False, indent=2)
    DocumentTree(folder).create(inside, text)
    value: Value = {
        "file": str(folder / inside),
        "size": len(text.encode()),
        "documents": [document.path for document in got.documents],
    }
    if got.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in got.withheld]
    return Answer.ok(value, f"Written to {folder / inside}.")


def _allowed(folders: tuple[Path, ...], destination: str) -> tuple[Path, str]:
    """The allowed folder that a file is meant for, and its path in there. A plain name is for the first one."""
    path = Path(destination).expanduser()
    for folder in folders:
        if not path.is_absolute():
            return folder, path.as_posix()
        if path.is_relative_to(folder):
            return folder, path.relative_to(folder).as_posix()
    allowed = ", ".join(map(str, folders)) or "none"
    raise PermissionDenied(
        f"{destination!r} is not in a folder that export_content may write to. Allowed: {allowed}. "
        "Only the user can allow a folder, with export_folders in the configuration file."
    )
