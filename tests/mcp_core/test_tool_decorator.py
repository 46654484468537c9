import logging
from collections.abc import Callable
from typing import Annotated, Any, Literal
from unittest.mock import Mock

import fastmcp
import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.server import mcpserver
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from mcp_core import (
    App,
    Confirm,
    DateRange,
    DeclarationError,
    Example,
    ExtMcpToolDecorator,
    Naming,
    Result,
    ToolArguments,
    ToolContext,
    log_tool_usage,
    tool,
)
from mcp_core.declare.spec import spec_of
from mcp_core.mcp_log import TRACE_LEVEL
from mcp_core.tool_decorator import get_tool_prefix

LOGGER = "mcp_core.tool_decorator"
NOBODY = '{"success":false,"error":"There is nobody","error_type":"NotFoundError","instruction":"Ask for a name."}'


@pytest.fixture(autouse=True)
def _no_prefix(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MCP_TOOL_PREFIX", raising=False)


class Greet(ToolArguments):
    name: str = Field(min_length=1, description="Whom to greet.")
    style: Literal["short", "long"] = Field(default="short", description="How.")
    titles: list[str] = Field(default_factory=list, description="Titles to use.")


async def greet(args: Greet) -> Result[str]:
    """Greet someone."""
    if args.name == "nobody":
        return Result.failure("There is nobody", "NotFoundError", instruction="Ask for a name.")
    return Result.ok(" ".join([args.style, *args.titles, args.name]))


def double(number: int, unit: str = "m") -> Result[str]:
    """Double a number.

    Args:
        number: Any number.
        unit: What it counts.
    """
    return Result.ok(f"{number * 2} {unit}")


def names_on(server: Mock) -> list[str]:
    return [call.kwargs["name"] for call in server.tool.call_args_list]


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records if record.name == LOGGER]


# --- names and prefixes, on a mock -----------------------------------------------------------------


@pytest.mark.requirement("NAM-1")
def test_without_a_prefix_anywhere_the_name_is_the_functions(monkeypatch: pytest.MonkeyPatch):
    server = Mock()
    assert ExtMcpToolDecorator(server).tool()(double) is double
    server.tool.assert_called_once_with(name="double", description=ToolArguments.build_tool_description(double))
    assert get_tool_prefix() == ""


@pytest.mark.requirement("NAM-1", "NAM-2")
@pytest.mark.parametrize(
    ("environment", "prefix", "name"),
    [
        (None, None, "double"),
        ("", None, "double"),
        ("guide", None, "guide_double"),
        ("guide_", None, "guide_double"),
        ("guide", "own", "own_double"),
        ("guide", "", "double"),
        (None, "own", "own_double"),
    ],
)
def test_the_prefix_is_the_given_one_or_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: str | None, prefix: str | None, name: str
):
    if environment is not None:
        monkeypatch.setenv("MCP_TOOL_PREFIX", environment)
    server = Mock()
    ExtMcpToolDecorator(server, prefix=prefix).tool()(double)
    assert names_on(server) == [name]


@pytest.mark.requirement("NAM-1", "NAM-2")
@pytest.mark.parametrize(
    ("prefix", "style", "attribute"),
    [
        (None, "snake", "guide_"),
        ("own", "snake", "own_"),
        ("own_", "snake", "own_"),
        ("own", "kebab", "own-"),
        ("", "snake", ""),
    ],
)
def test_the_prefix_can_be_read_and_set_for_the_tools_that_follow(
    monkeypatch: pytest.MonkeyPatch, prefix: str | None, style: Any, attribute: str
):
    monkeypatch.setenv("MCP_TOOL_PREFIX", "guide")
    server = Mock()
    tools = ExtMcpToolDecorator(server, prefix=prefix, style=style)
    assert (tools.prefix, tools.default_prefix) == (attribute, attribute)
    tools.tool()(double)
    tools.prefix = "other"
    tools.tool()(double)
    tools.prefix = ""
    tools.tool()(double)
    tools.prefix = tools.default_prefix
    tools.tool("again")(double)
    other = "other-double" if style == "kebab" else "other_double"
    assert names_on(server) == [f"{attribute}double", other, "double", f"{attribute}again"]


