from pathlib import Path

import pytest

from mcp_core import Conflict, InvalidArguments, NotFound
from mcp_guide import model
from mcp_guide.configuration import changes
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


def test_an_added_category_replaces_the_one_from_a_folder():
    project = model.with_folders(Project("app"), ["lang"])
    assert changes.add_category(project, "lang", "languages/all", ["*.md"]).categories == {
        "lang": Category("lang", "languages/all", ("*.md",))
    }


@pytest.mark.parametrize(
    ("name", "folder", "patterns"), [("a,b", None, ()), ("a", "../x", ()), ("a", ".x", ()), ("a", "x", ("/etc/*",))]
)
def test_an_invalid_category_is_refused(name, folder, patterns):
    with pytest.raises(InvalidArguments):
        changes.add_category(APP, name, folder, patterns)


def test_a_category_and_a_collection_never_share_a_name():
    both = changes.add_collection(APP, "start", ["lang"])
    with pytest.raises(Conflict, match="already has a collection 'start'"):
        changes.add_category(both, "start")
    with pytest.raises(Conflict, match="already has a category 'lang'"):
        changes.add_category(both, "lang")
    with pytest.raises(Conflict, match="already has a category 'lang'"):
        changes.add_collection(both, "lang", ["docs"])
    with pytest.raises(Conflict, match="already has a collection 'start'"):
        changes.add_collection(both, "start", ["docs"])
    with pytest.raises(Conflict, match="already has a collection 'start'"):
        changes.change_category(both, "lang", new_name="start")
    with pytest.raises(Conflict, match="already has a category 'docs'"):
        changes.change_collection(both, "start", new_name="docs")


def test_fields_that_are_not_given_stay_as_they_are():
    project = changes.add_category(APP, "x", "x", ["*.md"], "Words")
    assert changes.change_category(project, "x", dir="y").categories["x"] == Category("x", "y", ("*.md",), "Words")
    assert changes.change_category(project, "x", patterns=[]).categories["x"] == Category("x", "x", ("**/*",), "Words")
    assert changes.change_category(project, "x", description="").categories["x"] == Category("x", "x", ("*.md",))
    with pytest.raises(NotFound, match="Did you mean 'lang'"):
        changes.change_category(project, "langs", dir="y")


def test_renaming_a_category_updates_the_collections_that_name_it_and_no_others():
    project = changes.add_collection(APP, "one", ["lang/{a,b}+c, docs/lang", "docs"])
    project = changes.add_collection(project, "two", ["docs/lang ,  docs"])
    after = changes.change_category(project, "lang", new_name="language")
    assert list(after.categories) == ["language", "docs"]
    assert after.categories["language"] == Category("language", "lang")
    assert after.collections == {
        "one": Collection("one", ("language/{a,b}+c,docs/lang", "docs")),
        "two": Collection("two", ("docs/lang ,  docs",)),
    }


def test_a_category_that_a_collection_names_is_not_removed():
    project = changes.add_collection(APP, "start", ["docs", "lang/python"])
    with pytest.raises(Conflict, match=r"The collection 'start' refers to the category 'lang'\. Change or remove it"):
        changes.remove_category(project, "lang")
    assert changes.remove_category(changes.remove_collection(project, "start"), "lang").categories == {"docs": DOCS}


def test_a_category_from_a_folder_can_be_changed_but_not_renamed_or_removed():
    project = model.with_folders(Project("app"), ["lang"])
    assert changes.change_category(project, "lang", description="Words").categories == {
        "lang": Category("lang", "lang", description="Words")
    }
    with pytest.raises(Conflict, match="To remove it, rename or delete the folder"):
        changes.remove_category(project, "lang")
    with pytest.raises(Conflict, match="Add a category 'x' with dir 'lang' instead"):
        changes.change_category(project, "lang", new_name="x")


# --- collections --------------------------------------------------------------------------------------


def test_a_collection_names_only_what_exists():
    with pytest.raises(NotFound, match=r"'lnag', which the collection 'start' names\. Did you mean 'lang'\?"):
        changes.add_collection(APP, "start", ["docs", "lnag/x"])


def test_a_circle_of_collections_is_refused_and_shown():
    project = changes.add_collection(APP, "a", ["lang"])
    project = changes.add_collection(project, "b", ["docs", "a"])
    project = changes.add_collection(project, "c", ["b/x"])
    with pytest.raises(Conflict, match="refer to each other in a circle: a -> c -> b -> a"):
        changes.change_collection(project, "a", expressions=["c"])
    with pytest.raises(Conflict, match="in a circle: d -> d"):
        changes.add_collection(project, "d", ["d"])


def test_renaming_a_collection_updates_the_collections_that_name_it():
    project = changes.add_collection(changes.add_collection(APP, "a", ["lang"]), "b", ["a/x", "docs"])
    after = changes.change_collection(project, "a", new_name="first", description="Words")
    assert after.collections == {
        "first": Collection("first", ("lang",), "Words"),
        "b": Collection("b", ("first/x", "docs")),
    }
    with pytest.raises(Conflict, match="The collection 'b' refers to the collection 'first'"):
        changes.remove_collection(after, "first")


