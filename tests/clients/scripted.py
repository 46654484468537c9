"""A model for the OpenAI Agents SDK that says what it is told to, so that an agent's whole loop runs offline."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

Answers = list[str]
"""What the tools answered so far, each as the one text that the model sees of it."""
Step = Callable[[Answers], tuple[str, Mapping[str, Any]] | str]
"""From the answers so far: a tool with its arguments, or words for the person."""


class Scripted(Model):
    """Takes one step each time it is asked."""

    def __init__(self, *steps: Step) -> None:
        self._steps = iter(steps)
        self.told: list[str] = []
        """The names of the tools that it was offered."""
        self.seen: Answers = []

    async def get_response(self, *, input: Any, tools: Any, **_: Any) -> ModelResponse:
        self.told = [tool.name for tool in tools]
        returned = [item["output"] for item in input if item.get("type") == "function_call_output"]
        self.seen = ["".join(block["text"] for block in blocks) for blocks in returned]
        step = next(self._steps)(self.seen)
        output = _message(step) if isinstance(step, str) else _call(f"call_{len(self.seen)}", *step)
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Iterator[Any]:
        raise NotImplementedError


def _call(id: str, tool: str, arguments: Mapping[str, Any]) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(type="function_call", call_id=id, name=tool, arguments=json.dumps(arguments))


def _message(words: str) -> ResponseOutputMessage:
    said = ResponseOutputText(type="output_text", text=words, annotations=[])
    return ResponseOutputMessage(id="said", type="message", role="assistant", status="completed", content=[said])
