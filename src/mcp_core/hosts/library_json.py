"""Prompts and resources as the protocol writes them: plain dicts, for the fast path and for the SDK's server."""

from collections.abc import Mapping
from typing import Any

from mcp_core.calling.library import Conversation, Library, Reading
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.records import Request
from mcp_core.content.blocks import contents, write_blocks
from mcp_core.declare.completion import wire_completion
from mcp_core.declare.prompts import Message, Prompt
from mcp_core.declare.resources import Resource, ResourceTemplate
from mcp_core.text.json_text import JsonObject

SKILL_METHODS = ("skills/list", "skills/get", "resources/directory/read")
_NEVER_CACHE: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
_NOT_CACHED = frozenset({"prompts/get", "completion/complete"})
"""The methods whose results have no caching fields."""


async def answer(
    library: Library, method: str, params: Mapping[str, Any], request: Request
) -> tuple[JsonObject, JsonObject]:
    """The result of prompts/get, resources/read or a list, and its caching fields. Raises Refused.

    Only the modern protocol has the caching fields.
    """
    if isinstance(library, LiveLibrary):
        caching = {} if method in _NOT_CACHED else _NEVER_CACHE
        return await library.answer(method, dict(params), request), caching
    if method == "prompts/get":
        return _conversation(await library.prompt(request)), {}
    if method == "resources/read":
        reading = await library.read(request)
        return {"contents": [contents(request.tool, *reading.content)]}, _caching(reading)
    if method == "completion/complete":
        argument: JsonObject = params["argument"]
        context: JsonObject = params.get("context") or {}
        values = await library.complete(argument["name"], argument["value"], context.get("arguments") or {}, request)
        return {"completion": wire_completion(values)}, {}
    if method in SKILL_METHODS:
        skills = await library.answer_skills(method, params, request)
        return skills.result, {"ttlMs": skills.ttl_ms, "cacheScope": skills.scope}
    page = await library.list_changing(params.get("cursor"), request)
    next_page = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    listed = {"resources": [resource_fields(resource) for resource in page.resources]}
    return {**listed, **next_page}, _NEVER_CACHE


def fixed_lists(library: Library) -> JsonObject:
    """The prompts and resources that are known before the server is open."""
    resources = [resource_fields(resource) for resource in library.fixed]
    templates = [template_fields(template) for template in library.templates]
    return {"prompts": [prompt_fields(prompt) for prompt in library.prompts], "resources": resources + templates}


def prompt_fields(prompt: Prompt) -> JsonObject:
    """A prompt in the list."""
    arguments = [
        _without_null({"name": one.name, "description": one.description, "required": one.required})
        for one in prompt.arguments
    ]
    return {"name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": arguments}


def resource_fields(resource: Resource) -> JsonObject:
    """A resource in the list."""
    return _without_null(
        {
            "uri": resource.uri,
            "name": resource.name,
            "title": resource.title,
            "description": resource.description,
            "mimeType": resource.mime_type,
        }
    )


def template_fields(template: ResourceTemplate) -> JsonObject:
    """A template in the list."""
    return _without_null(
        {
            "uriTemplate": template.uri_template,
            "name": template.name,
            "description": template.description,
            "mimeType": template.mime_type,
        }
    )


def _conversation(conversation: Conversation) -> JsonObject:
    messages = [_message(message) for message in conversation.messages]
    return {"description": conversation.description, "messages": messages}


def _caching(reading: Reading) -> JsonObject:
    return {"ttlMs": reading.ttl_ms, "cacheScope": reading.scope}


def _message(message: Message) -> JsonObject:
    (block,) = write_blocks([message.content])
    return {"role": message.role, "content": block}


def _without_null(fields: Mapping[str, Any]) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