def test_the_decorator_may_be_used_without_parentheses():
    server = Mock()
    assert ExtMcpToolDecorator(server, prefix="guide").tool(double) is double
    assert names_on(server) == ["guide_double"]


@pytest.mark.requirement("NAM-3")
@pytest.mark.parametrize(("prefix", "name"), [(None, "guide_double"), ("own", "own_double"), ("", "double")])
def test_a_tools_own_prefix_wins(prefix: str | None, name: str):
    server = Mock()
    ExtMcpToolDecorator(server, prefix="guide").tool(prefix=prefix)(double)
    assert names_on(server) == [name]


@pytest.mark.requirement("NAM-3")
@pytest.mark.parametrize(("given", "name"), [(None, "hers_doubled"), ("", "doubled"), ("mine", "mine_doubled")])
def test_a_declared_name_and_prefix_are_used_unless_others_are_given(given: str | None, name: str):
    @tool(
        name="doubled",
        prefix="hers",
        category="query",
        response_time="fast",
        permissions=[],
        idempotent=True,
        tags=["math"],
        examples=[Example("Two", {"number": 1}, 2)],
    )
    def twice(number: Annotated[int, Field(description="Any number.")]) -> int:
        """Double a number. Use this when twice the number is wanted."""
        return number * 2

    server = Mock()
    ExtMcpToolDecorator(server, prefix="guide").tool(prefix=given)(twice)
    ExtMcpToolDecorator(server, prefix="guide").tool("other", prefix=given)(twice)
    assert names_on(server) == [name, name.replace("doubled", "other")]


@pytest.mark.requirement("NAM-2", "NAM-8")
def test_a_kebab_case_server_spells_names_with_dashes():
    async def create_card():
        """Make a card."""

    server = Mock()
    ExtMcpToolDecorator(server, prefix="noema", style="kebab").tool()(create_card)
    assert names_on(server) == ["noema-create-card"]


@pytest.mark.requirement("NAM-6")
def test_two_tools_of_one_final_name_are_refused_with_both_places():
    def other(number: int):
        """Another."""

    server = Mock()
    tools = ExtMcpToolDecorator(server, prefix="guide")
    tools.tool()(double)
    with pytest.raises(DeclarationError) as refused:
        tools.tool("guide_double", prefix="")(other)
    places = f"{spec_of(double).source} and {spec_of(other).source}"
    assert str(refused.value) == f"guide_double: two tools have this name, at {places}; rename one"
    assert names_on(server) == ["guide_double"]


# --- what the server is given ----------------------------------------------------------------------


@pytest.mark.requirement("ARG-3")
def test_the_generated_description_is_registered_and_an_own_one_wins():
    server = Mock()
    tools = ExtMcpToolDecorator(server)
    tools.tool()(greet)
    tools.tool("hail", description="Own words.", annotations={"readOnlyHint": True})(greet)
    assert [call.kwargs for call in server.tool.call_args_list] == [
        {"name": "greet", "description": ToolArguments.build_tool_description(greet)},
        {"name": "hail", "description": "Own words.", "annotations": {"readOnlyHint": True}},
    ]


@pytest.mark.requirement("ARG-3")
def test_one_decorator_used_twice_describes_each_function_as_it_is():
    server = Mock()
    register = ExtMcpToolDecorator(server).tool()
    register(greet)
    register(double)
    assert [call.kwargs["description"] for call in server.tool.call_args_list] == [
        ToolArguments.build_tool_description(greet),
        ToolArguments.build_tool_description(double),
    ]


@pytest.mark.requirement("COL-6")
async def test_the_function_is_returned_unchanged_and_runs_without_the_decorator(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL)
    returned = ExtMcpToolDecorator(Mock()).tool()(greet)
    assert returned is greet
    assert await returned(Greet(name="Ada")) == Result.ok("short Ada")
    assert lines(caplog) == []


@pytest.mark.requirement("ARG-4")
async def test_a_mock_server_is_given_a_function_with_flat_arguments():
    server = Mock()
    ExtMcpToolDecorator(server).tool()(greet)
    ((registered,), _) = server.tool.return_value.call_args
    assert await registered(name="Ada", style="long") == '{"success":true,"value":"long Ada"}'


