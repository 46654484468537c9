"""What the conformance suite calls, gets and reads, as far as an App can offer it.

python tests/conformance/fixture.py [the options of every server]

Two servers on one port. `plain` has no tool that asks, so the fast path answers all of its requests but the unusual
ones. `asking` has some: there, a client of the older protocol that can show a form gets a session of the SDK's.
"""

import asyncio
import base64
import json
import re
import sys
from argparse import ArgumentParser
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mcp_core import (
    App,
    Argument,
    Audio,
    Confirm,
    Conflict,
    Content,
    File,
    Image,
    InvalidArguments,
    Message,
    Resource,
    ResourceSource,
    ResourceTemplate,
    Settings,
    Skill,
    ToolContext,
    mcp_log,
)
from mcp_core.declare.spec import spec_of
from mcp_core.settings.sources import add_options, from_options
from toolcharter.serving.http import serve_http

logger = mcp_log.get_logger("conformance")

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
JSON = "application/json"
STEP = 0.05
"""Seconds between two reports of progress, as the suite wants them."""


async def test_simple_text() -> str:
    """Return a simple text."""
    return "This is a simple text response for testing."


async def test_image_content() -> Image:
    """Return an image."""
    return Image(PNG)


async def test_audio_content() -> Audio:
    """Return a sound."""
    return Audio(WAV)


async def test_embedded_resource() -> File:
    """Return a resource."""
    return File("test://embedded-resource", "This is an embedded resource content.", "text/plain")


async def test_multiple_content_types() -> list[str | Image | File]:
    """Return a text, an image and a resource."""
    resource = File("test://mixed-content-resource", '{"test":"data","value":123}', JSON)
    return ["Multiple content types test:", Image(PNG), resource]


