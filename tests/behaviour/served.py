"""The demo with further tools that behave as badly as tests need, on either host.

python tests/behaviour/served.py native|fastmcp stdio|http [the options of every server]
"""

import asyncio
import importlib
import os
import sys
from collections import Counter
from datetime import date
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field
from toolcharter_examples import demo
from toolcharter_examples.demo import Note, Notebook

from mcp_core import (
    Annotations,
    App,
    Argument,
    Audio,
    Confirm,
    Example,
    File,
    Image,
    Message,
    RateLimit,
    Resource,
    ResourceLink,
    ResourcePage,
    ResourceSource,
    ResourceTemplate,
    Result,
    Settings,
    ToolContext,
    mcp_log,
    page_of,
    tool,
)
from mcp_core.calling.records import VerbatimResult
from toolcharter.serving import run

logger = mcp_log.get_logger("served")

LIMIT = 3
"""How often `limited` may be called in an hour."""


class Ledger(Counter[str]):
    """What has really happened, by a key that each test makes up."""


async def count(key: Annotated[str, Field(description="The key.")], ledger: Ledger) -> int:
    """Say how often something has happened."""
    return ledger[key]


async def crash(key: Annotated[str, Field(description="The key.")], ledger: Ledger) -> str:
    """Raise what no handler should."""
    ledger[key] += 1
    raise RuntimeError(f"SELECT password FROM users; /etc/shadow; {key}")


async def hang(key: Annotated[str, Field(description="The key.")], ledger: Ledger) -> str:
    """Never answer, and keep book of being stopped."""
    ledger[f"{key} started"] += 1
    try:
        await asyncio.Event().wait()
    finally:
        ledger[f"{key} stopped"] += 1
    return "never"


async def wait_long(key: Annotated[str, Field(description="The key.")], ledger: Ledger) -> str:
    """The same, but with time until it is cancelled."""
    return await hang(key, ledger)


async def give_none() -> None:
    """Return nothing."""


