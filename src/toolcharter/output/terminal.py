"""Tables, Markdown and progress on a terminal: no text in them can control it."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from mcp_core.foreign.terminal import escape_lines

PIPE_WIDTH = 2000
"""Columns of a report in a pipe, where a line is not wrapped: `grep` finds it whole."""


class TerminalConsole(Console):
    """A console that escapes the text of all that it prints, and makes no links: their text may be another address."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something to print. Those that move the cursor are the console's own."""
        for text, style, control in super().render(renderable, options):
            if control:
                yield Segment(text, style, control)
            else:
                yield Segment(escape_lines(text), style.update_link() if style and style.link else style)


def report_console() -> TerminalConsole:
    """A console for reports: as wide as the terminal, and without wrapped lines in a pipe."""
    return TerminalConsole(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
