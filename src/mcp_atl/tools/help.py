"""help: what a command takes, exactly."""

import json
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from mcp_atl.answers.listing import Item
from mcp_atl.client.connection import Json
from mcp_atl.command import Command, CommandCall, Parameters, reads
from toolcharter import Example, InvalidArguments


class Help(Parameters):
    """The parameters of help."""


@reads(
    Help,
    subject="A command; without one, all are shown.",
    tags=["help"],
    examples=[
        Example(
            "What does worklog take?",
            {"subject": "worklog", "response_fields": ["subject"]},
            {"subject": "Issue key, such as ABC-1."},
        )
    ],
)
async def help(call: CommandCall[Help]) -> Item:  # noqa: A001 - the name of the command
    """Explain how to use a command.

    Use this before a command that is new to you, or after a parameter was refused.

    Returns:
        Its subject, parameters and examples.
    """
    commands = call.server.commands
    if not call.subject:
        return Item({"commands": {name: command.summary for name, command in commands.items()}})
    name = call.server.to_command(call.subject.strip())
    if name not in commands:
        raise InvalidArguments(
            f"subject: {call.subject!r} is not a command. Commands: {', '.join(commands)}.", fields=("subject",)
        )
    return Item(_explain(commands[name]))


def _explain(command: Command) -> Json:
    fields = command.parameters.model_fields
    return {
        "command": command.name,
        "about": command.summary,
        "subject": command.subject.description,
        "subjects": list(command.subject.choices),
        "parameters": {name: describe_parameter(field) for name, field in fields.items()},
        "examples": [{"about": one.description, "call": dict(one.params)} for one in command.examples],
    }


def describe_parameter(field: FieldInfo) -> str:
    """Its type, whether it is required, its default, and its meaning."""
    required = "required" if field.is_required() else None
    default = (
        None if field.default in (None, PydanticUndefined, [], {}, False) else f"default {json.dumps(field.default)}"
    )
    notes = ", ".join(filter(None, (_type(field.annotation), required, default)))
    return f"{notes}: {field.description}"


def _type(annotation: Any) -> str:
    """A type in a few words."""
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    name = getattr(get_origin(annotation), "__name__", "") or getattr(annotation, "__name__", "")
    if name == "Literal":
        return " or ".join(map(str, arguments))
    if name == "list":
        return f"list of {_type(arguments[0])}"
    if name == "dict":
        return "object"
    if name in ("UnionType", "Union", "Annotated"):
        return _type(arguments[0])
    return {"str": "text", "int": "number", "bool": "true or false"}.get(name, "object")
