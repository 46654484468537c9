"""Ctrl+C while modules are loaded: it ends the process, and prints no stack."""

import signal
import sys
from types import TracebackType

__all__ = ["EndsProcess", "WithoutStack"]


class EndsProcess:
    """A block of a command in which Ctrl+C ends the process at once, by the signal itself.

    As an exception it would now and then come up in a callback, which swallows it or raises another one.
    """

    def __enter__(self) -> None:
        """Begin the block. A command whose parent ignores Ctrl+C ignores it too."""
        self._replaced = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        try:
            if self._replaced:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        except ValueError:  # not the main thread, which alone takes signals
            self._replaced = False

    def __exit__(self, *_: object) -> None:
        """From here on, Ctrl+C is an exception again."""
        if self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class WithoutStack:
    """A block whose interruption is an exception as usual; where nobody catches it, Python prints no stack.

    For code that may run in a notebook or a test runner, which must not end.
    """

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Hide the stack, if it was an interruption."""
        if kind is KeyboardInterrupt:
            sys.excepthook = _print_unless_interrupted


def _print_unless_interrupted(kind: type[BaseException], error: BaseException, stack: TracebackType | None) -> None:
    if kind is not KeyboardInterrupt:
        sys.__excepthook__(kind, error, stack)
