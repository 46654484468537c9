"""Tools made up for a test: a full declaration of which a test writes only what it is about."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from mcp_core import Example, tool

Number = Annotated[int, Field(description="A whole number.")]
Text = Annotated[str, Field(description="Some text.")]


class Life:
    """What an app opens and closes in a test."""


def query(example: Mapping[str, Any] | None = None, **changes: Any) -> Callable[[Any], Any]:
    return tool(**_declaration("query", example) | changes)


def mutation(example: Mapping[str, Any] | None = None, **changes: Any) -> Callable[[Any], Any]:
    return tool(**_declaration("mutation", example) | changes)


def _declaration(category: str, example: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "category": category,
        "description": "A tool that was made up for a test, described at the length that is asked for.",
        "permissions": [],
        "response_time": "fast",
        "idempotent": True,
        "tags": ["made-up"],
        "examples": [Example("As it was made up", example or {}, None)],
    }


# --- one function, and a declaration that a test changes -------------------------------------------

FULL: dict[str, Any] = {
    "permissions": ["cards:read"],
    "category": "query",
    "response_time": "fast",
    "cache_ttl": 60,
    "idempotent": True,
    "examples": [Example("Two", {"a": 2}, 2)],
    "tags": ["cards"],
}
WORDS = "Give a number back. Use this when the user wants the same number again."


def function(words: str = WORDS) -> Callable[..., Any]:
    async def get_number(a: Annotated[int, Field(description="Any number.")]) -> int:
        return a

    get_number.__doc__ = words
    return get_number
