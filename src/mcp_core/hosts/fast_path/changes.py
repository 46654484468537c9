"""Notifications of changes: in a session at once, without sessions on `subscriptions/listen`.

A client is notified of changes of the lists, and of the resources that it has subscribed to; in a session also when
the person has finished at an address.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from mcp_core.app import App
from mcp_core.calling.changes import Change, Changes, ElicitationComplete, ResourceUpdate, TaskUpdate
from mcp_core.errors import Refused
from mcp_core.hosts.names import SUBSCRIPTION_KEY
from mcp_core.hosts.protocol import Peer, RpcError, needs_tasks
from mcp_core.state.subscribers import Subscriber
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

KINDS = ("tools", "prompts", "resources")
LISTEN = "subscriptions/listen"
SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
"""The requests of a session; without sessions, a stream names its resources when it begins."""
MAX_RESOURCES = 100
"""How many resources a client may subscribe to."""
_MAX_URI_LENGTH = 8_192


def wanted_kinds(params: JsonObject) -> list[str] | None:
    """The lists whose changes a client subscribes to; None where the parameters are wrong."""
    asked = params.get("notifications")
    if not isinstance(asked, dict):
        return None
    return [kind for kind in KINDS if cast(JsonObject, asked).get(f"{kind}ListChanged") is True]


def wanted_resources(params: JsonObject) -> list[str] | None:
    """The resources whose changes a client subscribes to; None where the parameters are wrong."""
    asked: Any = params.get("notifications")
    uris: Any = cast(JsonObject, asked).get("resourceSubscriptions") if isinstance(asked, dict) else None
    if uris is None:
        return []
    if not isinstance(uris, list) or not all(map(_is_address, cast(list[Any], uris))):
        return None
    return list(dict.fromkeys(cast(list[str], uris)))


def wanted_tasks(params: JsonObject, peer: Peer) -> list[str] | None:
    """The tasks whose status a client subscribes to; None where the parameters are wrong.

    Raises RpcError for a client that has not declared that it follows tasks.
    """
    asked: Any = params.get("notifications")
    ids: Any = cast(JsonObject, asked).get("taskIds") if isinstance(asked, dict) else None
    if ids is None:
        return []
    if not peer.takes_tasks:
        raise needs_tasks("Missing required client capability: task notifications.")
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in cast(list[Any], ids)):
        return None
    return list(dict.fromkeys(cast(list[str], ids)))[:MAX_RESOURCES]


def subscribed_uri(params: JsonObject) -> str | None:
    """The address in a request to subscribe or unsubscribe; None where the parameters are wrong."""
    uri = params.get("uri")
    return uri if _is_address(uri) else None


def _is_address(uri: Any) -> bool:
    """Whether a value can be an address. Half of a pair of surrogates, which JSON allows, cannot be stored."""
    return isinstance(uri, str) and len(uri) <= _MAX_URI_LENGTH and uri == uri.encode("utf-8", "replace").decode()


class ChangeListener:
    """The notifications of one client, on one stream. Close it at the end."""

    def __init__(self, app: App, changes: Changes) -> None:
        self._app, self._changes = app, changes
        self._subscriber = Subscriber[Change]()
        self._ends: dict[str, Callable[[], None]] = {}
        """Ends a subscription, by address."""
        self._tasks: dict[str, Peer] = {}
        """Who follows a task, by its id."""

    async def subscribe(self, uri: str, peer: Peer) -> None:
        """Watch a resource too. Raises Refused."""
        if uri in self._ends:
            return
        if len(self._ends) >= MAX_RESOURCES:
            raise Refused(f"A client can subscribe to {MAX_RESOURCES} resources.", "business", {"uri": uri})
        self._ends[uri] = await subscribe(self._app, uri, peer, self._updated)

    async def subscribe_to_all(self, uris: Iterable[str], peer: Peer) -> None:
        """Watch these resources too, as far as that is possible. The client gets a list of those that are watched."""
        for uri in uris:
            with suppress(Refused):
                await self.subscribe(uri, peer)

    def _updated(self, uri: str) -> None:
        # One notice is enough for a client that has not read the one before.
        if (update := ResourceUpdate(uri)) not in self._subscriber.items:
            self._subscriber.send(update)

    def unsubscribe(self, uri: str) -> None:
        """Stop to watch a resource."""
        if end := self._ends.pop(uri, None):
            end()

    def send_complete(self, number: str) -> None:
        """Notify the client that the person has finished at an address."""
        self._subscriber.send(ElicitationComplete(number))

    async def follow(self, uris: Iterable[str], peer: Peer) -> None:
        """Watch exactly these resources. The client is notified of new ones at once: they may have changed."""
        wanted = set(uris)
        for uri in self._ends.keys() - wanted:
            self.unsubscribe(uri)
        for uri in wanted - self._ends.keys():
            with suppress(Refused):
                await self.subscribe(uri, peer)
                self._updated(uri)

    async def follow_tasks(self, task_ids: Sequence[str], peer: Peer) -> None:
        """Watch the status of tasks too. Those that do not exist for the client are left out."""
        if task_ids:
            await self._app.tasks.listen()
        for task_id in task_ids:
            if await self._task_fields(task_id, peer) is not None:
                self._tasks[task_id] = peer

    async def _task_fields(self, task_id: str, peer: Peer) -> JsonObject | None:
        from mcp_core.hosts import task_methods  # noqa: PLC0415 - most servers have no tasks

        try:
            return task_methods.status(await task_methods.find(self._app, task_id, peer))
        except RpcError:
            return None

    async def _task_notification(self, task_id: str, meta: JsonObject) -> bytes | None:
        peer = self._tasks.get(task_id)
        fields = None if peer is None else await self._task_fields(task_id, peer)
        if fields is None:
            return None
        return _notification("notifications/tasks", {**fields, "_meta": {**fields.get("_meta", {}), **meta["_meta"]}})

    async def messages(
        self, idle_seconds: float, kinds: Sequence[str], subscription: str | int | None = None
    ) -> AsyncGenerator[bytes | None]:
        """A message for each change, and None whenever none has come for a while, for a sign of life.

        With the id of a subscription, the first message acknowledges it. Raises TooManySubscribers.
        """
        meta: JsonObject = {} if subscription is None else {"_meta": {SUBSCRIPTION_KEY: subscription}}
        begun = False
        await self._app.news.listen()
        async for change in self._changes.listen(idle_seconds, self._subscriber):
            if not begun and subscription is not None:
                granted: JsonObject = {f"{one}ListChanged": True for one in kinds}
                granted |= {"resourceSubscriptions": list(self._ends)} if self._ends else {}
                granted |= {"taskIds": list(self._tasks)} if self._tasks else {}
                yield _notification("notifications/subscriptions/acknowledged", {"notifications": granted, **meta})
            elif change is None:
                yield None
            elif isinstance(change, ResourceUpdate):
                yield _notification("notifications/resources/updated", {"uri": change.uri, **meta})
            elif isinstance(change, ElicitationComplete):
                yield complete_message(change.number)
            elif isinstance(change, TaskUpdate):
                if (message := await self._task_notification(change.task_id, meta)) is not None:
                    yield message
            elif change in kinds:
                yield _notification(f"notifications/{change}/list_changed", meta)
            begun = True

    def close(self) -> None:
        """End all subscriptions."""
        for uri in list(self._ends):
            self.unsubscribe(uri)


async def subscribe(app: App, uri: str, peer: Peer, updated: Callable[[str], None]) -> Callable[[], None]:
    """Call `updated` when a resource changes, until the function that is returned is called. Raises Refused."""
    await app.news.listen()
    return await app.library.subscribe(uri, peer.request(uri, None, {}), updated)


def listen_result(subscription: str | int) -> str:
    """The result of a subscription that the server ends."""
    return json_text.to_text({"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: subscription}})


def complete_message(number: str) -> bytes:
    """The notice that the person has finished at an address."""
    return _notification("notifications/elicitation/complete", {"elicitationId": number})


def _notification(method: str, params: JsonObject) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    return json_text.to_text(message).encode()
