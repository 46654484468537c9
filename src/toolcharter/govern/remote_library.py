"""The prompts and resources of upstreams: listed, read and completed through the gates of every library."""

import asyncio
import difflib
import logging
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from mcp_core.auth import Caller
from mcp_core.calling.bound import BoundTool
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.pipeline import Pipeline
from mcp_core.calling.records import Request
from mcp_core.calling.requests import RequestRecorder
from mcp_core.content.blocks import MAX_URI_LENGTH, InvalidContent
from mcp_core.context import ToolContext
from mcp_core.declare.spec import Declaration, spec_of
from mcp_core.errors import Conflict, InvalidArguments, NotFound, PermissionDenied, SignInRequired, Unavailable
from mcp_core.registry import ToolRegistry
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.answers import find_warning, hidden_orders, text_block, texts
from toolcharter.govern.callers_person import CallersPerson
from toolcharter.govern.charter import Charter
from toolcharter.govern.foreign_content import foreign_blocks, foreign_contents, left_out, readable_text
from toolcharter.govern.metadata import foreign_meta
from toolcharter.govern.offers import Offer, address_policy, offers_of
from toolcharter.govern.policies import OfferLimit
from toolcharter.govern.resource_routes import owner_of, template_owner
from toolcharter.govern.upstream.errors import UpstreamRefused
from toolcharter.govern.upstream.session import PROMPTS, RESOURCES, TEMPLATES, Listed
from toolcharter.govern.upstream.transport import as_object
from toolcharter.govern.upstream.upstream import Upstream

logger = logging.getLogger(__name__)

LIST_SECONDS = 10.0
"""How long a list waits for an upstream that starts. One that takes longer is left out."""
PAGE = 1000
_ROLES = ("user", "assistant")
_MAX_VALUES = 100
"""Of a completion, by the protocol."""
"""How many items are on a page of a list."""
_LISTS = {listed.method: listed for listed in (PROMPTS, RESOURCES, TEMPLATES)}
_SECONDS = 125.0
"""A little more than the deadline of the pipeline."""
SUBSCRIBE = "resources/subscribe"
_on_updated: ContextVar[Callable[[str], None]] = ContextVar("on_updated")
"""Called with each change, set while a subscription begins: an argument of a handler would have to be JSON."""


class Served(NamedTuple):
    """An upstream, and the prefix of its prompts here."""

    upstream: Upstream
    prefix: str
    links: Callable[[], Collection[str]] = tuple
    """The addresses of the pages that its tools link to."""

    def shown(self, name: str) -> str:
        """The name of a prompt here."""
        return f"{self.prefix}_{name}" if self.prefix else name


class _Target(NamedTuple):
    """The target of a request, and its policy."""

    server: str
    params: JsonObject
    permissions: tuple[str, ...]
    deadline: float | None
    limit: OfferLimit | None = None
    table: str = ""
    """Of the charter, which has the limit: a prompt and a resource may have the same pattern."""

    def over(self, handler: BoundTool, request: Request) -> BoundTool:
        """The handler under this policy."""
        return replace(
            handler,
            final_name=request.tool,
            permissions=self.permissions,
            deadline=self.deadline or handler.deadline,
            rate_limit=self.limit and self.limit.allowed,
            counted_as=self.limit and f"{self.table}:{self.limit.pattern}",
        )


