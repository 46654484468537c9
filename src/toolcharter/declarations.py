"""The parts of a declaration, for programs that make or read them."""

from mcp_core.declare.naming import Naming
from mcp_core.declare.skills import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, Skill, SkillSource
from mcp_core.declare.spec import Confirm, Deprecation, Example, RateLimit, ResponseTime, ToolOptions, ToolSpec
from mcp_core.declare.tool import ToolDecorator, tool
from mcp_core.registry import ToolRegistry

__all__ = [
    "MAX_DESCRIPTION_LENGTH",
    "MAX_NAME_LENGTH",
    "Confirm",
    "Deprecation",
    "Example",
    "Naming",
    "RateLimit",
    "ResponseTime",
    "Skill",
    "SkillSource",
    "ToolDecorator",
    "ToolOptions",
    "ToolRegistry",
    "ToolSpec",
    "tool",
]
