"""What verifying and comparing import: what linting needs, and neither our framework nor a web framework.

`toolcharter verify FILE.json` imports 17 modules of `mcp_core`; the framework has a hundred more.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = {
    "tools": [
        {"name": "get_note", "inputSchema": {"type": "object"}},
        {"name": "old", "inputSchema": {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}}},
    ]
}
MAX_CORE_MODULES = 18
"""Four are the schema room, three the work on foreign data."""
FRAMEWORK = ("mcp_core.app", "mcp_core.calling", "mcp_core.state", "mcp_core.hosts", "mcp_core.public")
LIBRARIES = ("starlette", "uvicorn", "mcp", "pydantic", "pydantic_settings", "opentelemetry", "sqlalchemy", "httpx2")

PROGRAM = """
import json, sys
from toolcharter.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    print("\\n" + json.dumps(sorted(sys.modules)))
"""
SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("notes")
@server.tool()
def get_note(id: str) -> str:
    return id
server.run()
"""


def modules_after(*words: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def found(modules: list[str], names: tuple[str, ...]) -> list[str]:
    return [module for module in modules if module.startswith(tuple(f"{name}." for name in names)) or module in names]


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(tmp_path / "tools.json")


@pytest.mark.requirement("AUT-3")
@pytest.mark.parametrize("command", ["verify", "diff", "lock"])
def test_a_file_is_checked_without_the_framework_and_its_libraries(command, file, tmp_path):
    words = {"verify": [], "diff": [file], "lock": ["--output", str(tmp_path / "lock.json")]}
    modules = modules_after(command, file, *words[command])
    assert found(modules, FRAMEWORK + LIBRARIES) == []
    assert len(found(modules, ("mcp_core",))) <= MAX_CORE_MODULES


@pytest.mark.requirement("AUT-3")
def test_a_server_of_another_library_is_verified_without_our_pipeline(tmp_path):
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    modules = modules_after("verify", "--", sys.executable, str(tmp_path / "server.py"))
    assert "mcp.client.stdio" in modules
    assert found(modules, ("mcp_core.app", "mcp_core.state", "mcp_core.calling.pipeline", "mcp_core.public")) == []


@pytest.mark.requirement("AUT-3")
def test_connecting_to_servers_changes_nothing_in_the_library():
    code = (
        "from mcp.client import stdio; before = dict(vars(stdio)); import toolcharter.remote.client; "
        "print([name for name, value in vars(stdio).items() if before.get(name) is not value])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
