import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import mcp_core
import toolcharter
from docs.api import public_modules

ROOT = Path(__file__).parents[2]
MODULES = tuple(public_modules())
SERVERS = ("src/mcp_atl", "src/mcp_guide", "src/mcp_noema", "src/mcp_todo", "examples")


def test_the_public_names_are_few_and_those_of_the_framework():
    assert len(toolcharter.__all__) <= 30
    assert issubclass(toolcharter.App, mcp_core.App)
    assert toolcharter.Context is mcp_core.ToolContext
    same = set(toolcharter.__all__) - {"App", "Context", "run"}
    assert {name: getattr(toolcharter, name) for name in same} == {name: getattr(mcp_core, name) for name in same}


@pytest.mark.parametrize("module", MODULES)
def test_each_public_module_has_what_it_lists_and_is_documented(module):
    names = importlib.import_module(module).__all__
    assert [name for name in names if not hasattr(importlib.import_module(module), name)] == []
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {module}\n")[2].partition("\n## ")[0]
    assert [name for name in names if f"- `{name}`" not in section] == []


def imports(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_servers_and_examples_import_only_public_names():
    public = {(module, name) for module in MODULES for name in importlib.import_module(module).__all__}
    public |= {("toolcharter", module.rpartition(".")[2]) for module in MODULES}
    public.add(("toolcharter.console", "markdown"))  # a module of functions, for pages
    others = [
        f"{path.relative_to(ROOT)}: {module} {name}"
        for folder in SERVERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for module, name in imports(path)
        if module.partition(".")[0] in ("mcp_core", "toolcharter") and (module, name) not in public
    ]
    assert others == []


def test_importing_the_public_names_loads_no_more_than_the_framework():
    code = (
        "import sys, mcp_core.public, toolcharter.serving.run; before = {*sys.modules}; "
        "from toolcharter import App, run; print(sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['toolcharter.app', 'toolcharter.ctrl_c']\n"


def test_dir_and_completion_have_the_public_names_in_a_new_interpreter():
    code = (
        "import toolcharter, rlcompleter; print(toolcharter.__version__, 'App' in dir(toolcharter), "
        "rlcompleter.Completer({'toolcharter': toolcharter}).complete('toolcharter.Ap', 0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{version('toolcharter')} True toolcharter.App(\n"


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="module 'toolcharter' has no attribute 'Server'"):
        _ = toolcharter.Server
