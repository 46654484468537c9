"""Skills: instructions for coding agents, as documents that a plugin brings along."""

import re
from dataclasses import dataclass

from mcp_core.errors import DeclarationError

MAX_NAME_LENGTH, MAX_DESCRIPTION_LENGTH = 64, 1024
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Skill:
    """A document in the form of agentskills.io: an agent sees its name and description, and reads it when it fits."""

    name: str
    description: str
    """Its subject, and when to use it."""
    text: str

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
        if problems:
            raise DeclarationError(problems)
