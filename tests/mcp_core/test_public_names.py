import importlib
import subprocess
import sys

import pytest

import mcp_core
from mcp_core import public

FIXED = {
    "mcp_core.result": ["Result"],
    "mcp_core.tool_arguments": ["ToolArguments"],
    "mcp_core.tool_decorator": ["ExtMcpToolDecorator", "log_tool_usage"],
    "mcp_core.mcp_log": ["TRACE_LEVEL", "get_logger"],
    "mcp_core.registry": ["ToolRegistry"],
    "mcp_core.context": ["ToolContext"],
    "mcp_core.tool_result": ["ToolResult"],
    "mcp_core.hints": ["AgentHints"],
}


@pytest.mark.parametrize("name", mcp_core.__all__)
def test_every_public_name_can_be_imported(name: str):
    assert getattr(mcp_core, name) is not None


def test_the_public_names_are_each_there_once():
    assert len(set(mcp_core.__all__)) == len(mcp_core.__all__)


def test_nothing_public_is_left_out_of_the_list():
    modules = {name.removeprefix("mcp_core.").partition(".")[0] for name in sys.modules if name.startswith("mcp_core.")}
    shown = {name for name in vars(public) if not name.startswith("_")} - modules
    assert shown <= set(mcp_core.__all__)


@pytest.mark.parametrize(("module", "names"), FIXED.items())
def test_the_fixed_names_stand_in_their_modules_and_in_the_package(module: str, names: list[str]):
    for name in names:
        assert getattr(importlib.import_module(module), name) is getattr(mcp_core, name)
        assert name in mcp_core.__all__


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (mcp_core.Result, ["ok", "failure", "is_ok", "is_failure", "to_json", "to_json_str"]),
        (
            mcp_core.ToolArguments,
            ["declare", "get_declared_tools", "to_schema_markdown", "build_tool_description"],
        ),
        (mcp_core.ToolRegistry, ["register", "get", "get_all", "get_by_category", "get_by_tag", "validate"]),
        (mcp_core.ExtMcpToolDecorator, ["tool"]),
    ],
)
def test_the_fixed_methods_are_there(owner: type, names: list[str]):
    assert [name for name in names if not callable(getattr(owner, name, None))] == []


def test_the_core_loads_no_mcp_library():
    code = "import sys, mcp_core; print([n for n in ('mcp', 'mcp_types', 'fastmcp', 'redis') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_star_import_brings_the_public_names():
    found: dict[str, object] = {}
    exec("from mcp_core import *", found)
    assert set(found) - {"__builtins__"} == set(mcp_core.__all__)
