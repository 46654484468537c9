"""The judge: everything that the conformance suite asks a server for, on the SDK's own `MCPServer`.

python tests/conformance/sdk_fixture.py PORT

The SDK's everything-server cannot be installed as a package. This server offers what the suite's scenarios need, and
leaves the protocol to the SDK, as that one does.
"""

import asyncio
import base64
import json
import sys
from typing import Annotated, Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
STEP = 0.05

server = MCPServer("everything", version="1.0.0")


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, words: str) -> types.EmbeddedResource:
    content = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=content)


# ---- tools ---------------------------------------------------------------------------------------


@server.tool()
def test_simple_text() -> str:
    """Return a simple text."""
    return "This is a simple text response for testing."


@server.tool(structured_output=False)
def test_image_content() -> list[types.ImageContent]:
    """Return an image."""
    return [image()]


@server.tool(structured_output=False)
def test_audio_content() -> list[types.AudioContent]:
    """Return a sound."""
    return [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@server.tool(structured_output=False)
def test_embedded_resource() -> list[types.EmbeddedResource]:
    """Return a resource."""
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@server.tool(structured_output=False)
def test_multiple_content_types() -> list[Any]:
    """Return a text, an image and a resource."""
    resource = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [text("Multiple content types test:"), image(), resource]


@server.tool()
def test_error_handling() -> str:
    """Fail."""
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_logging(context: Context) -> str:
    """Send three log messages."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(words)
        await asyncio.sleep(STEP)
    return "Logged."


@server.tool()
async def test_logging_tool(context: Context) -> str:
    """Send a log message, where the request wants any."""
    await context.info("called")
    return "Logged."


@server.tool()
async def test_tool_with_progress(context: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(STEP)
    return "Done."


@server.tool()
async def test_sampling(prompt: str, context: Context) -> str:
    """Let the client's model answer."""
    message = types.SamplingMessage(role="user", content=text(prompt))
    answer = await context.session.create_message(
        messages=[message], max_tokens=100, related_request_id=context.request_context.request_id
    )
    return f"LLM response: {answer.content}"


@server.tool()
def mirrored(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
) -> str:
    """Take an argument that is mirrored into a header."""
    return region


@server.tool()
def test_missing_capability(context: Context) -> str:
    """Need a client that samples."""
    if context.client_capabilities is None or context.client_capabilities.sampling is None:
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "Fine."


@server.tool()
async def test_trigger_tool_change(context: Context) -> str:
    """Say that the tools have changed."""
    await context.notify_tools_changed()
    return "Said."


@server.tool()
async def test_trigger_prompt_change(context: Context) -> str:
    """Say that the prompts have changed."""
    await context.notify_prompts_changed()
    return "Said."


# ---- tools that ask during a call (2025-11-25) ---------------------------------------------------


class Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def choices(*names: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": name} for number, name in enumerate(names, start=1)]


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})  # noqa: N815 - the suite's
    titledSingle: str = Field(json_schema_extra={"oneOf": choices("First", "Second", "Third")})  # noqa: N815 - the same
    legacyEnum: str = Field(  # noqa: N815 - the same
        json_schema_extra={"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    )
    untitledMulti: list[str] = Field(  # noqa: N815 - the same
        json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2", "option3"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815 - the same
        json_schema_extra={"items": {"anyOf": choices("First", "Second", "Third")}}
    )


async def elicit(context: Context, message: str, form: type[BaseModel]) -> str:
    answer = await context.elicit(message, form)
    return f"Elicitation completed: action={answer.action}"


@server.tool()
async def test_elicitation(message: str, context: Context) -> str:
    """Ask for a name and an address."""
    return await elicit(context, message, Person)


@server.tool()
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Ask with a form that is filled in already."""
    return await elicit(context, "Please check", Defaults)


@server.tool()
async def test_elicitation_sep1330_enums(context: Context) -> str:
    """Ask with every kind of choice."""
    return await elicit(context, "Please choose", Choices)


# ---- tools that ask by their answer (2026-07-28) -------------------------------------------------


def form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(question: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(question))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


def ask(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def has(context: Context, *keys: str) -> bool:
    return all(key in (context.input_responses or {}) for key in keys)


@server.tool()
async def test_input_required_result_elicitation(context: Context) -> str | types.InputRequiredResult:
    """Ask for a name."""
    return "Hello!" if has(context, "user_name") else ask(user_name=form("What is your name?", "name"))


@server.tool()
async def test_streaming_elicitation(context: Context) -> str | types.InputRequiredResult:
    """The same, for a client that listens to a stream."""
    return "Hello!" if has(context, "user_name") else ask(user_name=form("What is your name?", "name"))


@server.tool()
async def test_input_required_result_sampling(context: Context) -> str | types.InputRequiredResult:
    """Ask the client's model."""
    if has(context, "capital_question"):
        return "Thanks."
    return ask(capital_question=sample("What is the capital of France?"))


@server.tool()
async def test_input_required_result_capabilities(context: Context) -> str | types.InputRequiredResult:
    """Ask only what the client can be asked."""
    can = context.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["greeting"] = sample("Say hello.")
    if can is not None and can.elicitation is not None:
        requests["user_name"] = form("What is your name?", "name")
    return ask(**requests) if requests else "Nobody can be asked."


@server.tool()
async def test_input_required_result_list_roots(context: Context) -> str | types.InputRequiredResult:
    """Ask for the client's roots."""
    return "Thanks." if has(context, "client_roots") else ask(client_roots=types.ListRootsRequest())


@server.tool()
async def test_input_required_result_request_state(context: Context) -> str | types.InputRequiredResult:
    """Ask, and keep state."""
    if context.request_state == "asked" and has(context, "confirm"):
        return "state-ok"
    return ask("asked", confirm=form("Please confirm", "ok", "boolean"))


@server.tool()
async def test_input_required_result_tampered_state(context: Context) -> str | types.InputRequiredResult:
    """The same, for a state that the suite breaks."""
    if context.request_state == "asked" and has(context, "confirm"):
        return "state-ok"
    return ask("asked", confirm=form("Please confirm", "ok", "boolean"))


@server.tool()
async def test_input_required_result_multiple_inputs(context: Context) -> str | types.InputRequiredResult:
    """Ask three things at once."""
    if has(context, "user_name", "greeting", "client_roots"):
        return "Thanks."
    return ask(
        "asked",
        user_name=form("What is your name?", "name"),
        greeting=sample("Generate a greeting"),
        client_roots=types.ListRootsRequest(),
    )


@server.tool()
async def test_input_required_result_multi_round(context: Context) -> str | types.InputRequiredResult:
    """Ask twice, one after the other."""
    if context.request_state == "two" and has(context, "step2"):
        return "Thanks."
    if context.request_state == "one" and has(context, "step1"):
        return ask("two", step2=form("Step 2: What is your favorite color?", "color"))
    return ask("one", step1=form("Step 1: What is your name?", "name"))


# ---- resources -----------------------------------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text that can be subscribed to."""
    return "Watched."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    """A text made of its address."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


# ---- prompts and completion ----------------------------------------------------------------------


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
    """A prompt with a resource."""
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(content=resource), UserMessage(content=text("Please process the embedded resource above."))]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """A prompt with an image."""
    return [UserMessage(content=image()), UserMessage(content=text("Please analyze the image above."))]


@server.prompt()
def test_input_required_result_prompt(context: Context) -> Any:
    """A prompt that asks first."""
    if has(context, "user_context"):
        return "Thanks."
    return ask(user_context=form("What context should the prompt use?", "context"))


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=["paris", "park", "party"], total=3, has_more=False)


# ---- what MCPServer has no decorator for ---------------------------------------------------------


async def accept(context: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


for method, params in (
    ("resources/subscribe", types.SubscribeRequestParams),
    ("resources/unsubscribe", types.UnsubscribeRequestParams),
    ("logging/setLevel", types.SetLevelRequestParams),
):
    server._lowlevel_server.add_request_handler(method, params, accept)


if __name__ == "__main__":
    server.run("streamable-http", port=int(sys.argv[1]))
