import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.declare.naming import MAX_NAME_LENGTH, Naming, Style, ToolMentions

snake = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)
prefixes = st.from_regex(r"([a-z][a-z0-9]{0,6}[_-]?)?", fullmatch=True)
styles: st.SearchStrategy[Style] = st.sampled_from(["snake", "kebab"])


@pytest.mark.requirement("NAM-2")
@pytest.mark.parametrize(
    ("naming", "name", "final"),
    [
        (Naming(), "user_info", "user_info"),
        (Naming("snake", "atl"), "user_info", "atl_user_info"),
        (Naming("snake", "atl_"), "user_info", "atl_user_info"),
        (Naming("snake", ""), "user_info", "user_info"),
        (Naming("kebab", "noema"), "create-card", "noema-create-card"),
        (Naming("kebab", "noema-"), "create-card", "noema-create-card"),
        (Naming("kebab", ""), "create-card", "create-card"),
    ],
)
def test_the_final_name_is_prefix_separator_name(naming: Naming, name: str, final: str):
    assert naming.final(name) == final


@pytest.mark.requirement("NAM-3")
@pytest.mark.parametrize(("prefix", "final"), [(None, "guide_x"), ("own", "own_x"), ("own_", "own_x"), ("", "x")])
def test_a_tools_own_prefix_wins_and_the_empty_one_means_none(prefix: str | None, final: str):
    assert Naming("snake", "guide").final("x", prefix) == final


@pytest.mark.requirement("NAM-2")
@given(name=snake, prefix=prefixes, style=styles)
def test_the_command_of_a_final_name_is_the_name_it_was_made_of(name: str, prefix: str, style: Style):
    naming = Naming(style, prefix)
    spelled = naming.to_style(name)
    assert naming.command(naming.final(spelled)) == spelled


@pytest.mark.requirement("NAM-8")
@given(name=snake, prefix=prefixes)
def test_a_good_function_name_is_good_in_both_styles_once_it_is_spelled(name: str, prefix: str):
    long = len(prefix.rstrip("_-")) + 1 + len(name) > MAX_NAME_LENGTH
    assert (Naming("snake", prefix).problem(name) is None) is not long
    kebab = Naming("kebab", prefix)
    assert (kebab.problem(kebab.to_style(name)) is None) is (not long and "_" in name)


@pytest.mark.requirement("NAM-8")
@given(name=st.text(), style=styles)
def test_a_name_without_a_problem_is_one_that_every_client_takes(name: str, style: Style):
    if Naming(style).problem(name) is None:
        assert re.fullmatch(r"[a-z0-9_-]{1,64}", name)


@pytest.mark.requirement("NAM-8")
@pytest.mark.parametrize(
    ("style", "name"),
    [
        ("snake", "create-card"),
        ("snake", "createCard"),
        ("snake", "Create_card"),
        ("snake", "create__card"),
        ("snake", "_create"),
        ("snake", "create_"),
        ("snake", "1_card"),
        ("snake", ""),
        ("snake", "card\n"),
        ("snake", "cärd"),
        ("kebab", "create_card"),
        ("kebab", "create"),
        ("kebab", "create-"),
        ("kebab", "-card"),
        ("kebab", "create--card"),
    ],
)
def test_a_name_in_another_style_is_a_problem(style: Style, name: str):
    rule = {"snake": "snake_case", "kebab": "kebab-case verb-noun"}[style]
    assert Naming(style).problem(name) == f"is not {rule}; rename it, or declare another style for the server"


@pytest.mark.requirement("NAM-8")
def test_a_name_that_clients_would_cut_is_a_problem():
    name = "n" * 60
    assert Naming("snake", "abc").problem(name) is None
    assert Naming("snake", "abcd").problem(name) == "is 65 characters long with its prefix; clients allow 64"
    assert Naming("snake", "abcd").problem(name, "") is None


@pytest.mark.requirement("NAM-8")
@pytest.mark.parametrize("prefix", ["my tools", "café", "a/b", "a\n"])
def test_a_prefix_that_clients_refuse_is_a_problem(prefix: str):
    assert Naming("snake", prefix).problem("x") == (
        f"is {prefix + '_x'!r} with its prefix; clients allow ASCII letters, digits, _ and - only"
    )


FINAL = {"set_mode": "guide_set_mode", "set_mode_of": "guide_set_mode_of", "add": "guide_add", "own": "own"}


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("Call set_mode first.", "Call guide_set_mode first."),
        ("set_mode_of, then set_mode(mode='x')", "guide_set_mode_of, then guide_set_mode(mode='x')"),
        ("Call guide_set_mode, not my_set_mode.", "Call guide_set_mode, not my_set_mode."),
        ("Add a note with `add` or `set_mode`.", "Add a note with `guide_add` or `guide_set_mode`."),
        ("Please add one with own.", "Please add one with own."),
        ("No category 'set_mode' in \"set_mode\", docs/set_mode or set_mode.md.",) * 2,
    ],
)
def test_a_text_mentions_tools_by_the_names_that_the_agent_sees(text: str, renamed: str):
    assert ToolMentions(FINAL).rename(text) == renamed
    assert ToolMentions({name: name for name in FINAL}).rename(text) == text