async def test_error_handling() -> str:
    """Fail."""
    raise InvalidArguments("This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(STEP)
    return "Done."


async def test_logging_tool() -> str:
    """Write to the log, which is the server's and nobody else's."""
    logger.info("called")
    return "Logged."


async def mirrored(
    region: Annotated[
        str, Field(description="A value that also travels in a header.", json_schema_extra={"x-mcp-header": "Region"})
    ] = "",
) -> str:
    """Take an argument that is mirrored into a header."""
    return region


class Person(BaseModel):
    username: Annotated[str, Field(description="User's response")]
    email: Annotated[str, Field(description="User's email address")]


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


class Name(BaseModel):
    name: str


class Colour(BaseModel):
    color: str


class Context(BaseModel):
    context: str


def choices(*names: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": name} for number, name in enumerate(names, start=1)]


OPTIONS = ["option1", "option2", "option3"]
TITLED = choices("First Option", "Second Option", "Third Option")
CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


async def test_elicitation(
    message: Annotated[str, Field(description="What the person is asked.")], context: ToolContext
) -> str:
    """Ask for a name and an address."""
    person = await context.ask(Person, message)
    return f"Elicitation completed: {person.username}"


async def test_elicitation_sep1034_defaults(context: ToolContext) -> str:
    """Ask with a form that is filled in already."""
    answers = await context.ask(Defaults, "Please check")
    return f"Elicitation completed: action=accept, content={answers.model_dump_json()}"


async def test_elicitation_sep1330_enums(context: ToolContext) -> str:
    """Ask with every kind of choice."""
    answer = await context.ask_user("Please choose", CHOICES)
    return f"Elicitation completed: action={answer.action}"


async def test_streaming_elicitation(context: ToolContext) -> str:
    """Ask the person, for a client that listens to a stream."""
    return f"Hello, {(await context.ask(Name, 'What is your name?', name='user_name')).name}!"


async def test_input_required_result_elicitation(context: ToolContext) -> str:
    """Ask for a name."""
    return f"Hello, {(await context.ask(Name, 'What is your name?', name='user_name')).name}!"


async def test_input_required_result_multi_round(context: ToolContext) -> str:
    """Ask twice, one after the other."""
    person = await context.ask(Name, "Step 1: What is your name?", name="step1")
    colour = await context.ask(Colour, "Step 2: What is your favorite color?", name="step2")
    return f"{person.name} likes {colour.color}."


async def test_input_required_result_prompt(context: ToolContext) -> str:
    """A prompt that asks first."""
    answers = await context.ask(Context, "What context should the prompt use?", name="user_context")
    return f"Thanks for {answers.context}."


async def test_input_required_result_request_state() -> str:
    """Ask the person, and keep the state of the call in a seal."""
    return "state-ok"


async def test_input_required_result_tampered_state() -> str:
    """The same, for a seal that the suite breaks."""
    return "state-ok"


async def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


CITIES = ["paris", "park", "party"]


async def test_prompt_with_arguments(
    arg1: Annotated[str, Argument(complete=CITIES)], arg2: Annotated[str, Argument(complete=CITIES)]
) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


async def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
    """A prompt with a resource."""
    resource = File(resourceUri, "Embedded resource content for testing.")
    return [Message(resource), Message("Please process the embedded resource above.")]


async def test_prompt_with_image() -> list[Message]:
    """A prompt with an image."""
    return [Message(Image(PNG)), Message("Please analyze the image above.")]


async def read(uri: str) -> Content | None:
    """What the suite reads."""
    if uri == "test://static-text":
        return Content("This is the content of the static text resource.", "text/plain")
    if uri == "test://static-binary":
        return Content(PNG, "image/png")
    found = re.fullmatch(r"test://template/([^/]+)/data", uri)
    if found is None:
        return None
    return Content(json.dumps({"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}), JSON)


RESOURCES = ResourceSource(
    "test://",
    read=read,
    changes=True,
    fixed=[
        Resource("test://static-text", "static_text", "A text.", "text/plain"),
        Resource("test://static-binary", "static_binary", "An image.", "image/png"),
    ],
    templates=[ResourceTemplate("test://template/{id}/data", "template", "A text made of its address.", JSON)],
)
PROMPTS = (test_simple_prompt, test_prompt_with_arguments, test_prompt_with_embedded_resource, test_prompt_with_image)
PLAIN = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_logging_tool,
    mirrored,
)
ASKING = (
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_streaming_elicitation,
    test_input_required_result_elicitation,
    test_input_required_result_multi_round,
)
CONFIRMED = (
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
)


SKILLS = [
    Skill(
        "first-skill", "A skill that the suite reads.", "Read references/more.md.", {"references/more.md": b"# More\n"}
    ),
    Skill("second-skill", "Another one, of a single file.", "Nothing."),
]

# --- the extension with tasks ----------------------------------------------------------------------

NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
YES: dict[str, Any] = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}


async def greet(name: str) -> str:
    """Greet somebody at once."""
    return f"Hello, {name}!"


async def slow_compute(context: ToolContext, seconds: float = 0.0, label: str = "") -> str:
    """Take as long as it is told."""
    await context.report_progress(0, 1, f"Computing {label}")
    await asyncio.sleep(seconds)
    return f"Computed {label} in {seconds:g} s."


async def failing_job() -> str:
    """Fail after a while."""
    await asyncio.sleep(1)
    raise Conflict("This job always fails.")


async def protocol_error_job(context: ToolContext) -> str:
    """End with a protocol error: the suite's client opens no addresses."""
    await asyncio.sleep(0.1)
    return (await context.ask_url("Open it.", "https://example.com", asyncio.Event().wait)).action


async def confirm_delete(context: ToolContext, filename: str = "a.txt") -> str:
    """Ask the person while the task runs."""
    answer = await context.ask_user(f"Delete {filename}?", YES)
    return f"Deleted {filename}." if answer.is_accepted else "Nothing was deleted."


async def multi_input(context: ToolContext) -> str:
    """Ask the person two questions at the same time."""
    answers = await asyncio.gather(*(context.ask_user(f"Your {name} name?", NAME) for name in ("first", "last")))
    return " ".join(str(answer.content.get("name")) for answer in answers)


async def test_tool_with_task(context: ToolContext) -> str:
    """Ask the person, and then take long."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = await context.ask_user("What is your name?", schema)
    await asyncio.sleep(1)
    return f"Hello, {' '.join(map(str, answer.content.values()))}!"


def add_task_tools(app: App) -> None:
    """What the suite calls for the extension with tasks."""
    app.tool(greet)
    app.tool(task="auto")(slow_compute)
    app.tool(task="always")(failing_job)
    for function in (protocol_error_job, confirm_delete, multi_input):
        app.tool(task="always", asks=True)(function)
    app.tool(task="auto", asks=True)(test_tool_with_task)


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


async def json_schema_2020_12_tool(
    name: str = "",
    address: dict[str, str] | None = None,
    contactMethod: Literal["phone", "email"] = "email",  # noqa: N803 - the suite's name
    phone: str = "",
    email: str = "",
) -> str:
    """Take what a schema that is written by hand allows."""
    return " ".join((name, contactMethod, phone, email, *(address or {}).values()))


def build(name: str, settings: Settings) -> App:
    app = App(
        name,
        version="1.0.0",
        format="bare",
        title="Conformance fixture",
        prompts=PROMPTS,
        resources=[RESOURCES],
        settings=settings,
        skills=SKILLS,
    )
    for function in PLAIN:
        app.tool()(function)
    app.registry.register(replace(spec_of(json_schema_2020_12_tool), input_schema=SCHEMA))
    if name == "asking":
        app.prompt(asks=True)(test_input_required_result_prompt)
        for function in ASKING:
            app.tool(asks=True)(function)
        for function in CONFIRMED:
            app.tool(confirm=Confirm(required=True))(function)
        add_task_tools(app)
    return app


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    add_options(parser)
    settings = from_options(parser.parse_args())
    mcp_log.configure(settings.log_level)
    serve_http([build("plain", settings), build("asking", settings)], settings)


if __name__ == "__main__":
    sys.exit(main())
