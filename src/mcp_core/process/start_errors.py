"""Why a server or a command cannot start. The command prints the message, without a stack, and exits."""

from collections.abc import Sequence
from typing import ClassVar


class CannotStart(Exception):
    """Something that a server needs is missing. The message says what, and what to do."""

    exit_code: ClassVar[int] = 1


class InvalidSetting(CannotStart):
    """An option or an environment variable has a value that is not valid."""

    exit_code = 2


class DeclarationError(Exception):
    """A declaration is not valid. Each problem names the tool, the field and the fix."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
