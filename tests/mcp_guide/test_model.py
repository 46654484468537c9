from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import InvalidArguments, NotFound, instructions
from mcp_guide import model
from mcp_guide.model import Category, Collection, Configuration, Project

# --- projects -----------------------------------------------------------------------------------------


def test_the_default_project_is_there_without_any_configuration():
    assert model.find_project(Configuration(), "default") == Project("default")
    assert model.project_names(Configuration()) == ["default"]


@pytest.mark.requirement("GUI-4")
def test_a_missing_project_is_not_found_and_none_is_to_be_created():
    configuration = Configuration(projects={"app": Project("app")})
    with pytest.raises(NotFound) as raised:
        model.find_project(configuration, "ap")
    assert str(raised.value) == "There is no project 'ap'. Nearest: 'app'."
    assert raised.value.message == "No configuration found for project: ap"
    assert raised.value.instruction == (
        "Present this error to the user and take no further action."
        " Do not attempt to create a default configuration automatically."
    )


def test_what_is_missing_names_what_is_near_or_all_there_is():
    project = Project("app", categories={"lang": Category("lang", "lang"), "docs": Category("docs", "docs")})
    with pytest.raises(NotFound, match=r"^Project 'app' has no category 'lnag'\. Nearest: 'lang'\.$"):
        model.find_category(project, "lnag")
    with pytest.raises(NotFound, match=r"^Project 'app' has no category 'xyz'\. There is: 'docs', 'lang'\.$"):
        model.find_category(project, "xyz")
    with pytest.raises(NotFound, match=r"^Project 'app' has no collection 'x+\.\.\.'\. There is none yet\.$"):
        model.find_collection(project, "x" * 5000)


def test_the_document_root_is_the_projects_own_then_the_given_then_the_configured_one():
    own, given_root, configured, otherwise = Path("/own"), Path("/given"), Path("/configured"), Path("/otherwise")
    configuration = Configuration(docs_root=configured)
    assert model.document_root(configuration, Project("a", root=own), given_root, otherwise) == own
    assert model.document_root(configuration, Project("a"), given_root, otherwise) == given_root
    assert model.document_root(configuration, Project("a"), None, otherwise) == configured
    assert model.document_root(Configuration(), Project("a"), None, otherwise) == otherwise


# --- folders ------------------------------------------------------------------------------------------


def test_each_folder_is_a_category_of_all_that_is_in_it_unless_one_was_made_by_that_name():
    made = Category("docs", "texts", ("*.md",))
    project = Project("app", categories={"docs": made}, collections={"all": Collection("all", ("docs",))})
    assert model.with_folders(project, ["docs", "lang", "all", "a,b", ".git"]).categories == {
        "lang": Category("lang", "lang", ("**/*",), from_folder=True),
        "docs": made,
    }


def test_a_project_may_do_without_the_folders():
    project = Project("app", folders=False)
    assert model.with_folders(project, ["lang"]) == project


# --- flags --------------------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-7")
def test_flags_of_a_project_win_and_global_ones_are_the_defaults():
    configuration = Configuration(flags={"a": True, "b": "global", "c": 0})
    project = Project("app", flags={"b": "mine", "c": False, "d": ["x"]})
    assert model.resolve_flags(configuration, project) == {"a": True, "b": "mine", "c": False, "d": ["x"]}
    assert [model.resolve_flag(configuration, project, name) for name in "abcde"] == [True, "mine", False, ["x"], None]


@pytest.mark.parametrize("value", [True, False, "", "text", 0, -7, 2.5, [], ["a", "b"]])
def test_a_flag_is_set_to_a_bool_a_text_a_number_or_a_list_of_texts(value):
    after = model.set_flag({"other": 1}, "beta", value)
    assert after == {"other": 1, "beta": value}
    assert type(after["beta"]) is type(value)


def test_none_removes_a_flag_and_one_that_is_not_there_stays_away():
    assert model.set_flag({"a": 1, "b": 2}, "a", None) == {"b": 2}
    assert model.set_flag({"b": 2}, "a", None) == {"b": 2}


