import pytest

from mcp_core import Conflict, InvalidArguments, NotFound
from mcp_guide.model import Category, Collection, Project
from mcp_guide.references import Selection, named_by, renamed, resolve

LANG, DOCS, CHECKS = Category("lang", "lang"), Category("docs", "d/x", ("*.md",)), Category("checks", "checks")


def project(**collections: str) -> Project:
    return Project(
        "app",
        categories={"lang": LANG, "docs": DOCS, "checks": CHECKS},
        collections={name: Collection(name, (text,)) for name, text in collections.items()},
    )


def test_a_name_alone_stands_for_the_patterns_of_its_category():
    assert resolve(project(), "docs") == [Selection(DOCS, ("*.md",))]


@pytest.mark.requirement("GUI-3")
def test_specifications_come_in_their_order_each_once():
    assert resolve(project(), "lang/python+java,docs,checks,lang/python+java") == [
        Selection(LANG, ("python", "java")),
        Selection(DOCS, ("*.md",)),
        Selection(CHECKS, ("**/*",)),
    ]


def test_collections_inside_collections_come_where_they_are_named():
    nested = project(inner="docs,lang/rust", outer="checks,inner,lang/go", both="outer,inner")
    assert resolve(nested, "both") == [
        Selection(CHECKS, ("**/*",)),
        Selection(DOCS, ("*.md",)),
        Selection(LANG, ("rust",)),
        Selection(LANG, ("go",)),
    ]


def test_patterns_after_a_collection_take_the_place_of_its_members_own():
    assert resolve(project(inner="docs,lang/rust", outer="inner"), "outer/a+b") == [
        Selection(DOCS, ("a", "b")),
        Selection(LANG, ("a", "b")),
    ]


def test_a_circle_written_by_hand_is_an_error_that_shows_it():
    with pytest.raises(Conflict, match=r"of project 'app' name each other in a circle: b -> c -> b\."):
        resolve(project(a="lang,b", b="docs,c", c="b"), "a")


def test_naming_one_collection_twice_is_no_circle_and_many_do_not_grow_without_end():
    doubled = {f"c{n}": f"c{n + 1}/a,c{n + 1}/b,c{n + 1}" for n in range(40)} | {"c40": "lang"}
    assert resolve(project(**doubled), "c0") == [
        Selection(LANG, ("a",)),
        Selection(LANG, ("b",)),
        Selection(LANG, ("**/*",)),
    ]
    deep = {f"c{n}": f"c{n + 1}" for n in range(2000)} | {"c2000": "lang"}
    with pytest.raises(Conflict, match="nest more than 50 deep below 'c0'"):
        resolve(project(**deep), "c0")


def test_a_name_that_leads_nowhere_is_an_error_and_not_nothing():
    with pytest.raises(
        NotFound, match=r"^There is no category or collection 'lnag' in project 'app'\. Nearest: 'lang'\."
    ):
        resolve(project(), "docs,lnag")
    with pytest.raises(NotFound, match=r"^The collection 'a' names 'gone' in project 'app', but there is no such"):
        resolve(project(a="gone"), "a")
    with pytest.raises(InvalidArguments):
        resolve(project(), "{a")


def test_who_names_something_and_how_it_is_called_otherwise():
    several = project(a="lang/docs", b="docs,lang", c="a")
    assert [named_by(several, name) for name in ("lang", "docs", "a", "checks")] == [["a", "b"], ["b"], ["c"], []]
    assert renamed("lang/{lang,b}+lang, docs", "lang", "x") == "x/{lang,b}+lang,docs"
