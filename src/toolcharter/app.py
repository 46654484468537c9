"""`App` as authors use it: the framework's, which also serves itself."""

from collections.abc import Sequence

from mcp_core import app as framework


class App(framework.App):
    """A server's tools and their policy. `run` serves it."""

    def run(self, arguments: Sequence[str] | None = None) -> None:
        """Serve over stdio, or as the command line says: `python hello.py http --port 9000`.

        `arguments` stand for those of the command line. Returns when the server has ended; at once in a file that a
        command only loads, such as `toolcharter call`.
        """
        from toolcharter.start import run  # noqa: PLC0415 - 40 ms that loading a file does not need

        run(self, arguments, about=self.description or "MCP tools.")
