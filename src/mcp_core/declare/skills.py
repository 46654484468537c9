"""Skills: instructions for agents, in the form of agentskills.io.

Clients list and read them over the protocol, and a plugin brings them along.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcp_core.errors import DeclarationError

MAX_NAME_LENGTH, MAX_DESCRIPTION_LENGTH = 64, 1024
MAX_FILES, MAX_BYTES = 512, 16 * 1024 * 1024
"""Of one skill, as the extension of the protocol has it."""
DOCUMENT = "SKILL.md"
SKILL_SCHEME = "skill://"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FRONT_MATTER = re.compile(rb"---\r?\n(.*?)\r?\n---\r?\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Skill:
    """A document and its files: an agent sees its name and description, and reads it when it fits."""

    name: str
    description: str
    """Its subject, and when to use it."""
    text: str
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    """Further files, by their path below the skill, such as `references/forms.md`."""
    front_matter: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields, such as `license`."""
    source: bytes | None = field(default=None, repr=False)
    """The whole document, where it was read from a file."""

    def __post_init__(self) -> None:
        """Refuse what an agent would not load."""
        problems: list[str] = []
        if not _NAME.fullmatch(self.name) or len(self.name) > MAX_NAME_LENGTH:
            rule = f"small letters and digits, with hyphens between them, at most {MAX_NAME_LENGTH} characters"
            problems.append(f"skill {self.name!r}: name: is not valid; use {rule}")
        if not 1 <= len(self.description) <= MAX_DESCRIPTION_LENGTH:
            problems.append(
                f"skill {self.name!r}: description: has {len(self.description)} characters; "
                f"use 1 to {MAX_DESCRIPTION_LENGTH}"
            )
        if len(self.files) >= MAX_FILES or sum(map(len, self.files.values())) + len(self.text) > MAX_BYTES:
            problems.append(f"skill {self.name!r}: files: too many; use {MAX_FILES} of together {MAX_BYTES:,} bytes")
        problems += [
            f"skill {self.name!r}: files: {path!r} is not a path below the skill"
            for path in self.files
            if path == DOCUMENT or any(part in ("", ".", "..") for part in path.split("/")) or "\\" in path
        ]
        if problems:
            raise DeclarationError(problems)

    @property
    def fields(self) -> dict[str, Any]:
        """The front matter of the document."""
        return {"name": self.name, "description": self.description, **self.front_matter}

    def document(self) -> bytes:
        """The document as agents read it."""
        if self.source is not None:
            return self.source
        # JSON is YAML, whatever the texts contain.
        more = {"description": self.description, **self.front_matter}
        head = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in more.items())
        return f"---\nname: {self.name}\n{head}\n---\n\n{self.text.strip()}\n".encode()

    def contents(self) -> dict[str, bytes]:
        """All files by their path, the document first."""
        return {DOCUMENT: self.document(), **self.files}


class SkillSource(NamedTuple):
    """The origin of the skills of a server, and the permissions to read them."""

    read: Callable[..., Iterable[Skill]]
    """Gives all of them. It may take what handlers take."""
    permissions: Sequence[str] = ()
    never_change: bool = False
    left_out: Callable[[], Mapping[str, str]] | None = None
    """Gives what is no skill, with the reason, for the page of a plugin."""


Skills = str | Path | Sequence[Skill] | Callable[..., Iterable[Skill]] | SkillSource
"""Skills as an author gives them: a folder of skills, a list, a function, or a source with permissions."""


def skill_source(skills: Skills) -> SkillSource | None:
    """The source that an author means; None for no skills."""
    if isinstance(skills, SkillSource):
        return skills
    if isinstance(skills, str | Path):
        read = _once(lambda: read_skills(Path(skills)))
        return SkillSource(read, never_change=True)
    if callable(skills):
        return SkillSource(skills)
    known = tuple(skills)
    return SkillSource(lambda: known, never_change=True) if known else None


def _once(read: Callable[[], list[Skill]]) -> Callable[[], Iterable[Skill]]:
    known: list[Skill] = []

    def remembered() -> Iterable[Skill]:
        if not known:
            known.extend(read())
        return known

    return remembered


def read_skills(folder: Path) -> list[Skill]:
    """The skills in a folder: each is a folder with a SKILL.md. Raises DeclarationError."""
    if not folder.is_dir():
        raise DeclarationError([f"skills: {folder} is not a folder"])
    return [_read_skill(file.parent) for file in sorted(folder.glob(f"*/{DOCUMENT}"))]


def _read_skill(folder: Path) -> Skill:
    import yaml  # noqa: PLC0415 - 20 ms that no list of tools needs

    source = (folder / DOCUMENT).read_bytes()
    head = _FRONT_MATTER.match(source)
    try:
        fields: Any = yaml.safe_load(head[1]) if head else None
        text = source[head.end() :].decode() if head else ""
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DeclarationError([f"skill {folder.name!r}: {DOCUMENT}: cannot be read: {error}"]) from error
    if not isinstance(fields, dict) or cast(Any, fields).get("name") != folder.name:
        raise DeclarationError(
            [f"skill {folder.name!r}: {DOCUMENT}: begin with front matter that has name: {folder.name} and description"]
        )
    known = cast(dict[str, Any], fields)
    files = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink() and file != folder / DOCUMENT
    }
    more = {name: value for name, value in known.items() if name not in ("name", "description")}
    return Skill(folder.name, str(known.get("description") or ""), text, files, more, source)