# --- projects -----------------------------------------------------------------------------------------


def test_a_clone_copies_everything_but_the_folder_and_the_mode():
    source = Project(
        "app",
        Path("/docs"),
        Path("/team"),
        Path("/work/app"),
        {"lang": LANG},
        {"c": Collection("c", ("lang",))},
        {"f": 1},
        "CHECK",
    )
    before = Configuration(projects={"app": source}, flags={"g": True})
    after = changes.clone_project(before, "app", "copy", folder=Path("/work/copy"))
    assert after == Configuration(
        projects={
            "app": source,
            "copy": Project(
                "copy",
                Path("/docs"),
                Path("/team"),
                Path("/work/copy"),
                source.categories,
                source.collections,
                {"f": 1},
                None,
            ),
        },
        flags={"g": True},
    )


def test_a_clone_needs_a_source_a_free_name_and_a_free_folder():
    before = changes.clone_project(Configuration(), "default", "app", folder=Path("/a/app"))
    with pytest.raises(Conflict, match=r"The project 'app' already exists\. Use another name, such as 'app-2'"):
        changes.clone_project(before, "default", "app")
    with pytest.raises(Conflict, match="The project 'default' already exists"):
        changes.clone_project(before, "app", "default")
    with pytest.raises(Conflict, match="The folder /a/app already belongs to the project 'app'"):
        changes.clone_project(before, "default", "other", folder=Path("/a/app"))
    with pytest.raises(NotFound, match="The project 'gone' does not exist"):
        changes.clone_project(before, "gone", "new")
    with pytest.raises(InvalidArguments):
        changes.clone_project(before, "default", "a/b")


def test_a_project_moves_to_a_free_folder():
    before = changes.clone_project(Configuration(), "default", "app", folder=Path("/a"))
    assert changes.move_project(before, "app", Path("/b")).projects == {"app": Project("app", folder=Path("/b"))}
    assert changes.move_project(before, "app", Path("/a")) == before
    with pytest.raises(Conflict, match="The folder /a already belongs to the project 'app'"):
        changes.move_project(before, "default", Path("/a"))
    with pytest.raises(NotFound):
        changes.move_project(before, "gone", Path("/b"))


def test_two_folders_with_the_same_name_are_two_projects():
    one = changes.clone_project(Configuration(), "default", "app", folder=Path("/a/app"))
    two = changes.clone_project(one, "default", changes.free_name(one, "app"), folder=Path("/b/app"))
    assert {name: project.folder for name, project in two.projects.items()} == {
        "app": Path("/a/app"),
        "app-2": Path("/b/app"),
    }
    assert changes.free_name(two, "app") == "app-3"


def test_a_renamed_project_keeps_its_position():
    before = Configuration(projects={"a": Project("a"), "b": Project("b")})
    assert list(changes.rename_project(before, "a", "c").projects.items()) == [("c", Project("c")), ("b", Project("b"))]
    assert changes.remove_project(before, "a").projects == {"b": Project("b")}
    with pytest.raises(Conflict, match="already"):
        changes.rename_project(before, "a", "b")
    with pytest.raises(Conflict, match="The default project cannot be renamed"):
        changes.rename_project(before, "default", "c")
    with pytest.raises(NotFound):
        changes.remove_project(before, "c")


# --- flags and modes ----------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-8")
def test_a_feature_flag_changes_only_the_global_scope():
    before = Configuration(projects={"app": Project("app", flags={"beta": False})}, flags={"old": 1})
    after = changes.set_feature_flag(before, "beta", True)
    assert after == Configuration(projects=before.projects, flags={"old": 1, "beta": True})
    assert changes.set_feature_flag(after, "beta", None) == before


@pytest.mark.requirement("GUI-7")
def test_when_a_project_flag_is_removed_the_global_one_applies_again():
    before = Configuration(projects={"app": Project("app")}, flags={"beta": False})
    after = changes.change_project(before, "app", changes.set_project_flag, "beta", True)
    assert after == Configuration(projects={"app": Project("app", flags={"beta": True})}, flags={"beta": False})
    assert model.resolve_flags(after, after.projects["app"]) == {"beta": True}
    again = changes.change_project(after, "app", changes.set_project_flag, "beta", None)
    assert again == before
    assert model.resolve_flags(again, again.projects["app"]) == {"beta": False}


def test_the_patterns_of_all_categories_together_have_a_limit():
    def category(number: int) -> Category:
        return Category(f"c{number}", "dir", (f"{number}{{{'a' * 400},{'b' * 400}}}{{a,b}}{{a,b}}",))

    def project(count: int) -> Project:
        return Project("app", categories={f"c{number}": category(number) for number in range(count)})

    changes.with_project(Configuration(), project(15))
    with pytest.raises(InvalidArguments, match=r"The patterns of all categories have 51,.*Use at most 50,000"):
        changes.with_project(Configuration(), project(16))
