"""`mcp-atl sandbox`: the sandbox as an HTTP server. `python -m atlassian_sandbox` is the same."""

import argparse
import socket
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import uvicorn

from atlassian_sandbox.app import Receive, Sandbox, Scope, Send, sandbox_app
from atlassian_sandbox.faults import ConnectionDropped
from atlassian_sandbox.oauth import CLIENT_ID, CLIENT_SECRET

GREETING = """\
A Jira and a Confluence ({kind}) for trying and testing, with the data of a made-up company.
Nothing here is real, and everything is forgotten at the end.

  Jira        {base}
  Confluence  {base}{wiki}
  OAuth       {base}/authorize  client {client}, secret {secret}
  Gateway     {base}/ex/jira/{cloud_id}  (Cloud only)

A request without credentials is from {first}. To be someone else, send a token:
{people}
"""


class DroppingServer:
    """Ends the connection where the sandbox drops it: uvicorn closes one whose response is too short."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.sandbox(scope, receive, send)
        except ConnectionDropped:
            start: MutableMapping[str, Any] = {"type": "http.response.start", "status": 200}
            await send({**start, "headers": [(b"content-length", b"1000")]})
            await send({"type": "http.response.body", "body": b"{", "more_body": False})


def greeting(sandbox: Sandbox, base: str) -> str:
    state = sandbox.state
    tokens = {user: token for token, user in state.tokens.items() if token not in state.scoped_tokens}
    people = "\n".join(
        f"  {user.display_name:16} {user.email:36} {tokens[user.id]}" for user in state.users.values() if user.active
    )
    first = state.user(state.default_user).display_name if state.default_user else "nobody"
    return GREETING.format(
        kind="Cloud" if sandbox.kind == "cloud" else "Data Center",
        base=base,
        wiki="/wiki" if sandbox.kind == "cloud" else "/confluence",
        client=CLIENT_ID,
        secret=CLIENT_SECRET,
        cloud_id=state.cloud_id,
        first=first,
        people=people,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise SystemExit(
            f"mcp-atl sandbox cannot listen on port {port} of {host}: {error.strerror}. Choose another with --port."
        ) from None


def main(arguments: list[str] | None = None) -> None:
    description = "The API of a made-up Jira and Confluence, for trying and testing."
    parser = argparse.ArgumentParser(prog="mcp-atl sandbox", description=description)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090, help="0: any free port")
    parser.add_argument("--kind", choices=["cloud", "datacenter"], default="cloud")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="wait before each response")
    parser.add_argument("--login", action="store_true", help="refuse requests without credentials")
    options = parser.parse_args(arguments)
    sandbox = sandbox_app(options.kind)
    if options.delay:
        sandbox.faults.slow(options.delay)
    if options.login:
        sandbox.state.default_user = None
    # Bound before the greeting: whoever reads the address can use it at once. Port 0 takes a free one.
    with _listen(options.host, options.port) as listener, suppress(KeyboardInterrupt):
        base = f"http://{options.host}:{listener.getsockname()[1]}"
        sys.stderr.write(greeting(sandbox, base))
        sys.stderr.flush()
        server = uvicorn.Server(uvicorn.Config(DroppingServer(sandbox), log_level="warning"))
        server.run(sockets=[listener])


if __name__ == "__main__":
    main()
