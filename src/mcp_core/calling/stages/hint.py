"""The hints of an answer: the handler's own, or hints that follow from how the call ended."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json

from mcp_core import hints
from mcp_core.calling.policy import HintDetail
from mcp_core.calling.records import Permit
from mcp_core.declare.charter import CONSENT_FIELD
from mcp_core.declare.naming import ToolMentions
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import BrokenResult
from mcp_core.hints import AgentHints, HintWarning, NeededArgument
from mcp_core.registry import ToolRegistry
from mcp_core.result import Failure
from mcp_core.text import json_text

_MAX_ECHO_LENGTH = 2000
_SENTENCES = frozenset(
    {"approach", "assumptions", "cons", "constraints", "contextNeeded", "description", "expectedOutcome", "explanation"}
    | {"message", "mitigation", "pros", "reason", "reasoning", "suggestedFix"}
)
"""The fields of hints that hold sentences. Arguments of a suggested call are left as they are."""


@dataclass(frozen=True, slots=True)
class HintPolicy:
    """The suggestions that the hints of a server may make. Handlers suggest tools by their undecorated names."""

    names: Mapping[str, str]
    """The names that the agent uses, by undecorated name."""
    required: Mapping[str, Sequence[NeededArgument]]
    """The required arguments of each tool, by undecorated name."""
    detail: HintDetail
    plain: str
    """The hints of an answer with nothing to suggest, as JSON."""
    mentions: ToolMentions
    consenting: frozenset[str]
    """The tools that run only if the user has asked for exactly that, by undecorated name."""

    @classmethod
    def of(cls, registry: ToolRegistry, detail: HintDetail) -> "HintPolicy":
        """The policy for the tools of a server."""
        required = {spec.name: tuple(_required_arguments(spec)) for spec in registry.get_all()}
        consenting = frozenset(spec.name for spec in registry.get_all() if spec.consent is not None)
        plain = _to_json(hints.for_value(), detail)
        return cls(registry.final_names(), required, detail, plain, registry.mentions, consenting)


def _required_arguments(spec: ToolSpec) -> list[NeededArgument]:
    return [_argument(spec, name) for name in spec.input_schema.get("required", ())]


def _argument(spec: ToolSpec, name: str) -> NeededArgument:
    """An argument to add. The literal that states the user's request is not shown: only the user can ask for it."""
    if name == CONSENT_FIELD:
        return NeededArgument(name=name, description="Only after the user has asked for exactly this.")
    schema = spec.input_schema["properties"][name]
    choices = tuple(schema["enum"]) if "enum" in schema else None
    return NeededArgument(name=name, description=schema.get("description"), choices=choices)


def hint_success(returned: AgentHints | None, permit: Permit, value: Any, policy: HintPolicy) -> str:
    """The hints of a success, as JSON. `returned` are the handler's."""
    spec, made = permit.call.spec, returned
    if made is None and spec.declaration.hints is not None:
        made = spec.declaration.hints(permit.arguments, value)
    if made is None and isinstance(value, (list, tuple)):
        made = hints.for_list(len(cast(list[Any], value)))
    if made is None and spec.declaration.deprecated is None:
        return policy.plain
    return _finish(made or hints.for_value(), spec, policy)


def hint_failure(
    returned: AgentHints | None,
    failure: Failure,
    spec: ToolSpec,
    policy: HintPolicy,
    *,
    arguments: Mapping[str, Any] | None = None,
    error: BaseException | None = None,
) -> str:
    """The hints of a failure, as JSON. `arguments` are suggested again where the same call may succeed later."""
    if returned is None:
        return _finish(_for_failure(failure, spec, arguments, error), spec, policy, is_retry=True)
    return _finish(returned, spec, policy)


def _finish(made: AgentHints, spec: ToolSpec, policy: HintPolicy, *, is_retry: bool = False) -> str:
    """Check hints, complete their suggestions, and add a warning if this tool is deprecated.

    A retry repeats the request that the user made; no other suggestion may be a call that the user must ask for.
    """
    if not isinstance(cast(Any, made), AgentHints) or not 0.0 <= made.confidence <= 1.0:
        raise BrokenResult(f"returned hints that are not valid: {made!r}")
    unknown = [action for action in made.actions() if action not in policy.names]
    if unknown:
        raise BrokenResult(f"returned hints that suggest {', '.join(unknown)}, which is not a tool of this server")
    if deprecated := spec.declaration.deprecated:
        fix = f"Call {policy.names.get(deprecated.replacement, deprecated.replacement)} instead."
        sentence = deprecated.sentence()
        made = made.with_warning(HintWarning(type="deprecation", severity="high", message=sentence, suggested_fix=fix))
    if not is_retry:
        made = made.without_actions(policy.consenting)
    made_json = _to_json(made.with_needs(policy.required).with_action_names(policy.names), policy.detail)
    return json_text.to_text(_rename_tools(json.loads(made_json), policy.mentions)) if policy.mentions else made_json


def _rename_tools(value: Any, mentions: ToolMentions, field: str = "") -> Any:
    """Hints with the names of tools that the agent sees in their sentences."""
    if isinstance(value, str):
        return mentions.rename(value) if field in _SENTENCES else value
    if isinstance(value, list):
        return [_rename_tools(item, mentions, field) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value).items()
        return {name: item if name == "data" else _rename_tools(item, mentions, name) for name, item in fields}
    return value


def _to_json(made: AgentHints, detail: HintDetail) -> str:
    return made.to_json_str() if detail == "full" else made.to_lean_json_str()


def _for_failure(
    failure: Failure, spec: ToolSpec, arguments: Mapping[str, Any] | None, error: BaseException | None
) -> AgentHints:
    retry = hints.SuggestedAction(action=spec.name, priority="high", data=_retry_arguments(arguments))
    match failure.error_type:
        case "ValidationError":
            return _for_validation_error(spec, arguments or {}, error)
        case "PermissionError":
            return hints.for_permission(spec.permissions)
        case "RateLimitError":
            return hints.for_rate_limit(retry, getattr(error, "retry_after", 0.0))
        case "ConsentError":
            return hints.for_consent(spec.name)
        case "NotFoundError":
            return hints.for_not_found()
        case _ if failure.kind == "system":
            return hints.for_system_error(retry if spec.category == "query" else None)
        case _:
            return hints.for_value(
                evidence=hints.Evidence(completeness=0.0), why="A rule does not allow it in the current state."
            )


def _for_validation_error(spec: ToolSpec, arguments: Mapping[str, Any], error: BaseException | None) -> AgentHints:
    """Suggest the same call with the arguments that were right; the wrong ones are needed again."""
    fields: Sequence[str] = getattr(error, "fields", ())
    if getattr(error, "lacks_consent", False):
        return hints.for_consent(spec.name, [name for name in fields if name != CONSENT_FIELD])
    known = spec.input_schema.get("properties", {})
    right = {name: value for name, value in arguments.items() if name in known and name not in fields}
    wrong = [name for name in fields if name in known]
    needed = wrong[:1] if getattr(error, "alternatives", False) else wrong
    retry = hints.SuggestedAction(
        action=spec.name,
        priority="high",
        data=_retry_arguments(right),
        needs=tuple(_argument(spec, name) for name in needed) or None,
        category="correction",
    )
    return hints.for_validation_error(fields, retry=retry)


def _retry_arguments(arguments: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The arguments to call again with; None where they are long or not valid JSON."""
    try:
        return dict(arguments) if arguments and len(to_json(arguments)) <= _MAX_ECHO_LENGTH else None
    except (PydanticSerializationError, ValueError):
        return None
