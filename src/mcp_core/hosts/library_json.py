"""Prompts and resources as the protocol writes them: plain dicts, which the lane and the SDK's server both take."""

import base64
from collections.abc import Mapping
from typing import Any

from mcp_core.calling.library import Conversation, Library, Reading
from mcp_core.calling.records import Request
from mcp_core.declare.prompts import Embedded, Image, Message, Prompt
from mcp_core.declare.resources import Content, Resource, ResourceTemplate
from mcp_core.errors import Refused

Fields = dict[str, Any]

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def error_code(refused: Refused) -> int:
    """What lies with the server is an internal error; all else the client can mend, or ask for something else."""
    return INTERNAL_ERROR if refused.kind == "system" else INVALID_PARAMS


async def answer(library: Library, method: str, cursor: str | None, request: Request) -> tuple[Fields, Fields]:
    """The answer to one of the three methods, and what the newer protocol adds about keeping it. Raises Refused."""
    if method == "prompts/get":
        return _conversation(await library.prompt(request)), {}
    if method == "resources/read":
        reading = await library.read(request)
        return {"contents": [_contents(request.tool, reading.content)]}, _freshness(reading)
    page = await library.changing(cursor, request)
    more = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    listed = {"resources": [resource_fields(resource) for resource in page.resources]}
    return {**listed, **more}, {"ttlMs": 0, "cacheScope": "private"}


def prompt_fields(prompt: Prompt) -> Fields:
    """A prompt in the list."""
    arguments = [_without_null(argument._asdict()) for argument in prompt.arguments]
    return {"name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": arguments}


def resource_fields(resource: Resource) -> Fields:
    """A resource in the list."""
    return _without_null(
        {
            "uri": resource.uri,
            "name": resource.name,
            "description": resource.description,
            "mimeType": resource.mime_type,
        }
    )


def template_fields(template: ResourceTemplate) -> Fields:
    """A template in the list."""
    return _without_null(
        {
            "uriTemplate": template.uri_template,
            "name": template.name,
            "description": template.description,
            "mimeType": template.mime_type,
        }
    )


def _conversation(conversation: Conversation) -> Fields:
    messages = [_message(message) for message in conversation.messages]
    return {"description": conversation.description, "messages": messages}


def _freshness(reading: Reading) -> Fields:
    return {"ttlMs": reading.ttl_ms, "cacheScope": reading.scope}


def _message(message: Message) -> Fields:
    content = message.content
    if isinstance(content, Image):
        shown: Fields = {"type": "image", "data": _base64(content.data), "mimeType": content.mime_type}
    elif isinstance(content, Embedded):
        shown = {"type": "resource", "resource": _contents(content.uri, Content(content.content, content.mime_type))}
    else:
        shown = {"type": "text", "text": content}
    return {"role": message.role, "content": shown}


def _contents(uri: str, content: Content) -> Fields:
    fields: Fields = {"uri": uri, "mimeType": content.mime_type}
    if isinstance(content.value, str):
        return {**fields, "text": content.value}
    return {**fields, "blob": _base64(content.value)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _without_null(fields: Mapping[str, Any]) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}
