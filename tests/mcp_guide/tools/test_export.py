"""Exporting documents to files, only in allowed folders."""

import json

import pytest

from tests.mcp_guide.guide_server import error, value


@pytest.fixture
def exports(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    (tmp_path / "guide.yaml").write_text(f"# mine\nexport_folders: [{folder}]\n")
    return folder


async def test_documents_become_a_file_in_an_allowed_folder(call, exports):
    for number, destination in enumerate(("all.md", str(exports / "more/all.md"))):
        written = await value(call, "export_content", expression="lang/python,docs", destination=destination)
        file = exports / ("all.md", "more/all.md")[number]
        assert written == {
            "file": str(file),
            "size": file.stat().st_size,
            "documents": ["lang/python.md", "docs/api.md"],
        }
        assert file.read_text().index("# Python") < file.read_text().index("# API")
    await value(call, "export_content", expression="docs", destination="all.json", format="json")
    assert [one["text"] for one in json.loads((exports / "all.json").read_text())] == ["# API\n"]


async def test_a_missing_export_folder_is_an_error_that_says_what_to_do(call, exports):
    exports.rmdir()
    assert await error(call, "export_content", expression="docs", destination="a.md") == (
        "UnavailableError",
        f"The export folder '{exports}' does not exist. Create it, or change export_folders.",
    )


async def test_an_existing_file_is_not_changed(call, exports):
    (exports / "mine.md").write_text("mine")
    assert (await error(call, "export_content", expression="docs", destination="mine.md"))[0] == "ConflictError"
    assert (exports / "mine.md").read_text() == "mine"


async def test_a_refused_export_writes_nothing_and_changes_no_permission(call, exports, tmp_path):
    (exports / "out").symlink_to(tmp_path)
    before = (tmp_path / "guide.yaml").read_bytes()
    for destination in (
        str(tmp_path / "stolen.md"),
        "../stolen.md",
        f"{exports}/../stolen.md",
        "out/stolen.md",
        ".hidden.md",
        "/etc/stolen.md",
        "~/stolen.md",
        "a\\b.md",
    ):
        kind, words = await error(call, "export_content", expression="docs", destination=destination)
        assert kind in ("PermissionError", "ValidationError", "NotFoundError"), (destination, words)
    assert list(tmp_path.rglob("stolen.md")) == []
    assert sorted(path.name for path in exports.iterdir()) == ["out"]
    assert (tmp_path / "guide.yaml").read_bytes() == before


async def test_without_a_folder_in_the_configuration_nothing_is_allowed(call, tmp_path):
    for destination in ("a.md", str(tmp_path / "a.md")):
        kind, words = await error(call, "export_content", expression="docs", destination=destination)
        assert (kind, "export_folders" in words) == ("PermissionError", True)
    assert not (tmp_path / "guide.yaml").exists()
