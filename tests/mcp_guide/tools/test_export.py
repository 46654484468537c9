"""Exporting documents to files, only in allowed folders."""

import json

import pytest

from mcp_core import Request
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


async def test_an_existing_file_is_replaced_only_with_the_user_s_consent(call, exports):
    (exports / "mine.md").write_text("mine")
    arguments = {"expression": "docs", "destination": "mine.md"}
    assert await error(call, "export_content", **arguments) == (
        "ConflictError",
        (
            f"{str(exports / 'mine.md')!r} already exists. Use another name. Only if the user asks for it, replace the "
            "file: user_consent='REPLACE_FILE'."
        ),
    )
    assert (exports / "mine.md").read_text() == "mine"
    replaced = await value(call, "export_content", **arguments, user_consent="REPLACE_FILE")
    assert (replaced["size"], (exports / "mine.md").read_text()) == (6, "# API\n")
    assert sorted(path.name for path in exports.iterdir()) == ["mine.md"]


async def test_where_the_client_can_ask_the_user_decides(app, exports):
    questions: list[str] = []

    async def run(name: str, reply: bool) -> str | None:
        async def ask(question: str) -> bool:
            questions.append(question)
            return reply

        arguments = {"expression": "docs", "destination": name}
        answer = await app.answer(Request("export_content", arguments, app.local_caller, ask=ask))
        return json.loads(answer.text).get("error_type")

    (exports / "mine.md").write_text("mine")
    assert await run("new.md", reply=False) is None
    assert questions == []
    assert (await run("mine.md", reply=False), (exports / "mine.md").read_text()) == ("ConsentError", "mine")
    assert (await run("mine.md", reply=True), (exports / "mine.md").read_text()) == (None, "# API\n")
    assert questions == [f"Replace the file {exports / 'mine.md'}?"] * 2


async def test_consent_to_replace_a_file_creates_one_that_does_not_exist_and_follows_no_link(call, exports, tmp_path):
    (tmp_path / "target.md").write_text("mine")
    (exports / "link.md").symlink_to(tmp_path / "target.md")
    consent = {"expression": "docs", "user_consent": "REPLACE_FILE"}
    await value(call, "export_content", destination="new.md", **consent)
    assert (await error(call, "export_content", destination="link.md", **consent))[0] == "NotFoundError"
    assert (tmp_path / "target.md").read_text() == "mine"


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
