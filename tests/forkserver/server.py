"""Starts Python programs by a fork of an interpreter that has already loaded the packages.

A program gets a process, a working directory, an environment, standard streams and an exit code of its own, as if it
had been started in the usual way. Only the loading of modules, which is most of a start, is done once for all.
The packages are loaded when the first program comes. The server ends when its standard input does.
"""

import gc
import importlib
import marshal
import os
import pkgutil
import runpy
import selectors
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

LIBRARIES = (
    "alembic.command",
    "anyio._backends._asyncio",
    "fastmcp.server.context",
    "key_value.aio.stores.memory",
    "uvicorn.lifespan.on",
    "uvloop",
)
"""What our modules and FastMCP load only when a server runs."""


def run(arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Run a program in the process that was forked for it."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - multiprocessing has replaced it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    command, *sys.argv = arguments
    if Path(command).name != "python":
        sys.argv.insert(0, str(Path(sys.executable).with_name(Path(command).name)))
    sys.path[:1] = [str(Path(sys.argv[0]).parent), *filter(None, [environment.get("PYTHONPATH")])]
    runpy.run_path(sys.argv[0], run_name="__main__")


class Server:
    def __init__(self, listener: socket.socket) -> None:
        self._events = selectors.DefaultSelector()
        self._when_readable(listener, partial(self._start, listener))

    def serve(self) -> None:
        """Serve until standard input ends. The programs that still run are terminated then."""
        self._when_readable(sys.stdin, sys.exit)
        while True:
            for key, _ in self._events.select():
                key.data()

    def _when_readable(self, source: Any, do: Callable[[], object]) -> None:
        self._events.register(source, selectors.EVENT_READ, do)

    def _start(self, listener: socket.socket) -> None:
        stub, _ = listener.accept()
        size, streams, _, _ = socket.recv_fds(stub, 4, 3)
        with stub.makefile("rb") as request:
            program = marshal.loads(request.read(int.from_bytes(size, "big")))
        if LIBRARIES[0] not in sys.modules:
            load()
        process = get_context("fork").Process(target=run, args=(*program, streams), daemon=True)
        process.start()
        for stream in streams:
            os.close(stream)
        self._when_readable(stub, partial(self._kill, process))
        self._when_readable(process.sentinel, partial(self._end, process, stub))
        with suppress(BrokenPipeError):
            stub.sendall(process.pid.to_bytes(4, "big"))

    def _kill(self, process: BaseProcess) -> None:
        """Kill a process whose stub was killed."""
        with suppress(ValueError):  # it has just ended
            process.kill()

    def _end(self, process: BaseProcess, stub: socket.socket) -> None:
        """Give the exit code of a process to its stub."""
        self._events.unregister(process.sentinel)
        self._events.unregister(stub)
        process.join()
        with stub, suppress(BrokenPipeError):
            stub.sendall(process.exitcode.to_bytes(4, "big", signed=True))
        process.close()


def load() -> None:
    """Load all modules, and hide them from the garbage collector, so that their memory stays shared."""
    for name in LIBRARIES:
        importlib.import_module(name)
    servers = {server.module.partition(".")[0] for server in entry_points(group="toolcharter.servers")}
    for name in ("mcp_core", "atlassian_sandbox", *servers):
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if ".migrations" not in module.name:
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    Server(socket.socket(fileno=int(sys.argv[1]))).serve()