@pytest.mark.requirement("DEF-2")
def test_a_tool_that_needs_an_app_is_refused_elsewhere():
    class Table: ...

    def lookup(words: str, store: Table):
        """Look up."""

    with pytest.raises(DeclarationError, match="lookup: needs store, which only an App provides; serve it from an App"):
        ExtMcpToolDecorator(Mock()).tool()(lookup)


# --- logging ---------------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-2", "LOG-3")
async def test_an_async_tool_logs_trace_before_and_after(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL)
    seen: list[list[tuple[int, str]]] = []

    @log_tool_usage
    async def look():
        seen.append(lines(caplog))
        return 1

    assert await look() == 1
    assert seen == [[(TRACE_LEVEL, "Tool called: look")]]
    assert lines(caplog) == [
        (TRACE_LEVEL, "Tool called: look"),
        (TRACE_LEVEL, "Tool look completed successfully"),
    ]


@pytest.mark.requirement("LOG-2", "LOG-3")
def test_a_sync_tool_logs_its_success_at_debug(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL)
    assert log_tool_usage(double)(2) == Result.ok("4 m")
    assert lines(caplog) == [
        (TRACE_LEVEL, "Tool called: double"),
        (logging.DEBUG, "Tool double completed successfully"),
    ]


@pytest.mark.requirement("LOG-4")
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_exception_is_logged_as_an_error_and_raised_again(caplog: pytest.LogCaptureFixture, kind: str):
    caplog.set_level(TRACE_LEVEL)
    fault = ValueError("no such card")

    @log_tool_usage
    def fails():
        raise fault

    @log_tool_usage
    async def fails_later():
        raise fault

    with pytest.raises(ValueError, match="no such card") as raised:
        await fails_later() if kind == "async" else fails()
    assert raised.value is fault
    name = "fails" if kind == "sync" else "fails_later"
    assert lines(caplog) == [
        (TRACE_LEVEL, f"Tool called: {name}"),
        (logging.ERROR, f"Tool {name} failed: no such card"),
    ]


@pytest.mark.requirement("LOG-2")
async def test_a_tool_that_is_logged_already_is_not_logged_twice(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL)
    server = Mock()

    @ExtMcpToolDecorator(server).tool()
    @log_tool_usage
    async def look() -> Result[int]:
        """Look."""
        return Result.ok(1)

    ((registered,), _) = server.tool.return_value.call_args
    assert await registered() == '{"success":true,"value":1}'
    assert lines(caplog) == [
        (TRACE_LEVEL, "Tool called: look"),
        (TRACE_LEVEL, "Tool look completed successfully"),
    ]


# --- on real servers, through a real client --------------------------------------------------------

SERVERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "FastMCP": lambda: ((server := FastMCP("words")), server._mcp_server),
    "MCPServer": lambda: ((server := MCPServer("words")), server),
}
CONTEXTS = {"FastMCP": fastmcp.Context, "MCPServer": mcpserver.Context}
on_every_server = pytest.mark.parametrize("kind", SERVERS)
in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@on_every_server
@in_both_eras
@pytest.mark.requirement("ARG-3", "ARG-4", "NAM-2")
async def test_a_real_server_shows_flat_arguments_the_prefix_and_the_description(kind: str, mode: Any):
    server, target = SERVERS[kind]()
    assert ExtMcpToolDecorator(server, prefix="my").tool()(greet) is greet
    async with Client(target, mode=mode) as client:
        (shown,) = (await client.list_tools()).tools
    assert (shown.name, shown.description) == ("my_greet", ToolArguments.build_tool_description(greet))
    properties = shown.input_schema["properties"]
    assert {name: given["description"] for name, given in properties.items()} == {
        "name": "Whom to greet.",
        "style": "How.",
        "titles": "Titles to use.",
    }
    assert (shown.input_schema["required"], properties["name"]["minLength"]) == (["name"], 1)
    assert properties["style"]["enum"] == ["short", "long"]


