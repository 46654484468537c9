"""The parts of a page, and its input."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mcp_core.app import App
from toolcharter.console import layout
from toolcharter.console.calls import ToolAnswer, call_tool
from toolcharter.console.catalogue import ServerOffers
from toolcharter.console.viewer import Viewer
from toolcharter.output.markup import Html, element

if TYPE_CHECKING:
    from toolcharter.console.console import Console

CSRF_FIELD = "csrf"
_MAX_DIGITS, _MAX_SHOWN = 15, 40
MAX_SEARCH_LENGTH = 200


class BadParameter(Exception):
    """A parameter of the address that is not valid. The message says why."""


@dataclass(frozen=True, slots=True)
class View:
    """A request for a page: who looks, and what is served."""

    console: "Console"
    request: Request
    viewer: Viewer
    csrf: str
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    """The fields of a form that was sent."""
    waiting: int = 0
    """How many confirmations wait for the viewer."""

    @property
    def apps(self) -> Sequence[App]:
        """The servers that the viewer may use."""
        return self.viewer.apps

    def offer(self, app: App) -> ServerOffers:
        """The offers of a server that the viewer may use."""
        return self.console.catalogue.offer(app, self.viewer.callers[app.name])

    def app(self, name: str) -> App:
        """A server that the viewer may use. Raises LookupError."""
        found = self.viewer.app(name)
        if found is None:
            raise LookupError(f"the viewer may not use {name}")
        return found

    @property
    def path(self) -> str:
        """The path of the request."""
        return self.request.url.path

    def parameter(self, name: str) -> str:
        """A parameter of the address, such as `q` in `?q=text`; empty if it is missing."""
        return self.request.query_params.get(name, "")

    def search_text(self) -> str:
        """The words to search for, the parameter `q`. Raises BadParameter: cut words would find something else."""
        text = self.parameter("q").strip()
        if len(text) > MAX_SEARCH_LENGTH:
            raise BadParameter(f"The search has {len(text):,} characters; use at most {MAX_SEARCH_LENGTH}.")
        return text

    def number(self, name: str, text: str | None = None) -> int | None:
        """A parameter that is a whole number; None if it is missing. Raises BadParameter."""
        text = self.parameter(name) if text is None else text
        if not text:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
            raise BadParameter(f"{name}={text[:_MAX_SHOWN]!r} is not a number that this page can use.")
        return int(text)

    def part(self, name: str) -> str:
        """A part of the path, such as `server` in `/console/tools/{server}`."""
        return str(self.request.path_params[name])

    async def call(self, app: App, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool by its undecorated name, with the rights of the viewer. Raises CallFailed."""
        return await call_tool(app, self.viewer.callers[app.name], tool, arguments)

    def csrf_field(self) -> Html:
        """The hidden field of a form that changes something."""
        return element("input", type="hidden", name=CSRF_FIELD, value=self.csrf)

    def page(self, title: str, *content: str, scripts: Sequence[str] = (), status: int = 200) -> Response:
        """A page in the frame of the console. `scripts` are files in static/; so are their style sheets (.css)."""
        return HTMLResponse(layout.document(self, title, content, scripts), status)

    def not_found(self, message: str) -> Response:
        """The answer where something does not exist, or is not for this viewer: both look the same."""
        back = element("p", element("a", "All tools", href="/console/tools"), " · ", element("a", "Servers", href="/"))
        return self.page("Not found", element("h1", "Not found"), element("p", message), back, status=404)


Answer = Callable[[View], Awaitable[Response]]


def _always(_: View) -> bool:
    return True


def _none(_: View) -> int:
    return 0


class ConsolePage(NamedTuple):
    """A page, or another address of the console."""

    path: str
    answer: Answer
    label: str = ""
    """Its name in the navigation; empty if it is not there."""
    place: int = 0
    """Its place in the navigation: pages are sorted by it."""
    changes: bool = False
    """Whether it answers POST instead of GET. The CSRF token is checked before."""
    covers: tuple[str, ...] = ()
    """The beginning of other addresses that belong to it in the navigation."""
    is_shown: Callable[[View], bool] = _always
    """Whether the navigation has it for this viewer."""
    waiting: Callable[[View], int] = _none
    """How many things wait there for the viewer: the navigation shows it."""
