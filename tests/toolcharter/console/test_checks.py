from dataclasses import replace
from pathlib import Path

from mcp_core import App, Settings, tool
from toolcharter.console import checks as checks_module
from toolcharter.console.checks import Checks, ServerChecks
from toolcharter.contract.lock import Lock
from toolcharter.local import targets


async def check(checks: Checks, app: App, tool: str | None = None) -> ServerChecks:
    running = checks.begin(app, {one.name: one for one in app.list_tools()}, tool)
    assert running is not None
    return await running


@tool
def bare(text: str) -> str:
    return text


async def test_each_tool_has_a_score_and_its_findings():
    good = await check(Checks(), targets.load("demo", Settings()))
    assert good.tools["add"].score == 100
    poor = await check(Checks(), App("x", version="1.0.0", tools=[bare]))
    assert poor.tools["bare"].score < 70
    assert "missing_description" in {one.name.replace("-", "_") for one in poor.tools["bare"].findings}


async def test_checks_run_once_for_what_was_not_changed():
    checks, app = Checks(), targets.load("demo", Settings())
    tools = {one.name: one for one in app.list_tools()}
    first = checks.begin(app, tools)
    assert checks.begin(app, tools) is first
    assert checks.begin(app, dict(tools)) is not first
    await first


async def test_of_a_large_server_only_the_tool_that_is_looked_at_is_checked(monkeypatch):
    monkeypatch.setattr(checks_module, "MAX_CHECKED", 3)
    checks, app = Checks(), targets.load("demo", Settings())
    tools = {one.name: one for one in app.list_tools()}
    assert checks.begin(app, tools) is None
    assert list((await check(checks, app, "add")).tools) == ["add"]
    assert checks.begin(app, tools, "no_such_tool") is None


def write_lock(folder: Path, text: str) -> None:
    (folder / "contracts").mkdir(exist_ok=True)
    (folder / "contracts/demo.json").write_text(text)


async def test_the_lock_in_the_folder_says_what_has_changed(tmp_path: Path, monkeypatch):
    app = targets.load("demo", Settings())
    monkeypatch.chdir(tmp_path)
    assert (await check(Checks(), app)).tools["add"].lock is None
    tools = {tool.name: tool for tool in app.list_tools()}
    del tools["get_note"]
    tools["create_note"] = replace(tools["create_note"], description="Another one.")
    write_lock(tmp_path, Lock.from_tools("demo", "1.0.0", tools.values()).to_text())
    found = (await check(Checks(), app)).tools
    assert (found["add"].lock, found["add"].lock_file) == ("as locked", "contracts/demo.json")
    assert (found["get_note"].lock, found["create_note"].lock) == ("not in the lock", "changed")
    write_lock(tmp_path, "{")
    assert (await check(Checks(), app)).tools["add"].lock is None
