"""Who looks at a page, and what they may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.hosts.callers import NotIdentified, callers_at
from toolcharter.console.sessions import BrowserSession, BrowserSessions, cookie_name


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person at a browser, or a program with a token in a header: a caller at each server that knows them."""

    callers: Mapping[str, Caller]
    """By the name of the app. An app that does not know the viewer is not there."""
    apps: Sequence[App] = ()
    session: BrowserSession | None = None
    sent_token: str = ""
    """The token in the Authorization header. No other site can send one, so that it needs no CSRF token."""

    @property
    def token(self) -> str:
        """The token that calls are made with; empty where none is needed."""
        return self.session.token if self.session else self.sent_token

    @property
    def secret(self) -> str:
        """The secret that the CSRF token is bound to."""
        return self.session.secret if self.session else ""

    @property
    def name(self) -> str | None:
        """The name of a signed-in person."""
        names = (caller.user_id for caller in self.callers.values())
        return next((name for name in names if name), None) if self.token else None

    def app(self, name: str) -> App | None:
        """An app that this viewer may use."""
        return next((app for app in self.apps if app.name == name), None)


class Viewers:
    """Finds out who looks."""

    def __init__(self, apps: Sequence[App], sessions: BrowserSessions) -> None:
        self._apps, self._sessions = apps, sessions
        self._guarded = [app for app in apps if app.verifier is not None]

    @property
    def need_token(self) -> bool:
        """Whether people have to sign in."""
        return bool(self._guarded)

    async def find(self, request: Request) -> Viewer:
        """The viewer of a page. Raises NotIdentified, and StateUnavailable where sessions cannot be read."""
        authorization = request.headers.get("authorization", "")
        if authorization.partition(" ")[0].lower() != "bearer":
            authorization = ""  # browsers send credentials of other schemes for pages of other origins too
        session = None
        if self._guarded and not authorization:
            session = await self._sessions.find(request.cookies.get(cookie_name(request), ""))
            authorization = f"Bearer {session.token}" if session else ""
        sent = "" if session else authorization.partition(" ")[2].strip()
        return await self._identify(request.scope, authorization, session, sent)

    async def find_token(self, request: Request) -> str:
        """The token that a browser is signed in with; empty if it is not. Raises StateUnavailable."""
        try:
            return (await self.find(request)).token
        except NotIdentified:
            return ""

    async def with_token(self, request: Request, token: str) -> Viewer:
        """The viewer that a token stands for. Raises NotIdentified."""
        return await self._identify(request.scope, f"Bearer {token}", None, token)

    async def _identify(self, scope: Any, authorization: str, session: BrowserSession | None, sent: str) -> Viewer:
        callers = await callers_at(self._apps, scope, authorization)
        apps = tuple(app for app in self._apps if app.name in callers)
        return Viewer(callers, apps, session, sent)
