"""An HTTP server for chat endpoints of our own, which accepts that a client cancels its requests."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        text = self.rfile.read(size)
        if len(text) < size:
            raise ConnectionAbortedError("the client has cancelled its request")
        self.respond(json.loads(text))

    def respond(self, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def chat_server(handler: type[ChatHandler]) -> Iterator[str]:
    """Serve on a free port; the base address of the endpoint."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
