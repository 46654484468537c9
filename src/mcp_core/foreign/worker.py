"""A worker process. It ends with its parent, also if that is killed: its pipe closes, and its work has an alarm.

This is run as a file, and imports nothing but the standard library until the first message has brought `sys.path`.
"""

import contextlib
import os
import pickle
import signal
import sys
from typing import Any

MAX_MEMORY = 2 << 30
"""Bytes of address space."""
GRACE_SECONDS = 1.0
"""How much later than the parent the alarm ends the process."""


def serve(requests: Any, outcomes: Any) -> None:
    """Run one function after another, until the pipe closes."""
    sys.path[:] = pickle.load(requests)  # noqa: S301 - written by our parent, as all that follows
    while True:
        deadline, request = pickle.load(requests)  # noqa: S301
        try:
            function, arguments = pickle.loads(request)  # noqa: S301
            _send(outcomes, b"")
            _set_alarm(deadline + GRACE_SECONDS)
            outcome = pickle.dumps((function(*arguments), None))
        except MemoryError:
            os._exit(1)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets it
            outcome = _pickled(error)
        _set_alarm(0)
        _send(outcomes, outcome)


def _send(pipe: Any, message: bytes) -> None:
    pickle.dump(message, pipe)
    pipe.flush()


def _pickled(error: Exception) -> bytes:
    try:
        outcome = pickle.dumps((None, error))
        pickle.loads(outcome)  # noqa: S301 - some exceptions can be written, and not be read
    except Exception:  # noqa: BLE001 - a class of anybody
        outcome = pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
    return outcome


def _set_alarm(seconds: float) -> None:
    """Let the system end this process, which works while the interpreter's lock is held."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on Windows; a system may have a lower limit
        import resource  # noqa: PLC0415 - only where it exists

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def main() -> None:
    """Serve the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    _limit_memory()
    outcomes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints is no outcome
    with contextlib.suppress(EOFError, BrokenPipeError):
        serve(sys.stdin.buffer, outcomes)
    os._exit(0)


if __name__ == "__main__":
    main()
