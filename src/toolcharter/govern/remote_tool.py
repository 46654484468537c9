"""A tool of an upstream as a tool of ours: its handler asks the upstream, and the pipeline does the rest."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from pydantic import ConfigDict, RootModel
from pydantic_core import SchemaValidator, core_schema

from mcp_core.calling.records import VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.declare.docstring import Docstring
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.schema import JsonSchema, Signature
from mcp_core.declare.spec import Confirm, Declaration, ToolSpec
from mcp_core.foreign.budget import TooLarge, check_size
from mcp_core.mcp_log import is_secret_name
from mcp_core.schema.fields import list_at, object_at
from toolcharter.contract.lock import digest
from toolcharter.govern.argument_checks import ArgumentCheck, InvalidSchema
from toolcharter.govern.metadata import foreign_annotations, foreign_icons, foreign_meta
from toolcharter.govern.policies import EffectivePolicy

CallUpstream = Callable[[Mapping[str, Any], ToolContext], Awaitable[VerbatimResult]]
"""Calls the tool of the upstream with all its arguments."""

FIXED = "value"
"""The keyword of the charter that fixes an argument."""
FOLDER = "folder"
"""The keyword of the charter for an argument that must be a path inside a folder."""
_MAX_ERRORS, _MAX_SCHEMA_DEPTH = 3, 200


class InvalidTool(Exception):
    """A tool that cannot be governed, such as one whose schema is not valid. The message says why."""


class RemoteArguments(RootModel[dict[str, Any]]):
    """The arguments of a remote tool, whatever its schema is."""

    model_config = ConfigDict(frozen=True)


class UncheckedArguments(RemoteArguments):
    """Arguments that are to be compared with their schema in a worker process."""


def remote_tool(server: str, tool: ListedTool, policy: EffectivePolicy, call: CallUpstream) -> ToolSpec:
    """The tool under a policy. Raises InvalidTool."""
    shown, checked = narrow(tool.input_schema, policy)
    check = _argument_check(checked, policy.arguments)
    name = policy.name or tool.name
    fixed = {name: keywords[FIXED] for name, keywords in policy.arguments.items() if FIXED in keywords}

    async def ask_upstream(arguments: RemoteArguments, context: ToolContext) -> VerbatimResult:
        if isinstance(arguments, UncheckedArguments):
            await check.check_bounded(arguments.root, name)
        return await call({**arguments.root, **fixed}, context)

    signature = Signature(
        model=RemoteArguments,
        model_parameter="arguments",
        context_parameter="context",
        needs={},
        returns=Any,
        is_async=True,
        validator=_validator(check),
    )
    description = policy.description or tool.description
    return ToolSpec(
        name=name,
        handler=ask_upstream,
        declaration=Declaration(
            permissions=policy.permissions,
            category="query" if policy.read_only else "mutation",
            cache_ttl=policy.cache,
            idempotent=tool.annotations.get("idempotentHint") is True,
            tags=policy.tags,
            rate_limit=policy.rate_limit,
            # An answer or a confirmation for an old definition is not one for the new.
            version=f"0.0.0+{digest(tool)[7:19]}",
            name=name,
            confirm=None if policy.consent == "never" else Confirm(ask=True, required=policy.consent == "required"),
            response_time=policy.deadline or "slow",
            # Any server may ask the user something.
            asks=True,
            meta=foreign_meta(tool.meta),
        ),
        doc=Docstring(summary=_first_sentence(description) or f"Call {tool.name} of {server}."),
        signature=signature,
        input_schema=shown,
        consent=None,
        secret_fields=frozenset(name for name in object_at(shown, "properties") if is_secret_name(name)),
        source=f"the server {server}",
        has_own_name=True,
        listed=replace(
            tool,
            description=description,
            input_schema=shown,
            annotations=foreign_annotations(tool.annotations),
            icons=foreign_icons(tool.icons),
        ),
    )


def narrow(schema: Mapping[str, Any], policy: EffectivePolicy) -> tuple[JsonSchema, JsonSchema]:
    """The schema that agents see, and the one that is checked. They differ where the original is left open."""
    narrowed: JsonSchema = dict(schema) or {"type": "object"}
    properties: dict[str, Any] = dict(object_at(schema, "properties"))
    unlisted: dict[str, Any] = {}
    required = [name for name in list_at(narrowed, "required") if isinstance(name, str)]
    for name, keywords in policy.arguments.items():
        if FIXED in keywords:
            properties.pop(name, None)
            unlisted[name] = False
            required = [one for one in required if one != name]
        elif name in properties:
            properties[name] = _both(properties[name], _as_json_schema(keywords, properties[name]))
        else:
            # A pattern such as "files:*" also narrows tools without this argument. An agent need not see it there.
            unlisted[name] = _as_json_schema(keywords)
    if policy.arguments:
        narrowed["properties"] = properties
        narrowed["required"] = required
    return narrowed, {**narrowed, "properties": {**properties, **unlisted}} if unlisted else narrowed


def _as_json_schema(keywords: Mapping[str, Any], original: Any = None) -> JsonSchema:
    """The keywords of the charter as those of JSON Schema. `original` is the schema of the argument."""
    schema: JsonSchema = {name: value for name, value in keywords.items() if name != FOLDER}
    if FOLDER not in keywords:
        return schema
    # Not re.escape: other engines refuse some of its escapes.
    start = re.sub(r"[\\.^$*+?|(){}\[\]]", r"\\\g<0>", str(keywords[FOLDER]).rstrip("/\\"))
    # "/work/../etc" begins with "/work/" too.
    inside: JsonSchema = {"pattern": rf"^{start}([/\\]|$)", "not": {"pattern": r"(^|[/\\])\.\.([/\\]|$)"}}
    known = cast(JsonSchema, original).get("type") if isinstance(original, dict) else None
    if known == "array":
        inside = {"allOf": [{"items": {"type": "string", **inside}}]}
    elif known != "string":
        # A pattern says nothing of other types.
        inside = {"allOf": [{"type": "string", **inside}]}
    return _both(inside, schema) if schema else inside


def _both(original: Any, keywords: Mapping[str, Any]) -> Any:
    """A schema that demands both. A keyword that is there already stays, and the new one stands beside it."""
    if not isinstance(original, dict):
        return dict(keywords)
    known = cast(JsonSchema, original)
    if known.keys().isdisjoint(keywords):
        return {**known, **keywords}
    return {**known, "allOf": [*list_at(known, "allOf"), dict(keywords)]}


def _validator(check: ArgumentCheck) -> SchemaValidator:
    """Checks the arguments of one tool. A model for each would take 0.7 ms and 20 KB, and some have thousands."""

    def matches_schema(arguments: RemoteArguments) -> RemoteArguments:
        return arguments if check.check_now(arguments.root) else UncheckedArguments(arguments.root)

    known = RemoteArguments.__pydantic_core_schema__
    return SchemaValidator(core_schema.no_info_after_validator_function(matches_schema, known))


def _argument_check(schema: JsonSchema, narrowed: Mapping[str, Mapping[str, Any]]) -> ArgumentCheck:
    try:
        check_size(schema, "it", depth=_MAX_SCHEMA_DEPTH)
        return ArgumentCheck(schema, partial(_explain, narrowed))
    except (InvalidSchema, TooLarge) as error:
        raise InvalidTool(f"the schema of its arguments is not valid: {error}") from None


def _explain(narrowed: Mapping[str, Mapping[str, Any]], validator: Any, arguments: Mapping[str, Any]) -> str:
    problems: dict[str, None] = {}
    for error in validator.iter_errors(arguments):
        place = ".".join(map(str, error.instance_path))
        message = _charter_rule(error, narrowed) or str(error.message)
        problems[f"{place}: {message}" if place else message] = None
        if len(problems) == _MAX_ERRORS:
            break
    return "; ".join(problems)


def _charter_rule(error: Any, narrowed: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The meaning of an error of a keyword of the charter that JSON Schema does not have."""
    keywords = narrowed.get(str(next(iter(error.instance_path), "")), cast(Mapping[str, Any], {}))
    if FIXED in keywords:
        return "is fixed by the charter; leave it out"
    if FOLDER in keywords and error.schema_path[-1] in ("pattern", "not"):
        return f"{error.instance!r} is not inside the folder {keywords[FOLDER]!r}, or contains '..'"
    return None


def _first_sentence(text: str) -> str:
    line = text.strip().partition("\n")[0]
    sentence, dot, _ = line.partition(". ")
    return sentence + dot.strip()
