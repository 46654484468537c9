"""Requests, responses and routes of the sandbox: as much of HTTP as a site's API needs."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote

if TYPE_CHECKING:
    from atlassian_sandbox.model import SiteUser
    from atlassian_sandbox.state import SiteState

Kind = Literal["cloud", "datacenter"]
Api = Literal["jira", "agile", "software", "service", "v1", "v2", "wiki", "site"]
JsonObject = dict[str, Any]

# Where each API begins. "wiki" and "site" are paths outside of the documented APIs.
ROOTS: dict[Kind, dict[Api, str]] = {
    "cloud": {
        "jira": "/rest/api/3",
        "agile": "/rest/agile/1.0",
        "software": "/rest/software/1.0",
        "service": "/rest/servicedeskapi",
        "v1": "/wiki/rest/api",
        "v2": "/wiki/api/v2",
        "wiki": "/wiki",
        "site": "",
    },
    "datacenter": {
        "jira": "/rest/api/2",
        "agile": "/rest/agile/1.0",
        "service": "/rest/servicedeskapi",
        "v1": "/confluence/rest/api",
        "wiki": "/confluence",
        "site": "",
    },
}


class Refusal(Exception):
    """A request that the site refuses. `errors` are Jira's messages by field."""

    def __init__(self, status: int, *messages: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(status, *messages)
        self.status = status
        self.messages = list(messages)
        self.errors = dict(errors or {})


@dataclass(frozen=True)
class Response:
    status: int = 200
    json: Any = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def body(self) -> bytes:
        if self.content is not None:
            return self.content
        if self.json is None:
            return b""
        return json.dumps(self.json, ensure_ascii=False, separators=(",", ":")).encode()


NO_CONTENT = Response(204)


def as_object(value: Any, name: str) -> JsonObject:
    if not isinstance(value, dict):
        raise Refusal(400, f"{name} must be an object.")
    return cast(JsonObject, value)


def as_list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise Refusal(400, f"{name} must be an array.")
    return cast(list[Any], value)


def optional_object(value: Any) -> JsonObject:
    """The object, or an empty one in place of null."""
    return {} if value is None else as_object(value, "The value")


def optional_list(value: Any) -> list[Any]:
    return [] if value is None else as_list(value, "The value")


def one_or_many(value: Any) -> list[Any]:
    """The values of an array, or a single value."""
    return cast(list[Any], value) if isinstance(value, list) else [value]


@dataclass
class SiteRequest:
    kind: Kind
    api: Api
    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    content: bytes
    base: str  # "https://host" as the client sees it
    parameters: dict[str, str]  # the parts of the path
    state: "SiteState"
    user: "SiteUser"

    @property
    def is_cloud(self) -> bool:
        return self.kind == "cloud"

    @cached_property
    def json(self) -> Any:
        try:
            return json.loads(self.content) if self.content else None
        except ValueError as error:
            raise Refusal(400, f"Invalid request payload. Refer to the REST API documentation. {error}") from None

    @property
    def object(self) -> JsonObject:
        return as_object(self.json, "The request body")

    def text(self, name: str) -> str | None:
        values = self.query.get(name)
        return values[-1] if values else None

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        try:
            return int(value)
        except ValueError:
            raise Refusal(400, f"The query parameter '{name}' must be a number, not '{value}'.") from None

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.text(name)
        return default if value is None else value.lower() == "true"

    def words(self, name: str) -> list[str]:
        """The values of a parameter that is repeated, or a list with commas, or both."""
        return [word.strip() for value in self.query.get(name, []) for word in value.split(",") if word.strip()]


Handler = Callable[[SiteRequest], Any]


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    api: Api
    handler: Handler

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.strip("/").split("/"))


class ApiRoutes:
    """The routes of one module, relative to the root of one API."""

    def __init__(self, api: Api) -> None:
        self.api: Api = api
        self._entries: list[tuple[str, str, Kind | None, Handler]] = []

    def _add(self, method: str, path: str, only: Kind | None) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self._entries.append((method, path, only, handler))
            return handler

        return register

    def get(self, path: str, *, only: Kind | None = None) -> Callable[[Handler], Handler]:
        return self._add("GET", path, only)

    def post(self, path: str, *, only: Kind | None = None) -> Callable[[Handler], Handler]:
        return self._add("POST", path, only)

    def put(self, path: str, *, only: Kind | None = None) -> Callable[[Handler], Handler]:
        return self._add("PUT", path, only)

    def delete(self, path: str, *, only: Kind | None = None) -> Callable[[Handler], Handler]:
        return self._add("DELETE", path, only)

    def of(self, kind: Kind) -> Iterable[Route]:
        root = ROOTS[kind].get(self.api)
        if root is None:
            return
        for method, path, only, handler in self._entries:
            if only in (None, kind):
                yield Route(method, root + path, self.api, handler)


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_length: dict[int, list[Route]] = {}
        for route in routes:
            self._by_length.setdefault(len(route.segments), []).append(route)
        for same_length in self._by_length.values():
            # A literal segment wins over a parameter: /issue/bulk before /issue/{issue}.
            same_length.sort(key=lambda route: [segment.startswith("{") for segment in route.segments])

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route and the parameters of its path. Raises Refusal 405 for a path without this method."""
        segments = [unquote(segment) for segment in path.strip("/").split("/")]
        other_method = False
        for route in self._by_length.get(len(segments), []):
            parameters = _match(route.segments, segments)
            if parameters is None:
                continue
            if route.method == method:
                return route, parameters
            other_method = True
        if other_method:
            raise Refusal(405, f"Method {method} is not allowed for {path}.")
        return None


def _match(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for expected, actual in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            parameters[expected[1:-1]] = actual
        elif expected != actual:
            return None
    return parameters
