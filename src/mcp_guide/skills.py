"""The documents of a folder as skills, for clients and for a plugin."""

import re
from collections.abc import Iterator
from pathlib import Path

from mcp_guide.content.tree import DocumentTree
from toolcharter.declarations import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, Skill


def skills_of(folder: Path) -> Iterator[Skill]:
    """A skill for each Markdown document that has a description: without one, no agent would know when to read it.

    A document that requires a flag is left out: a skill is there for every project. So is one behind a link.
    """
    names: set[str] = set()
    if not folder.is_dir():
        return
    for entry in DocumentTree(folder).match("", ("**/*.md",)):
        document = entry.read()
        front = document.front
        if not front.description or front.requires or document.text is None:
            continue
        words = re.findall(r"[a-z0-9]+", entry.path.removesuffix(".md").lower())
        name = _free_name("-".join(words) or "document", names)
        names.add(name)
        subjects = ", ".join(front.tags) or front.title or words[-1]
        description = f"{front.description} Use this when the work is about {subjects}."
        body = f"{front.instruction}\n\n{document.text}" if front.instruction else document.text
        yield Skill(name, description[:MAX_DESCRIPTION_LENGTH], body)


def _free_name(name: str, taken: set[str]) -> str:
    """The name, cut to what is allowed, and with a number if another document has it."""
    short = name[:MAX_NAME_LENGTH].rstrip("-")
    if short not in taken:
        return short
    return next(
        one for number in range(2, len(taken) + 3) if (one := f"{short[: MAX_NAME_LENGTH - 6]}-{number}") not in taken
    )
