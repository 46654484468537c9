"""The subcommands of `toolcharter`, one in each file, with `add_arguments(parser)` and `run(options) -> exit code`."""

from pathlib import Path
from typing import ClassVar


class CannotRun(Exception):
    """A command cannot do its work, such as for a server that cannot be reached. The message says why."""

    exit_code: ClassVar[int] = 1


class UsageError(CannotRun):
    """The command line is wrong, or names something that does not exist. The message says what to write."""

    exit_code = 2


def require_file(file: Path) -> None:
    """Refuse the name of a file that does not exist."""
    if not file.exists():
        raise UsageError(f"The file {file} does not exist.")


def name_and_value(option: str, word: str) -> tuple[str, str]:
    """The two parts of NAME=VALUE, as an option takes them."""
    name, separator, value = word.partition("=")
    if not separator or not name:
        raise UsageError(f"{option} {word!r} is not NAME=VALUE.")
    return name, value
