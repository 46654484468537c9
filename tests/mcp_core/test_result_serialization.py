"""A `Result` on the servers of others: pydantic serializes it as its own JSON."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

import pydantic_core
import pytest
from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from pydantic import TypeAdapter

from mcp_core import Result, hints
from mcp_core.content.blocks import Image
from mcp_core.tool_decorator import ExtMcpToolDecorator

DOCUMENT = {"category_dir": "docs", "explicit_action": "CREATE_DOCUMENT", "content": "# Title"}


async def create_document(
    category_dir: str, name: str, content: str, explicit_action: Literal["CREATE_DOCUMENT"]
) -> Result[dict]:
    """REQUIRES EXPLICIT USER INSTRUCTION: Only use when user specifically
    requests document creation or upload.

    This operation will create a new managed document in the specified category.
    Do not use frivolously or without clear user intent.

    Args:
        category_dir: Category directory path
        name: Document name
        content: Document content
        explicit_action: Must be 'CREATE_DOCUMENT' to confirm intentional creation

    Returns:
        Result with document metadata on success
    """
    if name == "taken":
        return Result(
            error="File exists",
            error_type="ConflictError",
            exception=FileExistsError("taken"),
            message="The document is already there.",
            instruction="Present this error to the user and take no further action.",
        )
    return Result(value={"name": name}, message="Created.", instruction="Review the document.")


CREATED = {"success": True, "value": {"name": "new"}, "message": "Created.", "instruction": "Review the document."}
REFUSED = {
    "success": False,
    "error": "File exists",
    "error_type": "ConflictError",
    "exception_type": "FileExistsError",
    "exception_message": "taken",
    "message": "The document is already there.",
    "instruction": "Present this error to the user and take no further action.",
}


def served(library: str) -> Any:
    return FastMCP("documents") if library == "fastmcp" else MCPServer("documents")


def connected(server: Any, client: str) -> Any:
    if client == "fastmcp":
        return FastMCPClient(server)
    return Client(server._mcp_server if isinstance(server, FastMCP) else server)


@pytest.mark.requirement("AUT-6")
@pytest.mark.parametrize(("library", "client"), [("fastmcp", "fastmcp"), ("fastmcp", "sdk"), ("mcpserver", "sdk")])
async def test_a_bare_tool_that_returns_a_result_is_read_as_its_json(library: str, client: str):
    mcp = served(library)
    mcp.tool()(create_document)
    async with connected(mcp, client) as connection:
        answers = [await connection.call_tool("create_document", DOCUMENT | {"name": n}) for n in ("new", "taken")]
    assert [json.loads(answer.content[0].text) for answer in answers] == [CREATED, REFUSED]
    structured = [answer.structured_content for answer in answers]
    assert structured == ([CREATED, REFUSED] if library == "fastmcp" else [{"result": CREATED}, {"result": REFUSED}])
    # Neither library lets a returned value set the flag; docs/porting.md names the decorator that does.
    assert [answer.is_error for answer in answers] == [False, False]


@pytest.mark.requirement("AUT-6")
@pytest.mark.parametrize("library", ["fastmcp", "mcpserver"])
async def test_the_decorator_flags_a_failure(library: str):
    mcp = served(library)
    ExtMcpToolDecorator(mcp, prefix="").tool()(create_document)
    async with connected(mcp, "sdk") as connection:
        answers = [await connection.call_tool("create_document", DOCUMENT | {"name": n}) for n in ("new", "taken")]
    assert [json.loads(answer.content[0].text) for answer in answers] == [CREATED, REFUSED]
    assert [answer.is_error for answer in answers] == [False, True]


async def test_fastmcps_client_reads_the_value_with_its_type():
    async def find_day() -> Result[datetime]:
        """Find a day."""
        return Result.ok(datetime(2026, 11, 18, 9, 30, tzinfo=UTC))

    mcp: Any = FastMCP("days")
    mcp.tool()(find_day)
    async with FastMCPClient(mcp) as client:
        data = (await client.call_tool("find_day", {})).data
    assert (data.success, data.value) == (True, datetime(2026, 11, 18, 9, 30, tzinfo=UTC))


@dataclass
class Loan:
    book: str
    due: date


LOAN = Loan("Dune", date(2026, 12, 1))


@pytest.mark.parametrize(
    ("annotation", "result", "expected"),
    [
        (Result[Loan], Result.ok(LOAN), {"success": True, "value": {"book": "Dune", "due": "2026-12-01"}}),
        (Result[list[Loan]], Result.ok([]), {"success": True, "value": []}),
        (Result[Any], Result.ok({1}), {"success": True, "value": [1]}),
        (Result[None], Result.ok(message="Done."), {"success": True, "message": "Done."}),
        (Result, Result.ok(b"text"), {"success": True, "value": "text"}),
        (Result[int], Result.ok(1, hints=hints.for_value(), content=[Image(b"\xff")]), {"success": True, "value": 1}),
        (Result[int], Result.failure("no"), {"success": False, "error": "no", "error_type": "ToolError"}),
    ],
    ids=str,
)
def test_pydantic_serializes_the_value_by_its_type(annotation: Any, result: Result[Any], expected: dict[str, Any]):
    adapter = TypeAdapter(annotation)
    assert adapter.dump_python(result, mode="json") == expected
    assert json.loads(adapter.dump_json(result)) == expected
    assert json.loads(pydantic_core.to_json(result)) == expected
    assert pydantic_core.to_jsonable_python({"inside": [result]}) == {"inside": [expected]}


def test_the_schema_has_what_is_sent():
    texts = ("error", "error_type", "exception_type", "exception_message", "message", "instruction")
    schema = TypeAdapter(Result[int]).json_schema(mode="serialization")
    assert schema == {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "value": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "Value"},
            **{name: {"type": "string"} for name in texts},
        },
        "required": ["success"],
    }


def test_a_result_stays_the_object_that_it_is_when_it_is_validated():
    result = Result.ok(1)
    assert TypeAdapter(Result[int]).validate_python(result) is result
