import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import InvalidArguments, NotFound, instructions
from mcp_guide import model
from mcp_guide.model import Category, Collection, Configuration, Project

# --- projects -----------------------------------------------------------------------------------------


def test_the_default_project_exists_without_any_configuration():
    assert model.find_project(Configuration(), "default") == Project("default")
    assert model.project_names(Configuration()) == ["default"]


@pytest.mark.requirement("GUI-4")
def test_a_missing_project_is_not_found_and_none_is_to_be_created():
    configuration = Configuration(projects={"app": Project("app")})
    with pytest.raises(NotFound) as raised:
        model.find_project(configuration, "ap")
    assert str(raised.value) == "The project 'ap' does not exist. Did you mean 'app'?"
    assert raised.value.message == "No configuration found for project: ap"
    assert raised.value.instruction == (
        "Present this error to the user and take no further action."
        " Do not attempt to create a default configuration automatically."
    )


def test_an_unknown_name_gives_similar_names_or_all_names():
    project = Project("app", categories={"lang": Category("lang", "lang"), "docs": Category("docs", "docs")})
    with pytest.raises(NotFound, match=r"^The project 'app' has no category 'lnag'\. Did you mean 'lang'\?$"):
        model.find_category(project, "lnag")
    with pytest.raises(NotFound, match=r"^The project 'app' has no category 'xyz'\. Available: 'docs', 'lang'\.$"):
        model.find_category(project, "xyz")


def test_an_empty_project_says_how_to_create_the_first_category_and_collection():
    with pytest.raises(NotFound) as category:
        model.find_category(Project("app"), "lang")
    assert str(category.value) == (
        "The project 'app' has no category 'lang'. "
        "No category exists yet. Create one with add_category, or run `mcp-guide init`."
    )
    with pytest.raises(NotFound, match=r"'x+\.\.\.'\. No collection exists yet\. Create one with add_collection\.$"):
        model.find_collection(Project("app"), "x" * 5000)


def test_the_roots_are_those_of_the_company_the_team_and_the_project():
    own, team, option, configured, default = map(Path, ("/own", "/team", "/option", "/configured", "/default"))
    configuration = Configuration(docs_root=configured)
    project = Project("a", root=own, team_root=team)
    assert model.document_roots(configuration, project, option, default) == [option, team, own]
    assert model.document_roots(configuration, Project("a"), option, default) == [option]
    assert model.document_roots(configuration, Project("a"), None, default) == [configured]
    assert model.document_roots(Configuration(), Project("a", root=default), None, default) == [default]


# --- folders ------------------------------------------------------------------------------------------


def test_each_folder_is_a_category_unless_its_name_is_taken():
    configured = Category("docs", "texts", ("*.md",))
    project = Project("app", categories={"docs": configured}, collections={"all": Collection("all", ("docs",))})
    assert model.with_folders(project, ["docs", "lang", "all", "a,b", ".git"]).categories == {
        "lang": Category("lang", "lang", ("**/*",), from_folder=True),
        "docs": configured,
    }


def test_a_project_can_ignore_the_folders():
    project = Project("app", folders=False)
    assert model.with_folders(project, ["lang"]) == project


# --- flags --------------------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-7")
def test_flags_of_a_project_override_the_global_ones():
    configuration = Configuration(flags={"a": True, "b": "global", "c": 0})
    project = Project("app", flags={"b": "mine", "c": False, "d": ["x"]})
    assert model.resolve_flags(configuration, project) == {"a": True, "b": "mine", "c": False, "d": ["x"]}


@pytest.mark.parametrize("value", [True, False, "", "text", 0, -7, 2.5, [], ["a", "b"]])
def test_a_flag_is_set_to_a_bool_a_text_a_number_or_a_list_of_texts(value):
    after = model.set_flag({"other": 1}, "beta", value)
    assert after == {"other": 1, "beta": value}
    assert type(after["beta"]) is type(value)


def test_none_removes_a_flag_even_one_that_is_not_set():
    assert model.set_flag({"a": 1, "b": 2}, "a", None) == {"b": 2}
    assert model.set_flag({"b": 2}, "a", None) == {"b": 2}


@pytest.mark.parametrize("value", [{"a": 1}, [1], [["a"]], float("nan"), float("inf"), b"x", "x" * 10_001])
def test_other_values_of_a_flag_are_refused(value):
    with pytest.raises(InvalidArguments, match=r"Use true, false, a number, a string or a list of strings\."):
        model.set_flag({}, "beta", value)


@pytest.mark.parametrize("name", ["", "a/b", " a", ".a", "x" * 101])
def test_the_name_of_a_flag_is_checked(name):
    with pytest.raises(InvalidArguments, match=r"The flag name .* is not valid"):
        model.set_flag({}, name, True)


