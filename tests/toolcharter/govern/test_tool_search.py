from mcp_core.declare.listed import ListedTool
from toolcharter.govern.tool_search import SearchedTool, ToolIndex


def tool(server: str, name: str, description: str, *arguments: str) -> SearchedTool:
    schema = {"type": "object", "properties": {argument: {"type": "string"} for argument in arguments}}
    return SearchedTool(server, ListedTool(name, "", description, schema))


TOOLS = [
    tool("files", "read_file", "Return the text.", "path"),
    tool("github", "create_issue", "Open a ticket about a bug.", "repository"),
    tool("mail", "send", "Write to somebody.", "receiver"),
    tool("files", "search", "Look for a text in all files.", "words"),
]


def names(query: str, limit: int = 5) -> list[str]:
    return [one.tool.name for one in ToolIndex(TOOLS).search(query, limit)]


def test_a_word_is_found_in_every_field():
    assert names("github") == ["create_issue"]
    assert names("issues") == ["create_issue"]
    assert names("ticket") == ["create_issue"]
    assert names("repositories") == ["create_issue"]


def test_a_name_counts_more_than_a_description():
    assert names("file")[0] == "read_file"


def test_what_shares_no_word_is_not_found():
    assert names("weather in Paris") == []
    assert names("") == []
    assert ToolIndex([]).search("file", 5) == []


def test_the_limit_holds():
    assert len(names("file text issue send", limit=2)) == 2