@on_every_server
@in_both_eras
@pytest.mark.requirement("ARG-4", "RES-3")
async def test_a_real_server_answers_with_the_result_as_json(kind: str, mode: Any):
    server, target = SERVERS[kind]()
    tools = ExtMcpToolDecorator(server)
    tools.tool()(greet)
    tools.tool()(double)
    async with Client(target, mode=mode) as client:
        answers = [
            await client.call_tool("greet", {"name": "Ada", "style": "long", "titles": ["Lady"]}),
            await client.call_tool("greet", {"name": "Ada"}),
            await client.call_tool("double", {"number": 2}),
            await client.call_tool("greet", {"name": "nobody"}),
        ]
    assert [(answer.is_error, [block.text for block in answer.content]) for answer in answers] == [
        (False, ['{"success":true,"value":"long Lady Ada"}']),
        (False, ['{"success":true,"value":"short Ada"}']),
        (False, ['{"success":true,"value":"4 m"}']),
        (
            True,
            [NOBODY],
        ),
    ]


@on_every_server
@in_both_eras
@pytest.mark.requirement("ARG-5")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("greet", {}),
        ("greet", {"name": ""}),
        ("greet", {"name": "Ada", "style": "medium"}),
        ("greet", {"args": {"name": "Ada"}}),
        ("double", {}),
        ("double", {"number": "two"}),
    ],
)
async def test_a_real_server_refuses_wrong_arguments_and_goes_on(kind: str, mode: Any, name: str, wrong: dict):
    server, target = SERVERS[kind]()
    tools = ExtMcpToolDecorator(server)
    tools.tool()(greet)
    tools.tool()(double)
    async with Client(target, mode=mode) as client:
        refused = await client.call_tool(name, wrong)
        after = await client.call_tool("double", {"number": 1})
    assert (refused.is_error, after.is_error) == (True, False)
    assert "success" not in refused.content[0].text


@on_every_server
@pytest.mark.requirement("ARG-5")
async def test_plain_hints_keep_the_descriptions_of_the_docstring(kind: str):
    server, target = SERVERS[kind]()
    ExtMcpToolDecorator(server).tool()(double)
    async with Client(target, mode="legacy") as client:
        (shown,) = (await client.list_tools()).tools
    properties = shown.input_schema["properties"]
    assert {name: given["description"] for name, given in properties.items()} == {
        "number": "Any number.",
        "unit": "What it counts.",
    }


@on_every_server
@pytest.mark.requirement("ARG-4")
async def test_an_argument_with_an_alias_goes_by_it(kind: str):
    async def days(args: DateRange) -> Result[str]:
        """Count days."""
        return Result.ok(f"{args.from_} to {args.to}")

    server, target = SERVERS[kind]()
    ExtMcpToolDecorator(server).tool()(days)
    async with Client(target, mode="legacy") as client:
        (shown,) = (await client.list_tools()).tools
        answer = await client.call_tool("days", {"from": "2026-01-01"})
    assert list(shown.input_schema["properties"]) == ["from", "to"]
    assert answer.content[0].text == '{"success":true,"value":"2026-01-01 to None"}'


@on_every_server
@pytest.mark.requirement("ARG-4")
async def test_arguments_stay_flat_beside_the_servers_own_context(kind: str):
    context = CONTEXTS[kind]

    async def who(args: Greet, ctx: context) -> Result[str]:  # pyright: ignore[reportInvalidTypeForm]
        """Say who."""
        return Result.ok(f"{args.name} {type(ctx) is context}")

    server, target = SERVERS[kind]()
    ExtMcpToolDecorator(server).tool()(who)
    async with Client(target, mode="legacy") as client:
        (shown,) = (await client.list_tools()).tools
        answer = await client.call_tool("who", {"name": "Ada"})
    assert list(shown.input_schema["properties"]) == ["name", "style", "titles"]
    assert answer.content[0].text == '{"success":true,"value":"Ada True"}'
    assert "ctx" not in (shown.description or "")


@on_every_server
@pytest.mark.requirement("COL-6")
async def test_a_tool_context_is_filled_in_and_hidden(kind: str):
    async def who(name: str, context: ToolContext) -> Result[list[str]]:
        """Say who."""
        return Result.ok([name, context.agent_id, str(len(context.trace_id)), str(len(context.correlation_id))])

    server, target = SERVERS[kind]()
    ExtMcpToolDecorator(server).tool()(who)
    async with Client(target, mode="legacy") as client:
        (shown,) = (await client.list_tools()).tools
        answer = await client.call_tool("who", {"name": "Ada"})
    assert list(shown.input_schema["properties"]) == ["name"]
    assert answer.content[0].text == '{"success":true,"value":["Ada","unknown","32","32"]}'


