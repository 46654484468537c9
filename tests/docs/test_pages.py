"""What the pages show can be copied: links lead somewhere, code can be imported, and consoles show what is printed."""

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import toolcharter
from toolcharter.verify.rules import all_rules, static_rules

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")]
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(?:#[^)\s]*)?\)|\b(?:src|srcset)=\"(?![a-z]+:)([^\"]+)\"")
BLOCK = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    return [text for _, kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_anchor_in_a_link_is_a_heading():
    wrong = [
        f"{page.relative_to(ROOT)}: {path}#{anchor}"
        for page in PAGES
        for path, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if anchor not in anchors((page.parent / path) if path else page)
    ]
    assert wrong == []


def test_every_link_and_picture_leads_to_a_file():
    wrong = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in PAGES
        for path in (link or picture for link, picture in LINK.findall(page.read_text(encoding="utf-8")))
        if not (page.parent / path).exists()
    ]
    assert wrong == []


def test_every_path_in_a_page_for_contributors_exists():
    folders = [ROOT, ROOT / "src", ROOT / "src/mcp_core"]
    wrong = [
        f"{page.name}: {path}"
        for page in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md")
        for path in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text(encoding="utf-8"))
        if "NAME" not in path and not any((folder / path).exists() for folder in folders)
    ]
    assert wrong == []


def test_every_folder_of_the_overview_for_contributors_exists():
    (overview,) = [block for block in blocks(ROOT / "CONTRIBUTING.md", "") if block.startswith("src/toolcharter/")]
    parent, wrong = ROOT, []
    for line in overview.replace("src/mcp_NAME/", "src/mcp_todo/").splitlines():
        for name in re.findall(r"[\w/]+/(?=,| )", re.split(r" {2,}(?=\w)", line.strip())[0] + " "):
            folder = (parent if line.startswith(" ") else ROOT) / name
            parent = folder if not line.startswith(" ") else parent
            wrong += [] if folder.is_dir() else [name]
    assert wrong == []


def test_every_method_that_a_page_names_exists():
    named = {
        (owner, name): page.name
        for page in PAGES
        for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)", page.read_text(encoding="utf-8"))
    }
    is_named = re.compile(rf"^class ({'|'.join({owner for owner, _ in named})})\b", re.MULTILINE)
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")]
    members: dict[str, set[str]] = {}
    for node in (node for text in texts if is_named.search(text) for node in ast.parse(text).body):
        if isinstance(node, ast.ClassDef):
            found = members.setdefault(node.name, set())
            found |= {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
            found |= {ast.unparse(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
    ours = {owner: name for owner, name in named if owner in members}
    assert ours
    assert [(named[one], *one) for one in named if one[0] in ours and one[1] not in members[one[0]]] == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_every_python_block_is_python_and_imports_what_exists(page: Path):
    for block in blocks(page, "python"):
        try:
            tree = ast.parse(block)
        except SyntaxError:
            tree = ast.parse(f"async def outer():\n{re.sub('^', '    ', block, flags=re.MULTILINE)}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
                "toolcharter",
                "mcp_core",
            ):
                module = import_module(node.module or "")
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


def test_pages_import_from_toolcharter_what_it_has():
    wrong = [
        f"{page.name}: from {module} import {name}"
        for page in PAGES
        for block in blocks(page, "python")
        for module, names in re.findall(r"^from (mcp_core\S*) import ([\w, ]+)$", block, re.MULTILINE)
        for name in names.split(", ")
        if name in toolcharter.__all__
    ]
    assert wrong == []


def on_a_terminal(command: str) -> str:
    """What a command prints to a person, without its styles."""
    program, *arguments = command.split()
    reader, writer = os.openpty()
    environment = {"TOOLCHARTER_LOG_LEVEL": "CRITICAL", "COLUMNS": "200", "TERM": "xterm", "NO_COLOR": "1"}
    subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=ROOT / "examples",
        env=environment,
        stdout=writer,
        timeout=60,
        check=False,
    )
    printed = os.read(reader, 4000).decode()
    os.close(writer)
    os.close(reader)
    return re.sub(r"\x1b\[\d*m", "", printed).replace("\r\n", "\n")


def test_the_readme_shows_what_a_wrong_call_prints():
    shown = next(block for block in blocks(ROOT / "README.md", "console") if "count_words" in block)
    command, _, printed = shown.removeprefix("$ ").partition("\n")
    assert on_a_terminal(command) == printed


def test_the_numbers_of_rules_are_right():
    static, live = len(static_rules()), len(all_rules()) - len(static_rules())
    counted = f"{static} rules, {sum(rule.optional for rule in static_rules())} of them optional"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [counted in readme, f"{live} more call the tools" in readme] == [True, True]
