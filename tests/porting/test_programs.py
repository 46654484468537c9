"""Twenty-five small programs as the documentation of FastMCP and the SDK has them, written for toolcharter.

The docstring of each test has what an author changes. `app.client()` is a client in memory, as FastMCP's `Client(mcp)`.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from toolcharter import App, Confirm, Context, Image, NotFound, Result, ToolError, tool
from toolcharter.content import Audio, File, ResourceLink
from toolcharter.declarations import RateLimit
from toolcharter.hosts import Request
from toolcharter.prompts import Argument, Message
from toolcharter.resources import Content, Resource, ResourceSource, ResourceTemplate

PNG = b"\x89PNG\r\n\x1a\n"


async def value(app: App, tool: str, **arguments: Any) -> str:
    async with app:
        answer = await app.call(tool, arguments)
    assert not answer.is_error, answer.text
    return answer.text


async def blocks(app: App, tool: str, **arguments: Any) -> list[str]:
    async with app:
        return [block["type"] for block in (await app.call(tool, arguments)).content()]


async def test_01_a_tool_of_two_numbers():
    """Nothing but the name of the class."""
    mcp = App("calculator")

    @mcp.tool
    def add(a: int, b: int) -> int:
        return a + b

    assert await value(mcp, "add", a=1, b=2) == "3"


async def test_02_a_tool_that_is_not_async_and_one_that_is():
    """Nothing: functions that are not async run in threads."""
    mcp = App("both")

    @mcp.tool
    def slow(n: int) -> int:
        return n

    @mcp.tool
    async def quick(n: int) -> int:
        return n

    async with mcp:
        assert [(await mcp.call(name, {"n": 1})).text for name in ("slow", "quick")] == ["1", "1"]


async def test_03_descriptions_and_bounds_of_arguments():
    """Nothing: `Annotated` and `Field` are the same."""
    mcp = App("search")

    @mcp.tool
    def find(query: Annotated[str, Field(description="What.")], limit: Annotated[int, Field(ge=1, le=9)] = 3) -> str:
        return query * limit

    assert mcp.list_tools()[0].input_schema["properties"]["limit"]["maximum"] == 9
    assert await value(mcp, "find", query="a") == "aaa"


async def test_04_a_name_a_title_and_annotations():
    """`annotations=` become `category` and `destructive`."""
    mcp = App("named")

    @mcp.tool(name="look_up", title="Look it up", category="query")
    def internal() -> str:
        return "found"

    (listed,) = mcp.list_tools()
    assert (listed.name, listed.title, listed.annotations["readOnlyHint"]) == ("look_up", "Look it up", True)


async def test_05_a_model_as_the_result():
    """Nothing: it is typed and structured."""

    class Weather(BaseModel):
        degrees: float

    mcp = App("weather")

    @mcp.tool
    def forecast(city: str) -> Weather:
        return Weather(degrees=len(city))

    async with mcp:
        assert (await mcp.call("forecast", {"city": "Bern"})).structured == {"degrees": 4.0}


async def test_06_a_dataclass_as_an_argument():
    """Nothing."""

    @dataclass
    class Point:
        x: int
        y: int

    mcp = App("points")

    @mcp.tool
    def flip(point: Point) -> dict[str, int]:
        return {"x": point.y, "y": point.x}

    assert await value(mcp, "flip", point={"x": 1, "y": 2}) == '{"x":2,"y":1}'


async def test_07_an_image():
    """`Image` comes from toolcharter, and takes bytes; `Image.from_file` reads a path."""
    mcp = App("pictures")

    @mcp.tool
    def draw() -> Image:
        return Image(PNG)

    assert await blocks(mcp, "draw") == ["image", "text"]


async def test_08_a_text_with_an_image_and_a_sound():
    """The return annotation names what is in the list."""
    mcp = App("mixed")

    @mcp.tool
    def show() -> list[str | Image | Audio]:
        return ["Look", Image(PNG), Audio(b"OggS")]

    assert await blocks(mcp, "show") == ["text", "image", "audio"]


async def test_09_a_file_and_a_link():
    """`File(uri, content)` in place of `EmbeddedResource`, `ResourceLink` as it is."""
    mcp = App("files")

    @mcp.tool
    def report() -> list[File | ResourceLink]:
        return [File("report://1.md", "# Report"), ResourceLink("report://2", "The next one")]

    assert await blocks(mcp, "report") == ["resource", "resource_link", "text"]


async def test_10_a_value_beside_an_image():
    """`ToolResult(content=, structured_content=)` is `Result.ok(value, content=)`."""
    mcp = App("chart")

    @mcp.tool
    def chart() -> Result[dict[str, int]]:
        return Result.ok({"sales": 5}, content=[Image(PNG)])

    async with mcp:
        answer = await mcp.call("chart")
    assert answer.structured == {"sales": 5}
    assert [block["type"] for block in answer.content()] == ["text", "image"]


async def test_11_an_error_for_the_agent():
    """`ToolError` or one of its kinds; the text of any other exception stays in the log."""
    mcp = App("errors")

    @mcp.tool
    def get(title: str) -> str:
        raise NotFound(f"No book {title!r} is here.") if title else ToolError("no title")

    async with mcp:
        answer = await mcp.call("get", {"title": "Emma"})
    assert (answer.is_error, answer.text) == (True, '{"error":"No book \'Emma\' is here."}')


async def test_12_progress():
    """`Context` is toolcharter's; the message is the third argument."""
    mcp, seen = App("progress"), list[tuple[Any, ...]]()

    @mcp.tool
    async def work(context: Context) -> str:
        await context.report_progress(1, 2, "half")
        return "done"

    async def note(*report: Any) -> None:
        seen.append(report)

    async with mcp:
        await mcp.answer(Request("work", {}, progress=note))
    assert seen == [(1, 2, "half")]