# --- modes --------------------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-10")
def test_each_mode_has_its_boundary_in_the_standard_words():
    assert dict(model.BOUNDARIES) == {
        "DISCUSSION": "You are now in DISCUSSION mode. Gather requirements and create specifications."
        " Do NOT make any changes to the project.",
        "PLANNING": "You are now in PLANNING mode. Create a detailed plan, and present it to the user."
        " Do NOT make any changes to the project.",
        "IMPLEMENTATION": "You are now in IMPLEMENTATION mode. Make the changes that the user agreed to, and no"
        " others. When they are made: Return to CHECK mode.",
        "CHECK": "You are now in CHECK mode. Run the checks, and report what they find."
        " Do NOT attempt to fix this automatically. This operation requires user review and approval.",
    }
    assert all(instructions.NO_CHANGES in model.BOUNDARIES[mode] for mode in ("DISCUSSION", "PLANNING"))


@pytest.mark.parametrize("mode", ["plan", "", None, "REVIEW", 1])
def test_there_are_four_modes(mode):
    with pytest.raises(InvalidArguments, match="Use one of DISCUSSION, PLANNING, IMPLEMENTATION, CHECK"):
        model.check_mode(mode)


# --- names and folders --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lang", "C", "c-sharp", "v1.2", "My docs", "übung", "_x", "7", "x" * 100])
def test_valid_names(name):
    assert model.check_name(name, "category") == name


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            " ",
            "a ",
            " a",
            "a  b",
            "a/b",
            "a,b",
            "a+b",
            "{a}",
            "a*",
            "a?",
            "[a]",
            ".a",
            "..",
            "-a",
            "a\n",
            "a\0",
            "a\\b",
        ],
        "x" * 101,
        "x" * 5000,
    ],
)
def test_invalid_names(name):
    with pytest.raises(InvalidArguments) as raised:
        model.check_name(name, "category")
    assert str(raised.value).startswith("The category name '")
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(("given_dir", "kept"), [("lang", "lang"), ("lang/", "lang"), ("a/b c/d", "a/b c/d")])
def test_a_category_has_a_folder_below_the_document_root(given_dir, kept):
    assert model.check_dir(given_dir) == kept


@pytest.mark.requirement("GUI-11")
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("", "of 1 to 1000 characters"),
        ("x" * 5000, "of 1 to 1000 characters"),
        ("/etc", "relative to the document root"),
        ("~/x", "relative to the document root"),
        ("C:/x", "relative to the document root"),
        ("a\\b", "with '/', without backslashes"),
        ("a\0b", "with '/', without backslashes"),
        ("a\nb", "with '/', without backslashes"),
        ("..", "without '.', '..' and empty parts"),
        ("a/../../b", "without '.', '..' and empty parts"),
        ("./a", "without '.', '..' and empty parts"),
        ("a//b", "without '.', '..' and empty parts"),
        (".git", "without hidden parts"),
        ("a/.b", "without hidden parts"),
    ],
)
def test_an_invalid_folder_is_refused(wrong, reason):
    with pytest.raises(InvalidArguments, match=f"Use a path {re.escape(reason)}"):
        model.check_dir(wrong)


@given(st.text(max_size=30))
def test_every_valid_folder_is_below_the_root(text):
    try:
        kept = model.check_dir(text)
    except InvalidArguments:
        return
    path = Path("/root") / kept
    assert path.is_relative_to("/root")
    assert (path == Path("/root")) is (kept == model.ROOT)
    assert not any(part.startswith(".") for part in path.parts)


def test_patterns_are_unique_and_the_default_is_all_documents():
    assert model.check_patterns(["*.md", "{a,b}/**", "*.md"]) == ("*.md", "{a,b}/**")
    assert model.check_patterns([]) == ("**/*",)


@pytest.mark.parametrize("wrong", ["", "../x", "/x", ".git/*", "a/.b", "[a", "{a", "a\\b", "x" * 5000])
def test_an_invalid_pattern_is_refused(wrong):
    with pytest.raises(InvalidArguments):
        model.check_patterns([wrong])


def test_a_collection_names_expressions():
    assert model.check_expressions(["lang/a+b", "docs"]) == ("lang/a+b", "docs")
    with pytest.raises(InvalidArguments, match="at least one expression"):
        model.check_expressions([])
    with pytest.raises(InvalidArguments, match="201 expressions are too many"):
        model.check_expressions(["a"] * 201)
    with pytest.raises(InvalidArguments):
        model.check_expressions(["{a"])