@pytest.mark.parametrize("value", [{"a": 1}, [1], [["a"]], float("nan"), float("inf"), b"x", "x" * 10_001])
def test_nothing_else_is_the_value_of_a_flag(value):
    with pytest.raises(InvalidArguments, match="give true, false, a number, a text or a list of texts"):
        model.set_flag({}, "beta", value)


@pytest.mark.parametrize("name", ["", "a/b", " a", ".a", "x" * 101])
def test_a_flag_has_a_name_like_all_else(name):
    with pytest.raises(InvalidArguments, match="A flag cannot be named"):
        model.set_flag({}, name, True)
    with pytest.raises(InvalidArguments, match="A flag cannot be named"):
        model.resolve_flag(Configuration(), Project("app"), name)


# --- modes --------------------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-10")
def test_each_mode_has_its_boundary_in_the_standard_words():
    assert {mode: model.boundary(mode) for mode in model.MODES} == {
        "DISCUSSION": "You are now in DISCUSSION mode. Gather requirements and create specifications."
        " Do NOT make any changes to the project.",
        "PLANNING": "You are now in PLANNING mode. Create a detailed plan, and present it to the user."
        " Do NOT make any changes to the project.",
        "IMPLEMENTATION": "You are now in IMPLEMENTATION mode. Make the changes that the user agreed to, and no"
        " others. When they are made: Return to CHECK mode.",
        "CHECK": "You are now in CHECK mode. Run the checks, and report what they find."
        " Do NOT attempt to fix this automatically. This operation requires user review and approval.",
    }
    assert all(instructions.NO_CHANGES in model.boundary(mode) for mode in ("DISCUSSION", "PLANNING"))


@pytest.mark.parametrize("mode", ["planning", "", None, "REVIEW", 1])
def test_there_are_four_modes(mode):
    with pytest.raises(InvalidArguments, match="choose one of DISCUSSION, PLANNING, IMPLEMENTATION, CHECK"):
        model.check_mode(mode)


# --- names and folders --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lang", "C", "c-sharp", "v1.2", "My docs", "übung", "_x", "7", "x" * 100])
def test_names_people_give(name):
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
def test_names_that_would_break_an_expression_or_hide_something(name):
    with pytest.raises(InvalidArguments) as raised:
        model.check_name(name, "category")
    assert str(raised.value).startswith("A category cannot be named '")
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(("given_dir", "kept"), [("lang", "lang"), ("lang/", "lang"), ("a/b c/d", "a/b c/d")])
def test_a_category_has_a_folder_below_the_document_root(given_dir, kept):
    assert model.check_dir(given_dir) == kept


@pytest.mark.requirement("GUI-11")
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("", "has 1 to 1000 characters"),
        ("x" * 5000, "has 1 to 1000 characters"),
        ("/etc", "is relative to the document root"),
        ("~/x", "is relative to the document root"),
        ("C:/x", "is relative to the document root"),
        ("a\\b", "is written with '/'"),
        ("a\0b", "is written with '/'"),
        ("a\nb", "is written with '/'"),
        ("..", "does not leave the document root"),
        ("a/../../b", "does not leave the document root"),
        ("./a", "does not leave the document root"),
        ("a//b", "does not leave the document root"),
        (".git", "is not hidden"),
        ("a/.b", "is not hidden"),
    ],
)
def test_a_folder_that_leads_elsewhere_is_refused_when_it_is_named(wrong, reason):
    with pytest.raises(InvalidArguments, match=reason):
        model.check_dir(wrong)


@given(st.text(max_size=30))
def test_whatever_passes_as_a_folder_stays_inside(text):
    try:
        kept = model.check_dir(text)
    except InvalidArguments:
        return
    path = Path("/root") / kept
    assert path.is_relative_to("/root")
    assert path != Path("/root")
    assert not any(part.startswith(".") for part in path.parts)


def test_patterns_are_kept_once_and_none_stand_for_everything():
    assert model.check_patterns(["*.md", "{a,b}/**", "*.md"]) == ("*.md", "{a,b}/**")
    assert model.check_patterns([]) == ("**/*",)


@pytest.mark.parametrize("wrong", ["", "../x", "/x", ".git/*", "a/.b", "[a", "{a", "a\\b", "x" * 5000])
def test_a_pattern_that_cannot_match_inside_is_refused(wrong):
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
