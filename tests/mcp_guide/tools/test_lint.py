"""Mistakes in documents."""

import subprocess

from tests.forkserver.commands import command_path
from tests.mcp_guide.guide_server import value, write_documents

DOCUMENTS = {
    "lang/python.md": (
        "---\ntitle: Python\nowner: ana\nreview_by: 2020-01-31\n---\n# Python\n\n"
        "See [the API](../docs/api.md#errors), [it](../docs/api.md#api), [x](gone.md), `[y](gone.md)` "
        "and [web](https://x.example).\n\n"
        "- Always write a docstring for public functions.\n- Hello {{ name }}.\n"
    ),
    "docs/api.md": "# API\n\n- Never write a docstring for public functions.\n",
    "docs/more.md": "* Write a docstring for public functions!\n",
    "docs/long.md": f"`{'x' * 200}`\n\n# Long\n\n" + "word " * 5_000,
}


async def test_each_mistake_is_found_at_its_line(call, root):
    write_documents(root, DOCUMENTS)
    got = await value(call, "check_documents")
    found = [(one["path"], one["line"], one["rule"]) for one in got["findings"]]
    assert found == [
        ("docs/long.md", 3, "long-section"),
        ("docs/more.md", 1, "contradiction"),
        ("lang/python.md", 1, "stale"),
        ("lang/python.md", 1, "unknown-field"),
        ("lang/python.md", 8, "dead-anchor"),
        ("lang/python.md", 8, "dead-link"),
        ("lang/python.md", 10, "contradiction"),
        ("lang/python.md", 11, "template"),
    ]
    assert (await value(call, "check_documents", expression="guidelines"))["findings"] == []


def test_the_command_prints_the_findings_and_exits_with_1(tmp_path):
    write_documents(tmp_path, DOCUMENTS)
    words = [command_path("mcp-guide"), "check", "--docs-root", str(tmp_path), "--config", str(tmp_path / "c.yaml")]
    done = subprocess.run([*words, "lang"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "lang/python.md:8: 'gone.md' leads to no document. [dead-link]" in done.stdout
    assert subprocess.run([*words, "docs/api"], capture_output=True, timeout=60, check=False).returncode == 0
