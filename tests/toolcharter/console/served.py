"""A server with the console, in a thread of the tests."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mcp_core import App, Settings
from toolcharter.console import Console
from toolcharter.serving.http import HttpServer
from toolcharter.serving.listener import base_url, listen
from toolcharter.serving.server import Site

PATIENCE = 30.0


@contextmanager
def served(apps: Sequence[App], console: Callable[[Site], Console] = Console) -> Iterator[str]:
    """Serve apps with the console; the value is the address. They need settings with `port=0`."""
    settings: Settings = apps[0].settings
    opened = threading.Event()
    with listen(settings) as listener:
        url = base_url(settings, listener)
        server = HttpServer(Site(apps, url, opened.set, console=console), apps, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener.dup()]}, daemon=True)
        thread.start()
        try:
            assert opened.wait(PATIENCE), "the server did not open"
            yield url
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
