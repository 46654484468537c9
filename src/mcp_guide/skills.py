"""The documents of a folder as skills, for clients and for a plugin."""

import re
from collections.abc import Iterator
from pathlib import Path

from mcp_guide.content.documents import Document
from mcp_guide.content.tree import DocumentTree
from toolcharter.declarations import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, Skill


def skills_of(folder: Path) -> Iterator[Skill]:
    """A skill for each Markdown document that has a description: without one, no agent would know when to read it.

    A document that requires a flag is left out: a skill is there for every project. So is one behind a link.
    """
    names: set[str] = set()
    for document in _documents(folder):
        front = document.front
        if _reason(document):
            continue
        words = re.findall(r"[a-z0-9]+", document.path.removesuffix(".md").lower())
        name = _free_name("-".join(words) or "document", names)
        names.add(name)
        subjects = ", ".join(front.tags) or front.title or words[-1]
        description = f"{front.description} Use this when the work is about {subjects}."
        body = f"{front.instruction}\n\n{document.text}" if front.instruction else document.text or ""
        yield Skill(name, description[:MAX_DESCRIPTION_LENGTH], body)


def left_out(folder: Path) -> dict[str, str]:
    """The Markdown documents that are no skill, each with the reason."""
    return {document.path: reason for document in _documents(folder) if (reason := _reason(document))}


def _documents(folder: Path) -> Iterator[Document]:
    if folder.is_dir():
        yield from (entry.read() for entry in DocumentTree(folder).match("", ("**/*.md",)))


def _reason(document: Document) -> str | None:
    """The reason why a document is no skill."""
    if document.text is None:
        return " ".join(document.warnings)
    if not document.front.description:
        return "It has no `description` in its front matter, so an agent would not know when to read it."
    return "It requires a flag, and a skill is there for every project." if document.front.requires else None


def _free_name(name: str, taken: set[str]) -> str:
    """The name, cut to what is allowed, and with a number if another document has it."""
    short = name[:MAX_NAME_LENGTH].rstrip("-")
    if short not in taken:
        return short
    return next(
        one for number in range(2, len(taken) + 3) if (one := f"{short[: MAX_NAME_LENGTH - 6]}-{number}") not in taken
    )
