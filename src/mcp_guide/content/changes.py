"""Create, update and delete documents. Reads and writes files: call it in a thread (`Guide.run`)."""

from pathlib import PurePosixPath

from mcp_guide.content.retrieval import shown_path
from mcp_guide.guide import GuideResult, ProjectView
from mcp_guide.model import Category, no_category, suggest_names
from toolcharter import NotFound


def create(view: ProjectView, category_dir: str, name: str, content: str) -> GuideResult:
    """Create a document. The folder of the category and the document root are created with the first one."""
    view.require_writable()
    category = _find_category(view, category_dir)
    path = category.path_of(_file_name(name))
    view.root.mkdir(parents=True, exist_ok=True)
    view.tree.own.create(path, content)
    shown = shown_path(category, path)
    return GuideResult.ok({"path": shown, "size": len(content.encode())}, f"Created the document {shown}.")


def update(view: ProjectView, category_dir: str, name: str, content: str) -> GuideResult:
    """Replace the text of a document."""
    view.require_writable()
    category = _find_category(view, category_dir)
    path = view.tree.own_entry(category.path_of(name)).path
    view.tree.own.replace(path, content)
    shown = shown_path(category, path)
    return GuideResult.ok({"path": shown, "size": len(content.encode())}, f"Replaced the text of {shown}.")


def delete(view: ProjectView, category_dir: str, name: str) -> GuideResult:
    """Delete a document."""
    view.require_writable()
    category = _find_category(view, category_dir)
    path = view.tree.own_entry(category.path_of(name)).path
    view.tree.own.delete(path)
    shown = shown_path(category, path)
    return GuideResult.ok({"path": shown}, f"Deleted the document {shown}.")


def find(view: ProjectView, category_dir: str, name: str) -> str:
    """The path by which get_content reads a document that can be changed. Raises NotFound."""
    view.require_writable()
    category = _find_category(view, category_dir)
    return shown_path(category, view.tree.own_entry(category.path_of(name)).path)


def _find_category(view: ProjectView, name_or_dir: str) -> Category:
    """Find a category by its name, else by its folder. A document must be in a category to be found again."""
    categories = view.project.categories
    if name_or_dir in categories:
        return categories[name_or_dir]
    folder = name_or_dir.rstrip("/")
    category = next((category for category in categories.values() if category.dir == folder), None)
    if category is None:
        suggestion = suggest_names(folder, categories, no_category(view.project))
        raise NotFound(f"The project {view.project.name!r} has no category {name_or_dir[:100]!r}. {suggestion}")
    return category


def _file_name(name: str) -> str:
    return name if PurePosixPath(name).suffix else f"{name}.md"