class RemoteLibrary(LiveLibrary):
    """The prompts and resources of several upstreams."""

    def __init__(
        self, registry: ToolRegistry, requests: RequestRecorder, *, servers: Sequence[Served], charter: Charter
    ) -> None:
        super().__init__(registry, requests)
        self._servers, self._charter = {one.upstream.name: one for one in servers}, charter
        self.announce: Callable[[Any], None] = lambda _: None
        """Notifies clients that a list has changed."""
        self._starting: set[asyncio.Task[list[JsonObject]]] = set()

    def open(self, pipeline: Pipeline) -> None:
        super().open(pipeline)

        async def show(method: str, cursor: str | None, context: ToolContext) -> list[Offer]:  # noqa: ARG001 - checked
            _held = self._take_tokens(context)
            return await self._offers(_LISTS[method], context.caller_key)

        async def find(method: str, params: dict[str, Any], context: ToolContext) -> _Target:
            _held = self._take_tokens(context)
            return await self._find(method, params, context.caller_key)

        async def ask(method: str, server: str, params: dict[str, Any], context: ToolContext) -> JsonObject:
            _held = self._take_tokens(context)
            return await self._ask(method, server, params, context)

        async def watch(server: str, uri: str, context: ToolContext) -> Callable[[], None]:
            held = self._take_tokens(context)
            return await self._watch(server, uri, context, held)

        def bound(function: Callable[..., Any], *, asks: bool = False) -> BoundTool:
            spec = spec_of(function, Declaration(category="query", permissions=(), response_time="slow", asks=asks))
            return pipeline.bind(spec, spec.name, check_returns=False)

        self._show, self._finder, self._watcher = bound(show), bound(find), bound(watch)
        self._asker = bound(ask, asks=True)

    def _take_tokens(self, context: ToolContext) -> list[object]:
        return [one.upstream.take_token(context) for one in self._servers.values()]

    async def answer(self, method: str, params: JsonObject, request: Request) -> JsonObject:
        return await self._recorded(method, request, self._answer(method, params, request))

    async def _answer(self, method: str, params: JsonObject, request: Request) -> JsonObject:
        if listed := _LISTS.get(method):
            cursor = params.get("cursor")
            asked = request._replace(arguments={"method": method, "cursor": cursor})

            def page(offers: list[Offer]) -> JsonObject:
                return _page(listed, self._visible(listed, offers, request.caller), cursor)

            return await self._run(self._show, asked, page)
        finding = request._replace(arguments={"method": method, "params": params})
        target: _Target = await self._run(self._finder, finding, _unchanged)
        asking = {"method": method, "server": target.server, "params": target.params}
        return await self._run(target.over(self._asker, request), request._replace(arguments=asking), _unchanged)

    async def subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        return await self._recorded(SUBSCRIBE, request, self._subscribe(uri, request, updated))

    async def _subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        finding = request._replace(arguments={"method": SUBSCRIBE, "params": {"uri": uri}})
        target: _Target = await self._run(self._finder, finding, _unchanged)

        def on_updated(changed: str) -> None:
            if changed == uri or self._may_know(target.server, changed, request.caller):
                updated(changed)

        token = _on_updated.set(on_updated)
        try:
            watching = request._replace(arguments={"server": target.server, "uri": uri})
            return await self._run(target.over(self._watcher, request), watching, _unchanged)
        finally:
            _on_updated.reset(token)

    def _may_know(self, server: str, uri: str, caller: Caller) -> bool:
        """Whether a caller may know of an address that a server names."""
        policy = address_policy(server, uri, self._charter.resources)
        return policy.allowed and not caller.lacks(policy.permissions)

    # --- lists -------------------------------------------------------------------------------------------

    async def _offers(self, listed: Listed, caller: str) -> list[Offer]:
        """The offers of all upstreams. One that cannot be reached is left out, and the others are shown."""
        lists = await asyncio.gather(*(self._items(one.upstream, listed, caller) for one in self._servers.values()))
        return [
            offer
            for name, items in zip(self._servers, lists, strict=True)
            for offer in offers_of(name, listed, items, self._charter)
        ]

    async def _items(self, upstream: Upstream, listed: Listed, caller: str) -> list[JsonObject]:
        # A start that takes longer goes on; the next list has what it gives.
        task = asyncio.ensure_future(upstream.list_items(caller, listed))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        try:
            return await asyncio.wait_for(asyncio.shield(task), LIST_SECONDS)
        except TimeoutError:
            logger.warning("%s has not listed its %s within %g seconds", upstream.name, listed.member, LIST_SECONDS)
            task.add_done_callback(partial(self._announce_late_list, listed))
        except Unavailable as error:
            logger.warning("The list of %s is not complete: %s", listed.member, error)
        except (SignInRequired, PermissionDenied):
            logger.info("The list of %s has none of %s: the caller is not signed in", listed.member, upstream.name)
        return []

    def _announce_late_list(self, listed: Listed, task: "asyncio.Task[list[JsonObject]]") -> None:
        if not task.cancelled() and task.exception() is None:
            self.announce(listed.capability)

    def _visible(self, listed: Listed, offers: Sequence[Offer], caller: Caller) -> list[JsonObject]:
        shown: dict[str, JsonObject] = {}
        for offer in offers:
            if offer.is_visible_to(caller):
                key = self._servers[offer.server].shown(offer.key) if listed is PROMPTS else offer.key
                shown.setdefault(key, {**offer.wire, "name": key} if listed is PROMPTS else offer.wire)
        return list(shown.values())

    # --- what a request is about -------------------------------------------------------------------------

    async def _find(self, method: str, params: JsonObject, caller: str) -> _Target:
        """The server that a request is for. Raises NotFound, or Conflict for what is quarantined or ambiguous."""
        if method == "prompts/get":
            offer = await self._find_prompt(str(params["name"]), caller)
            target = _target(offer, {"name": offer.key, "arguments": params.get("arguments") or {}})
            return target._replace(limit=offer.policy.limit, table="prompts")
        if method in ("resources/read", SUBSCRIBE):
            return await self._find_resource(str(params["uri"]), caller)
        ref = as_object(params["ref"])
        if ref.get("type") == "ref/prompt":
            offer = await self._find_prompt(str(ref.get("name")), caller)
            ref = {**ref, "name": offer.key}
        else:
            found = template_owner(str(ref.get("uri")), self._allowed(await self._offers(TEMPLATES, caller)))
            if found is None:
                raise NotFound(f"No server offers the template {str(ref.get('uri'))!r}.")
            offer = found
            offer.check()
        context = {"context": params["context"]} if params.get("context") is not None else {}
        return _target(offer, {"ref": ref, "argument": params["argument"], **context})

    async def _find_prompt(self, name: str, caller: str) -> Offer:
        # Only the servers whose prompts can have this name are asked.
        candidates = [one for one in self._servers.values() if name.startswith(one.shown(""))]
        offers: list[Offer] = []
        for one in candidates:
            items = await one.upstream.list_items(caller, PROMPTS)
            offers += self._allowed(offers_of(one.upstream.name, PROMPTS, items, self._charter))
        found = [offer for offer in offers if self._servers[offer.server].shown(offer.key) == name]
        if not found:
            known = [self._servers[offer.server].shown(offer.key) for offer in offers if offer.finding is None]
            nearest = difflib.get_close_matches(name[:128], known, n=2, cutoff=0.5)
            hint = f"Did you mean {' or '.join(map(repr, nearest))}?" if nearest else "prompts/list shows all."
            raise InvalidArguments(f"Unknown prompt: {name[:128]!r}. {hint}")
        if len({offer.server for offer in found}) > 1:
            servers = " and ".join(repr(offer.server) for offer in found)
            raise Conflict(f"{servers} both offer the prompt {name!r}. Give one of them another prefix in the charter.")
        found[0].check()
        return found[0]

    async def _find_resource(self, uri: str, caller: str) -> _Target:
        offers = [*await self._offers(RESOURCES, caller), *await self._offers(TEMPLATES, caller)]
        linking = [name for name, one in self._servers.items() if uri in one.links()]
        owner = owner_of(uri, self._allowed(offers), linking)
        if owner is None:
            raise InvalidArguments(f"Unknown resource: {uri}")
        server = owner if isinstance(owner, str) else owner.server
        policy = address_policy(server, uri, self._charter.resources)
        if not policy.allowed:
            raise InvalidArguments(f"Unknown resource: {uri}")
        permissions, deadline, limit = policy.permissions, policy.deadline, policy.limit
        if isinstance(owner, Offer):
            owner.check()
            permissions = tuple(dict.fromkeys((*permissions, *owner.policy.permissions)))
            deadline, limit = deadline or owner.policy.deadline, limit or owner.policy.limit
        return _Target(server, {"uri": uri}, permissions, deadline, limit, "resources")

    def _allowed(self, offers: Sequence[Offer]) -> list[Offer]:
        return [offer for offer in offers if offer.policy.allowed]

    # --- answers -----------------------------------------------------------------------------------------

    async def _ask(self, method: str, server: str, params: JsonObject, context: ToolContext) -> JsonObject:
        upstream, meta = self._servers[server].upstream, trace_of(context)
        person = CallersPerson(server, context, upstream.expect_completion)
        send = partial(upstream.request, context.caller_key, method, params, seconds=_SECONDS, meta=meta, person=person)
        result = await person.answered(send, "the request")
        if method == "prompts/get":
            return await self._examined_prompt(server, str(params["name"]), result)
        return await self._examined_contents(server, result) if method == "resources/read" else _examined_values(result)

    async def _watch(self, server: str, uri: str, context: ToolContext, held: object) -> Callable[[], None]:
        try:
            end = await self._servers[server].upstream.watch(context.caller_key, uri, _on_updated.get())
        except UpstreamRefused as error:
            raise Conflict(f"{server!r} refused the subscription: {error.message}") from None
        # The token of the caller is needed as long as the stream is.
        return partial(_end, end, held)

    async def _examined_prompt(self, server: str, name: str, result: JsonObject) -> JsonObject:
        messages = _objects(result.get("messages"))
        if wrong := [role for message in messages if (role := message.get("role")) not in _ROLES]:
            raise Conflict(
                f"The prompt {name!r} of {server!r} was withheld: a message of it has the role {str(wrong[0])[:60]!r}. "
                "A prompt may speak for the user and the assistant only.",
                instruction="Tell the user.",
            )
        content = foreign_blocks([message.get("content") for message in messages])
        pairs = zip(messages, content, strict=True)
        messages = [{"role": message["role"], "content": block} for message, block in pairs]
        found = texts(content)
        warning = await find_warning(found, f"the prompt {name!r} of {server!r}", self._charter.pins.answers)
        if warning is not None:
            messages = [{"role": "user", "content": text_block(warning)}, *messages]
        description = result.get("description")
        return {
            **({"description": description} if isinstance(description, str) else {}),
            "messages": messages,
            **_meta_of(result),
        }

    async def _examined_contents(self, server: str, result: JsonObject) -> JsonObject:
        contents = [_checked_contents(content) for content in _objects(result.get("contents"))]
        found = [text for content in contents if (text := readable_text(content)) is not None]
        warning = await find_warning(found, f"the resource of {server!r}", self._charter.pins.answers)
        if warning is not None:
            contents = [{"uri": contents[0].get("uri"), "mimeType": "text/plain", "text": warning}, *contents]
        return {"contents": contents, **_meta_of(result)}


def trace_of(context: ToolContext) -> dict[str, Any]:
    """The caller's trace goes on at the upstream. Nothing else of the request's metadata is passed on."""
    return {name: context.metadata[name] for name in ("traceparent", "tracestate") if name in context.metadata}


def _end(end: Callable[[], None], _held: object) -> None:
    end()


def _unchanged(value: Any) -> Any:
    return value


def _target(offer: Offer, params: JsonObject) -> _Target:
    return _Target(offer.server, params, offer.policy.permissions, offer.policy.deadline)


def _page(listed: Listed, items: list[JsonObject], cursor: Any) -> JsonObject:
    if cursor is not None and not (isinstance(cursor, str) and cursor.isascii() and cursor.isdecimal()):
        raise InvalidArguments(f"The cursor {str(cursor)[:60]!r} does not belong to this list. Begin without a cursor.")
    start = int(cursor[:9]) if cursor else 0
    more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(items) else {}
    return {listed.member: items[start : start + PAGE], **more}


def _objects(value: Any) -> list[JsonObject]:
    return [as_object(item) for item in cast(list[Any], value)] if isinstance(value, list) else []


def _meta_of(result: JsonObject) -> JsonObject:
    meta = foreign_meta(result.get("_meta"))
    return {"_meta": meta} if meta else {}


def _checked_contents(contents: JsonObject) -> JsonObject:
    try:
        return foreign_contents(contents)
    except InvalidContent as error:
        return {"uri": str(contents.get("uri"))[:MAX_URI_LENGTH], "mimeType": "text/plain", "text": left_out(error)}


def _examined_values(result: JsonObject) -> JsonObject:
    """Completions without those that give orders: a value has no place for a warning."""
    completion = as_object(result.get("completion"))
    given = completion.get("values")
    listed = cast(list[Any], given)[:_MAX_VALUES] if isinstance(given, list) else []
    strings = [value for value in listed if isinstance(value, str)]
    values = [value for value in strings if not hidden_orders([value])]
    return {"completion": {**completion, "values": values}}
