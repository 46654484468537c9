"""The rules that apply to a path: documents with `globs`, and the rule files of coding agents.

In the working folder of the project, nested ones included:

    AGENTS.md, CLAUDE.md, .cursorrules           for the folder that has them, and below
    .cursor/rules/*.mdc                          `globs`, or `alwaysApply: true`
    .github/copilot-instructions.md              for all files
    .github/instructions/*.instructions.md       `applyTo`

The more general rules come first. If they exceed the budget, the most general are left out.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple, cast

from mcp_guide.content.documents import Document, make_document
from mcp_guide.content.files import Files
from mcp_guide.content.finding import find_all_documents
from mcp_guide.content.patterns import compile_patterns, split_outside_brackets
from mcp_guide.content.reading import missing_flags, read_file
from mcp_guide.content.tokens import count_tokens
from mcp_guide.guide import GuideResult, JsonObject, ProjectView
from mcp_guide.model import resolve_flags
from toolcharter import InvalidArguments

MAX_DOCUMENTS = 5_000
"""Documents that are looked at for `globs`."""
MAX_RULE_FILES = 200
MAX_PATH_LENGTH = 1_000
_FOLDER_FILES = ("AGENTS.md", "CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md")
_RULE_FOLDERS = ((".cursor/rules", (".mdc", ".md")), (".github/instructions", (".instructions.md",)))
_GLOBS = ("globs", "applyTo", "paths")
_ALWAYS = ("alwaysApply", "always")


class PathRule(NamedTuple):
    """A document that applies to a path."""

    path: str
    text: str
    reason: str
    """The glob that matched, or the folder that it is for."""


def get_rules(view: ProjectView, path: str, budget: int) -> GuideResult:
    """The rules for a path, the more general first, within a budget of tokens."""
    relative = _relative_path(view, path)
    applying = (*_documents(view, relative), *_rule_files(view, relative))
    rules = list({rule.text.strip(): rule for rule in applying}.values())  # CLAUDE.md may be a copy of AGENTS.md
    taken: list[PathRule] = []
    left_out: list[JsonObject] = []
    room = budget
    for rule in reversed(rules):  # the nearest first
        size = count_tokens(rule.text) + count_tokens(rule.path) * 2 + 20
        if size <= room:
            taken.insert(0, rule)
            room -= size
        else:
            left_out.append({"path": rule.path, "reason": f"It has {size:,} tokens; {room:,} are left of the budget."})
    value: JsonObject = {
        "content": "\n\n".join(f"===== {rule.path} =====\n{rule.text.strip()}" for rule in taken),
        "rules": [{"path": rule.path, "applies": rule.reason} for rule in taken],
    }
    if left_out:
        value["left_out"] = left_out
    if not rules:
        return GuideResult.ok(value, f"No rule applies to {relative!r}: no document has `globs` that match it.")
    return GuideResult.ok(value, f"{len(taken)} of {len(rules)} rules for {relative!r}, the nearest last.")


def _relative_path(view: ProjectView, path: str) -> str:
    """The path below the working folder of the project. Raises InvalidArguments."""
    folder = view.project.folder
    text = path.strip()
    if folder is not None and text.startswith(f"{folder}/"):
        text = text[len(str(folder)) + 1 :]
    text = text.removeprefix("./")
    parts = PurePosixPath(text).parts
    if not text or len(text) > MAX_PATH_LENGTH or ".." in parts or text.startswith("/") or "\0" in text:
        raise InvalidArguments(
            f"The path {path[:100]!r} is not below the folder of the project. "
            "Use a relative path such as 'db/migrations/0007.sql'.",
            fields=["path"],
        )
    return "/".join(parts)


def _documents(view: ProjectView, path: str) -> Iterator[PathRule]:
    """The documents of all layers that apply, those without a glob of their own first."""
    flags = resolve_flags(view.configuration, view.project)
    roots = [tree.root for tree in view.tree.trees]
    found: list[tuple[int, int, str, PathRule]] = []
    for one in find_all_documents(view).entries[:MAX_DOCUMENTS]:
        document = read_file(one)
        if isinstance(document, str) or not document.text or missing_flags(document, flags):
            continue
        if reason := _reason(document, path):
            rule = PathRule(one.path, document.text, reason)
            found.append((roots.index(one.entry.root), reason != "always", one.path, rule))
    return (rule for *_, rule in sorted(found, key=lambda one: one[:3]))


def _reason(document: Document, path: str) -> str | None:
    """The glob of a document that matches a path; "always" if it applies to all; None if it does not apply."""
    extra = document.front.extra
    for glob in _globs(extra):
        pattern = glob if "/" in glob else f"**/{glob}"
        with suppress(InvalidArguments):
            if compile_patterns((pattern.removeprefix("/"),)).matches(path):
                return glob
    return "always" if any(extra.get(name) is True for name in _ALWAYS) else None


def _globs(extra: Any) -> list[str]:
    """The globs in front matter: a list, or a text with commas."""
    globs: list[str] = []
    for name in _GLOBS:
        value = extra.get(name)
        if isinstance(value, list):
            globs += [str(one) for one in cast(list[object], value)]
        elif isinstance(value, str):
            with suppress(InvalidArguments):
                globs += split_outside_brackets(value, ",")
    return [glob.strip() for glob in globs if glob.strip()]


def _rule_files(view: ProjectView, path: str) -> Iterator[PathRule]:
    """The rule files in the working folder and in the folders down to the path, from the top."""
    if view.project.folder is None:
        return
    files = Files(view.project.folder)
    parts = path.split("/")[:-1]
    for depth in range(len(parts) + 1):
        folder = tuple(parts[:depth])
        inside = "/".join(path.split("/")[depth:])
        for name in _FOLDER_FILES:
            if document := _read(files, (*folder, *name.split("/"))):
                yield PathRule(document.path, document.text or "", f"{'/'.join(folder) or '.'}/")
        for place, endings in _RULE_FOLDERS:
            for document in _in_folder(files, (*folder, *place.split("/")), endings):
                if reason := _reason(document, inside) or _reason(document, path):
                    yield PathRule(document.path, document.text or "", reason)


def _in_folder(files: Files, parts: tuple[str, ...], endings: Sequence[str]) -> Iterator[Document]:
    for name in sorted(_names(files, parts))[:MAX_RULE_FILES]:
        if name.endswith(tuple(endings)) and (document := _read(files, (*parts, name))):
            yield document


def _names(files: Files, parts: tuple[str, ...]) -> list[str]:
    try:
        opened = files.open_folder(parts)
    except OSError:  # it does not exist, or is a link
        return []
    try:
        return os.listdir(opened)  # noqa: PTH208 - the folder is open, and reached without following links
    finally:
        os.close(opened)


def _read(files: Files, parts: tuple[str, ...]) -> Document | None:
    """A rule file; None if it does not exist, is a link or is not text."""
    try:
        status, data = files.read(parts)
    except OSError:
        return None
    document = make_document("/".join(parts), data or b"", status.st_mtime)
    return document if stat.S_ISREG(status.st_mode) and document.text else None
