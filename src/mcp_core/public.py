"""The public names of the framework, which `mcp_core` and `toolcharter` give."""

from mcp_core import hints, instructions
from mcp_core.app import App
from mcp_core.auth import Caller, IdentityUnavailable, StaticTokens, TokenVerifier
from mcp_core.calling.records import Answer, Question, Reply, Request
from mcp_core.content.blocks import Annotations, Audio, File, Image, ResourceLink, Text
from mcp_core.context import ToolContext
from mcp_core.declare.completion import Argument
from mcp_core.declare.naming import Naming
from mcp_core.declare.prompts import Message, Prompt, PromptArgument, prompt
from mcp_core.declare.resources import Content, Resource, ResourcePage, ResourceSource, ResourceTemplate, page_of
from mcp_core.declare.skills import Skill, SkillSource
from mcp_core.declare.spec import Confirm, Deprecation, Example, Icon, RateLimit, ToolOptions, ToolSpec
from mcp_core.declare.tool import ToolDecorator, tool
from mcp_core.errors import (
    Busy,
    Conflict,
    ConsentRequired,
    DeadlineExceeded,
    DeclarationError,
    Declined,
    ElicitationUnsupported,
    ForgedReply,
    InvalidAnswer,
    InvalidArguments,
    NotFound,
    PermissionDenied,
    RateLimited,
    ToolError,
    Unavailable,
    UnknownTool,
)
from mcp_core.hints import AgentHints, Evidence, SuggestedAction
from mcp_core.logs.telemetry import Telemetry
from mcp_core.mcp_log import TRACE_LEVEL, get_logger
from mcp_core.registry import ToolRegistry
from mcp_core.result import Result
from mcp_core.settings.model import Settings
from mcp_core.tool_arguments import (
    BrandedId,
    CommonMetadata,
    DateRange,
    Pagination,
    Sorting,
    ToolArguments,
    UserId,
)
from mcp_core.tool_decorator import ExtMcpToolDecorator, log_tool_usage
from mcp_core.tool_result import ToolMetadata, ToolResult

__all__ = [
    "TRACE_LEVEL",
    "AgentHints",
    "Annotations",
    "Answer",
    "App",
    "Argument",
    "Audio",
    "BrandedId",
    "Busy",
    "Caller",
    "CommonMetadata",
    "Confirm",
    "Conflict",
    "ConsentRequired",
    "Content",
    "DateRange",
    "DeadlineExceeded",
    "DeclarationError",
    "Declined",
    "Deprecation",
    "ElicitationUnsupported",
    "Evidence",
    "Example",
    "ExtMcpToolDecorator",
    "File",
    "ForgedReply",
    "Icon",
    "IdentityUnavailable",
    "Image",
    "InvalidAnswer",
    "InvalidArguments",
    "Message",
    "Naming",
    "NotFound",
    "Pagination",
    "PermissionDenied",
    "Prompt",
    "PromptArgument",
    "Question",
    "RateLimit",
    "RateLimited",
    "Reply",
    "Request",
    "Resource",
    "ResourceLink",
    "ResourcePage",
    "ResourceSource",
    "ResourceTemplate",
    "Result",
    "Settings",
    "Skill",
    "SkillSource",
    "Sorting",
    "StaticTokens",
    "SuggestedAction",
    "Telemetry",
    "Text",
    "TokenVerifier",
    "ToolArguments",
    "ToolContext",
    "ToolDecorator",
    "ToolError",
    "ToolMetadata",
    "ToolOptions",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "Unavailable",
    "UnknownTool",
    "UserId",
    "get_logger",
    "hints",
    "instructions",
    "log_tool_usage",
    "page_of",
    "prompt",
    "tool",
]