async def test_13_a_form():
    """`ctx.elicit(message, Model)` is `context.ask(Model, message)`, and the tool declares `asks`."""

    class Order(BaseModel):
        flavour: Literal["nuts", "jam"]
        boxes: int = 1

    mcp = App("shop")

    @mcp.tool(asks=True)
    async def order(context: Context) -> str:
        answers = await context.ask(Order, "What do you want?")
        return f"{answers.boxes} {answers.flavour}"

    async with mcp.client({"flavour": "jam", "boxes": 2}) as client:
        assert (await client.call_tool("order")).text == "2 jam"


async def test_14_a_confirmation():
    """A question inside the tool becomes a declaration; nothing runs before the answer."""
    mcp = App("shelf")

    @mcp.tool(confirm=Confirm(ask="Remove {book}?", required=True))
    async def remove(book: str) -> str:
        return f"removed {book}"

    async with mcp.client(answer=True) as client:
        assert (await client.call_tool("remove", {"book": "Emma"})).text == "removed Emma"


async def test_15_what_a_server_opens_at_its_start():
    """`lifespan=` becomes a function for each object, which handlers take by type."""

    class Database:
        is_open = True

    async def connect() -> AsyncGenerator[Database]:
        database = Database()
        yield database
        database.is_open = False

    mcp = App("data")
    mcp.provide(Database, connect)

    @mcp.tool
    def ask(database: Database) -> bool:
        return database.is_open

    assert await value(mcp, "ask") == "true"


async def test_16_a_dependency_of_each_call():
    """`Depends(function)` is `app.provide(Type, function, scope="call")`."""

    class Session:
        def __init__(self, user: str | None) -> None:
            self.user = user

    def open_session(context: Context) -> Session:
        return Session(context.caller_key)

    mcp = App("sessions")
    mcp.provide(Session, open_session, scope="call")

    @mcp.tool
    def who(session: Session) -> str:
        return session.user or ""

    assert await value(mcp, "who") == "local"


async def test_17_a_resource():
    """One function reads all URIs of a prefix."""

    def read(uri: str) -> Content | None:
        return Content("dark", "text/plain") if uri == "config://theme" else None

    mcp = App("config", resources=[ResourceSource("config://", read, fixed=[Resource("config://theme", "Theme")])])
    async with mcp:
        assert (await mcp.library.read(Request("config://theme", {}))).content.value == "dark"


