from pathlib import Path

import pytest

from mcp_core import Conflict, InvalidArguments, NotFound
from mcp_guide import configuration_changes as changes
from mcp_guide import model
from mcp_guide.model import Category, Collection, Configuration, Project

LANG, DOCS = Category("lang", "lang"), Category("docs", "docs")
APP = Project("app", categories={"lang": LANG, "docs": DOCS})

# --- categories ---------------------------------------------------------------------------------------


def test_a_category_is_added_with_its_own_name_as_its_folder():
    after = changes.add_category(APP, "checks", description="Lists to go through.")
    assert after.categories == {
        "lang": LANG,
        "docs": DOCS,
        "checks": Category("checks", "checks", ("**/*",), "Lists to go through."),
    }
    assert APP.categories == {"lang": LANG, "docs": DOCS}


def test_a_category_that_is_made_takes_the_place_of_a_folders_own():
    project = model.with_folders(Project("app"), ["lang"])
    assert changes.add_category(project, "lang", "languages/all", ["*.md"]).categories == {
        "lang": Category("lang", "languages/all", ("*.md",))
    }


@pytest.mark.parametrize(
    ("name", "folder", "patterns"), [("a,b", None, ()), ("a", "../x", ()), ("a", ".x", ()), ("a", "x", ("/etc/*",))]
)
def test_what_a_category_may_not_be_is_refused_when_it_is_made(name, folder, patterns):
    with pytest.raises(InvalidArguments):
        changes.add_category(APP, name, folder, patterns)


def test_a_category_and_a_collection_never_share_a_name():
    both = changes.add_collection(APP, "start", ["lang"])
    with pytest.raises(Conflict, match="has a collection 'start' already"):
        changes.add_category(both, "start")
    with pytest.raises(Conflict, match="has a category 'lang' already"):
        changes.add_category(both, "lang")
    with pytest.raises(Conflict, match="has a category 'lang' already"):
        changes.add_collection(both, "lang", ["docs"])
    with pytest.raises(Conflict, match="has a collection 'start' already"):
        changes.add_collection(both, "start", ["docs"])
    with pytest.raises(Conflict, match="has a collection 'start' already"):
        changes.change_category(both, "lang", new_name="start")
    with pytest.raises(Conflict, match="has a category 'docs' already"):
        changes.change_collection(both, "start", new_name="docs")


def test_what_is_not_given_stays_as_it_is():
    project = changes.add_category(APP, "x", "x", ["*.md"], "Words")
    assert changes.change_category(project, "x", dir="y").categories["x"] == Category("x", "y", ("*.md",), "Words")
    assert changes.change_category(project, "x", patterns=[]).categories["x"] == Category("x", "x", ("**/*",), "Words")
    assert changes.change_category(project, "x", description="").categories["x"] == Category("x", "x", ("*.md",))
    with pytest.raises(NotFound, match="Nearest: 'lang'"):
        changes.change_category(project, "langs", dir="y")


def test_collections_follow_a_category_to_its_new_name_and_keep_their_words_otherwise():
    project = changes.add_collection(APP, "one", ["lang/{a,b}+c, docs/lang", "docs"])
    project = changes.add_collection(project, "two", ["docs/lang ,  docs"])
    after = changes.change_category(project, "lang", new_name="language")
    assert list(after.categories) == ["language", "docs"]
    assert after.categories["language"] == Category("language", "lang")
    assert after.collections == {
        "one": Collection("one", ("language/{a,b}+c,docs/lang", "docs")),
        "two": Collection("two", ("docs/lang ,  docs",)),
    }


def test_a_category_that_collections_name_is_not_removed():
    project = changes.add_collection(APP, "start", ["docs", "lang/python"])
    with pytest.raises(Conflict, match="'lang' is named by the collections 'start'; change or remove them first"):
        changes.remove_category(project, "lang")
    assert changes.remove_category(changes.remove_collection(project, "start"), "lang").categories == {"docs": DOCS}


def test_what_is_there_because_of_a_folder_is_changed_but_neither_renamed_nor_removed():
    project = model.with_folders(Project("app"), ["lang"])
    assert changes.change_category(project, "lang", description="Words").categories == {
        "lang": Category("lang", "lang", description="Words")
    }
    with pytest.raises(Conflict, match="it goes when the folder goes"):
        changes.remove_category(project, "lang")
    with pytest.raises(Conflict, match="add a category 'x' with dir 'lang' instead"):
        changes.change_category(project, "lang", new_name="x")


# --- collections --------------------------------------------------------------------------------------


def test_a_collection_names_what_is_there():
    with pytest.raises(NotFound, match=r"The collection 'start' names 'lnag' .* Nearest: 'lang'"):
        changes.add_collection(APP, "start", ["docs", "lnag/x"])


