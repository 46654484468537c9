"""Stops code that needs too much CPU time: patterns and schemas of other people can need exponential time."""

import signal
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")
_AGAIN = 0.05
"""Seconds between attempts to stop the code."""


class CpuLimitExceeded(Exception):
    """The code was stopped."""


class CannotLimitCpu(CpuLimitExceeded):
    """The code was not run, because it could not be stopped here."""


class _Stop(BaseException):
    """Raised by the signal, and not caught by `except Exception` in the code that is stopped."""


def run_with_cpu_limit(function: Callable[[], _Value], seconds: float) -> _Value:
    """The value of a function. Raises CpuLimitExceeded after this many seconds of CPU time.

    A timer of the operating system interrupts the function, inside the search of a regular expression too.
    This works in the main thread of a POSIX system; elsewhere the function is not run.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        raise CannotLimitCpu("code can be stopped only in the main thread of a POSIX system")
    is_done = False

    def stop(*_: object) -> None:
        if not is_done:
            raise _Stop

    hook = sys.unraisablehook

    def ignore_stop(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is not _Stop:
            hook(unraisable)

    previous = signal.signal(signal.SIGVTALRM, stop)
    try:
        # Python reports and ignores what is raised in a destructor, so the timer must fire again.
        sys.unraisablehook = ignore_stop
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
        try:
            return function()
        finally:
            is_done = True
    except _Stop:
        raise CpuLimitExceeded(f"stopped after {seconds:g} s of CPU time") from None
    finally:
        is_done = True
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
        sys.unraisablehook = hook
