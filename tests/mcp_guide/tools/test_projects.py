"""Projects, and their categories and collections."""

import pytest

from tests.mcp_guide.guide_server import build_guide, error, make_call, value, write_documents

FORBIDDEN = "Do not attempt to create a default configuration automatically."


@pytest.mark.requirement("GUI-4")
async def test_the_configuration_is_that_of_the_named_or_the_active_project(call, root):
    await value(call, "clone_project", name="shop")
    await value(call, "set_project_flag", flag="tdd", value=True, project="shop")
    active = await value(call, "get_project_config")
    assert (active["name"], active["flags"], active["docs_root"]) == ("default", {}, str(root))
    assert [one["name"] for one in active["categories"]] == ["docs", "guidelines", "lang"]
    shop = await value(call, "get_project_config", project="shop")
    assert (shop["name"], shop["flags"]) == ("shop", {"tdd": True})
    await value(call, "set_project", project="shop")
    assert await value(call, "get_project_config") == {**shop, "chosen_by": "set_project"}


@pytest.mark.requirement("GUI-4")
async def test_a_missing_project_is_an_error_and_is_not_created(call, tmp_path):
    for tool in ("get_project_config", "set_project", "get_mode", "list_categories", "list_project_flags"):
        failed, answer = await call(tool, project="shpo")
        assert (failed, answer["error_type"]) == (True, "NotFoundError")
        assert FORBIDDEN in answer["instruction"]
    assert not (tmp_path / "guide.yaml").exists()


@pytest.mark.requirement("GUI-6")
async def test_projects_are_listed_shown_added_changed_and_removed(call):
    await value(call, "clone_project", name="shop", folder="/work/shop")
    await value(call, "change_project", project="shop", new_name="store", folder="/work/store")
    assert await value(call, "list_projects") == {
        "projects": [
            {"name": "default"},
            {"name": "store", "folder": "/work/store"},
        ],
        "active": "default",
    }
    assert (await value(call, "get_project_config", project="store"))["folder"] == "/work/store"
    removed = await value(call, "remove_project", project="store", explicit_action="REMOVE_PROJECT")
    assert removed == {"removed": "store"}
    assert [one["name"] for one in (await value(call, "list_projects"))["projects"]] == ["default"]


async def test_a_folder_is_an_absolute_path_and_belongs_to_one_project(call):
    await value(call, "clone_project", name="shop", folder="/work/shop")
    assert (await error(call, "clone_project", name="blog", folder="work"))[0] == "ValidationError"
    assert (await error(call, "clone_project", name="blog", folder="/work/shop"))[0] == "ConflictError"
    await value(call, "clone_project", name="blog")
    assert (await error(call, "change_project", project="blog", folder="/work/shop"))[0] == "ConflictError"
    assert (await error(call, "change_project", project="blog"))[0] == "ValidationError"


async def test_two_folders_with_the_same_name_are_two_projects(tmp_path, monkeypatch):
    for folder in ("a/app", "b/app"):
        (tmp_path / folder).mkdir(parents=True)
    async with build_guide(tmp_path) as app:
        call = make_call(app)
        await value(call, "clone_project", name="app", folder=str(tmp_path / "a/app"))
        await value(call, "clone_project", name="app-2", folder=str(tmp_path / "b/app"))
        await value(call, "set_project_flag", flag="first", value=True, project="app")
    for folder, name, flags in (("a/app", "app", {"first": True}), ("b/app", "app-2", {}), (".", "default", {})):
        monkeypatch.chdir(tmp_path / folder)
        async with build_guide(tmp_path) as app:
            found = await value(make_call(app), "get_project_config")
            assert (found["name"], found["flags"]) == (name, flags)


async def test_the_project_can_be_set_at_start(tmp_path):
    async with build_guide(tmp_path) as app:
        await value(make_call(app), "clone_project", name="shop")
    async with build_guide(tmp_path, project="shop") as app:
        info = await value(make_call(app), "client_info")
        assert (info["project"], info["chosen_by"]) == ("shop", "option")


# ---- categories and collections ------------------------------------------------------------------


@pytest.mark.requirement("GUI-6")
async def test_categories_are_listed_shown_added_changed_and_removed(call):
    made = {"name": "adr", "dir": "docs", "patterns": ["*.md"], "description": "Decisions."}
    assert await value(call, "add_category", **made) == made
    assert await value(call, "list_categories", name="adr") == {"categories": [made]}
    changed = await value(call, "change_category", name="adr", new_name="decisions", patterns=["api"])
    assert changed == {**made, "name": "decisions", "patterns": ["api"]}
    assert (await value(call, "get_content", expression="decisions"))["documents"] == ["decisions/api.md"]
    names = [one["name"] for one in (await value(call, "list_categories"))["categories"]]
    assert sorted(names) == ["decisions", "docs", "guidelines", "lang"]
    removed = await value(call, "remove_category", name="decisions", explicit_action="REMOVE_CATEGORY")
    assert removed == {"removed": "decisions"}
    assert (await value(call, "get_content", expression="docs/api"))["content"] == "# API\n"