def test_a_circle_is_refused_and_shown():
    project = changes.add_collection(APP, "a", ["lang"])
    project = changes.add_collection(project, "b", ["docs", "a"])
    project = changes.add_collection(project, "c", ["b/x"])
    with pytest.raises(Conflict, match="name each other in a circle: a -> c -> b -> a"):
        changes.change_collection(project, "a", expressions=["c"])
    with pytest.raises(Conflict, match="in a circle: d -> d"):
        changes.add_collection(project, "d", ["d"])


def test_collections_follow_a_collection_to_its_new_name():
    project = changes.add_collection(changes.add_collection(APP, "a", ["lang"]), "b", ["a/x", "docs"])
    after = changes.change_collection(project, "a", new_name="first", description="Words")
    assert after.collections == {
        "first": Collection("first", ("lang",), "Words"),
        "b": Collection("b", ("first/x", "docs")),
    }
    with pytest.raises(Conflict, match="'first' is named by the collections 'b'"):
        changes.remove_collection(after, "first")


# --- projects -----------------------------------------------------------------------------------------


def test_a_clone_has_everything_but_the_folder_and_the_mode():
    source = Project(
        "app", Path("/docs"), Path("/work/app"), {"lang": LANG}, {"c": Collection("c", ("lang",))}, {"f": 1}, "CHECK"
    )
    before = Configuration(projects={"app": source}, flags={"g": True})
    after = changes.clone_project(before, "app", "copy", folder=Path("/work/copy"))
    assert after == Configuration(
        projects={
            "app": source,
            "copy": Project(
                "copy", Path("/docs"), Path("/work/copy"), source.categories, source.collections, {"f": 1}, "DISCUSSION"
            ),
        },
        flags={"g": True},
    )


def test_a_project_is_never_made_over_another_or_from_none():
    before = changes.add_project(Configuration(), "app", folder=Path("/a/app"))
    with pytest.raises(Conflict, match="There is a project 'app' already; choose another name, such as 'app-2'"):
        changes.clone_project(before, "default", "app")
    with pytest.raises(Conflict, match="There is a project 'default' already"):
        changes.clone_project(before, "app", "default")
    with pytest.raises(Conflict, match="The folder /a/app belongs to project 'app' already"):
        changes.add_project(before, "other", folder=Path("/a/app"))
    with pytest.raises(NotFound, match="There is no project 'gone'"):
        changes.clone_project(before, "gone", "new")
    with pytest.raises(InvalidArguments):
        changes.add_project(before, "a/b")


def test_two_folders_of_one_name_are_two_projects():
    one = changes.add_project(Configuration(), "app", folder=Path("/a/app"))
    two = changes.add_project(one, changes.free_name(one, "app"), folder=Path("/b/app"))
    assert {name: project.folder for name, project in two.projects.items()} == {
        "app": Path("/a/app"),
        "app-2": Path("/b/app"),
    }
    assert changes.free_name(two, "app") == "app-3"


def test_a_project_is_renamed_in_its_place_and_removed():
    before = changes.add_project(changes.add_project(Configuration(), "a"), "b")
    assert list(changes.rename_project(before, "a", "c").projects.items()) == [("c", Project("c")), ("b", Project("b"))]
    assert changes.remove_project(before, "a").projects == {"b": Project("b")}
    with pytest.raises(Conflict, match="already"):
        changes.rename_project(before, "a", "b")
    with pytest.raises(Conflict, match="keeps its name"):
        changes.rename_project(before, "default", "c")
    with pytest.raises(NotFound):
        changes.remove_project(before, "c")


# --- flags and modes ----------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-8")
def test_a_feature_flag_touches_the_global_scope_only():
    before = Configuration(projects={"app": Project("app", flags={"beta": False})}, flags={"old": 1})
    after = changes.set_feature_flag(before, "beta", True)
    assert after == Configuration(projects=before.projects, flags={"old": 1, "beta": True})
    assert changes.set_feature_flag(after, "beta", None) == before


@pytest.mark.requirement("GUI-7")
def test_a_project_flag_is_removed_and_the_global_one_holds_again():
    before = Configuration(projects={"app": Project("app")}, flags={"beta": False})
    after = changes.set_project_flag(before, "app", "beta", True)
    assert after == Configuration(projects={"app": Project("app", flags={"beta": True})}, flags={"beta": False})
    assert model.resolve_flags(after, after.projects["app"]) == {"beta": True}
    again = changes.set_project_flag(after, "app", "beta", None)
    assert again == before
    assert model.resolve_flag(again, again.projects["app"], "beta") is False


@pytest.mark.requirement("GUI-10")
def test_a_mode_belongs_to_its_project():
    before = Configuration(projects={"app": Project("app")})
    after = changes.set_mode(before, "app", "IMPLEMENTATION")
    assert after.projects == {"app": Project("app", mode="IMPLEMENTATION")}
    assert changes.set_mode(after, "default", "PLANNING").projects == {
        "app": Project("app", mode="IMPLEMENTATION"),
        "default": Project("default", mode="PLANNING"),
    }
    with pytest.raises(NotFound):
        changes.set_mode(after, "gone", "CHECK")
