"""The modules that are imported before a server can list its tools, and before anything is used at all.

They are counted, not timed: a figure that is the same on a busy machine. Modules of Python itself differ from version
to version, and are only named where they must not be there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcharter.local import targets

BOUNDS = {"todo": 176, "guide": 234, "atl": 296, "noema": 211, "demo": 177}
"""About 10 more than there were when this was written. Who needs more looks first for what can be imported later."""
ABSENT = frozenset({
    *("alembic", "anyio", "dotenv", "fastmcp", "fsrs_rs_python", "httptools", "httpx2", "jsonschema", "keyring", "mcp"),
    *("mcp_types", "opentelemetry", "pydantic_settings", "redis", "rich", "sqlalchemy", "starlette", "uvicorn", "yaml"),
    *("http.client", "mcp_core.calling.people", "mcp_core.audit", "mcp_core.calling.pipeline", "mcp_core.db"),
    "sqlite3",
})  # fmt: skip
"""What a first list of tools does not need: databases, HTTP, telemetry, other MCP libraries, the steps of a call.

`email` and `importlib.metadata` are imported by pydantic, which looks for plugins, and `ssl` by asyncio.
"""

PYTHON = sys.stdlib_module_names | {"__main__", "__editable___toolcharter_0_1_0_finder"}

LIST: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
# The app is opened when its tools were listed: here, the modules are printed instead.
SERVE = """
import json, os, sys
def show(_):
    sys.stderr.write(json.dumps(sorted(sys.modules)) + chr(10))
    sys.stderr.flush()
    os._exit(0)
def serve(name):
    from mcp_core.hosts.fast_path import opening
    opening.MAX_DELAY_SECONDS = 3600
    opening.Opening.begin_soon = show
    sys.argv = ["toolcharter", "stdio", name]
    from toolcharter.cli import main
    main()
"""


def run(code: str, tmp_path: Path, text: str = "", **variables: str) -> Any:
    """What a new interpreter writes last to stderr, as JSON."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)} | variables
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=False, input=text, capture_output=True, text=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert ran.stderr, ran
    return json.loads(ran.stderr.splitlines()[-1])


def is_inside(module: str, packages: frozenset[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def test_every_server_has_a_bound():
    assert set(BOUNDS) == set(targets.known())


@pytest.mark.parametrize("server", BOUNDS)
def test_few_modules_are_imported_before_the_first_list_of_tools(server: str, tmp_path: Path):
    modules: list[str] = run(f"{SERVE}\nserve({server!r})", tmp_path, json.dumps(LIST) + "\n")
    assert [module for module in modules if is_inside(module, ABSENT)] == []
    assert "mcp_core.hosts.fast_path.stdio" in modules
    counted = [each for each in modules if each.partition(".")[0] not in PYTHON]
    assert len(counted) <= BOUNDS[server], counted


# The state of the interpreter and of Python's libraries that an import could change.
STATE = """
import gc, json, logging, os, pydantic, pytest, signal, sys, threading, warnings
class Environment(dict):
    read = []
    def __getitem__(self, name):
        self.read.append(name)
        return super().__getitem__(name)
    def get(self, name, default=None):
        self.read.append(name)
        return super().get(name, default)
    def __iter__(self):
        self.read.append("TOOLCHARTER_*")
        return super().__iter__()
    def items(self):
        self.read.append("TOOLCHARTER_*")
        return super().items()
def state():
    return [
        sorted(vars(logging.Logger)), logging.getLoggerClass(), logging.root.level, list(logging.root.handlers),
        list(warnings.filters), [signal.getsignal(each) for each in signal.valid_signals()], gc.isenabled(),
        sys.excepthook, sys.displayhook, list(sys.meta_path), list(sys.path_hooks), sys.getrecursionlimit(),
        threading.excepthook, threading.active_count(), dict(os.environ), sorted(vars(pydantic.BaseModel)),
    ]
def show(value):
    sys.stderr.write(json.dumps(value) + chr(10))
"""


@pytest.mark.requirement("AUT-3")
def test_importing_the_package_or_its_pytest_plugin_changes_nothing_and_reads_no_setting(tmp_path: Path):
    code = f"""{STATE}
logging.addLevelName(5, "FINE")
os.environ = Environment(os.environ)
before = state()
Environment.read.clear()
import toolcharter.pytest_plugin
ours = [name for name in sys.modules if name.startswith("mcp_core")]
toolcharter.App
import toolcharter.pytest_plugin.servers
read = [name for name in Environment.read if name.startswith("TOOLCHARTER") or name == "MCP_TOOL_PREFIX"]
changed = [number for number, pair in enumerate(zip(before, state())) if pair[0] != pair[1]]
show([ours, changed, read, logging.getLevelName(5)])
"""
    wrong = {"TOOLCHARTER_PORT": "none", "TOOLCHARTER_SETTINGS_FILE": "missing.toml"}
    assert run(code, tmp_path, **wrong) == [[], [], [], "FINE"]


@pytest.mark.requirement("AUT-3")
def test_verifying_a_server_imports_neither_the_pipeline_nor_a_web_framework(tmp_path: Path):
    code = f"""{STATE}
sys.argv = ["toolcharter", "verify", "todo"]
from toolcharter.cli import main
try:
    main()
except SystemExit as ended:
    show([ended.code, sorted(sys.modules)])
"""
    code_of_exit, modules = run(code, tmp_path)
    unwanted = frozenset({"mcp_core.calling.pipeline", "mcp_core.calling.stages", "starlette", "uvicorn", "mcp"})
    assert (code_of_exit, [module for module in modules if is_inside(module, unwanted)]) == (0, [])
    assert "toolcharter.verify.result" in modules
