"""Flags of projects, and global flags."""

import asyncio

import pytest

from tests.mcp_guide.guide_server import error, value


@pytest.mark.requirement("GUI-7")
async def test_flags_of_a_project_override_the_global_ones(call):
    await value(call, "set_feature_flag", flag="beta", value=False)
    await value(call, "set_feature_flag", flag="depth", value=3)
    await value(call, "set_project_flag", flag="beta", value=True)
    got = {name: await value(call, "get_project_flag", flag=name) for name in ("beta", "depth", "none")}
    assert got == {
        "beta": {"flag": "beta", "value": True, "scope": "project"},
        "depth": {"flag": "depth", "value": 3, "scope": "global"},
        "none": {"flag": "none", "value": None, "scope": "unset"},
    }
    assert await value(call, "list_project_flags") == {"flags": {"beta": True, "depth": 3}}
    await value(call, "set_project_flag", flag="beta", value=None)
    assert (await value(call, "get_project_flag", flag="beta"))["value"] is False


@pytest.mark.requirement("GUI-8")
async def test_global_flags_ignore_those_of_projects(call):
    await value(call, "set_feature_flag", flag="beta", value=False)
    await value(call, "set_project_flag", flag="beta", value=True)
    await value(call, "set_project_flag", flag="own", value="mine")
    assert await value(call, "get_feature_flag", flag="beta") == {"flag": "beta", "value": False}
    assert await value(call, "get_feature_flag", flag="own") == {"flag": "own", "value": None}
    assert await value(call, "list_feature_flags") == {"flags": {"beta": False}}
    await value(call, "set_feature_flag", flag="beta", value=None)
    assert await value(call, "list_feature_flags") == {"flags": {}}
    assert (await value(call, "get_project_flag", flag="beta"))["scope"] == "project"


@pytest.mark.parametrize("kept", [True, False, "a text", "", 7, -1.5, ["a", "b"], []])
async def test_a_value_comes_back_as_it_was_set(call, kept):
    for scope in ("project", "feature"):
        assert await value(call, f"set_{scope}_flag", flag="kept", value=kept) == {"flag": "kept", "value": kept}
        back = (await value(call, f"get_{scope}_flag", flag="kept"))["value"]
        assert (back, type(back)) == (kept, type(kept))


@pytest.mark.parametrize(("written", "stored"), [("false", False), ("Off", False), ("no", False), ("on", True)])
async def test_a_switch_in_quotes_switches(call, root, written, stored):
    (root / "lang" / "gated.md").write_text("---\nrequires: beta\n---\nGated\n")
    for scope in ("feature", "project"):
        assert (await value(call, f"set_{scope}_flag", flag="beta", value=written))["value"] is stored
    assert (await call("get_content", expression="lang/gated"))[0] is not stored


@pytest.mark.parametrize("wrong", [{"a": 1}, [1], [["a"]]])
async def test_other_values_are_refused(call, wrong):
    assert (await error(call, "set_project_flag", flag="kept", value=wrong))[0] == "ValidationError"


async def test_lists_can_be_filtered_and_an_unset_flag_suggests_similar_ones(call):
    for name in ("beta", "beta-2", "other"):
        await value(call, "set_feature_flag", flag=name, value=True)
    assert await value(call, "list_feature_flags", containing="beta") == {"flags": {"beta": True, "beta-2": True}}
    _, answer = await call("get_feature_flag", flag="betta")
    assert answer["message"] == "The flag 'betta' is not set. Did you mean 'beta' or 'beta-2'?"
    _, answer = await call("list_feature_flags", containing="gamma")
    assert (answer["value"], answer["message"]) == ({"flags": {}}, "No flag name contains 'gamma'.")


async def test_an_empty_list_says_how_to_set_the_first_flag(call):
    _, answer = await call("list_feature_flags")
    assert answer["message"] == "No global flag is set yet. Set one with set_feature_flag."
    _, answer = await call("list_project_flags")
    assert answer["message"] == "No flag is set yet. Set one with set_project_flag or set_feature_flag."


async def test_flags_that_are_set_at_once_are_all_kept(call):
    names = [f"flag-{number}" for number in range(30)]
    await asyncio.gather(*(value(call, "set_project_flag", flag=name, value=True) for name in names))
    assert await value(call, "list_project_flags") == {"flags": dict.fromkeys(sorted(names), True)}
