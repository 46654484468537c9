"""Questions of an upstream to the person: passed on to the client of the call, with the name of the server."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NoReturn, cast

from mcp_core.context import NotifyComplete, ToolContext
from mcp_core.errors import Conflict, ConsentRequired, InvalidArguments, ToolError, UrlElicitationRequired
from mcp_core.hosts.names import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    VERSION_KEY,
)
from mcp_core.mcp_log import secret_field
from mcp_core.text.json_text import JsonObject, to_text
from toolcharter.govern.upstream.errors import UpstreamRefused
from toolcharter.govern.upstream.transport import as_object

MAX_AT_ONCE = 10
"""How many questions an upstream may ask in one answer."""
_MAX_MESSAGE_LENGTH = 4_000
_MAX_SCHEMA_LENGTH = 50_000
_MAX_ID_LENGTH = 256
_ADDRESS = re.compile(r"https://[^\s]+|http://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?#][^\s]*)?", re.IGNORECASE)

ExpectCompletion = Callable[[str, str, NotifyComplete], None]
"""Takes the caller, the id of the question, and what notifies the client of the caller."""


class CallersPerson:
    """The person behind one call of a tool of an upstream."""

    def __init__(self, server: str, context: ToolContext, expect: ExpectCompletion | None = None) -> None:
        """`expect` makes the upstream notify the client when the person has finished at an address."""
        self._server, self._context, self._expect = server, context, expect
        self._problem: ToolError | None = None

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities of the client of this call."""
        return {"elicitation": {mode: {} for mode in sorted(self._context.modes)}} if self._context.modes else {}

    @property
    def owner(self) -> str:
        """The caller, and the session of the caller."""
        return f"{self._context.caller_key} {self._context.session_id}"

    def raise_problem(self) -> None:
        """Raise why the person could not be asked, if that is why the call failed."""
        if self._problem is not None:
            raise self._problem

    async def raise_missing(self) -> None:
        """Raise that the client of this call lacks what the upstream needs to ask the person."""
        for mode in ("form", "url"):
            if mode not in self._context.modes and self._context.elicit is not None:
                await self._context.elicit({"mode": mode})

    async def answered(self, send: Callable[[], Awaitable[JsonObject]], what: str) -> JsonObject:
        """The answer to a request, which is sent again after the person has opened what the upstream wants.

        Raises the error for the caller if the upstream refuses it.
        """
        try:
            try:
                return await send()
            except UpstreamRefused as error:
                if not await self._opens_addresses(error):
                    raise
            return await send()
        except UpstreamRefused as error:
            await self._raise_refusal(error, what)

    async def _raise_refusal(self, error: UpstreamRefused, what: str) -> NoReturn:
        """Raise the error for the caller of a request that the upstream refused."""
        self.raise_problem()
        if error.code == MISSING_CAPABILITY:
            await self.raise_missing()
        if error.code == URL_ELICITATION_REQUIRED:
            self._raise_addresses(error)
        refusal = InvalidArguments if error.code == INVALID_PARAMS else Conflict
        raise refusal(f"{self._server!r} refused {what}: {error.message}") from None

    async def _opens_addresses(self, error: UpstreamRefused) -> bool:
        """Whether the person has opened the addresses without which the upstream refuses a request.

        A client of sessions knows the error, and does that by itself. Others are asked here.
        """
        if error.code != URL_ELICITATION_REQUIRED or VERSION_KEY not in self._context.metadata:
            return False
        if "url" not in self._context.modes or self._context.elicit is None:
            return False
        given = [await self._context.elicit(one) for one in self._addresses(error)]
        return bool(given) and all(one.get("action") == "accept" for one in given)

    def _raise_addresses(self, error: UpstreamRefused) -> None:
        addresses = self._addresses(error)
        if not addresses:
            return
        if "url" in self._context.modes and VERSION_KEY not in self._context.metadata:
            message = f"{self._server!r} needs the user to open an address first."
            raise UrlElicitationRequired(message, addresses)
        shown = "; ".join(f"{one['message']} {one['url']}" for one in addresses)
        raise Conflict(
            f"{self._server!r} needs the user to open an address first. {shown}",
            instruction="Show the user the address exactly as it is. When they have finished there, call this again.",
        )

    def _addresses(self, error: UpstreamRefused) -> list[JsonObject]:
        """The addresses in an error of the upstream, as the person sees them, without those that are not allowed."""
        asked: Any = as_object(error.data).get("elicitations")
        found: list[JsonObject] = []
        for one in cast(list[Any], asked)[:MAX_AT_ONCE] if isinstance(asked, list) else []:
            with suppress(UpstreamRefused):
                params = self._shown({**as_object(one), "mode": "url"})
                found.append({"elicitationId": secrets.token_urlsafe(12), **params})
        return found

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """The answer to a request of the upstream. Raises UpstreamRefused, which only the upstream sees."""
        if method != "elicitation/create":
            raise UpstreamRefused(METHOD_NOT_FOUND, "Method not found", method)
        try:
            return await self._ask(params)
        except ConsentRequired as error:
            self._problem = error
            raise UpstreamRefused(INVALID_REQUEST, str(error)) from None

    async def answer_all(self, requests: JsonObject) -> JsonObject:
        """The answers to all questions of an upstream that waits for none. Raises ConsentRequired or Conflict."""
        asked = {name: as_object(request) for name, request in requests.items()}
        if len(asked) > MAX_AT_ONCE:
            raise Conflict(f"{self._server!r} asks the user {len(asked)} questions at once; {MAX_AT_ONCE} are allowed.")
        for request in asked.values():
            if request.get("method") != "elicitation/create":
                raise Conflict(f"{self._server!r} asks for {str(request.get('method'))[:60]!r}, which is not offered.")
        try:
            answers = await asyncio.gather(*(self._ask(as_object(one.get("params"))) for one in asked.values()))
        except UpstreamRefused as error:
            raise Conflict(f"{self._server!r} asks the user in a way that is not allowed: {error.message}") from None
        return dict(zip(asked, answers, strict=True))

    async def _ask(self, params: JsonObject) -> JsonObject:
        if self._context.elicit is None:
            raise ConsentRequired("Nobody can be asked during this call.")
        return dict(await self._context.elicit(self._shown(params)))

    def _shown(self, params: JsonObject) -> JsonObject:
        """The question as the person sees it. The name of the server shows who asks: the client knows only us."""
        message: Any = params.get("message")
        if not isinstance(message, str) or len(message) > _MAX_MESSAGE_LENGTH:
            raise UpstreamRefused(INVALID_PARAMS, f"message must be a text of at most {_MAX_MESSAGE_LENGTH} characters")
        shown: JsonObject = {"mode": "form", "message": f"{self._server}: {message}"}
        if params.get("mode", "form") == "url":
            url: Any = params.get("url")
            if not isinstance(url, str) or not _ADDRESS.fullmatch(url):
                raise UpstreamRefused(INVALID_PARAMS, "url must begin with https://")
            number: Any = params.get("elicitationId")
            if not isinstance(number, str) or not 0 < len(number) <= _MAX_ID_LENGTH:
                return {**shown, "mode": "url", "url": url}
            if self._expect is not None and self._context.notify_complete is not None:
                self._expect(self._context.caller_key, number, self._context.notify_complete)
            return {**shown, "mode": "url", "url": url, "elicitationId": number}
        schema = params.get("requestedSchema")
        if not isinstance(schema, dict) or len(to_text(schema)) > _MAX_SCHEMA_LENGTH:
            raise UpstreamRefused(INVALID_PARAMS, "requestedSchema must be an object of moderate size")
        if secret := secret_field(cast(JsonObject, schema)):
            raise UpstreamRefused(
                INVALID_PARAMS,
                f"a form must not ask for {secret[:60]!r}: the client, and the model, could see it. "
                "Send the user to an address for secrets (mode url)",
            )
        return {**shown, "requestedSchema": schema}
