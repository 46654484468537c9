"""Names: the server's style and prefix, declared once and checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Style = Literal["snake", "kebab"]

MAX_NAME_LENGTH = 64
"""Many clients allow no more, though the protocol allows 128."""

_PATTERN = {
    "snake": re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*"),
    "kebab": re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+"),
}
_PORTABLE = re.compile(r"[A-Za-z0-9_-]+")
_RULE = {"snake": "snake_case", "kebab": "kebab-case verb-noun"}


@dataclass(frozen=True, slots=True)
class Naming:
    """How a server spells the names of its tools."""

    style: Style = "snake"
    prefix: str = ""

    def __post_init__(self) -> None:
        if self.style not in _PATTERN:
            raise ValueError(f"{self.style!r} is not a style of names; use {' or '.join(_PATTERN)}")

    @property
    def separator(self) -> str:
        """The separator of prefix and name."""
        return "-" if self.style == "kebab" else "_"

    def to_style(self, function_name: str) -> str:
        """A function's name in this style."""
        return function_name.replace("_", "-") if self.style == "kebab" else function_name

    def final(self, name: str, prefix: str | None = None) -> str:
        """The name the agent sees. A tool's own prefix wins; the empty one means none."""
        chosen = (self.prefix if prefix is None else prefix).rstrip("_-")
        return f"{chosen}{self.separator}{name}" if chosen else name

    def command(self, final_name: str) -> str:
        """The undecorated name: `atl_user_info` is the command `user_info`."""
        chosen = self.prefix.rstrip("_-")
        return final_name.removeprefix(f"{chosen}{self.separator}") if chosen else final_name

    def problem(self, name: str, prefix: str | None = None) -> str | None:
        """The problem of a name under this policy."""
        if not _PATTERN[self.style].fullmatch(name):
            return f"is not {_RULE[self.style]}; rename it, or declare another style for the server"
        if len(final := self.final(name, prefix)) > MAX_NAME_LENGTH:
            return f"is {len(final)} characters long with its prefix; clients allow {MAX_NAME_LENGTH}"
        if not _PORTABLE.fullmatch(final):
            return f"is {final!r} with its prefix; clients allow ASCII letters, digits, _ and - only"
        return None


class ToolMentions:
    """The tools that texts mention by their undecorated names, for an agent that sees other names.

    A name of one word is replaced only in backticks, as it may be an English word. A name in quotes, or in a path, is
    left alone: it may be a value of the caller.
    """

    def __init__(self, final_names: Mapping[str, str]) -> None:
        self._finals = {name: final for name, final in final_names.items() if final != name}
        longest_first = sorted(self._finals, key=len, reverse=True)
        several_words = "|".join(re.escape(name) for name in longest_first if re.search("[_-]", name))
        any_name = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(
            rf"(?<=`)(?:{any_name})(?=[`(])|(?<![\w'\"/.-])(?:{several_words or '(?!)'})(?![\w'\"/-]|\.\w)"
        )

    def __bool__(self) -> bool:
        return bool(self._finals)

    def rename(self, text: str) -> str:
        """The text with the names that the agent sees."""
        # Most texts mention no tool, and the pattern takes 20 µs to find that.
        if not self._finals or not any(sign in text for sign in "_-`"):
            return text
        return self._pattern.sub(lambda match: self._finals[match[0]], text)
