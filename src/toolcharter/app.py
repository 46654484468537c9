"""`App` as authors use it: the framework's, which also serves itself. `run` serves it with the web console."""

import atexit
import sys
import weakref
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mcp_core import app as framework
from mcp_core.auth import Caller
from mcp_core.foreign.terminal import print_text
from mcp_core.process.start_errors import CannotStart, DeclarationError
from mcp_core.settings.model import Settings
from toolcharter.ctrl_c import WithoutStack
from toolcharter.serving import run as command

if TYPE_CHECKING:
    from toolcharter.serving.mounted import MountedApp
    from toolcharter.serving.server import MakeConsole
    from toolcharter.testing import Answer, Client


class App(framework.App):
    """A server's tools and their policy. `run` serves it, `client` calls it in memory, `asgi` mounts it elsewhere."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make an app. One that the program itself makes and never uses is reported at its end."""
        app = super().__new__(cls)
        if sys._getframe(1).f_globals.get("__name__") == "__main__":  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - as warnings do it
            atexit.register(_report_unused, weakref.ref(app))
            if sys.excepthook is sys.__excepthook__ and not hasattr(sys, "ps1"):
                sys.excepthook = _print_start_error
        return app

    def run(self, arguments: Sequence[str] | None = None) -> None:
        """Serve over stdio, or as the command line says: `python hello.py http --port 9000`.

        `arguments` stand for those of the command line. Returns when the server has ended; at once in a file that a
        command only loads, such as `toolcharter call`.
        """
        run(self, arguments, about=self.description or "MCP tools.")

    def client(self, answer: "Answer" = None, *, caller: Caller | None = None) -> "Client":
        """A client in memory, for tests and scripts: `async with app.client() as client`.

        `answer` replies to questions to the person: True, False, the fields of a form, or a function of the question.
        Without it, the client cannot be asked. `caller` is who calls; by default that of stdio.
        """
        from toolcharter.testing import Client  # noqa: PLC0415 - 10 ms that a server does not need

        self.is_used = True
        return Client(self, answer, caller)

    def asgi(self, *, allow_hosts: Sequence[str] = (), allow_origins: Sequence[str] = ()) -> "MountedApp":
        """An ASGI application, to mount in one of Starlette or FastAPI: `Mount("/tools", app.asgi())`.

        It answers at its prefix, and at `/mcp` below it. Pass its `lifespan` to the outer application. `allow_hosts`
        are the names under which the outer application is reached; by default those of this machine.
        """
        from toolcharter.serving.mounted import MountedApp  # noqa: PLC0415 - 100 ms that stdio does not need

        given: dict[str, Any] = {"allow_hosts": tuple(allow_hosts), "allow_origins": tuple(allow_origins)}
        if changed := {name: value for name, value in given.items() if value}:
            self.use_settings(Settings.model_construct(set(changed), **changed))
        self.is_used = True
        return MountedApp(self)


def run(
    server: framework.App | command.Build,
    arguments: Sequence[str] | None = None,
    *,
    about: str = "MCP tools.",
    target: str | None = None,
    changes: AsyncIterator[str] | None = None,
) -> None:
    """Serve an app, or the one that a function `build(settings)` makes, as the command line says.

    Returns when the server has ended; at once in a file that a command only loads, such as `toolcharter call`.
    `target` is the name of a server without a command of its own, which `toolcharter stdio NAME` starts. Over HTTP, it
    is started anew at each of `changes`.
    """
    with WithoutStack():
        command.run(server, arguments, about=about, target=target, console=_load_console, changes=changes)


def _load_console() -> "MakeConsole":
    from toolcharter.console import Console  # noqa: PLC0415 - 55 ms that stdio does not need

    return Console


def _print_start_error(kind: type[BaseException], error: BaseException, stack: TracebackType | None) -> None:
    """Print why the program cannot start, and answer its client so. All other errors keep their stack."""
    if not isinstance(error, (DeclarationError, CannotStart)):
        sys.__excepthook__(kind, error, stack)
        return
    from mcp_core.hosts.fast_path.failed_start import answer_requests, reason_of  # noqa: PLC0415 - only at such an end

    lines = [line for frame, line in walk_tb(stack) if frame.f_globals.get("__name__") == "__main__"]
    file = Path(sys.argv[0]).name
    place = f"\n{file}, line {lines[-1]}" if lines else ""
    reason = f"{reason_of(file, error)}{place}"
    print_text(reason, file=sys.stderr)
    if sys.argv[1:2] in ([], ["stdio"]):
        answer_requests(reason)


def _report_unused(reference: "weakref.ref[App]") -> None:
    """Print a hint where a program makes an app, and ends without an error and without `run`."""
    app, is_failed = reference(), hasattr(sys, "last_value")
    if app is None or app.is_used or is_failed or hasattr(sys, "ps1") or sys.flags.interactive:
        return
    file = Path(sys.argv[0]).name
    print_text(
        f"{file} has made the server {app.name!r}, and has not served it. End {file} with app.run().", file=sys.stderr
    )
