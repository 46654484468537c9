from mcp_core import App, Settings
from mcp_core.auth import user
from toolcharter.console.catalogue import Catalogue, CatalogueEntry, first_line, search
from toolcharter.local import targets

EVERYTHING = user("ana", ["*"])


def demo() -> App:
    return targets.load("demo", Settings())


def test_all_words_must_be_there_and_names_come_before_descriptions():
    entries = [
        CatalogueEntry("tool", "s", "list_notes", "", words="list the notes"),
        CatalogueEntry("tool", "s", "note", "", words="one note of a list"),
        CatalogueEntry("tool", "s", "get_note", "", words="read a note"),
        CatalogueEntry("tool", "s", "add", "", words="a sum"),
    ]
    assert [one.name for one in search(entries, "note")] == ["note", "list_notes", "get_note"]
    assert [one.name for one in search(entries, "LIST note")] == ["list_notes", "note"]
    assert search(entries, "note sum") == []
    assert search(entries, " ") == entries


def test_the_entries_are_tools_prompts_and_resources_with_their_pages():
    entries = Catalogue().offer(demo(), EVERYTHING).entries
    paths = {(one.kind, one.name): one.path for one in entries}
    assert paths["tool", "add"] == "/console/tools/demo/add"
    assert paths["prompt", "review_notes"] == "/console/prompts/demo/review_notes"
    assert paths["resource", "note://{note_id}"].startswith("/console/resources/demo#arguments=%7B%22uri%22")
    marks = {one.name: one.marks for one in entries}
    assert marks["delete_note"] == (("mutation", ""), ("destructive", "bad"))
    assert marks["find_notes"] == (("query", ""), ("deprecated", "warn"))


def test_a_caller_is_offered_only_what_they_may_use_and_the_same_is_made_once():
    catalogue, app = Catalogue(), demo()
    reader, other = user("ben", ["notes:read"]), user("eve", ["notes:read"])
    assert "add" not in catalogue.offer(app, reader).tools
    assert "add" in catalogue.offer(app, EVERYTHING).tools
    assert catalogue.offer(app, reader) is catalogue.offer(app, other)
    assert [one.kind for one in catalogue.offer(app, user("x", [])).entries] == ["resource"]


def test_tools_that_are_replaced_are_offered_at_once():
    catalogue, app = Catalogue(), demo()
    before = catalogue.offer(app, EVERYTHING)
    app.replace_tools([app.registry.resolve("add")])
    assert list(catalogue.offer(app, EVERYTHING).tools) == ["add"]
    assert len(before.tools) > 1


def test_the_first_line_is_a_sentence_or_a_line():
    assert first_line("Reads a file. Use it often.") == "Reads a file."
    assert first_line("\nReads a file\nand more.") == "Reads a file"
    assert first_line("Version 1.2 of it") == "Version 1.2 of it"
