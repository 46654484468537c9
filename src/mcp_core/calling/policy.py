"""How a server answers: what the steps of a call read, and an app may state before they are imported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcp_core.calling.render import Format, StructuredTools
from mcp_core.declare.spec import DEADLINES, ResponseTime

WithoutRedis = Literal["whole", "share", "open", "closed"]
"""A limit while the shared store cannot be reached: each process counts by itself, up to the whole limit or its
share of it; or calls pass, or are refused."""
HintDetail = Literal["full", "lean"]
"""All fields, or only what an agent acts on."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How a server answers, and what it does without its shared state."""

    format: Format = "result"
    service_version: str = "0.0.0"
    structured: StructuredTools = "none"
    repeat_text: bool = False
    """Whether structured content has the text beside it also for clients that hand both to the model."""
    deadlines: Mapping[ResponseTime, float] = field(default_factory=lambda: DEADLINES)
    limits_without_redis: WithoutRedis = "whole"
    hints: HintDetail = "full"
