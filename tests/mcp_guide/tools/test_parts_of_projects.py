"""Categories and collections, from their creation to their removal."""

import pytest

from tests.mcp_guide.guide_server import value


@pytest.mark.requirement("GUI-6")
async def test_a_category_is_added_listed_shown_changed_and_removed(call):
    async def names() -> list[str]:
        return [one["name"] for one in (await value(call, "list_categories"))["categories"]]

    before = await names()
    await value(call, "add_category", name="notes", dir="notes", patterns=["*.md"])
    assert await names() == sorted([*before, "notes"])
    await value(call, "change_category", name="notes", new_name="memos")
    assert await names() == sorted([*before, "memos"])
    await value(call, "remove_category", name="memos", explicit_action="REMOVE_CATEGORY")
    assert await names() == before


@pytest.mark.requirement("GUI-6")
async def test_a_collection_is_added_listed_changed_and_removed(call):
    async def names() -> list[str]:
        return [one["name"] for one in (await value(call, "list_collections"))["collections"]]

    before = await names()
    await value(call, "add_collection", name="review", expressions=["docs"])
    assert await names() == sorted([*before, "review"])
    await value(call, "change_collection", name="review", new_name="check")
    assert await names() == sorted([*before, "check"])
    await value(call, "remove_collection", name="check", explicit_action="REMOVE_COLLECTION")
    assert await names() == before
