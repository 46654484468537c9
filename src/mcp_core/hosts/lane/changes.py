"""What clients are told when a list changes: in a session at once, without sessions on `subscriptions/listen`."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast

from mcp_core import json_text
from mcp_core.hosts.protocol import SUBSCRIPTION_KEY
from mcp_core.json_text import JsonObject
from mcp_core.subscribers import Subscribers

KINDS = ("tools", "prompts", "resources")
LISTEN = "subscriptions/listen"


def wanted_kinds(params: JsonObject) -> list[str] | None:
    """The lists whose changes a client wants to hear of; None where the parameters are wrong."""
    asked = params.get("notifications")
    if not isinstance(asked, dict):
        return None
    return [kind for kind in KINDS if cast(JsonObject, asked).get(f"{kind}ListChanged") is True]


async def change_messages(
    changes: Subscribers[str], idle_seconds: float, kinds: Sequence[str], subscription: str | int | None = None
) -> AsyncGenerator[bytes | None]:
    """A message for each change, and None whenever none has come for a while, for a sign of life.

    With the id of a subscription, the first message acknowledges it. Raises TooManySubscribers.
    """
    meta: JsonObject = {} if subscription is None else {"_meta": {SUBSCRIPTION_KEY: subscription}}
    begun = False
    async for kind in changes.listen(idle_seconds):
        if not begun and subscription is not None:
            granted = {f"{one}ListChanged": True for one in kinds}
            yield _notification("notifications/subscriptions/acknowledged", {"notifications": granted, **meta})
        elif kind is None:
            yield None
        elif kind in kinds:
            yield _notification(f"notifications/{kind}/list_changed", meta)
        begun = True


def listen_result(subscription: str | int) -> str:
    """The result of a subscription that the server ends."""
    return json_text.to_text({"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: subscription}})


def _notification(method: str, params: JsonObject) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    return json_text.to_text(message).encode()
