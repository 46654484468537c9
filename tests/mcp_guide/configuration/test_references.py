import pytest

from mcp_core import Conflict, InvalidArguments, NotFound
from mcp_guide.configuration.references import CategorySelection, find_references, rename_reference, resolve_expression
from mcp_guide.model import Category, Collection, Project

LANG, DOCS, CHECKS = Category("lang", "lang"), Category("docs", "d/x", ("*.md",)), Category("checks", "checks")


def project(**collections: str) -> Project:
    return Project(
        "app",
        categories={"lang": LANG, "docs": DOCS, "checks": CHECKS},
        collections={name: Collection(name, (text,)) for name, text in collections.items()},
    )


def test_a_name_alone_stands_for_the_patterns_of_its_category():
    assert resolve_expression(project(), "docs") == [CategorySelection(DOCS, ("*.md",))]


@pytest.mark.requirement("GUI-3")
def test_specifications_come_in_their_order_each_once():
    assert resolve_expression(project(), "lang/python+java,docs,checks,lang/python+java") == [
        CategorySelection(LANG, ("python", "java")),
        CategorySelection(DOCS, ("*.md",)),
        CategorySelection(CHECKS, ("**/*",)),
    ]


def test_collections_inside_collections_come_where_they_are_named():
    nested = project(inner="docs,lang/rust", outer="checks,inner,lang/go", both="outer,inner")
    assert resolve_expression(nested, "both") == [
        CategorySelection(CHECKS, ("**/*",)),
        CategorySelection(DOCS, ("*.md",)),
        CategorySelection(LANG, ("rust",)),
        CategorySelection(LANG, ("go",)),
    ]


def test_patterns_after_a_collection_take_the_place_of_its_members_own():
    assert resolve_expression(project(inner="docs,lang/rust", outer="inner"), "outer/a+b") == [
        CategorySelection(DOCS, ("a", "b")),
        CategorySelection(LANG, ("a", "b")),
    ]


def test_a_circle_written_by_hand_is_an_error_that_shows_the_circle():
    with pytest.raises(Conflict, match=r"of the project 'app' refer to each other in a circle: b -> c -> b\."):
        resolve_expression(project(a="lang,b", b="docs,c", c="b"), "a")


def test_naming_a_collection_twice_is_not_a_circle_and_depth_is_limited():
    doubled = {f"c{n}": f"c{n + 1}/a,c{n + 1}/b,c{n + 1}" for n in range(40)} | {"c40": "lang"}
    assert resolve_expression(project(**doubled), "c0") == [
        CategorySelection(LANG, ("a",)),
        CategorySelection(LANG, ("b",)),
        CategorySelection(LANG, ("**/*",)),
    ]
    deep = {f"c{n}": f"c{n + 1}" for n in range(2000)} | {"c2000": "lang"}
    with pytest.raises(Conflict, match="below 'c0' are nested more than 50 deep"):
        resolve_expression(project(**deep), "c0")


def test_an_unknown_name_is_an_error_and_not_an_empty_result():
    with pytest.raises(
        NotFound, match=r"^The project 'app' has no category or collection 'lnag'\. Did you mean 'lang'\?$"
    ):
        resolve_expression(project(), "docs,lnag")
    words = r"^The project 'app' has no category or collection 'gone', which the collection 'a' names\. Available: "
    with pytest.raises(NotFound, match=rf"{words}(?!.*'a')"):
        resolve_expression(project(a="gone"), "a")
    with pytest.raises(InvalidArguments):
        resolve_expression(project(), "{a")


def test_references_are_found_and_renamed():
    several = project(a="lang/docs", b="docs,lang", c="a")
    references = {name: find_references(several, name) for name in ("lang", "docs", "a", "checks")}
    assert references == {"lang": ["a", "b"], "docs": ["b"], "a": ["c"], "checks": []}
    assert rename_reference("lang/{lang,b}+lang, docs", "lang", "x") == "x/{lang,b}+lang,docs"
