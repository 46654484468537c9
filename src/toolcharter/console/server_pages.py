"""Pages that a server brings along, for what it is about.

A distribution names them in the entry point group `toolcharter.pages`, under the name of the server:

    [project.entry-points."toolcharter.pages"]
    todo = "mcp_todo.console:PAGES"

`PAGES` is a list of `ConsolePage`. They are shown where the server is served, to those who may use it. Scripts and
style sheets are in the folder `static` beside the module, or in the package if it is one.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points

from starlette.responses import Response

from mcp_core.app import App
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.static_files import PAGES_GROUP


def pages_of_servers(apps: Sequence[App]) -> list[ConsolePage]:
    """The pages of those servers that are served."""
    found = {entry.name: entry for entry in entry_points(group=PAGES_GROUP)}
    return [_for_viewers_of(app.name, page) for app in apps if app.name in found for page in found[app.name].load()]


def _for_viewers_of(server: str, page: ConsolePage) -> ConsolePage:
    async def answer(view: View) -> Response:
        if view.viewer.app(server) is None:
            return view.not_found("This page does not exist.")
        return await page.answer(view)

    def is_shown(view: View) -> bool:
        return view.viewer.app(server) is not None

    return page._replace(answer=answer, is_shown=is_shown)