@pytest.mark.requirement("GUI-6")
async def test_collections_are_listed_shown_added_changed_and_removed(call):
    made = {"name": "start", "expressions": ["lang/python", "docs"], "description": "To begin with."}
    assert await value(call, "add_collection", **made) == made
    assert await value(call, "list_collections") == {"collections": [made]}
    changed = await value(call, "change_collection", name="start", new_name="first", expressions=["docs"])
    assert changed == {**made, "name": "first", "expressions": ["docs"]}
    assert await value(call, "list_collections", name="first") == {"collections": [changed]}
    removed = await value(call, "remove_collection", name="first", explicit_action="REMOVE_COLLECTION")
    assert removed == {"removed": "first"}
    _, answer = await call("list_collections")
    assert (answer["value"], answer["message"]) == (
        {"collections": []},
        "No collection exists yet. Create one with add_collection.",
    )


async def test_renaming_a_category_updates_its_collections(call):
    await value(call, "add_category", name="languages", dir="lang")
    await value(call, "add_collection", name="start", expressions=["languages/python"])
    await value(call, "change_category", name="languages", new_name="tongues")
    assert (await value(call, "get_content", expression="start"))["documents"] == ["tongues/python.md"]
    kind, words = await error(call, "remove_category", name="tongues", explicit_action="REMOVE_CATEGORY")
    assert (kind, "'start'" in words) == ("ConflictError", True)


async def test_collections_that_name_each_other_are_refused_with_the_circle(call):
    await value(call, "add_collection", name="a", expressions=["lang"])
    await value(call, "add_collection", name="b", expressions=["a"])
    kind, words = await error(call, "change_collection", name="a", expressions=["b"])
    assert (kind, "a -> b -> a" in words) == ("ConflictError", True)


async def test_without_a_document_root_the_guide_says_what_to_do(tmp_path):
    async with build_guide(tmp_path, docs_root=tmp_path / "none") as app:
        call = make_call(app)
        for tool, arguments in (("list_categories", {}), ("get_content", {"expression": "lang"})):
            kind, words = await error(call, tool, **arguments)
            assert (kind, f"mcp-guide init --docs-root {tmp_path / 'none'}" in words) == ("UnavailableError", True)
        await value(call, "add_category", name="lang")
        made = {"category_dir": "lang", "name": "go", "content": "# Go", "explicit_action": "CREATE_DOCUMENT"}
        await value(call, "create_document", **made)
        assert (tmp_path / "none" / "lang" / "go.md").read_text() == "# Go"


async def test_a_change_by_hand_is_seen_by_the_next_call(call, tmp_path, root):
    write_documents(root, {"new/a.md": "A\n"})
    (tmp_path / "guide.yaml").write_text("projects:\n  default:\n    mode: CHECK\n")
    failed, answer = await call("get_content", expression="new")
    assert (failed, answer["value"]["documents"]) == (False, ["new/a.md"])
    assert "CHECK mode" in answer["instruction"]


async def test_the_documents_of_the_company_and_the_team_stay_visible_in_a_project_with_its_own(call, tmp_path):
    write_documents(tmp_path / "team", {"lang/python.md": "# Team Python\n"})
    write_documents(tmp_path / "own", {"lang/python.md": "# Our own Python\n", "notes/a.md": "# A\n"})
    (tmp_path / "guide.yaml").write_text(
        f"projects:\n  shop:\n    docs_root: {tmp_path / 'own'}\n    team_docs_root: {tmp_path / 'team'}\n"
    )
    mine = await value(call, "get_content", expression="lang/python", project="shop", format="json")
    texts = [document["text"] for document in mine["content"]]
    assert texts == ["# Python\n", "# Team Python\n", "# Our own Python\n"]
    found = await value(call, "search_content", query="python", project="shop")
    assert (found["total"], {hit["title"] for hit in found["hits"]}) == (3, {"Python", "Team Python", "Our own Python"})
    assert (await value(call, "get_content", expression="docs/api", project="shop"))["content"] == "# API\n"
    assert (await value(call, "get_content", expression="lang/python"))["content"] == "# Python\n"


async def test_a_project_changes_its_own_documents_only(call, tmp_path, root):
    write_documents(tmp_path / "own", {"lang/python.md": "# Our own Python\n"})
    (tmp_path / "guide.yaml").write_text(f"projects:\n  shop:\n    docs_root: {tmp_path / 'own'}\n")
    delete = {"category_dir": "lang", "explicit_action": "DELETE_DOCUMENT", "project": "shop"}
    kind, words = await error(call, "delete_document", name="rust", **delete)
    assert (kind, f"several projects share, in {str(root)!r}" in words) == ("ConflictError", True)
    assert await value(call, "delete_document", name="python", **delete) == {"path": "lang/python.md"}
    assert (root / "lang" / "python.md").exists()
    made = {"category_dir": "lang", "name": "go", "content": "# Go", "explicit_action": "CREATE_DOCUMENT"}
    await value(call, "create_document", **made, project="shop")
    assert (tmp_path / "own" / "lang" / "go.md").exists()


async def test_an_invalid_configuration_is_an_error_with_its_line_and_is_not_changed(call, tmp_path):
    broken = "flags:\n  beta: true\nprojects: [no list]\n"
    (tmp_path / "guide.yaml").write_text(broken)
    for tool, arguments in (("get_content", {"expression": "lang"}), ("set_feature_flag", {"flag": "a", "value": 1})):
        kind, words = await error(call, tool, **arguments)
        assert (kind, "line 3" in words) == ("UnavailableError", True), words
    assert (tmp_path / "guide.yaml").read_text() == broken
