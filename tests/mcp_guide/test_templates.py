"""The templates for new tools and prompts, and that every module points to its own."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

import mcp_guide
from mcp_core import App, Settings
from mcp_core.declare.describe import full
from mcp_guide import app as guide_app
from mcp_guide.app import build
from toolcharter.local.examples import run_examples

HOME = Path(mcp_guide.__file__).parent
WITHOUT_TOOLS = {"__init__", "fields", "presets"}
KINDS = {"tools": "src/mcp_guide/tools/README.md", "prompts": "src/mcp_guide/prompts/README.md"}
SECTIONS = ["## Description", "## JSON Schema", "## Usage Instructions", "## Concrete Examples"]


def copy_template(kind: str, tmp_path: Path):
    """The template, copied to a new module."""
    blocks = re.findall(r"^(`{3,})python\n(.*?)^\1$", (HOME / kind / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    path = tmp_path / f"copied_{kind}.py"
    path.write_text(blocks[-1][1])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.requirement("DOC-3")
@pytest.mark.parametrize("kind", KINDS)
def test_every_module_points_to_its_template(kind):
    modules = [path for path in (HOME / kind).glob("*.py") if path.stem not in WITHOUT_TOOLS]
    assert len(modules) >= (10 if kind == "tools" else 1)
    for path in modules:
        source = path.read_text()
        declared = re.findall(r"^@[\w.]+\(", source, re.MULTILINE)
        beside = re.findall(rf"^# .*{re.escape(KINDS[kind])}.*\n@[\w.]+\(", source, re.MULTILINE)
        assert KINDS[kind] in source.split('"""')[1], path.name
        assert len(beside) == len(declared) > 0, path.name


@pytest.mark.requirement("DOC-3")
@pytest.mark.parametrize("kind", KINDS)
def test_a_template_has_all_four_sections_and_field_descriptions(kind):
    text = (HOME / kind / "README.md").read_text()
    second = "Conceptual Schema" if kind == "prompts" else "JSON Schema"
    for section in ("Description", second, "Usage Instructions", "Concrete Examples"):
        assert f"| {section} |" in text
    assert "Field(description=" in text or kind == "prompts"


@pytest.mark.requirement("DOC-3")
async def test_the_tool_template_works_as_a_copy(tmp_path):
    module = copy_template("tools", tmp_path)

    def served(settings: Settings) -> App:
        return App("copy", version="1.0.0", tools=[module], settings=settings)

    outcomes = await run_examples(served, Settings())
    assert [(outcome.tool, outcome.differences) for outcome in outcomes] == [("make_greeting", ())] * 2
    described = served(Settings()).documentation("make_greeting")
    assert [described.index(section) for section in SECTIONS] == sorted(described.index(s) for s in SECTIONS)


@pytest.mark.requirement("DOC-3", "DOC-4")
async def test_the_prompt_template_works_as_a_copy(tmp_path):
    module = copy_template("prompts", tmp_path)
    assert (await module.hello(arg1="Ana", argf="Bob")).value == "Greet Ana and Bob in one sentence."
    (prompt,) = App("copy", version="1.0.0", prompts=[module.hello]).library.prompts
    assert "@hello Ana Bob" in prompt.description
    assert "arg1" not in prompt.description


@pytest.mark.requirement("DOC-1", "NAM-5")
def test_every_tool_has_four_sections_under_its_plain_name():
    app = build(Settings(tool_prefix="guide"))
    for spec in app.registry.get_all():
        described = full(spec)
        places = [described.index(section) for section in SECTIONS]
        assert places == sorted(places), spec.name
        assert f"guide_{spec.name}" not in described
        assert f"\n{spec.name}(" in described[places[2] :], spec.name
        assert len(spec.doc.summary) <= 50, spec.name


@pytest.mark.requirement("NAM-5")
def test_no_page_and_no_example_has_a_prefixed_name():
    root = HOME.parents[1]
    names = [spec.name for spec in build(Settings()).registry.get_all()]
    pages = [*(root / "docs").rglob("*.md"), *(root / "contracts").glob("mcp-guide.json"), *HOME.rglob("*.md")]
    found = [(page.name, name) for page in pages for name in names if f"guide_{name}" in page.read_text()]
    assert found == []


@pytest.mark.requirement("COL-5")
@pytest.mark.parametrize("word", ["true", None, "", "True", "TRUE", "1", "yes", " true"])
def test_the_example_tool_is_imported_by_exactly_the_word_true(monkeypatch, word):
    monkeypatch.delitem(sys.modules, "mcp_guide.tools.tool_example", raising=False)
    if word is None:
        monkeypatch.delenv("MCP_INCLUDE_EXAMPLE_TOOLS", raising=False)
    else:
        monkeypatch.setenv("MCP_INCLUDE_EXAMPLE_TOOLS", word)
    names = [tool.name for tool in build(Settings()).list_tools()]
    assert ("example_tool" in names) is (word == "true")
    assert ("mcp_guide.tools.tool_example" in sys.modules) is (word == "true")


@pytest.mark.requirement("COL-5", "DOC-5")
async def test_the_example_tool_does_what_its_example_says(monkeypatch):
    monkeypatch.setenv("MCP_INCLUDE_EXAMPLE_TOOLS", "true")
    (outcome,) = await run_examples(build, Settings(), "example_tool")
    assert outcome.differences == ()
    async with build(Settings()) as app:
        answer = await app.call("example_tool", {"text": " ", "explicit_action": "RUN_EXAMPLE"})
        assert json.loads(answer.text)["instruction"] == "Ask the user for clarification on what to say."


@pytest.mark.requirement("COL-4")
def test_every_tool_module_is_served_with_all_that_it_declares():
    modules = {path.stem for path in (HOME / "tools").glob("*.py")} - WITHOUT_TOOLS - {"tool_example"}
    assert {module.__name__.rpartition(".")[2] for module in guide_app.MODULES} == modules
    declared = [
        name
        for module in guide_app.MODULES
        for name in re.findall(r"^async def ([a-z]\w*)\(", Path(module.__file__).read_text(), re.MULTILINE)
    ]
    assert [spec.name for spec in build(Settings()).registry.get_all()] == declared
