"""The progress of a call: one line that changes on a terminal, and a line for each report anywhere else."""

import shutil
import sys

from mcp_core.foreign.terminal import escape_invisible, print_text

_START_OF_LINE, _CLEAR = "\r", "\x1b[K"


class ProgressLine:
    """Prints to stderr; stdout is for the result."""

    def __init__(self) -> None:
        self._is_open = False

    async def report(self, done: float, total: float | None, message: str | None) -> None:
        """Print how much is done, and the message."""
        line = _line(done, total, message)
        if not sys.stderr.isatty():
            print_text(line, file=sys.stderr, flush=True)
            return
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"{_START_OF_LINE}{line[:width]}{_CLEAR}")
        sys.stderr.flush()
        self._is_open = True

    def end(self) -> None:
        """End the line, before something else is printed."""
        if self._is_open:
            print_text(file=sys.stderr, flush=True)
        self._is_open = False


def _line(done: float, total: float | None, message: str | None) -> str:
    amount = ""
    if total:
        amount = f"{min(100, max(0, 100 * done / total)):.0f} % ({done:g} of {total:g})"
    elif done:
        amount = f"{done:g}"
    return "  " + " ".join(word for word in (amount, escape_invisible(message or "")) if word)