async def test_18_a_resource_template_with_completion():
    """The function takes the URI, and the template its names."""
    template = ResourceTemplate("note://{id}", "A note", complete={"id": ["1", "12"]})
    mcp = App("notes", resources=[ResourceSource("note://", lambda uri: f"Note {uri[7:]}", templates=[template])])
    async with mcp:
        assert (await mcp.library.read(Request("note://1", {}))).content.value == "Note 1"
        assert await mcp.library.complete("id", "12", {}, Request("note://{id}", {})) == ["12"]


async def test_19_a_prompt_with_typed_arguments():
    """Nothing: numbers, booleans and choices are read from the text that clients send."""
    mcp = App("prompts")

    @mcp.prompt
    def plan(topic: str, days: int = 3, tone: Literal["plain", "cheerful"] = "plain") -> str:
        return f"Plan {days} {tone} days of {topic}."

    async with mcp:
        conversation = await mcp.library.prompt(Request("plan", {"topic": "French", "days": "5"}))
    assert conversation.messages[0].content == "Plan 5 plain days of French."


async def test_20_a_prompt_with_an_image_and_an_answer():
    """`Message(content, role)` as it is; an image or a file stands in the list."""
    mcp = App("review")

    @mcp.prompt
    def review() -> list[Message | Image]:
        return [Message("Here is the picture."), Image(PNG), Message("I see it.", "assistant")]

    async with mcp:
        conversation = await mcp.library.prompt(Request("review", {}))
    assert [message.role for message in conversation.messages] == ["user", "user", "assistant"]


async def test_21_completion_of_an_argument():
    """The one function of a server, which looks at the reference, becomes a function at the argument."""
    mcp = App("poems")

    def themes(value: str) -> list[str]:
        return [theme for theme in ("sea", "season", "sky") if theme.startswith(value)]

    @mcp.prompt
    def poem(theme: Annotated[str, Argument(complete=themes)]) -> str:
        return f"Write about the {theme}."

    async with mcp:
        assert await mcp.library.complete("theme", "sea", {}, Request("poem", {})) == ["sea", "season"]


async def test_22_a_server_in_a_server():
    """`mount(server, namespace)` is `mount(app, prefix)`."""
    weather, mcp = App("weather"), App("main")

    @weather.tool
    def forecast(city: str) -> str:
        return f"Sun in {city}"

    mcp.mount(weather, prefix="weather")
    assert await value(mcp, "weather_forecast", city="Bern") == "Sun in Bern"


async def test_23_a_route():
    """`@mcp.custom_route` is `@app.route`; with permissions it needs a token."""
    mcp = App("site")

    @mcp.route("/status")
    async def status(request: HttpRequest) -> dict[str, str]:
        return {"path": request.url.path}

    assert [route.path for route in mcp.routes] == ["/status"]


async def test_24_limits_caching_and_time():
    """Middleware becomes three keywords of the tool."""
    mcp = App("limited")

    @mcp.tool(category="query", cache_ttl=60, rate_limit=RateLimit(2, 60_000), response_time=0.05)
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    async with mcp:
        texts = [(await mcp.call("wait", {"seconds": seconds})).text for seconds in (0.0, 5.0, 0.0)]
    assert texts[0] == "waited"
    assert "took longer than 0.05 seconds" in texts[1]
    assert "at most 2" in texts[2] or "limit" in texts[2].lower()


async def test_25_natural_arguments_and_enums():
    """Nothing: a number as text and a choice in another case are read, if the tool is declared harmless."""

    class Size(Enum):
        SMALL = "small"
        LARGE = "large"

    mcp = App("sizes")

    @mcp.tool(category="query")
    def box(size: Size, count: int, by: date | None = None) -> str:
        return f"{count} {size.value} {by}"

    assert await value(mcp, "box", size="Large", count="2", by="2026-11-19") == "2 large 2026-11-19"


@pytest.mark.parametrize("name", ["sampling", "list_roots", "log"])
def test_what_the_protocol_deprecates_is_not_offered(name: str):
    """Sampling, roots and log messages to the client; a governed server keeps them."""
    assert not hasattr(Context, name)
    assert tool is not None
