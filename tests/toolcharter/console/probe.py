"""A server for tests of the console: arguments of every kind, tools that ask, take long, fail, and attack the page."""

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr

from mcp_core import App, Confirm, Example, NotFound, Result, Settings, SuggestedAction, ToolContext, hints, tool
from mcp_core.declare.resources import Resource, ResourceSource

ATTACK = "<script>window.hit=1</script><img src=x onerror=window.hit=2><svg/onload=window.hit=3>"
MARKDOWN = (
    "[click](javascript:window.hit=4) ![pixel](https://evil.example/p.png) <b>bold</b> [site](https://ok.example)"
)
CONTROLS = "\x1b[31mred\x1b[0m \u202eevil\u202c"


class Place(BaseModel):
    """Where something is."""

    city: str = Field(max_length=50, description="The name of the city.")
    number: int | None = Field(default=None, ge=1, description="The number of the house.")


class Order(BaseModel):
    """What is ordered."""

    item: str = Field(min_length=1, max_length=40)
    count: int = Field(default=1, ge=1, le=9)


@tool
async def take_all(  # noqa: PLR0917 - one of each kind
    text: Annotated[str, Field(min_length=1, max_length=30, description="A short text.")],
    size: Annotated[Literal["small", "large"], Field(description="One of two.")],
    orders: list[Order],
    share: Annotated[float, Field(ge=0, le=1, description="A part of one.")] = 0.5,
    tags: list[str] | None = None,
    place: Place | None = None,
    careful: bool = False,
    other: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Take arguments of every kind, and return them."""
    return {
        "text": text,
        "size": size,
        "orders": [one.model_dump() for one in orders],
        "share": share,
        "tags": tags,
        "place": place.model_dump() if place else None,
        "careful": careful,
        "other": other,
    }


@tool.mutation(
    permissions=["probe:use"],
    tags=["probe"],
    open_world=False,
    confirm=Confirm(ask="Erase {what} for good?", required=True),
    destructive=True,
    examples=[Example("Erase a list", {"what": "list"}, "erased list")],
)
async def erase(what: Annotated[str, Field(description="What to erase, such as a list.")]) -> str:
    """Erase something for good.

    Use this when the person wants to be rid of something, and confirms it.

    Returns:
        What was erased.
    """
    return f"erased {what}"


SIZES = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "enum": ["small", "large"], "description": "How large it is."},
        "number": {"type": "integer", "minimum": 1},
    },
    "required": ["size"],
}


@tool.mutation(
    permissions=["probe:use"],
    tags=["probe"],
    open_world=False,
    asks=True,
    examples=[Example("Bake it", {}, {"size": "small"})],
)
async def bake_cake(context: ToolContext) -> dict[str, Any]:
    """Bake a cake, and ask how large.

    Use this when the person wants a cake.

    Returns:
        What was baked.
    """
    return dict((await context.ask_user("How large?", SIZES)).content)


@tool
async def count_slowly(context: ToolContext, steps: int = 3) -> int:
    """Count, and report each step; without an end for more than 100 steps."""
    for step in range(1, min(steps, 100) + 1):
        await context.report_progress(step, steps, f"step {step}")
    if steps > 100:
        await asyncio.Event().wait()
    return steps


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(default=9, ge=0, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    friends: list["Dog"] = []


@tool
async def log_in(
    name: str, key: Annotated[SecretStr, Field(description="A secret.")], password: str, more: dict[str, Any]
) -> str:
    """Take secrets: one that is declared, and one that has the name of one."""
    return f"{name} with {len(key.get_secret_value()) + len(password)} characters and {len(more)} more"


@tool
async def pick_pet(pet: Cat | Dog, other: Cat | Dog | None = None, day: int | str = 1) -> dict[str, Any]:
    """Take one of several forms, one of which has members of its own form."""
    return {"pet": pet.model_dump(), "other": other.model_dump() if other else None, "day": day}


@tool
async def answer_much(kilobytes: int = 1000) -> list[str]:
    """Answer with much text."""
    return [f"{number:09} " + "x" * 86 for number in range(kilobytes * 10)]


@tool
async def ask_region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Take an argument that the client repeats in a header."""
    return region


@tool
async def fail_on_purpose(what: str = "it") -> str:
    """Fail with an error that says what to do."""
    raise NotFound(f"No {what!r} exists. Call take_all instead.")


@tool.query(
    permissions=["probe:use"],
    tags=["<b>probe</b>"],
    open_world=False,
    title=f"Attack {ATTACK}",
    description=f"Says {ATTACK} {MARKDOWN} {CONTROLS}",
    examples=[Example(ATTACK, {"text": ATTACK}, ATTACK)],
)
async def attack(
    text: Annotated[str, Field(description=ATTACK + CONTROLS, json_schema_extra={"default": ATTACK})] = "",
    choice: Annotated[Literal["<b>x</b>", "plain"], Field(description=MARKDOWN)] = "plain",
) -> Result[str]:
    suggestion = SuggestedAction(action="attack", data={"text": ATTACK}, description=ATTACK)
    made = hints.for_value(evidence=hints.Evidence(), why=ATTACK, then=[suggestion])
    return Result.ok(
        f"{text} {ATTACK} {MARKDOWN} {CONTROLS}", message=ATTACK + CONTROLS, instruction=ATTACK, hints=made
    )


def read(uri: str) -> str:
    return ATTACK


def say(text: str = "") -> str:
    """<script>window.hit=5</script>

    Args:
        text: <img src=x onerror=window.hit=6>
    """
    return ATTACK + text


def build(settings: Settings) -> App:
    """The server."""
    return App(
        "probe",
        version="1.0.0",
        title=f"Probe {ATTACK}",
        instructions=ATTACK,
        tools=[
            take_all,
            pick_pet,
            log_in,
            answer_much,
            erase,
            bake_cake,
            count_slowly,
            ask_region,
            fail_on_purpose,
            attack,
        ],
        prompts=[say],
        resources=[ResourceSource("x://", read=read, fixed=[Resource("x://<img src=x>", ATTACK)])],
        format="hints",
        settings=settings,
    )
