"""Export documents to a file in a folder that the user has allowed. Call it in a thread (`Guide.run`)."""

import json
from contextlib import suppress
from pathlib import Path

from mcp_guide.content import formats
from mcp_guide.content.finding import find_documents
from mcp_guide.content.reading import read_documents
from mcp_guide.content.tree import DocumentTree
from mcp_guide.guide import GuideResult, JsonObject, ProjectView
from toolcharter import Conflict, NotFound, PermissionDenied, ToolError, Unavailable


def export(
    view: ProjectView, expression: str, destination: str, format: formats.Format, *, may_replace: bool
) -> GuideResult:
    """Write the text of documents to a file. A destination outside `export_folders` is refused."""
    folder, path = _find_allowed_folder(view.configuration.export_folders, destination)
    read = read_documents(view, find_documents(view, expression).entries)
    rendered = formats.render(read.documents, format)
    text = rendered if isinstance(rendered, str) else json.dumps(rendered, ensure_ascii=False, indent=2)
    if not folder.is_dir():
        raise Unavailable(f"The export folder {str(folder)!r} does not exist. Create it, or change export_folders.")
    _write(folder, path, text, may_replace=may_replace)
    value: JsonObject = {
        "file": str(folder / path),
        "size": len(text.encode()),
        "documents": [document.path for document in read.documents],
    }
    if read.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in read.withheld]
    return GuideResult.ok(value, f"Wrote {folder / path}.")


def find_existing(folders: tuple[Path, ...], destination: str) -> str | None:
    """The file at a destination; None if there is none, or if it would be refused."""
    try:
        folder, path = _find_allowed_folder(folders, destination)
        DocumentTree(folder).status(path)
    except ToolError:
        return None
    return str(folder / path)


def _write(folder: Path, path: str, text: str, *, may_replace: bool) -> None:
    tree = DocumentTree(folder)
    with suppress(NotFound):
        tree.folders(path.rpartition("/")[0])  # listing a folder deletes left-over temporary files
    try:
        tree.create(path, text)
    except Conflict:
        if not may_replace:
            raise Conflict(
                f"{str(folder / path)!r} already exists. Use another name. Only if the user asks for it, replace the "
                "file: user_consent='REPLACE_FILE'."
            ) from None
        tree.replace(path, text)


def _find_allowed_folder(folders: tuple[Path, ...], destination: str) -> tuple[Path, str]:
    """The allowed folder of a file, and its path in it. A relative path belongs to the first folder."""
    path = Path(destination).expanduser()
    for folder in folders:
        if not path.is_absolute():
            return folder, path.as_posix()
        if path.is_relative_to(folder):
            return folder, path.relative_to(folder).as_posix()
    allowed = ", ".join(map(str, folders)) or "none"
    raise PermissionDenied(
        f"export_content may not write to {destination!r}. Allowed folders: {allowed}. "
        "Only the user can allow a folder: export_folders in the configuration file."
    )