@on_every_server
@in_both_eras
@pytest.mark.requirement("CON-1", "CON-2")
@pytest.mark.parametrize("shape", ["model", "hints"])
async def test_consent_is_demanded_on_any_server(kind: str, mode: Any, shape: str):
    done: list[str] = []
    declared = {
        "category": "mutation",
        "response_time": "fast",
        "permissions": [],
        "idempotent": True,
        "tags": ["words"],
        "confirm": Confirm("DROP"),
        "examples": [Example("Ada", {"name": "Ada", "explicit_action": "DROP"}, "Ada")],
    }

    class Drop(ToolArguments):
        name: str = Field(description="Whom to drop.")

    @tool(**declared, name="drop")
    @log_tool_usage
    async def drop_model(args: Drop) -> Result[str]:
        """Drop someone for good. Use this when the user asks for it."""
        done.append(args.name)
        return Result.ok(args.name)

    @tool(**declared, name="drop")
    async def drop_hints(name: Annotated[str, Field(description="Whom to drop.")]) -> Result[str]:
        """Drop someone for good. Use this when the user asks for it."""
        done.append(name)
        return Result.ok(name)

    server, target = SERVERS[kind]()
    ExtMcpToolDecorator(server).tool()(drop_model if shape == "model" else drop_hints)
    async with Client(target, mode=mode) as client:
        (shown,) = (await client.list_tools()).tools
        without = await client.call_tool("drop", {"name": "Ada"})
        wrong = await client.call_tool("drop", {"name": "Ada", "explicit_action": "drop"})
        assert (without.is_error, wrong.is_error, done) == (True, True, [])
        agreed = await client.call_tool("drop", {"name": "Ada", "explicit_action": "DROP"})
    assert (agreed.is_error, agreed.content[0].text, done) == (False, '{"success":true,"value":"Ada"}', ["Ada"])
    assert shown.input_schema["required"] == ["name", "explicit_action"]
    assert "REQUIRES EXPLICIT USER INSTRUCTION" in (shown.description or "")


@on_every_server
@in_both_eras
@pytest.mark.requirement("LOG-2", "LOG-3", "LOG-4")
async def test_calls_through_a_real_server_are_logged(kind: str, mode: Any, caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL, logger=LOGGER)

    async def fails() -> Result[str]:
        """Fail."""
        raise ValueError("no such card")

    server, target = SERVERS[kind]()
    tools = ExtMcpToolDecorator(server, prefix="my")
    tools.tool()(greet)
    tools.tool()(fails)
    async with Client(target, mode=mode) as client:
        await client.call_tool("my_greet", {"name": "Ada"})
        failed = await client.call_tool("my_fails", {})
    assert failed.is_error
    assert lines(caplog) == [
        (TRACE_LEVEL, "Tool called: greet"),
        (TRACE_LEVEL, "Tool greet completed successfully"),
        (TRACE_LEVEL, "Tool called: fails"),
        (logging.ERROR, "Tool fails failed: no such card"),
    ]


async def test_our_own_app_answers_by_itself():
    app = App("words", version="1.0.0", format="result", naming=Naming())
    assert ExtMcpToolDecorator(app, prefix="my").tool()(greet) is greet
    async with app:
        (shown,) = app.list_tools()
        answers = [await app.call("my_greet", {"name": name}) for name in ("Ada", "nobody")]
    assert (shown.name, list(shown.input_schema["properties"])) == ("my_greet", ["name", "style", "titles"])
    assert [(answer.is_error, answer.text) for answer in answers] == [
        (False, '{"success":true,"value":"short Ada"}'),
        (
            True,
            NOBODY,
        ),
    ]


async def test_our_own_app_refuses_a_tool_that_wants_another_librarys_context():
    @tool
    async def who(ctx: fastmcp.Context) -> str:
        """Say who."""
        return ""

    app = App("words", version="1.0.0", format="result", tools=[who])
    with pytest.raises(DeclarationError, match="who: ctx is the context of an MCP library; take a ToolContext instead"):
        await app.__aenter__()