async def pass_on(error: Annotated[str | None, Field(description="The error.")] = None) -> Any:
    """Pass on what another server answered."""
    blocks = [{"type": "text", "text": "first"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    return VerbatimResult(blocks, {"total": 1}, error)


async def draw() -> Any:
    """Show a picture."""
    return Result.ok({"name": "dot"}, content=[Image(b"\x00\x01"), Image(b"<svg/>", "image/svg+xml")])


async def show() -> list[str | Image | Audio | File | ResourceLink]:
    """Show one of each kind, without a value."""
    link = ResourceLink("odd://picture", "A picture", mime_type="image/png")
    sound = Audio(b"OggS", annotations=Annotations(audience=["user"], priority=1))
    return [Image(b"\xff\xd8\xff"), "A text", sound, File("odd://notes.md", "# Notes"), link]


async def give_set() -> Any:
    """Return what JSON does not know."""
    return {1, 2}


async def give_wrong_type() -> int:
    """Return something else than declared."""
    return cast(int, "five")


async def log_in(
    password: Annotated[str, Field(max_length=60, description="A secret by its name.")],
    badge: Annotated[str, Field(description="A secret by declaration.", json_schema_extra={"secret": True})],
    crashes: Annotated[bool, Field(description="Whether to fail with both in the error.")] = False,
) -> str:
    """Be careless with secrets."""
    logger.warning("trying %s with %s", password, badge)
    if crashes:
        raise RuntimeError(f"{password} and {badge} do not match")
    return "welcome"


async def wipe(key: Annotated[str, Field(description="What to wipe.")], ledger: Ledger) -> str:
    """Do what must never happen without a yes."""
    ledger[key] += 1
    return "wiped"


async def who(context: ToolContext) -> dict[str, Any]:
    """Show the context of this call."""
    return context.to_dict()


PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PLACE = {"type": "object", "properties": {"street": {"type": "string", "minLength": 3}}, "required": ["street"]}
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


async def paint(
    key: Annotated[str, Field(description="The key.")], context: ToolContext, ledger: Ledger, coats: int = 1
) -> list[str]:
    """Paint something in the colours that the person chooses, one for each coat."""
    ledger[key] += 1
    chosen: list[str] = []
    for number in range(coats):
        await context.report_progress(number)
        answer = await context.ask_user(f"Which colour for coat {number + 1}?", COLOUR)
        chosen.append(answer.content["colour"] if answer.is_accepted else answer.action)
    ledger[key] += 10
    return chosen


class Order(BaseModel):
    flavour: Literal["nuts", "jam"]
    boxes: Annotated[int, Field(ge=1, le=9)] = 1
    by: date | None = None


async def order(context: ToolContext) -> str:
    """Take an order of the person, and then ask where to deliver it."""
    order = await context.ask(Order, "What do you want?", name="order")
    answer = await context.ask_user(f"Where to, for {order.boxes} of {order.flavour}?", PLACE)
    return f"{order.boxes} {order.flavour} by {order.by} to {answer.content.get('street', answer.action)}"


async def limited() -> str:
    """Answer, but not often."""
    return "ok"


async def chatter() -> str:
    """Write where only the protocol may write."""
    print("printed by a handler")  # noqa: T201 - this is what it is for
    sys.stdout.flush()
    os.write(1, b"written by a handler\n")
    return "said"


@tool(
    category="mutation",
    response_time="fast",
    permissions=[],
    idempotent=True,
    tags=["notes"],
    examples=[Example("Start over", {}, "ok")],
)
async def start_over(notebook: Notebook) -> str:
    """Put the notebook back to how it was at the start of the server."""
    notebook.notes = {"note_1": Note("note_1", "Welcome", "Try list_notes.")}
    notebook.made = 1
    return "ok"


async def greet(name: str, ledger: Ledger, greeting: str = "Hello") -> list[Message]:
    """Greet somebody.

    Args:
        name: Whom.
    """
    ledger[f"greeted {name}"] += 1
    picture = File("odd://picture", b"\x89PNG", "image/png")
    return [Message(f"{greeting}, {name}!"), Message("Hello.", "assistant"), Message(picture), Message(Image(b"\x89"))]


async def welcome(context: ToolContext) -> str:
    """Welcome somebody who is asked for their name."""
    answer = await context.ask_user("Who are you?", PERSON)
    return f"Welcome, {answer.content['name']}." if answer.is_accepted else "Welcome, stranger."


def flavours(value: str, arguments: dict[str, str], ledger: Ledger) -> list[str]:
    """The flavours of a shop."""
    ledger["flavours asked"] += 1
    known = [f"{arguments.get('shop', 'any')} {number}" for number in range(120)]
    return [each for each in known if value in each]


async def pick(
    shop: Annotated[str, Argument("Where.", complete=["Corner", "Market", "Quay market"])],
    flavour: Annotated[str, Argument(complete=flavours)],
    size: Literal["small", "large"] = "small",
    count: int = 1,
) -> str:
    """Pick something."""
    return f"{count * 2} halves of {size} {flavour} at {shop}"


async def secrets(value: str) -> list[str]:
    """What only some may know."""
    return ["1", "2"]


async def fall(password: str) -> str:
    """Crash with a secret."""
    raise RuntimeError(f"SELECT {password} FROM users; /etc/shadow")


async def read_odd(uri: str, context: ToolContext) -> str | bytes | None:
    """Read what is odd."""
    if uri == "odd://crash":
        raise RuntimeError("SELECT password FROM users; /etc/shadow")
    return {"odd://picture": b"\x89PNG", "odd://agent": context.agent_id}.get(uri)


async def read_secret(uri: str, ledger: Ledger) -> str:
    """Read what only some may read, and keep book of it."""
    ledger[uri] += 1
    return "a secret"


def list_pages(cursor: str | None = None) -> ResourcePage:
    """Many resources, two to a page. Not async: it runs in a thread."""
    return page_of([Resource(f"page://{number}", f"Page {number}") for number in range(5)], cursor, size=2)


SOURCES = [
    ResourceSource("odd://", read=read_odd, fixed=[Resource("odd://picture", "A picture", mime_type="image/png")]),
    ResourceSource("page://", read=read_odd, list=list_pages),
    ResourceSource(
        "secret://",
        read=read_secret,
        list=lambda: [Resource("secret://1", "1")],
        permissions=["it:read"],
        templates=[ResourceTemplate("secret://{number}", "A secret", complete={"number": secrets})],
    ),
]


def build(settings: Settings) -> App:
    app = demo.build(settings)
    app.registry.strict = False  # the tools below are plain functions
    app.provide(Ledger, Ledger())
    odd = (give_none, give_set, draw, show, pass_on, give_wrong_type)
    for plain in (count, crash, *odd, log_in, who, chatter, wait_long):
        app.tool(destructive=False)(plain)
    app.tool(response_time=0.2)(hang)
    app.tool(confirm=Confirm("WIPE", required=True))(wipe)
    app.tool(asks=True)(paint)
    app.tool(asks=True)(order)
    app.tool(name="paint_in_a_second", asks=True, response_time=1.0)(paint)
    app.tool(rate_limit=RateLimit(LIMIT, 3_600_000))(limited)
    app.registry.register(start_over)
    app.prompt()(greet)
    app.prompt(asks=True)(welcome)
    app.prompt()(pick)
    app.prompt(permissions=["it:read"])(fall)
    for source in SOURCES:
        app.library.add_source(source)
    return app


if __name__ == "__main__":
    host, transport, *options = sys.argv[1:]
    if host == "native":
        run.run(build, [transport, *options])
    else:
        # Loaded only where it is asked for: the many native servers of the tests would wait for it.
        importlib.import_module("tests.behaviour.served_on_fastmcp").serve(transport, options)
