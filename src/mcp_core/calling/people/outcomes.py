"""The outcome of a call as text, to be sent from the process that ran it to the one whose client waits for it."""

import json
from typing import Any

from mcp_core.calling.records import Answer, Question
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused
from mcp_core.tasks.record import TaskRecord
from mcp_core.text import json_text


def to_text(outcome: Any) -> str:
    """An answer, a question, a task, a value of JSON, or an error of the protocol."""
    if isinstance(outcome, Answer):
        meta = None if outcome.meta is None else dict(outcome.meta)
        parts: list[Any] = ["answer", outcome._asdict() | {"meta": meta}]
    elif isinstance(outcome, Question):
        parts = ["question", outcome._asdict()]
    elif isinstance(outcome, TaskRecord):
        parts = ["task", outcome.to_text()]
    elif isinstance(outcome, ElicitationUnsupported):
        parts = ["unsupported", str(outcome), outcome.mode]
    elif isinstance(outcome, Refused):
        parts = ["refused", str(outcome), outcome.kind, outcome.data]
    elif isinstance(outcome, BaseException):
        parts = ["lost"]
    else:
        parts = ["value", outcome]
    return json_text.to_text(parts)


def from_text(text: str) -> Any:
    """The outcome. Raises it if it is an error."""
    kind, *parts = json.loads(text)
    if kind == "answer":
        return Answer(**parts[0])
    if kind == "question":
        return Question(**parts[0])
    if kind == "task":
        return TaskRecord.from_text(parts[0])
    if kind == "unsupported":
        raise ElicitationUnsupported(parts[0], mode=parts[1])
    if kind == "refused":
        raise Refused(*parts)
    if kind == "lost":
        raise ForgedReply("The call has ended at the process that carried it out.")
    return parts[0]
