import json
from typing import Any, Literal

import pytest
from pydantic import Field

from mcp_core import App, Confirm, Example, InvalidArguments, Result, SuggestedAction, hints, tool
from mcp_core.tool_arguments import ToolArguments


class Delete(ToolArguments):
    """Which book."""

    book_id: str = Field(description="The book to delete.", max_length=9)
    reason: Literal["sold", "lost"] = Field("sold", description="Why.")


class Lend(ToolArguments):
    """Which book, or which shelf."""

    book_id: str | None = Field(None, description="The book to lend.")
    shelf: str | None = Field(None, description="The shelf to lend.")
    days: int = Field(description="How long.", ge=1)


mutation = tool.mutation.preset(permissions=["books:write"], tags=["books"], response_time="fast", open_world=False)
CONSENT = {"explicit_action": "DELETE_BOOK"}


@mutation(
    confirm=Confirm("DELETE_BOOK"), examples=[Example("One book", {"book_id": "b1", **CONSENT}, {"deleted": "b1"})]
)
async def delete_book(args: Delete) -> dict[str, Any]:
    """Delete a book for good. Use it when the user asks for exactly that. Returns its id."""
    return {"deleted": args.book_id}


@mutation(examples=[Example("Two days", {"book_id": "b1", "days": 2}, {"lent": "b1"})])
async def lend_book(args: Lend) -> Result[dict[str, Any]]:
    """Lend a book or a shelf to someone. Use it when the user lends. Returns what was lent."""
    if bool(args.book_id) == bool(args.shelf):
        raise InvalidArguments("Give book_id or shelf.", fields=("book_id", "shelf"), alternatives=True)
    then = [SuggestedAction(action="delete_book", data={"book_id": args.book_id})]
    return Result.ok({"lent": args.book_id}, hints=hints.for_value(then=then))


async def hints_of(name: str, **arguments: Any) -> dict[str, Any]:
    async with App("test", version="1.0.0", tools=[delete_book, lend_book], format="hints", strict=False) as app:
        return json.loads((await app.call(name, arguments)).text)["agentHints"]


@pytest.mark.requirement("LRN-2")
@pytest.mark.parametrize("arguments", [{"book_id": "b1"}, {"book_id": "b1", "explicit_action": "yes"}])
async def test_a_missing_consent_suggests_to_ask_the_person_and_nothing_else(arguments: dict[str, Any]):
    shown = await hints_of("delete_book", **arguments)
    assert shown["suggestedNextActions"] == []
    assert shown["contextNeeded"] == ["the user's consent to exactly this action"]
    assert "DELETE_BOOK" not in json.dumps(shown)
    assert [warning["autoFixable"] for warning in shown["warnings"]] == [False]


async def test_a_missing_consent_beside_a_wrong_argument_names_both():
    shown = await hints_of("delete_book", book_id="a long long id")
    assert shown["suggestedNextActions"] == []
    assert shown["contextNeeded"] == ["the user's consent to exactly this action", "a valid value for book_id"]


@pytest.mark.requirement("LRN-2")
async def test_a_tool_that_needs_consent_is_not_suggested_but_the_request_of_the_user_is_named():
    shown = await hints_of("lend_book", book_id="b1", days=1)
    assert shown["suggestedNextActions"] == []
    assert shown["contextNeeded"] == ["whether the user asks for delete_book"]
    assert "DELETE_BOOK" not in json.dumps(shown)


@pytest.mark.requirement("LRN-2")
async def test_a_retry_carries_what_was_right_and_needs_what_was_wrong():
    shown = await hints_of("delete_book", book_id="b1", reason="tired", explicit_action="DELETE_BOOK", colour="red")
    (retry,) = shown["suggestedNextActions"]
    assert (retry["action"], retry["data"]) == ("delete_book", {"book_id": "b1", "explicit_action": "DELETE_BOOK"})
    assert retry["needs"] == [{"name": "reason", "description": "Why.", "choices": ["sold", "lost"]}]


async def test_a_retry_of_two_arguments_that_exclude_each_other_needs_one_of_them():
    (retry,) = (await hints_of("lend_book", book_id="b1", shelf="A", days=3))["suggestedNextActions"]
    assert (retry["data"], [need["name"] for need in retry["needs"]]) == ({"days": 3}, ["book_id"])
