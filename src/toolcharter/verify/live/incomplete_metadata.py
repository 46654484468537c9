from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from toolcharter.verify.live.hints_seen import hinting, object_at
from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    seen: set[str] = set()
    for exchange in hinting(observed):
        if exchange.tool not in seen and (wrong := _wrong(exchange)):
            seen.add(exchange.tool)
            yield Found(f"the answer to {exchange.sent}: {wrong}", "metadata", exchange.tool)


def _wrong(exchange: Exchange) -> str | None:
    if not exchange.is_refused and exchange.document.get("data") is None:
        return "data is null, though the call succeeded"
    metadata = object_at(exchange.document, "metadata")
    for name in ("toolVersion", "serviceVersion"):
        if not isinstance(metadata.get(name), str):
            return f"metadata lacks {name}"
    if not isinstance(metadata.get("executionTime"), int | float):
        return "metadata lacks executionTime"
    return None if _is_utc(metadata) else f"timestamp is {metadata.get('timestamp')!r}, not an ISO 8601 time in UTC"


def _is_utc(metadata: Mapping[str, Any]) -> bool:
    try:
        offset = datetime.fromisoformat(str(metadata.get("timestamp"))).utcoffset()
    except ValueError:
        return False
    return offset is not None and not offset


RULE = Rule(
    id="LIV016",
    name="incomplete-metadata",
    family="live",
    severity="warning",
    what="An answer with hints lacks its data, a version, its time or how long it took.",
    why="Without them nobody can tell which version gave an answer, or whether it is stale.",
    fix="Let the framework fill in the metadata, and return something even where there is nothing: an empty list.",
    check_live=check,
)
