"""The code that the guide's conventions show, run as it stands there."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp import Client

import mcp_guide.server
from mcp_core.mcp_log import TRACE_LEVEL
from mcp_core.tool_arguments import ToolArguments
from mcp_core.tool_decorator import ExtMcpToolDecorator, log_tool_usage
from mcp_guide.app import build
from mcp_guide.main import main

INTEGRATION = '''
from mcp_core.mcp_log import get_logger
from mcp_guide.tool_decorator import ExtMcpToolDecorator
from mcp_guide.result import Result

logger = get_logger(__name__)

# Create decorated tool registry
mcp = FastMCP("mcp-guide")
tools = ExtMcpToolDecorator(mcp, prefix=None)  # Uses MCP_TOOL_PREFIX env var

@tools.tool()
@log_tool_usage
async def get_project_config(project: Optional[str] = None) -> Result[dict]:
    """Get project configuration settings.

    Args:
        project: Optional project name (uses active if not provided)

    Returns:
        Result with configuration dictionary
    """
    try:
        config = await load_config(project)
        return Result(
            value=config.to_dict(),
            message="Configuration loaded successfully.",
            instruction="Review the configuration before making changes."
        )
    except FileNotFoundError as e:
        return Result(
            error="Configuration file not found",
            error_type="NotFoundError",
            exception=str(e),
            message=f"No configuration found for project: {project}",
            instruction="Present this error to the user. Do not attempt to "
                       "create a default configuration automatically."
        )
'''

VALIDATION = '''
from pydantic import BaseModel, Field

class CreateDocumentArgs(BaseModel):
    """Arguments for document creation."""
    category_dir: str = Field(..., description="Category directory path")
    name: str = Field(..., min_length=1, max_length=100, description="Document name")
    content: str = Field(..., description="Document content")
    explicit_action: Literal["CREATE_DOCUMENT"] = Field(
        ...,
        description="Must be 'CREATE_DOCUMENT' to confirm intent"
    )

@mcp.tool()
async def create_document(args: CreateDocumentArgs) -> Result[dict]:
    """Create a new document."""
    return Result.ok({"name": args.name})
'''

REGISTRATION = '''
class GreetArgs(ToolArguments):
    name: str = Field(description="Whom to greet")

@ToolArguments.declare
async def greet(args: GreetArgs) -> Result[str]:
    """Greet someone."""
    return Result.ok(f"Hello, {args.name}!")

for name, function in ToolArguments.get_declared_tools().items():
    description = ToolArguments.build_tool_description(function)
    tools.tool(name, description=description)(function)
'''


class Config:
    def to_dict(self) -> dict[str, str]:
        return {"docs_root": "/guides"}


async def load_config(project: str | None) -> Config:
    if project == "gone":
        raise FileNotFoundError("gone.yaml")
    return Config()


def run_code(*parts: str, **names: Any) -> dict[str, Any]:
    """What the parts define. The conventions leave some imports out, and show one function that is not theirs."""
    given = "from typing import Literal, Optional\nfrom fastmcp import FastMCP\nfrom pydantic import Field\n"
    given += "from mcp_core import App, ToolArguments\nfrom mcp_guide.result import Result\n"
    given += "from mcp_guide.tool_decorator import log_tool_usage\n"
    scope: dict[str, Any] = {"__name__": "conventions", "load_config": load_config, **names}
    exec("\n".join([given, *parts]), scope)
    return scope


@pytest.fixture(autouse=True)
def prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_TOOL_PREFIX", "guide")


@pytest.mark.requirement("NAM-1", "NAM-2", "LOG-2", "LOG-3", "RES-5")
async def test_the_integration_pattern_runs_on_fastmcp(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL, logger="mcp_core.tool_decorator")
    scope = run_code(INTEGRATION)
    assert (scope["tools"].prefix, scope["tools"].default_prefix) == ("guide_", "guide_")
    async with Client(scope["mcp"]._mcp_server) as client:
        (listed,) = (await client.list_tools()).tools
        good = await client.call_tool("guide_get_project_config", {})
        bad = await client.call_tool("guide_get_project_config", {"project": "gone"})
    assert listed.name == "guide_get_project_config"
    assert "Get project configuration settings." in (listed.description or "")
    assert json.loads(good.content[0].text) == {
        "success": True,
        "value": {"docs_root": "/guides"},
        "message": "Configuration loaded successfully.",
        "instruction": "Review the configuration before making changes.",
    }
    failed = json.loads(bad.content[0].text)
    assert (bad.is_error, failed["error"], failed["error_type"]) == (
        True,
        "Configuration file not found",
        "NotFoundError",
    )
    lines = [(r.levelno, r.getMessage()) for r in caplog.records if r.name == "mcp_core.tool_decorator"]
    assert lines[:2] == [
        (TRACE_LEVEL, "Tool called: get_project_config"),
        (TRACE_LEVEL, "Tool get_project_config completed successfully"),
    ]
    assert all(level < logging.WARNING for level, _ in lines)


@pytest.mark.requirement("LOG-2", "LOG-3")
async def test_the_integration_pattern_on_our_own_app_logs_once_under_one_name(caplog: pytest.LogCaptureFixture):
    caplog.set_level(TRACE_LEVEL, logger="mcp_core")
    scope = run_code(INTEGRATION.replace('FastMCP("mcp-guide")', 'App("mcp-guide", version="1.0.0", format="result")'))
    async with scope["mcp"] as app:
        await app.call("guide_get_project_config")
        await app.call("guide_get_project_config", {"project": "gone"})
    lines = [(r.levelno, r.getMessage()) for r in caplog.records if r.getMessage().startswith("Tool ")]
    assert lines == [
        (TRACE_LEVEL, "Tool called: get_project_config"),
        (TRACE_LEVEL, "Tool get_project_config completed successfully"),
        (TRACE_LEVEL, "Tool called: get_project_config"),
        (logging.ERROR, "Tool get_project_config failed: Configuration file not found"),
    ]


@pytest.mark.requirement("CON-1", "ARG-4")
async def test_a_pydantic_model_with_a_literal_is_validated_and_shown_flat():
    server = FastMCP("mcp-guide")
    run_code(VALIDATION, mcp=ExtMcpToolDecorator(server))
    document = {"category_dir": "docs", "name": "a", "content": "b"}
    async with Client(server._mcp_server) as client:
        (listed,) = (await client.list_tools()).tools
        good = await client.call_tool("guide_create_document", document | {"explicit_action": "CREATE_DOCUMENT"})
        bad = await client.call_tool("guide_create_document", document | {"explicit_action": "YES"})
    assert list(listed.input_schema["properties"]) == ["category_dir", "name", "content", "explicit_action"]
    assert "REQUIRES EXPLICIT USER INSTRUCTION" in (listed.description or "")
    assert json.loads(good.content[0].text)["value"] == {"name": "a"}
    assert bad.is_error


@pytest.mark.requirement("COL-1", "COL-4", "ARG-3")
async def test_declared_tools_are_registered_with_their_generated_descriptions():
    ToolArguments.get_declared_tools()  # what other modules have declared by now
    server = FastMCP("mcp-guide")
    run_code(REGISTRATION, tools=ExtMcpToolDecorator(server))
    async with Client(server._mcp_server) as client:
        (listed,) = (await client.list_tools()).tools
        result = await client.call_tool("guide_greet", {"name": "Ada"})
    assert "Greet someone." in (listed.description or "")
    assert "Whom to greet" in (listed.description or "")
    assert json.loads(result.content[0].text)["value"] == "Hello, Ada!"


DECLARED = """
import mcp_guide.server
from mcp_guide.server import build, register_declared_tools
from mcp_guide.settings import GuideSettings
from toolcharter import App, Naming

served = build(GuideSettings()).list_tools()
app = register_declared_tools(App("guide", version="1.0.0", naming=Naming("snake"), format="result"))
print(sorted(map(str, app.list_tools())) == sorted(map(str, served)), len(served))
"""


@pytest.mark.requirement("COL-1", "COL-4")
def test_importing_the_server_fills_the_collection_and_the_documented_registration_serves_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("MCP_TOOL_PREFIX")
    # In a process of its own: here, the modules have been imported already.
    done = subprocess.run([sys.executable, "-c", DECLARED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("True 33\n", 0), done.stderr


def test_the_paths_that_the_conventions_name_lead_to_the_same_things():
    assert (mcp_guide.server.build, mcp_guide.server.main) == (build, main)
    scope = run_code(INTEGRATION)
    assert scope["ExtMcpToolDecorator"] is ExtMcpToolDecorator
    assert scope["log_tool_usage"] is log_tool_usage
