"""What the documents show is a file, and it works."""

import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("file", ["hello.py", "demo.py", "on_fastmcp.py"])
async def test_each_example_serves_its_tools_over_stdio(file):
    parameters = StdioServerParameters(command=sys.executable, args=[str(ROOT / "examples" / file)])
    async with Client(parameters) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names
        if "count_words" in names:
            result = await client.call_tool("count_words", {"text": "one two"})
            assert json.loads(result.content[0].text) == {"success": True, "value": 2}
        if "shout" in names:
            assert (await client.call_tool("shout", {"text": "hi"})).content[0].text == "HI"


def test_every_link_in_the_documents_leads_to_a_file():
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in (ROOT / "README.md", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []
